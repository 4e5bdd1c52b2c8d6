"""What a script says of disks against those that were attached."""

import pytest

from spotwarden.create_script.request.compare import differences
from tests.create_script.launch.saying import FLAGS, IMAGE, SCRIPT, request_of


@pytest.mark.parametrize(
    ("flag", "sentence"),
    [
        ("--boot-disk-size=60GB", "the size of disk 0 in GB: the script says 50, the instance has 60"),
        (
            "--boot-disk-type=pd-balanced",
            "the type of disk 0: the script says pd-ssd, the instance has pd-balanced",
        ),
        (
            "--image=debian-12-bookworm-v20260120",
            f"the image of disk 0: the script says {IMAGE}, the instance has debian-12-bookworm-v20260120",
        ),
    ],
)
def test_disks_are_compared_as_far_as_they_are_known(flag, sentence, run):
    """Their size is always, their type and image where somebody looked at them."""
    instances, disks = run(*SCRIPT, *FLAGS, flag)
    assert differences(request_of(*SCRIPT, *FLAGS), instances["trainer"], disks) == (sentence,)
    assert len(differences(request_of(*SCRIPT, *FLAGS), instances["trainer"])) == ("size" in sentence)


def test_an_existing_disk_is_compared_by_name(cloud):
    """Another disk holds other data."""
    for name in ("a", "b"):
        cloud.world.post("zones/us-central1-a/disks", {"name": name, "sizeGb": "50"})
    assert cloud.accepts(request_of(*SCRIPT, "--disk=name=a"))
    found = differences(request_of(*SCRIPT, "--disk=name=b"), cloud.instances()["trainer"])
    assert found == ("disk 1: the script says b, the instance has a",)


def test_a_local_disk_is_no_persistent_one(cloud):
    """Whatever its size."""
    assert cloud.accepts(request_of(*SCRIPT, "--local-ssd=interface=NVME"))
    found = differences(request_of(*SCRIPT, "--create-disk=size=375"), cloud.instances()["trainer"])
    assert found == ("the kind of disk 1: the script says PERSISTENT, the instance has SCRATCH",)
