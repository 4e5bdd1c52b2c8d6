"""A notice is published while the sweep that saw what it says may still run, and never after that."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.engine.executor import Executor
from spotwarden.engine.executor.on_people import LONGEST_SWEEP
from spotwarden.model.action import Tell
from spotwarden.model.outcome import Done, Lost
from spotwarden.model.policy import Mode, Policy
from tests.notify.outbox.outbox_world import notice

JUST = timedelta(microseconds=1)


@pytest.fixture
def tell(world):
    """Publishes a notice as a sweep that began so long ago, by its own clock and by the one that it tells."""

    def publish(began, tick):
        cloud, policy = world.cloud, Policy(version="test", mode=Mode.ENFORCE)
        now = cloud.clock.now()
        tick = replace(tick, now=now - began[0], began=None if began[1] is None else now - began[1])
        executor = Executor(cloud.ports(), world.layout, policy, tick, write_line=lambda *_, **__: None)
        return type(executor.apply(Tell(reason="a test", notice=notice()))), len(cloud.notices.messages)

    return publish


def test_a_sweep_that_was_frozen_for_longer_than_any_lives_tells_nothing(tell, tick):
    """To the moment: what it saw may be long over, and the next sweep sees for itself."""
    assert tell((LONGEST_SWEEP, None), tick) == (Lost, 0)
    assert tell((LONGEST_SWEEP - JUST, None), tick) == (Done, 1)


def test_what_counts_is_the_clock_of_the_machine_and_not_that_of_a_cloud_that_travels(tell, tick):
    """A day that a local cloud skips in mid-sweep keeps no notice back; a machine that slept does."""
    assert tell((timedelta(days=1), LONGEST_SWEEP - JUST), tick) == (Done, 1)
    assert tell((timedelta(0), LONGEST_SWEEP), tick) == (Lost, 1)
