"""`maxRunDuration` and `terminationTime`: instances that end by themselves."""

from datetime import timedelta

import pytest

from tests.localcloud.compute.world import START, ZONE, World

INSTANCES = f"zones/{ZONE}/instances"


def acts(world: World) -> list[str]:
    """What was done to the machines, without ids."""
    return [act for act, *_ in world.machines.did]


class TestLimitedRunTime:
    """`maxRunDuration` and `terminationTime`."""

    @pytest.mark.parametrize(("action", "end"), [("DELETE", "GONE"), ("STOP", "TERMINATED")])
    def test_an_instance_ends_after_its_run_time(self, world: World, action, end):
        """Counted from its start, not from the request; the action is honoured."""
        world.create(scheduling={"maxRunDuration": {"seconds": "60"}, "instanceTerminationAction": action})
        started = world.instance()["lastStartTimestamp"]
        ends = world.instance()["resourceStatus"]["scheduling"]["terminationTimestamp"]
        assert (started, ends) == ("2026-11-21T00:00:00.220-08:00", "2026-11-21T00:01:00.220-08:00")
        world.advance(58)
        assert world.status() == "RUNNING"
        world.advance(2)
        assert world.status() == end
        assert acts(world)[1] == "shut_down"
        (operation,) = world.operations({"GONE": "delete", "TERMINATED": "stop"}[end])
        assert operation["user"] == "system"

    def test_it_counts_anew_when_it_is_started_again(self, world: World):
        """The limit is one of each run."""
        limit = {"maxRunDuration": {"seconds": "60"}, "instanceTerminationAction": "STOP"}
        world.create(scheduling=limit)
        world.advance(50)
        world.post(f"{INSTANCES}/vm/stop")
        world.advance(1)
        assert world.instance()["resourceStatus"] == {"scheduling": {}}
        world.post(f"{INSTANCES}/vm/start")
        world.advance(50)
        assert world.status() == "RUNNING"
        world.advance(11)
        assert world.status() == "TERMINATED"

    def test_it_ends_at_its_termination_time(self, world: World):
        """A moment instead of a duration."""
        at = (START + timedelta(minutes=10)).isoformat()
        world.create(scheduling={"terminationTime": at, "instanceTerminationAction": "DELETE"})
        world.advance(598)
        assert world.status() == "RUNNING"
        world.advance(2)
        assert world.status() == "GONE"

    def test_a_protected_instance_is_stopped_instead_of_deleted(self, world: World):
        """Deletion protection holds against the limit too."""
        limit = {"maxRunDuration": {"seconds": "30"}, "instanceTerminationAction": "DELETE"}
        world.create(scheduling=limit, deletionProtection=True)
        world.advance(31)
        assert world.status() == "TERMINATED"

    def test_an_instance_deleted_in_time_is_left_alone(self, world: World):
        """The limit of the old instance does not hit the new one of its name."""
        limit = {"maxRunDuration": {"seconds": "60"}, "instanceTerminationAction": "DELETE"}
        world.create(scheduling=limit)
        world.delete(f"{INSTANCES}/vm")
        world.advance(1)
        world.create()
        world.advance(120)
        assert world.status() == "RUNNING"
