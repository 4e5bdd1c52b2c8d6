"""Disks whose labels change."""

from tests.localcloud.compute.world import ZONE, World

DISK = f"zones/{ZONE}/disks/data"


def made(world: World, **fields: object) -> dict[str, object]:
    """A disk."""
    world.post(f"zones/{ZONE}/disks", {"name": "data", "sizeGb": "20", **fields})
    return world.get(DISK)


def test_labels_of_a_disk_are_replaced_as_a_whole(world: World):
    """Under the fingerprint that was read; the fingerprint then is another. No labels are no field."""
    before = made(world, labels={"a": "1", "b": "2"})
    body = {"labels": {"b": "3"}, "labelFingerprint": before["labelFingerprint"]}
    operation = world.post(f"zones/{ZONE}/disks/{before['id']}/setLabels", body)
    assert (operation["operationType"], operation["targetId"]) == ("setLabels", before["id"])
    after = world.get(DISK)
    assert after["labels"] == {"b": "3"}
    assert world.refused("POST", f"{DISK}/setLabels", body)[:2] == (412, "conditionNotMet")
    world.post(f"{DISK}/setLabels", {"labelFingerprint": after["labelFingerprint"]})
    assert "labels" not in world.get(DISK)


def test_labels_that_cannot_be_leave_a_disk_as_it_was(world: World):
    """As those of an instance."""
    before = made(world)
    body = {"labels": {"Upper": "1"}, "labelFingerprint": before["labelFingerprint"]}
    assert world.refused("POST", f"{DISK}/setLabels", body)[0] == 400
    assert world.get(DISK) == before


def test_a_disk_that_there_is_not_has_no_labels(world: World):
    """404 with its path."""
    status, _, message = world.refused("POST", f"{DISK}/setLabels", {"labels": {}})
    assert (status, message) == (404, f"The resource 'projects/project/{DISK}' was not found")
