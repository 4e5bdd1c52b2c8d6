"""A Compute Engine with the hand of fate: what the port shows, and what happens behind it."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import uuid4

from spotwarden.model.fleet import JOB_LABEL
from spotwarden.model.instance import Instance, Operation, Status
from spotwarden.model.request import Request
from spotwarden.ports import Compute
from tests.fakes.compute import MemoryCompute

ZONE = "us-central1-a"
OTHER_ZONE = "us-central1-b"


class World(Protocol):
    """A Compute Engine and what befalls it."""

    @property
    def compute(self) -> Compute:
        """The port."""

    def now(self) -> datetime:
        """The moment, by Compute Engine's clock."""

    def until(self, condition: Callable[[], bool]) -> None:
        """Let time pass until this is so; fail when it does not come."""

    def stock_out(self, zone: str) -> None:
        """Have nothing left in a zone."""

    def hide(self, zone: str) -> None:
        """Leave a zone out of all lists, and say so."""

    def preempt(self, name: str) -> None:
        """Take a VM away."""

    def leave(self, kind: str, name: str, labels: Mapping[str, str]) -> None:
        """Have a disk, address or snapshot of 20 GB that nothing uses."""

    def relabel(self, name: str, labels: Mapping[str, str]) -> None:
        """Add labels to a VM as a person would."""


class FakeWorld:
    """`World` in memory, on a virtual clock."""

    def __init__(self) -> None:
        self.compute = MemoryCompute()
        self.stock_out = self.compute.stock_out
        self.hide = self.compute.hide
        self.preempt = self.compute.preempt
        self.relabel = self.compute.relabel

    def leave(self, kind: str, name: str, labels: Mapping[str, str]) -> None:
        """As `World.leave`."""
        place = "us-central1" if kind == "address" else ZONE
        if job := labels.get(JOB_LABEL):
            self.compute.leave(name, job=job, kind=kind, place=place, size_gb=20, labels=labels)

    def now(self) -> datetime:
        """As `World.now`."""
        return self.compute.clock.now()

    def until(self, condition: Callable[[], bool]) -> None:
        """As `World.until`: at most ten minutes."""
        for _ in range(600):
            if condition():
                return
            self.compute.clock.advance(timedelta(seconds=1))
        raise AssertionError("it did not come true")


def spot(
    name: str,
    *,
    zone: str = ZONE,
    action: str = "DELETE",
    job: str = "job",
    attempt: int = 2,
    machine: str = "e2-medium",
) -> Request:
    """A create request as a launch of ours sends it."""
    return Request(
        method="POST",
        path=f"/compute/v1/projects/demo/zones/{zone}/instances",
        query={"alt": "json"},
        body={
            "name": name,
            "machineType": f"zones/{zone}/machineTypes/{machine}",
            "labels": {"spotwarden-job": job, "spotwarden-attempt": str(attempt)},
            "scheduling": {"provisioningModel": "SPOT", "instanceTerminationAction": action},
            "networkInterfaces": [{"network": "global/networks/default"}],
            "disks": [
                {
                    "boot": True,
                    "autoDelete": True,
                    "initializeParams": {
                        "sourceImage": "projects/debian-cloud/global/images/family/debian-12"
                    },
                }
            ],
        },
    )


def bulk(job: str, count: int, *, least: int | None = None, zone: str = ZONE) -> Request:
    """A request for all nodes of a gang, as a launch of ours sends it."""
    one = spot(job, zone=zone, job=job).body
    properties = {
        **{key: value for key, value in one.items() if key != "name"},
        "machineType": "e2-medium",
    }
    return Request(
        method="POST",
        path=f"/compute/v1/projects/demo/zones/{zone}/instances/bulkInsert",
        query={"alt": "json"},
        body={
            "count": str(count),
            **({"minCount": str(least)} if least is not None else {}),
            "namePattern": f"{job}-#",
            "instanceProperties": properties,
        },
    )


def new_id() -> str:
    """A request id that was never used."""
    return str(uuid4())


def running(world: World, name: str, **how: Any) -> str:
    """Launch a VM, let it start, give its id."""
    operation = finished(world, world.compute.launch(spot(name, **how), new_id()))
    assert operation.error == ""
    world.until(lambda: status(world, name) is Status.RUNNING)
    return operation.target_id


def delete(world: World, name: str) -> Operation:
    """Delete a VM as its owner would."""
    [vm] = [one for one in world.compute.instances().items if one.name == name]
    return world.compute.delete(vm.zone, vm.id, new_id())


def seen(world: World, name: str) -> Instance | None:
    """The VM of this name as it is listed now."""
    return next((one for one in world.compute.instances().items if one.name == name), None)


def status(world: World, name: str) -> Status | None:
    """Its status; None where it is not listed."""
    found = seen(world, name)
    return None if found is None else found.status


def finished(world: World, begun: Operation) -> Operation:
    """The operation once it is done."""
    world.until(lambda: world.compute.operation(begun.zone, begun.name).done)
    return world.compute.operation(begun.zone, begun.name)
