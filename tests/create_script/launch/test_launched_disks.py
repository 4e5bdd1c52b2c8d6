"""The disks of instances that ran → disks of a request."""

import pytest

from spotwarden.create_script.request.launched import launch_of_resources
from spotwarden.create_script.request.stored import with_choices
from tests.create_script.launch.again import again, only, refusal

NEW_DISK = "trainer-1"


def with_disk(disks, name, **fields):
    """The disks, with other fields in the one of this name; None takes a field away."""
    return {
        link: {key: value for key, value in {**disk, **fields}.items() if value is not None}
        if disk["name"] == name
        else disk
        for link, disk in disks.items()
    }


def test_a_disk_that_was_not_looked_at_leaves_the_image_unknown(run):
    """An instance does not say what its disks were made from."""
    instances, _ = run("create", "trainer")
    assert "what the disk trainer was made from is unknown" in refusal(instances)


def test_disks_are_known_by_any_form_of_their_url(run):
    """Another version of the API, or another host, names the same disk."""
    instances, disks = run("create", "trainer")
    short = {"projects/" + link.split("/projects/")[1]: disk for link, disk in disks.items()}
    assert launch_of_resources(instances, short) == launch_of_resources(instances, disks)


def test_a_disk_that_stays_is_attached_again(run, cloud):
    """It holds the job's data, and keeps the job in its zone."""
    cloud.world.post("zones/us-central1-a/disks", {"name": "data", "sizeGb": "50"})
    launch = again(run, "create", "trainer", "--disk=name=data")
    disk = launch.request.body["disks"][1]
    assert disk["source"] == "projects/project/zones/us-central1-a/disks/data"
    assert with_choices(launch, ["us-central1-f"]).fixed == (
        "the disk data exists already, in us-central1-a",
    )


def test_a_disk_of_a_name_of_its_own_keeps_that(run):
    """Names that are derived from the instance's are left to be derived."""
    launch = again(run, "create", "trainer", "--create-disk=size=10,name=scratch", "--create-disk=size=10")
    names = [disk["initializeParams"].get("diskName") for disk in launch.request.body["disks"]]
    assert names == [None, "scratch", None]


@pytest.mark.parametrize(
    ("name", "fields", "reason"),
    [
        ("trainer", {"sourceImage": None}, "what the boot disk trainer was made from is unknown"),
        (NEW_DISK, {"sourceDisk": "zones/z/disks/gold"}, "was made from gold, which a create cannot name"),
        (NEW_DISK, {"creationTimestamp": "2026-11-20T00:00:00Z"}, "trainer-1 was there before trainer"),
        ("trainer", {"sourceImageEncryptionKey": {"sha256": "x"}}, "a key of the customer's own"),
    ],
)
def test_a_disk_whose_content_is_lost_is_not_made_up(name, fields, reason, run):
    """An empty disk in its place would look like the job's own."""
    instances, disks = run("create", "trainer", "--create-disk=size=10")
    assert reason in refusal(instances, with_disk(disks, name, **fields))


def test_a_disk_as_old_as_its_instance_was_made_with_it(run):
    """A few seconds lie between the two."""
    instances, disks = run("create", "trainer")
    created = only(instances)["creationTimestamp"]
    assert launch_of_resources(instances, with_disk(disks, "trainer", creationTimestamp=created)).nodes


def test_a_managed_key_is_named_without_its_version(run):
    """The key may have been turned over since."""
    instances, disks = run("create", "trainer")
    key = "projects/p/locations/global/keyRings/r/cryptoKeys/k"
    drives = [
        {**only(instances)["disks"][0], "diskEncryptionKey": {"kmsKeyName": f"{key}/cryptoKeyVersions/4"}}
    ]
    launch = launch_of_resources({"trainer": {**only(instances), "disks": drives}}, disks)
    assert launch.request.body["disks"][0]["diskEncryptionKey"] == {"kmsKeyName": key}


def test_an_alias_range_is_asked_for_by_its_size(run):
    """The very range is the old instance's until that is gone."""
    instances, disks = run("create", "trainer")
    (card,) = only(instances)["networkInterfaces"]
    ranges = [{"subnetworkRangeName": "pods", "ipCidrRange": "10.4.8.0/24"}]
    card = {**card, "aliasIpRanges": ranges}
    launch = launch_of_resources({"trainer": {**only(instances), "networkInterfaces": [card]}}, disks)
    (found,) = launch.request.body["networkInterfaces"]
    assert found["aliasIpRanges"] == [{"subnetworkRangeName": "pods", "ipCidrRange": "/24"}]


def test_a_disk_keeps_its_shape_and_no_more(run):
    """Size, type and source; what nobody asked for is not asked for."""
    params = again(run, "create", "trainer").request.body["disks"][0]["initializeParams"]
    assert set(params) == {"diskSizeGb", "diskType", "sourceImage"}


def test_memory_that_is_used_as_a_disk_cannot_be_asked_for(run):
    """Only local SSDs can."""
    instances, disks = run("create", "trainer", "--local-ssd=interface=NVME")
    drives = [{**disk, "interface": "NVDIMM"} for disk in only(instances)["disks"]]
    changed = {"trainer": {**only(instances), "disks": drives}}
    assert refusal(changed, disks) == "a local disk with the interface NVDIMM can't be requested"
