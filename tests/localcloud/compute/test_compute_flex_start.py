"""Flex-start VMs: they wait for room, PENDING, run for a limited time, and are never preempted."""

import pytest

from tests.localcloud.compute.world import ZONE, World, request

INSTANCES = f"zones/{ZONE}/instances"
G2 = "g2-standard-4"
SHORT = "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"


def flexible(name: str = "vm", *, wait: int = 3600, machine: str = G2, **options) -> dict:
    """A request for a Flex-start VM that waits for so many seconds; None takes an option away."""
    limited = {"maxRunDuration": {"seconds": "600"}, "instanceTerminationAction": "DELETE"}
    given = {"provisioningModel": "FLEX_START", "automaticRestart": True} | limited | options
    scheduling = {key: value for key, value in given.items() if value is not None}
    params = {"requestValidForDuration": {"seconds": str(wait)}}
    return request(
        name, machineType=f"zones/{ZONE}/machineTypes/{machine}", scheduling=scheduling, params=params
    )


def begin_stockout(world: World) -> None:
    """Let the zone have no such machine."""
    world.post("/local/stockout", {"zone": ZONE, "machine": G2})


def end_stockout(world: World) -> None:
    """Let it have them again."""
    world.delete("/local/stockout", {"zone": ZONE, "machine": G2})


class TestWait:
    """`requestValidForDuration`."""

    def test_it_waits_for_room_pending_and_then_runs(self, world: World):
        """The insert operation is RUNNING meanwhile; once there is room it goes as with any other."""
        begin_stockout(world)
        operation = world.post(INSTANCES, flexible())
        assert world.status() == "PENDING"
        world.advance(3000)
        assert (world.status(), world.operation(operation)["status"]) == ("PENDING", "RUNNING")
        assert world.machines.did == []
        end_stockout(world)
        world.advance(1)
        assert (world.status(), world.operation(operation)["status"]) == ("RUNNING", "DONE")
        assert "error" not in world.operation(operation)

    def test_where_there_is_room_it_waits_for_nothing(self, world: World):
        """PENDING, PROVISIONING, STAGING, RUNNING within a second."""
        world.post(INSTANCES, flexible())
        assert world.status() == "PENDING"
        world.advance(0.05)
        assert world.status() == "PROVISIONING"
        world.advance(1)
        assert world.status() == "RUNNING"

    def test_a_wait_in_vain_ends_as_a_stockout(self, world: World):
        """The operation says what is short and where there is room; the instance and its disk are gone."""
        begin_stockout(world)
        operation = world.post(INSTANCES, flexible(wait=90))
        world.advance(89)
        assert world.status() == "PENDING"
        world.advance(2)
        (error,) = world.operation(operation)["error"]["errors"]
        facts = error["errorDetails"][2]["errorInfo"]["metadatas"]
        assert (world.status(), error["code"]) == ("GONE", SHORT)
        assert facts["zonesAvailable"] == "us-central1-b,us-central1-c"
        assert "items" not in world.get(f"zones/{ZONE}/disks")

    def test_without_a_wait_it_needs_room_at_once(self, world: World):
        """Zero says so; so does a request that says nothing."""
        begin_stockout(world)
        for body in (flexible(wait=0), flexible() | {"params": {}}):
            operation = world.post(INSTANCES, body)
            assert world.status() == "PROVISIONING"
            world.advance(1)
            assert world.operation(operation)["error"]["errors"][0]["code"] == SHORT
            assert world.status() == "GONE"

    def test_it_waits_for_quota_as_well(self, world: World):
        """Its GPUs are of the preemptible quota; one that waits uses nothing of it."""
        metric = {"metric": "PREEMPTIBLE_NVIDIA_L4_GPUS", "region": "us-central1"}
        world.post("/local/quota", metric | {"limit": 0})
        world.post(INSTANCES, flexible("a"))
        world.post(INSTANCES, flexible("b"))
        world.advance(60)
        assert (world.status("a"), world.status("b")) == ("PENDING", "PENDING")
        world.post("/local/quota", metric | {"limit": 1})
        world.advance(60)
        assert sorted([world.status("a"), world.status("b")]) == ["PENDING", "RUNNING"]

    def test_one_that_waits_can_be_deleted(self, world: World):
        """Its name is free then, and its insert operation ends with an error."""
        begin_stockout(world)
        operation = world.post(INSTANCES, flexible())
        world.advance(60)
        world.delete(f"{INSTANCES}/vm")
        world.advance(1)
        assert world.status() == "GONE"
        assert world.operation(operation)["error"]["errors"][0]["code"] == "RESOURCE_NOT_FOUND"
        end_stockout(world)
        world.advance(60)
        assert world.machines.did == []

    @pytest.mark.parametrize("method", ["start", "stop", "suspend", "reset"])
    def test_nothing_else_can_be_done_to_one_that_waits(self, world: World, method: str):
        """As to any that is being created."""
        begin_stockout(world)
        world.post(INSTANCES, flexible())
        assert world.refused("POST", f"{INSTANCES}/vm/{method}")[:2] == (400, "resourceNotReady")


class TestEnd:
    """What ends a Flex-start VM."""

    @pytest.mark.parametrize(("action", "end"), [("DELETE", "GONE"), ("STOP", "TERMINATED")])
    def test_its_run_time_counts_from_its_start(self, world: World, action, end):
        """The wait is no run time."""
        begin_stockout(world)
        world.post(INSTANCES, flexible(instanceTerminationAction=action))
        world.advance(1200)
        end_stockout(world)
        world.advance(598)
        assert world.status() == "RUNNING"
        world.advance(5)
        assert world.status() == end

    def test_it_is_never_preempted(self, world: World):
        """The local cloud says so."""
        world.post(INSTANCES, flexible())
        world.advance(1)
        status, _, message = world.refused("POST", "/local/preempt", {"node": "vm"})
        assert (status, "never preempts" in message) == (400, True)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (flexible(maxRunDuration=None), "scheduling.provisioningModel"),
        (flexible(maxRunDuration={"seconds": "599"}), "scheduling.maxRunDuration"),
        (flexible(maxRunDuration={"seconds": "604801"}), "scheduling.maxRunDuration"),
        (flexible(maxRunDuration=None, terminationTime="2026-11-29T08:00:00Z"), "scheduling.terminationTime"),
        (flexible(preemptible=True, automaticRestart=False), "scheduling.preemptible"),
        (flexible(onHostMaintenance="MIGRATE"), "scheduling.onHostMaintenance"),
        (flexible(machine="n1-standard-4"), "machineType"),
        (flexible(wait=89), "params.requestValidForDuration"),
        (flexible(wait=7201), "params.requestValidForDuration"),
        (
            flexible(provisioningModel="STANDARD", onHostMaintenance="TERMINATE"),
            "params.requestValidForDuration",
        ),
    ],
)
def test_what_no_flex_start_vm_can_be_is_refused(world: World, body: dict, field: str):
    """Its run time is limited and its wait, it does not migrate, and few machines are offered that way."""
    status, _, message = world.refused("POST", INSTANCES, body)
    assert (status, f"field 'resource.{field}'" in message) == (400, True)


@pytest.mark.parametrize(
    "body",
    [
        flexible(maxRunDuration={"seconds": "604800"}),
        flexible(maxRunDuration=None, terminationTime="2026-11-28T07:00:00Z"),
        flexible(onHostMaintenance="TERMINATE"),
        flexible(wait=90),
        flexible(wait=7200),
    ],
)
def test_what_is_just_within_the_limits_is_taken(world: World, body: dict):
    """One fact apart from what is refused."""
    world.post(INSTANCES, body)
    world.advance(1)
    assert world.status() == "RUNNING"


def test_a_vm_that_skips_its_shutdown_is_cut_off(world: World):
    """`skipGuestOsShutdown`: no shutdown script runs."""
    world.create(scheduling={"skipGuestOsShutdown": True})
    world.post(f"{INSTANCES}/vm/stop")
    world.advance(1)
    assert (world.status(), [act for act, *_ in world.machines.did]) == ("TERMINATED", ["boot", "kill"])
