"""Disks of an instance that exists: attached, detached, resized; and snapshots of them."""

import pytest

from tests.localcloud.compute.world import ZONE, World

VM = f"zones/{ZONE}/instances/vm"
DISKS = f"zones/{ZONE}/disks"
DATA = {"source": f"{DISKS}/data"}


@pytest.fixture
def furnished(world: World) -> World:
    """A world with an instance, and a disk that nobody uses."""
    world.create()
    world.post(DISKS, {"name": "data", "sizeGb": "20"})
    return world


def devices(world: World) -> list[str]:
    """The device names of the instance's disks."""
    return [disk["deviceName"] for disk in world.instance()["disks"]]


def test_an_attached_disk_is_the_instances_last_and_is_in_use(furnished: World):
    """With what the call says of it; the disk says by whom, and since when."""
    body = {**DATA, "deviceName": "d", "mode": "READ_WRITE", "autoDelete": True}
    operation = furnished.post(f"{VM}/attachDisk", body)
    assert operation["operationType"] == "attachDisk"
    disk = furnished.instance()["disks"][1]
    shown = (disk["deviceName"], disk["index"], disk["boot"], disk["autoDelete"], disk["diskSizeGb"])
    assert shown == ("d", 1, False, True, "20")
    data = furnished.get(f"{DISKS}/data")
    assert data["users"] == [furnished.instance()["selfLink"]]
    assert data["lastAttachTimestamp"]
    assert furnished.refused("DELETE", f"{DISKS}/data")[1] == "resourceInUseByAnotherResource"
    assert [vm["disks"][1]["deviceName"] for vm in furnished.machines.told] == ["d"]


def test_a_detached_disk_stays_and_is_free(furnished: World):
    """Whatever `autoDelete` says: that is about the instance's end."""
    furnished.post(f"{VM}/attachDisk", {**DATA, "autoDelete": True})
    furnished.post(f"{VM}/detachDisk", deviceName="persistent-disk-1")
    assert devices(furnished) == ["persistent-disk-0"]
    data = furnished.get(f"{DISKS}/data")
    assert "users" not in data
    assert data["lastDetachTimestamp"]
    furnished.delete(f"{DISKS}/data")


def test_an_attached_disk_goes_with_its_instance_where_it_says_so(furnished: World):
    """As one that was made with it; another one stays."""
    furnished.post(DISKS, {"name": "kept"})
    furnished.post(f"{VM}/attachDisk", {**DATA, "autoDelete": True})
    furnished.post(f"{VM}/attachDisk", {"source": f"{DISKS}/kept"})
    furnished.delete(VM)
    furnished.advance(1)
    assert [disk["name"] for disk in furnished.get(DISKS)["items"]] == ["kept"]


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({}, (400, "invalid")),
        ({"source": f"{DISKS}/none"}, (404, "notFound")),
        ({"source": "zones/us-east1-b/disks/far"}, (400, "invalid")),
        ({**DATA, "deviceName": "persistent-disk-0"}, (400, "invalid")),
        ({"source": f"{DISKS}/other"}, (400, "resourceInUseByAnotherResource")),
    ],
)
def test_what_cannot_be_attached_is_refused(furnished: World, body, refusal):
    """No disk, one of another zone, a name that is taken, a disk of somebody else."""
    furnished.post("zones/us-east1-b/disks", {"name": "far"})
    furnished.create("other")
    assert furnished.refused("POST", f"{VM}/attachDisk", body)[:2] == refusal
    assert devices(furnished) == ["persistent-disk-0"]
    assert "users" not in furnished.get(f"{DISKS}/data")


def test_attaching_by_force_is_not_done(furnished: World):
    """It is for disks of a region."""
    assert furnished.refused("POST", f"{VM}/attachDisk", DATA, forceAttach="true")[0] == 501


@pytest.mark.parametrize("device", ["none", ""])
def test_only_what_is_attached_is_detached(furnished: World, device):
    """400 for a device that there is not."""
    assert furnished.refused("POST", f"{VM}/detachDisk", deviceName=device)[:2] == (400, "invalid")


def test_a_boot_disk_is_detached_of_a_stopped_instance_only(furnished: World):
    """While it runs it is needed."""
    boot = {"deviceName": "persistent-disk-0"}
    assert furnished.refused("POST", f"{VM}/detachDisk", **boot)[:2] == (400, "unsupportedOperation")
    furnished.post(f"{VM}/stop")
    furnished.advance(1)
    furnished.post(f"{VM}/detachDisk", **boot)
    assert "disks" not in furnished.instance() or devices(furnished) == []


def test_an_instance_that_is_being_stopped_is_asked_later(furnished: World):
    """Both are refused with 400 resourceNotReady."""
    furnished.post(f"{VM}/stop")
    furnished.advance(0.03)
    assert furnished.refused("POST", f"{VM}/attachDisk", DATA)[1] == "resourceNotReady"
    assert furnished.refused("POST", f"{VM}/detachDisk", deviceName="x")[1] == "resourceNotReady"


def test_a_disk_grows_and_its_instance_shows_it(furnished: World):
    """Also while it is in use."""
    furnished.post(f"{VM}/attachDisk", DATA)
    operation = furnished.post(f"{DISKS}/data/resize", {"sizeGb": "50"})
    assert furnished.get(f"{DISKS}/data")["sizeGb"] == "50"
    assert [disk["diskSizeGb"] for disk in furnished.instance()["disks"]] == ["10", "50"]
    assert operation["targetLink"].endswith(f"{DISKS}/data")


@pytest.mark.parametrize("size", ["19", "65537"])
def test_a_disk_neither_shrinks_nor_grows_beyond_all_bounds(furnished: World, size):
    """400, and it stays as it is."""
    assert furnished.refused("POST", f"{DISKS}/data/resize", {"sizeGb": size})[:2] == (400, "invalid")
    assert furnished.get(f"{DISKS}/data")["sizeGb"] == "20"


@pytest.mark.parametrize("size", ["20", "65536"])
def test_both_bounds_are_sizes(furnished: World, size):
    """One fact apart from the above."""
    furnished.post(f"{DISKS}/data/resize", {"sizeGb": size})
    assert furnished.get(f"{DISKS}/data")["sizeGb"] == size


def test_a_snapshot_is_made_of_a_disk(furnished: World):
    """Of its size and with its source; the disk may be gone afterwards."""
    furnished.post(f"{DISKS}/data/createSnapshot", {"name": "s", "labels": {"a": "b"}})
    snapshot = furnished.get("global/snapshots/s")
    assert (snapshot["diskSizeGb"], snapshot["labels"]) == ("20", {"a": "b"})
    assert snapshot["sourceDisk"].endswith(f"{DISKS}/data")
    assert snapshot["sourceDiskId"] == furnished.get(f"{DISKS}/data")["id"]
    assert furnished.refused("POST", f"{DISKS}/data/createSnapshot", {"name": "s"})[0] == 409


@pytest.mark.parametrize("method", ["resize", "createSnapshot"])
def test_a_disk_that_there_is_not_is_not_found(world: World, method):
    """404 with its path."""
    body = {"name": "s"} if method == "createSnapshot" else {"sizeGb": "1"}
    assert f"projects/project/{DISKS}/none" in world.refused("POST", f"{DISKS}/none/{method}", body)[2]
