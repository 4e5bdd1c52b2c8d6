"""Managed instance groups: a TPU slice is a job; any other is refused, with what to write instead."""

import pytest

from spotwarden.create_script import Defaults, read
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.model.gcloud import OLDEST

POLICY = (
    "gcloud compute resource-policies create workload-policy wp --type=high-throughput "
    "--accelerator-topology=4x4 --region=us-east5\n"
)
TEMPLATE = (
    "gcloud compute instance-templates create t --machine-type=ct6e-standard-4t --provisioning-model=SPOT\n"
)
GROUP = "compute instance-groups managed"
SLICE = f"gcloud {GROUP} create train --size=4 --zone=us-east5-a --template=t --workload-policy=wp\n"
VM = "gcloud compute instances create vm --zone=us-east5-a\n"


def sent(text, **how):
    """The requests of a script."""
    return read(text.encode(), defaults=Defaults(project="p", **how)).requests


def refusal(text, **how):
    """Why a script is refused."""
    with pytest.raises(ScriptRefused) as refused:
        sent(text, **how)
    return refused.value


def test_a_slice_is_its_policy_its_template_and_its_group():
    """In the order in which they are needed, whatever stands between them."""
    found = sent(TEMPLATE + "echo hello\n" + POLICY + SLICE)
    assert [request.path for request in found] == [
        "/compute/v1/projects/p/regions/us-east5/resourcePolicies",
        "/compute/v1/projects/p/global/instanceTemplates",
        "/compute/v1/projects/p/zones/us-east5-a/instanceGroupManagers",
    ]
    assert found[2].body["targetSize"] == 4


def test_the_commands_of_a_slice_are_no_mere_notes():
    """Those beside them are."""
    found = read(
        (POLICY + TEMPLATE + SLICE + "gcloud compute ssh x\n").encode(), defaults=Defaults(project="p")
    )
    assert [note.line for note in found.notes] == [4]


def test_a_policy_may_be_there_already():
    """Then its size is what the group says."""
    found = sent(TEMPLATE + SLICE.replace("=wp", "=projects/p/regions/us-east5/resourcePolicies/other"))
    assert len(found) == 2


@pytest.mark.parametrize("last", ["resize train --size=4", "create-instance train --instance=a"])
def test_a_group_may_be_filled_when_it_is_there(last):
    """As some of Google's recipes do; the policy says how many VMs there are."""
    text = POLICY + TEMPLATE + SLICE.replace("--size=4", "--size=0")
    assert len(sent(f"{text}gcloud {GROUP} {last} --zone=us-east5-a\n")) == 3
    assert "write --size=4" in refusal(text).reason


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (SLICE, 1, "the template t is not created by this script"),
        (TEMPLATE + SLICE.replace(" --workload-policy=wp", ""), 2, "without --workload-policy"),
        (
            POLICY.replace("--accelerator-topology=4x4", "") + TEMPLATE + SLICE,
            3,
            "without --accelerator-topology",
        ),
        (POLICY + TEMPLATE + SLICE.replace("=4 ", "=3 "), 3, "write --size=4"),
        (POLICY.replace("4x4", "2x2") + TEMPLATE + SLICE, 3, "no slice of several VMs"),
        (POLICY.replace("4x4", "2x2x2") + TEMPLATE + SLICE, 3, "not a topology of ct6e-standard-4t"),
        (TEMPLATE + SLICE.replace("=4 ", "=1 "), 2, "a group of 1 VMs isn't a slice"),
        (TEMPLATE.replace("ct6e-standard-4t", "a3-highgpu-8g") + SLICE, 2, "bulk create for several"),
        (TEMPLATE + SLICE + SLICE.replace("train", "two"), 3, "several managed instance groups"),
        (
            TEMPLATE + SLICE.replace("--zone=us-east5-a", "--region=us-east5"),
            2,
            "--region: is not for a TPU slice",
        ),
        (
            TEMPLATE + SLICE.replace("=4 ", "=4 --health-check=h "),
            2,
            "--health-check: is not for a TPU slice",
        ),
        (TEMPLATE.replace("=SPOT", "=$(x)") + SLICE, 1, "command substitution"),
        (TEMPLATE.replace("--machine", "--source-instance=i --machine") + SLICE, 1, "--source-instance: "),
        (POLICY.replace("--region=us-east5", "") + TEMPLATE + SLICE, 1, "region"),
        (f"gcloud {GROUP} resize train --size=4\n", 1, "write gcloud compute instances create"),
        (f"gcloud {GROUP} resize-requests create train\n", 1, "write gcloud compute instances create"),
    ],
)
def test_what_is_no_slice_is_refused_with_its_line(text, line, says):
    """It says what to write."""
    refused = refusal(text)
    assert says in refused.reason
    assert refused.line == line


def test_a_slice_of_a_flag_that_only_a_newer_gcloud_has_says_so():
    """The oldest makes no group in bulk."""
    bulk = SLICE.replace("--size", "--target-size-policy-mode=bulk --size")
    assert len(sent(TEMPLATE + bulk)) == 2
    assert "gcloud 578 or newer" in refusal(TEMPLATE + bulk, gcloud_version=OLDEST).reason


@pytest.mark.parametrize("command", [f"{GROUP} describe slice", f"{GROUP} list", f"{GROUP} create --help"])
def test_a_command_that_makes_no_vm_is_only_noted(command):
    """As any other."""
    found = read(f"gcloud {command}\n".encode(), defaults=Defaults(project="p"))
    assert (found.requests, len(found.notes)) == ((), 1)


@pytest.mark.parametrize("parts", [SLICE, TEMPLATE.replace("t6e", "$(x)"), TEMPLATE + "--nonsense " + SLICE])
def test_beside_a_create_a_group_is_only_noted(parts):
    """The create is the job; the group is somebody's serving, perhaps, and need not be understood."""
    assert [request.body["name"] for request in sent(parts + VM)] == ["vm"]
