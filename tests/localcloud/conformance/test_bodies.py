"""Every field of Compute Engine's bodies is done, refused with its name, or kept and told again."""

import copy
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from localcloud.compute import schema
from localcloud.rpc import RpcError
from tests.localcloud.compute.world import REGION, ZONE, World, request
from tests.localcloud.conformance import bodies
from tests.localcloud.conformance.bodies import BodyField
from tests.localcloud.conformance.write_bodies import with_bodies
from tests.localcloud.conformance.write_methods import PAGE

SUBNETWORK = {"network": "global/networks/default", "ipCidrRange": "10.9.0.0/24"}
INSERTS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "Address": (f"regions/{REGION}/addresses", {}),
    "Disk": (f"zones/{ZONE}/disks", {}),
    "Firewall": (
        "global/firewalls",
        {"network": "global/networks/default", "allowed": [{"IPProtocol": "tcp"}]},
    ),
    "Image": ("global/images", {}),
    "Instance": (f"zones/{ZONE}/instances", request()),
    "InstanceTemplate": ("global/instanceTemplates", {"properties": {"machineType": "e2-medium"}}),
    "MachineImage": ("global/machineImages", {"sourceInstance": f"zones/{ZONE}/instances/source"}),
    "Network": ("global/networks", {"autoCreateSubnetworks": False}),
    "Reservation": (f"zones/{ZONE}/reservations", {}),
    "ResourcePolicy": (f"regions/{REGION}/resourcePolicies", {}),
    "Snapshot": ("global/snapshots", {}),
    "Subnetwork": (f"regions/{REGION}/subnetworks", SUBNETWORK),
}
"""By message: where one is made, and the least that it needs."""


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """One for all. What is said to it is not held against Google's document: samples are no real values."""
    world = World()
    world.create("source")
    yield world
    world.close()


def _whole(field: BodyField, name: str) -> tuple[str, dict[str, Any], Any]:
    body, _ = bodies.ways()[field.message]
    path, least = INSERTS[body]
    value = bodies.sample(bodies.schemas()[field.message]["properties"][field.name])
    return path, bodies.with_field({**copy.deepcopy(least), "name": name}, field, value), value


def test_the_page_says_what_is_kept_and_what_is_refused():
    """`python -m tests.localcloud.conformance.write_bodies` brings it up to date."""
    text = PAGE.read_text(encoding="utf-8")
    assert text == with_bodies(text)
    assert all(f"`{field}`" in text for field in bodies.refused())


def test_every_insert_has_its_place():
    """The table above is whole, so that no field goes untried."""
    assert {*INSERTS} == {*bodies.INSERTED}


def test_a_field_that_is_kept_is_told_again(world: World):
    """Each is sent in a body of its own, and is in the resource that is got."""
    lost = []
    for number, field in enumerate(bodies.kept()):
        path, body, value = _whole(field, f"thing-{number}")
        answer = world.call("POST", path, body)
        world.advance(1)
        got = {} if answer.is_error else world.get(f"{path}/thing-{number}")
        if bodies.found_in(got, field) != value:
            lost.append(f"{field}: {answer.status_code}, {bodies.found_in(got, field)} is not {value}")
    assert not lost, "\n".join(lost)


def test_most_fields_are_looked_at():
    """Else the search for them went wrong."""
    assert len(bodies.ways()) > 80
    assert len(bodies.kept()) > 150
    assert BodyField("Scheduling", "nodeAffinities") in bodies.kept()
    assert BodyField("Scheduling", "maxRunDuration") not in bodies.kept()


@pytest.mark.parametrize("field", bodies.refused(), ids=str)
def test_a_field_that_is_not_done_is_refused_with_its_name(field: BodyField):
    """501; and where it asks for nothing it is taken."""
    body, _ = bodies.ways()[field.message]
    described = bodies.schemas()[field.message]["properties"][field.name]
    value = bodies.sample(described)
    with pytest.raises(RpcError) as refused:
        schema.read(body, bodies.with_field({}, field, value))
    assert (refused.value.status, refused.value.message) == (501, f"The local cloud does not do {field}.")
    schema.read(body, bodies.with_field({}, field, None if "enum" in described else type(value)()))


@pytest.mark.parametrize(("word", "status"), [("RECREATE_DISK", 200), ("NEVER", 400)])
def test_what_a_later_update_would_do_with_a_disk_keeps_no_vm_away(world: World, word: str, status: int):
    """It is of no use to a VM that is created; a word that Compute Engine does not know is refused."""
    path, least = INSERTS["Instance"]
    body = {**copy.deepcopy(least), "name": "updated"}
    body["disks"][0]["initializeParams"]["onUpdateAction"] = word
    assert world.call("POST", path, body).status_code == status


def test_a_refusal_leaves_nothing(world: World):
    """It comes before anything is made; what is wrong besides is told first."""
    path, body, _ = _whole(BodyField("AttachedDiskInitializeParams", "sourceImageEncryptionKey"), "refused")
    assert world.refused("POST", path, body)[:2] == (501, "notImplemented")
    assert world.call("GET", f"{path}/refused").status_code == 404
    assert world.refused("POST", path, {**body, "x": 1})[0] == 400


def test_options_that_are_kept_are_so_by_a_change_too(world: World):
    """`setScheduling` with all of them at once."""
    options = {
        field.name: bodies.sample(bodies.schemas()["Scheduling"]["properties"][field.name])
        for field in bodies.kept()
        if field.message == "Scheduling"
    }
    world.create("changed")
    world.post(f"zones/{ZONE}/instances/changed/stop")
    world.advance(100)
    world.post(f"zones/{ZONE}/instances/changed/setScheduling", options)
    world.advance(1)
    scheduling = world.instance("changed")["scheduling"]
    assert {name: scheduling.get(name) for name in options} == options


def test_what_a_disk_of_a_vm_is_to_be_is_told_of_the_disk(world: World):
    """`initializeParams` are not shown by the VM, as on Compute Engine."""
    wanted = {"architecture": "X86_64", "enableConfidentialCompute": True, "storagePool": "pool"}
    boot = copy.deepcopy(request()["disks"][0])
    boot["initializeParams"] |= wanted
    world.create("with-disk", disks=[boot])
    disk = world.get(f"zones/{ZONE}/disks/with-disk")
    assert {name: disk[name] for name in wanted} == wanted


def test_a_network_is_as_it_was_asked_for(world: World):
    """Not only in what it does not say: `mtu` and others had been overwritten."""
    given = {"name": "wide", "mtu": 8896, "routingConfig": {"routingMode": "GLOBAL"}}
    world.post("global/networks", {**given, "autoCreateSubnetworks": False})
    world.advance(1)
    assert given.items() <= world.get("global/networks/wide").items()
    below = {"name": "wide", **SUBNETWORK, "privateIpGoogleAccess": True, "stackType": "IPV4_IPV6"}
    world.post(f"regions/{REGION}/subnetworks", {**below, "ipCidrRange": "10.10.0.0/24"})
    world.advance(1)
    made = world.get(f"regions/{REGION}/subnetworks/wide")
    assert (made["privateIpGoogleAccess"], made["stackType"]) == (True, "IPV4_IPV6")


def test_the_fields_that_are_refused_are_fields():
    """Of messages that a body can have."""
    there = defaultdict(set)
    for message in bodies.ways():
        for field, _ in bodies.members(message):
            there[message].add(field.name)
    assert [field for field in bodies.refused() if field.name not in there[field.message]] == []
