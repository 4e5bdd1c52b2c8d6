"""When a closed job counts as started again by a person."""

from datetime import timedelta

import pytest

from spotwarden.model.attempt import AttemptState, Removal
from spotwarden.model.instance import Status
from spotwarden.recovery.observed.reopening import closed_at
from tests.fakes.world import GANG

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


@pytest.fixture
def opened(new_world):
    """A closed gang of three: one was preempted, one its owner stopped and starts again, one runs."""
    world = new_world("gang", GANG.replace(b"gang-1,gang-2", b"gang-1,gang-2,gang-3"))
    world.settle()
    world.cloud.compute.owner_stops("gang-2")
    world.preempt(node="gang-1")
    world.wait(minutes=1)
    world.settle(4)
    assert [attempt.state for attempt in world.attempts()] == [AttemptState.STOPPED]
    world.cloud.compute.owner_starts("gang-2")
    world.wait(seconds=20)
    return world


def running(world):
    """The nodes that run, an hour later."""
    world.settle(60)
    return sorted(vm.name for vm in world.instances() if vm.status is Status.RUNNING)


@pytest.mark.parametrize("body", [None, b"", b'{"instance_id": "%s"}'])
def test_a_node_that_ran_when_a_person_opened_the_gang_and_was_preempted_unseen_brings_it_back(opened, body):
    """The start of another node was the owner's word about the gang; no sweep has seen both run."""
    opened.cloud.compute.preempt("gang-3")
    if body is not None:
        said = body.replace(b"%s", opened.ids["gang-3"].encode())
        opened.store("preempted-jobs/gang-3", said)
    assert running(opened) == ["gang-1", "gang-2", "gang-3"]
    assert opened.names("preempted-jobs/") == []


def test_a_node_that_ran_on_belongs_to_the_gang_though_the_one_that_was_started_is_preempted(opened):
    """It is deleted before the gang starts anew, and none of it is left beside its successor."""
    opened.cloud.compute.preempt("gang-2")
    assert running(opened) == ["gang-1", "gang-2", "gang-3"]
    assert opened.ids["gang-3"] not in opened.vms()


def test_a_node_that_was_lost_before_a_person_opened_the_gang_is_not_missed(opened):
    """What its owner has started, and what ran then, goes on."""
    assert running(opened) == ["gang-2", "gang-3"]
    assert opened.attempts()[-1].instances == {node: opened.ids[node] for node in ("gang-2", "gang-3")}


def test_a_node_that_is_removed_after_a_person_opened_the_gang_is_not_missed(opened):
    """The owner thought better of that one, and is told that the gang goes on without it."""
    opened.cloud.compute.owner_deletes("gang-3")
    assert running(opened) == ["gang-2"]
    assert "node_removed" in opened.notices()
