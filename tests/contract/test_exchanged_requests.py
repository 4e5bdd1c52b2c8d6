"""A script's request for another machine type is taken by Compute Engine, as the local cloud has it."""

from collections.abc import Iterator

import pytest

from localcloud.compute.catalog import Catalog
from spotwarden.create_script.request.exchange import NoExchange, exchange
from spotwarden.model.machine_families import FAMILIES, family_of
from spotwarden.model.request import Request
from tests.localcloud.compute.world import IMAGE, PROJECT, World, request, spot

ZONE = "us-central1-b"
"""It has all of these machines."""
DISKS = ("", "pd-standard", "pd-balanced", "pd-ssd", "hyperdisk-balanced")
CPUS = ("n1-standard-8", "e2-standard-8", "n2-standard-8", "c3-standard-8", "n4-standard-8", "c4-standard-8")
CATALOG = Catalog()
GPUS = ("n1-standard-8", "g2-standard-8", "a2-highgpu-1g", "a3-highgpu-1g", "a4-highgpu-8g")


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """A fresh world."""
    world = World()
    yield world
    world.close()
    assert not world.problems, world.problems


def insert(machine: str, disk: str, *, gpu: bool) -> Request:
    """A script's request for a spot VM on this machine, with a boot disk of this type."""
    params = {"sourceImage": IMAGE}
    if disk:
        params["diskType"] = f"zones/{ZONE}/diskTypes/{disk}"
    body = request(
        machineType=f"zones/{ZONE}/machineTypes/{machine}",
        scheduling=spot(),
        disks=[{"boot": True, "autoDelete": True, "initializeParams": params}],
    )
    if gpu and machine.startswith("n1-"):
        kind = f"zones/{ZONE}/acceleratorTypes/nvidia-tesla-t4"
        body["guestAccelerators"] = [{"acceleratorType": kind, "acceleratorCount": 1}]
    path = f"/compute/v1/projects/{PROJECT}/zones/{ZONE}/instances"
    return Request(method="POST", path=path, query={}, body=body)


@pytest.mark.parametrize(
    ("own", "other", "disk"),
    [
        (own, other, disk)
        for kind in (CPUS, GPUS)
        for own in kind
        for other in kind
        if own != other and not (kind is GPUS and other.startswith("n1-"))
        for disk in DISKS
        if disk in {"", *family_of(own).disks}
    ],
)
def test_every_machine_takes_the_request_that_was_made_for_another(
    world: World, own: str, other: str, disk: str
) -> None:
    """Whatever disk the script asks for."""
    exchanged = exchange(insert(own, disk, gpu=own in GPUS and other in GPUS), other)
    assert not isinstance(exchanged, NoExchange), exchanged
    world.post(f"zones/{ZONE}/instances", exchanged.body)
    world.advance(2)
    vm = world.instance(zone=ZONE)
    assert (vm["status"], vm["machineType"].rpartition("/")[2]) == ("RUNNING", other)
    world.delete(f"zones/{ZONE}/instances/vm")
    world.advance(200)


@pytest.mark.parametrize("machine", [*CPUS, *GPUS[1:]])
def test_a_disk_that_a_series_does_not_take_is_refused(world: World, machine: str) -> None:
    """By Compute Engine's words; so what the table says is the same on both sides."""
    taken = set(CATALOG.families[machine.partition("-")[0]].disks) or set(CATALOG.disk_types)
    assert set(family_of(machine).disks) <= taken
    if "pd-standard" in taken:
        return
    body = insert(machine, "pd-standard", gpu=False).body
    status, _, message = world.refused("POST", f"zones/{ZONE}/instances", body)
    assert (status, message) == (
        400,
        f"[pd-standard, {machine}] features are not compatible for creating instance.",
    )


def test_the_table_knows_the_architecture_of_each_series() -> None:
    """An image for x86 does not boot on Arm."""
    families = CATALOG.families
    known = {name: family.arm for name, family in FAMILIES.items() if name in families}
    assert known == {name: families[name].architecture == "ARM64" for name in known}
    assert known["t2a"]
