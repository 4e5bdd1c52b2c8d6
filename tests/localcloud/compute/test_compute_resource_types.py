"""What belongs to instances: disks, addresses, images, networks, templates; and what is on offer."""

import pytest

from localcloud.compute.catalog import Catalog
from tests.localcloud.compute.world import IMAGE, REGION, ZONE, World, request

INSTANCES = f"zones/{ZONE}/instances"
DISKS = f"zones/{ZONE}/disks"
HERE = "http://127.0.0.1:1/compute/v1/projects/project"


RESOURCE_TYPES = [
    (f"zones/{ZONE}/disks", {}),
    (f"zones/{ZONE}/reservations", {}),
    (f"regions/{REGION}/addresses", {}),
    (f"regions/{REGION}/resourcePolicies", {}),
    (
        f"regions/{REGION}/subnetworks",
        {"network": "global/networks/default", "ipCidrRange": "192.168.0.0/24"},
    ),
    ("global/images", {}),
    ("global/instanceTemplates", {"properties": {"machineType": "e2-small"}}),
    ("global/networks", {}),
    ("global/snapshots", {}),
]


def test_a_boot_disk_is_made_and_deleted_with_its_instance(world: World):
    """Named after it, and in use by it."""
    vm = world.create()
    disk = world.get(f"{DISKS}/vm")
    assert (disk["users"], disk["sizeGb"], disk["status"]) == ([vm["selfLink"]], "10", "READY")
    assert disk["sourceImage"].startswith(
        "http://127.0.0.1:1/compute/v1/projects/debian-cloud/global/images/"
    )
    world.delete(f"{INSTANCES}/vm")
    world.advance(1)
    assert world.refused("GET", f"{DISKS}/vm")[0] == 404


def test_a_disk_without_auto_delete_stays(world: World):
    """And blocks its name: the next instance of that name cannot have a new disk of it."""
    boot = {"boot": True, "autoDelete": False, "initializeParams": {"sourceImage": IMAGE}}
    world.create(disks=[boot])
    world.delete(f"{INSTANCES}/vm")
    world.advance(1)
    assert "users" not in world.get(f"{DISKS}/vm")
    assert world.refused("POST", INSTANCES, request())[2] == (
        f"The resource 'projects/project/{DISKS}/vm' already exists"
    )
    again = {"boot": True, "source": f"{DISKS}/vm"}
    assert world.create(disks=[again])["disks"][0]["source"] == f"{HERE}/{DISKS}/vm"


def test_further_disks_and_local_ssds(world: World):
    """A data disk has a name of its own; a local SSD is no disk resource."""
    disks = [
        {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": IMAGE, "diskSizeGb": "50"}},
        {
            "autoDelete": True,
            "initializeParams": {"diskName": "data", "diskType": "pd-ssd", "diskSizeGb": 200},
        },
        {"autoDelete": True, "initializeParams": {"diskType": "pd-balanced"}},
        {
            "type": "SCRATCH",
            "autoDelete": True,
            "interface": "NVME",
            "initializeParams": {"diskType": "local-ssd"},
        },
    ]
    vm = world.create(disks=disks)
    assert [disk["index"] for disk in vm["disks"]] == [0, 1, 2, 3]
    assert [disk["diskSizeGb"] for disk in vm["disks"]] == ["50", "200", "100", "375"]
    assert "source" not in vm["disks"][3]
    assert [disk["name"] for disk in world.get(DISKS)["items"]] == ["data", "vm", "vm-2"]


def test_a_disk_in_use_is_attached_to_no_other_instance_but_to_read(world: World):
    """And is not deleted."""
    world.post(DISKS, {"name": "data", "sizeGb": "20"})
    boot = request()["disks"][0]
    world.create("a", disks=[boot, {"source": f"{DISKS}/data"}])
    body = request("b", disks=[boot, {"source": f"{DISKS}/data"}])
    status, reason, message = world.refused("POST", INSTANCES, body)
    assert (status, reason) == (400, "resourceInUseByAnotherResource")
    assert message.endswith("is already being used by 'projects/project/zones/us-central1-a/instances/a'")
    world.create("b", disks=[boot, {"source": f"{DISKS}/data", "mode": "READ_ONLY"}])
    assert world.refused("DELETE", f"{DISKS}/data")[1] == "resourceInUseByAnotherResource"


def test_a_disk_of_another_zone_is_refused(world: World):
    """A job with such a disk cannot be moved."""
    world.post("zones/us-east1-b/disks", {"name": "data"})
    disks = [request()["disks"][0], {"source": "zones/us-east1-b/disks/data"}]
    assert f"The disk is not in zone '{ZONE}'." in world.refused("POST", INSTANCES, request(disks=disks))[2]


def test_a_disk_is_made_from_a_snapshot_of_another(world: World):
    """With its size."""
    world.post(DISKS, {"name": "data", "sizeGb": "70"})
    world.post("global/snapshots", {"name": "snap", "sourceDisk": f"{DISKS}/data"})
    world.post(DISKS, {"name": "copy", "sourceSnapshot": "global/snapshots/snap"})
    assert world.get(f"{DISKS}/copy")["sizeGb"] == "70"
    got = world.refused("POST", DISKS, {"name": "x", "sourceSnapshot": "global/snapshots/none"})
    assert got[0] == 404


@pytest.mark.parametrize("kind", sorted(Catalog().disk_types))
def test_every_disk_type_can_be_asked_for(world: World, kind):
    """With its own size where none is given."""
    world.post(DISKS, {"name": "d", "type": f"{HERE}/zones/{ZONE}/diskTypes/{kind}"})
    disk = world.get(f"{DISKS}/d")
    assert disk["sizeGb"] == world.get(f"zones/{ZONE}/diskTypes/{kind}")["defaultDiskSizeGb"]


@pytest.mark.parametrize(("path", "body"), RESOURCE_TYPES)
def test_everything_is_made_got_listed_and_deleted_the_same_way(world: World, path, body):
    """With operations, 409 on a name in use, 404 on one that is not there."""
    operation = world.post(path, body | {"name": "thing"})
    assert operation["operationType"] == "insert"
    world.advance(1)
    assert world.operation(operation)["status"] == "DONE"
    made = world.get(f"{path}/thing")
    assert (made["selfLink"], made["id"]) == (f"{HERE}/{path}/thing", operation["targetId"])
    assert made in world.get(path)["items"]
    assert world.refused("POST", path, body | {"name": "thing"})[:2] == (409, "alreadyExists")
    assert world.refused("POST", path, body | {"name": "ResourceType"})[:2] == (400, "invalid")
    assert world.delete(f"{path}/thing")["operationType"] == "delete"
    assert world.refused("GET", f"{path}/thing")[:2] == (404, "notFound")
    assert world.refused("DELETE", f"{path}/thing")[:2] == (404, "notFound")


@pytest.mark.parametrize(("path", "body"), RESOURCE_TYPES)
def test_a_thing_can_be_deleted_by_its_id(world: World, path, body):
    """Which no other thing of its name has."""
    old = world.post(path, body | {"name": "thing"})["targetId"]
    world.advance(1)
    assert world.delete(f"{path}/{old}")["targetId"] == old
    world.post(path, body | {"name": "thing"})
    assert world.refused("DELETE", f"{path}/{old}")[:2] == (404, "notFound")
    assert world.get(f"{path}/thing")["id"] != old


def test_templates_and_machine_images_need_what_they_are_about(world: World):
    """A machine type, an instance."""
    assert "machine type is required" in world.refused("POST", "global/instanceTemplates", {"name": "t"})[2]
    body = {"name": "m", "sourceInstance": f"{INSTANCES}/none"}
    assert world.refused("POST", "global/machineImages", body)[0] == 404


@pytest.mark.parametrize(
    "path",
    [f"zones/{ZONE}/disks", f"regions/{REGION}/addresses", "global/images", "global/snapshots"],
)
def test_labels_are_replaced_by_whoever_knows_them(world: World, path):
    """With the fingerprint of now; without labels there are none."""
    world.post(path, {"name": "n"})
    before = world.get(f"{path}/n")
    body = {"labels": {"a": "b"}, "labelFingerprint": before["labelFingerprint"]}
    world.post(f"{path}/n/setLabels", body)
    assert world.get(f"{path}/n")["labels"] == {"a": "b"}
    assert world.refused("POST", f"{path}/n/setLabels", body)[:2] == (412, "conditionNotMet")
    bad = {"labels": {"A": "b"}, "labelFingerprint": world.get(f"{path}/n")["labelFingerprint"]}
    assert world.refused("POST", f"{path}/n/setLabels", bad)[0] == 400
    world.post(f"{path}/n/setLabels", {**bad, "labels": {}})
    assert "labels" not in world.get(f"{path}/n")
    assert world.refused("POST", f"{path}/none/setLabels", body)[0] == 404
