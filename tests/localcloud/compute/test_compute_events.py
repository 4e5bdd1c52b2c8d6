"""Host errors, maintenance, and guests that power themselves off."""

from datetime import timedelta

import pytest

from tests.localcloud.compute.world import ZONE, World, spot

INSTANCES = f"zones/{ZONE}/instances"


def acts(world: World) -> list[str]:
    """What was done to the machines, without ids."""
    return [act for act, *_ in world.machines.did]


def test_a_host_error_kills_without_shutdown_and_restarts_what_says_so(world: World):
    """STANDARD instances restart automatically, with the same id."""
    vm = world.create()
    world.post("/local/host-error", {"node": "vm"})
    world.settle()
    assert (world.status(), acts(world)) == ("TERMINATED", ["boot", "kill"])
    world.advance(1)
    assert (world.status(), world.instance()["id"]) == ("RUNNING", vm["id"])
    kinds = [operation["operationType"] for operation in world.operations()]
    assert kinds == ["insert", "compute.instances.hostError", "compute.instances.automaticRestart"]


@pytest.mark.parametrize("scheduling", [spot(), {"automaticRestart": False}])
def test_a_host_error_leaves_other_instances_terminated(world: World, scheduling):
    """Spot VMs and those without automatic restart stay down, whatever their termination action is."""
    world.create(scheduling=scheduling)
    world.post("/local/host-error", {"node": "vm"})
    world.advance(10)
    assert world.status() == "TERMINATED"
    assert world.operations("compute.instances.automaticRestart") == []


def test_an_automatic_restart_without_resources_leaves_the_instance_terminated(world: World):
    """A stockout hits restarts too."""
    world.create()
    world.post("/local/stockout", {"zone": ZONE})
    world.post("/local/host-error", {"node": "vm"})
    world.advance(10)
    assert (world.status(), acts(world)) == ("TERMINATED", ["boot", "kill"])


@pytest.mark.parametrize(
    ("scheduling", "kind", "end"),
    [
        ({}, "migrateOnHostMaintenance", "RUNNING"),
        ({"onHostMaintenance": "TERMINATE"}, "terminateOnHostMaintenance", "RUNNING"),
        (
            {"onHostMaintenance": "TERMINATE", "automaticRestart": False},
            "terminateOnHostMaintenance",
            "TERMINATED",
        ),
        (spot("STOP"), "terminateOnHostMaintenance", "TERMINATED"),
    ],
)
def test_maintenance_migrates_or_terminates(world: World, scheduling, kind, end):
    """As onHostMaintenance says; what is terminated may restart."""
    world.create(scheduling=scheduling)
    operation = world.post(f"{INSTANCES}/vm/simulateMaintenanceEvent")
    world.advance(5)
    assert world.operation(operation)["status"] == "DONE"
    assert len(world.operations(f"compute.instances.{kind}")) == 1
    assert world.status() == end
    assert ("shut_down" in acts(world)) == (kind == "terminateOnHostMaintenance")


def test_a_guest_that_powers_off_stops_its_instance(world: World):
    """TERMINATED even where a preemption would delete; the operation says that it was the guest."""
    vm = world.create(scheduling=spot("DELETE"))
    world.do(world.service.guest_poweroff, vm["id"])
    world.advance(1)
    assert world.status() == "TERMINATED"
    (operation,) = world.operations("compute.instances.guestTerminate")
    assert operation["statusMessage"] == "Instance terminated by guest OS shutdown."
    assert acts(world) == ["boot", "shut_down", "down"]


def test_a_power_off_during_a_shutdown_changes_nothing(world: World):
    """A shutdown script may end with `poweroff`."""
    vm = world.create(scheduling=spot("STOP"))
    world.machines.shutdown_takes = timedelta(seconds=10)
    world.post("/local/preempt", {"node": "vm"})
    world.advance(5)
    world.do(world.service.guest_poweroff, vm["id"])
    world.advance(20)
    assert world.status() == "TERMINATED"
    assert world.operations("compute.instances.guestTerminate") == []


def test_a_power_off_of_an_instance_that_is_gone_is_ignored(world: World):
    """The machine may be the last to learn that its instance was deleted."""
    world.do(world.service.guest_poweroff, "4711")
    world.advance(1)
    assert world.get("/local/instances")["count"] == 0
