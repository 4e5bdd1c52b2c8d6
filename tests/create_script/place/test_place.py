"""A create request moved to another zone or region, or the reasons why it stays."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from spotwarden.create_script.request.place import Immovable, move
from spotwarden.model.request import Request

HERE, NEXT, ABROAD = "us-central1-a", "us-central1-f", "europe-west4-b"
IN_ZONE, IN_REGION = "--zone=us-central1-a", "--region=us-central1"
OFFERS = (
    "--machine-type=n1-standard-8",
    "--accelerator=type=nvidia-tesla-t4,count=1",
    "--boot-disk-type=pd-ssd",
    "--local-ssd=interface=nvme",
    "--create-disk=size=10,type=pd-balanced",
)


def reasons(request, zone):
    """Give the reasons why a request stays; fail if it moves."""
    found = move(request, zone)
    assert isinstance(found, Immovable)
    return found.reasons


def links(value):
    """Give all links to zones and regions in a body."""
    text = json.dumps(value)
    return [part for part in text.split('"') if "/zones/" in part or "/regions/" in part]


def test_what_every_zone_offers_is_renamed(request_of):
    """Types of machines, disks and accelerators are found in the new zone."""
    moved = move(request_of(*OFFERS), NEXT)
    assert moved.path == f"/compute/v1/projects/demo-project/zones/{NEXT}/instances"
    renamed = [link for link in links(moved.body) if "/imageFamilyViews/" not in link]
    assert len(renamed) == 5
    assert all(f"/zones/{NEXT}/" in link for link in renamed)


def test_nothing_else_changes(request_of):
    """Global resources, and the words of the user, are the same in every zone."""
    link = "projects/p/zones/us-central1-a/x"
    request = request_of(f"--metadata=where={link}", "--labels=zone=us-central1-a")
    request.body["partnerMetadata"] = {"a": {"entries": {"where": link}}}
    moved = move(request, NEXT)
    for field in (
        "metadata",
        "partnerMetadata",
        "labels",
        "networkInterfaces",
        "disks",
        "serviceAccounts",
        "name",
    ):
        assert moved.body[field] == request.body[field]


def test_the_family_of_a_public_image_is_asked_for_in_no_zone(request_of):
    """The zone in its URL is a dash."""
    moved = move(request_of(), NEXT)
    assert "/zones/-/imageFamilyViews/" in moved.body["disks"][0]["initializeParams"]["sourceImage"]


def test_a_subnetwork_is_shared_by_the_zones_of_its_region(request_of):
    """Abroad there is none of that name, as far as anybody can know."""
    request = request_of("--subnet=mine")
    assert move(request, NEXT).body["networkInterfaces"] == request.body["networkInterfaces"]
    assert reasons(request, ABROAD) == ("the subnetwork mine is in region us-central1",)


@pytest.mark.parametrize("flags", [("--subnet=default",), ("--network=auto", "--subnet=auto")])
def test_the_subnetwork_of_an_automatic_network_has_its_name_in_every_region(flags, request_of):
    """Such a network has one subnetwork in each region, all named like the network."""
    moved = move(request_of(*flags), ABROAD)
    assert "/regions/europe-west4/subnetworks/" in moved.body["networkInterfaces"][0]["subnetwork"]


TIED_TO_ZONE = {
    "an existing disk": (["--disk=name=data"], "the disk data exists already"),
    "a regional disk": (["--disk=name=data,scope=regional"], "the disk data exists already"),
    "a reservation": (["--reservation-affinity=specific", "--reservation=r1"], "the reservation r1"),
    "a bound machine": (["--provisioning-model=RESERVATION_BOUND"], "bound to a reservation"),
    "a sole tenant": (["--node-group=g"], "sole-tenant nodes"),
    "a storage pool": (["--create-disk=size=10,storage-pool=sp"], "the storage pool sp"),
    "a hint": (["--location-hint=rack"], "the location hint rack"),
    "a machine image": (["--source-machine-image=mi"], "the machine image mi"),
    "replicas": (
        ["--create-disk=^;^size=10;replica-zones=us-central1-a,us-central1-b"],
        "replicas in us-central1-a and us-central1-b",
    ),
    "a type of a third zone": (
        ["--machine-type=projects/p/zones/us-east1-b/machineTypes/m"],
        "m is named in us-east1-b",
    ),
}


@pytest.mark.parametrize(("flags", "reason"), TIED_TO_ZONE.values(), ids=TIED_TO_ZONE)
def test_what_exists_in_one_zone_keeps_the_job_there(flags, reason, request_of):
    """Neither another zone of the region nor another region has it."""
    for zone in (NEXT, ABROAD):
        assert any(reason in said for said in reasons(request_of(*flags), zone))


TIED_TO_REGION = {
    "an external address": (["--address=203.0.113.5"], "the address 203.0.113.5"),
    "an internal address": (["--private-network-ip=10.0.0.5"], "the address 10.0.0.5"),
    "a named address": (["--private-network-ip=mine"], "the address mine"),
    "an IPv6 address": (["--external-ipv6-address=2001:db8::1"], "the address 2001:db8::1"),
    "an alias range": (["--network-interface=aliases=pods:/24"], "an alias range"),
    "a network attachment": (
        ["--network-interface=network-attachment=projects/p/regions/us-central1/networkAttachments/na"],
        "the network attachment na",
    ),
    "a resource policy": (["--resource-policies=compact"], "the resource policy compact"),
    "a snapshot schedule": (
        ["--create-disk=size=10,disk-resource-policy=daily"],
        "the resource policy daily",
    ),
    "a key": (
        ["--boot-disk-kms-key=projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"],
        "the key k is in us-central1",
    ),
    "a template": (["--source-instance-template=t"], "the instance template t"),
}


@pytest.mark.parametrize(("flags", "reason"), TIED_TO_REGION.values(), ids=TIED_TO_REGION)
def test_what_exists_in_one_region_keeps_the_job_in_that(flags, reason, request_of):
    """Other zones of the region will do."""
    request = request_of(*flags)
    assert isinstance(move(request, NEXT), Request)
    assert any(reason in said for said in reasons(request, ABROAD))


def test_a_global_key_is_good_everywhere(request_of):
    """Only keys of a place stay there."""
    request = request_of("--boot-disk-kms-key=projects/p/locations/global/keyRings/r/cryptoKeys/k")
    assert isinstance(move(request, ABROAD), Request)


def test_all_reasons_are_named_at_once_and_none_twice(request_of):
    """Whoever reads them need not try again and again."""
    request = request_of(
        "--disk=name=a", "--node-group=g", "--reservation-affinity=specific", "--reservation=r"
    )
    assert len(reasons(request, NEXT)) == 3


def test_replicas_allow_a_move_to_the_other_replica(request_of):
    """Abroad there is none."""
    request = request_of("--create-disk=^;^size=10;type=pd-ssd;replica-zones=us-central1-a,us-central1-f")
    assert isinstance(move(request, NEXT), Request)
    assert isinstance(move(request, ABROAD), Immovable)


def test_a_group_in_a_zone_moves_with_its_path(request_of):
    """Its types are bare names, which mean the same in every zone."""
    request = request_of(*OFFERS, bulk=IN_ZONE)
    moved = move(request, ABROAD)
    assert moved.path == f"/compute/v1/projects/demo-project/zones/{ABROAD}/instances/bulkInsert"
    assert moved.body == request.body


def test_a_group_in_a_region_stays_as_it_is_for_every_zone_of_that(request_of):
    """The API picks the zone; abroad the region changes."""
    request = request_of(*OFFERS, bulk=IN_REGION)
    assert move(request, NEXT) is request
    assert move(request, ABROAD).path.endswith("/regions/europe-west4/instances/bulkInsert")


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--location-policy=us-central1-a=deny"], "the location policy"),
        (["--disk=name=data"], "the disk data"),
        (["--subnet=mine"], "the subnetwork mine"),
        (["--reservation-affinity=specific", "--reservation=r"], "the reservation r"),
        (["--resource-policies=compact"], "the resource policy compact"),
    ],
)
def test_a_group_is_tied_by_what_ties_a_machine(flags, reason, request_of):
    """And by zones that it names itself."""
    assert any(reason in said for said in reasons(request_of(*flags, bulk=IN_REGION), ABROAD))


@pytest.mark.parametrize(
    "zone", ["", "us-central1", "us-central1-ab", "zones/us-central1-a", "US-CENTRAL1-A"]
)
def test_a_target_that_is_no_zone_is_an_error_of_the_caller(zone, request_of):
    """Nothing sensible could come out."""
    with pytest.raises(ValueError, match="cannot move"):
        move(request_of(), zone)


def test_a_request_that_creates_nothing_is_an_error_of_the_caller():
    """Only creates have a place to be moved from."""
    other = Request(method="GET", path="/compute/v1/projects/p/zones/z/instances/vm", query={}, body={})
    with pytest.raises(ValueError, match="cannot move"):
        move(other, NEXT)


def recorded():
    """Give every request that gcloud was recorded to send."""
    folder = Path(__file__).parents[1]
    spec = spec_from_file_location("record_oracle_of_places", folder / "record_oracle.py")
    oracle = module_from_spec(spec)
    spec.loader.exec_module(oracle)
    record = json.loads((folder / "gcloud/probes.json").read_text())
    for probe in record["probes"]:
        for patch in probe.get("sent", ()):
            yield Request(**oracle.patched(record["plain"][oracle.command_of(probe["argv"])], patch))


def test_every_recorded_request_is_left_alone_where_it_is():
    """Its own zone, or any zone of its own region."""
    for request in recorded():
        place = request.path.removesuffix("/bulkInsert").split("/")[-2]
        zone = place if "/zones/" in request.path else f"{place}-a"
        if "%" not in zone:
            assert move(request, zone) is request


@pytest.mark.parametrize("zone", [NEXT, ABROAD])
def test_every_recorded_request_that_moves_comes_back_the_same(zone):
    """Nothing is lost on the way."""
    moved = 0
    for request in recorded():
        there = move(request, zone)
        if isinstance(there, Request) and "/us-central1-a/" in request.path:
            moved += 1
            assert f"/{zone}/" in there.path
            assert move(there, HERE) == request
    assert moved > 100
