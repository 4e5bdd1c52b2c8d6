"""When a closed job counts as started again by a person."""

from datetime import timedelta

import pytest

from spotwarden.model.attempt import AttemptState, Removal
from spotwarden.recovery.reopening import closed_at

MINUTE = timedelta(minutes=1)


@pytest.fixture
def closed(some, tick):
    """A gang that was closed now; its first node was removed ten minutes ago, its second two minutes ago."""
    ago = {"gang-1": 10 * MINUTE, "gang-2": 2 * MINUTE}
    removed = {
        node: Removal(
            instance_id=f"100{node[-1]}", operation="op-1", kind="stop", user="ada@x.org", at=tick.now - age
        )
        for node, age in ago.items()
    }
    return some.attempt(2, AttemptState.STOPPED, job="gang", removed=removed, updated=tick.now).attempt


def test_a_gang_is_closed_by_the_last_of_its_nodes_that_was_removed(closed, tick):
    """Whoever started the first one again, and then removed the second, has stopped the job."""
    assert closed_at(closed, "gang-1") == closed_at(closed, "gang-2") == tick.now - 2 * MINUTE


def test_a_node_that_nobody_removed_was_closed_with_the_job(closed, tick):
    """Its own stop is on no record, and a start before the job was closed may have been another wish."""
    assert closed_at(closed, "gang-3") == tick.now
