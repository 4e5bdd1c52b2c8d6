"""Nodes of the Cloud TPU API: refused, with the command that makes an instance with the same TPUs."""

import re

import pytest

from spotwarden.create_script import Defaults, requests
from spotwarden.create_script.refusal import ScriptRefused

NODE = "gcloud compute tpus tpu-vm create train --zone=us-east5-b --version=v2-alpha-tpuv6e"
QUEUED = (
    "gcloud alpha compute tpus queued-resources create qr --node-id=n --zone us-east5-b --runtime-version v"
)
V6E = "--accelerator-type=v6e-4"


def refusal(text):
    """Why a script cannot be run again."""
    with pytest.raises(ScriptRefused) as refused:
        requests(text.encode(), defaults=Defaults(project="p"))
    return refused.value.reason


def instead(text):
    """What the command that is told instead would send."""
    command = re.search(r"`(gcloud [^`]*)`", refusal(text))[1]
    [sent] = requests(command.encode(), defaults=Defaults(project="p"))
    return sent


def test_a_node_is_refused_with_an_instance_that_has_its_tpus():
    """The command can be run as it is; what the API gives a node by itself, it says."""
    sent = instead(f"{NODE} {V6E} --spot --internal-ips --tags=a,b --labels=x=y --subnetwork=s --network=n")
    body = sent.body
    assert sent.path == "/compute/v1/projects/p/zones/us-east5-b/instances"
    assert (body["name"], body["machineType"].rpartition("/")[2]) == ("train", "ct6e-standard-4t")
    disk = body["disks"][0]["initializeParams"]
    assert disk["sourceImage"].endswith("/ubuntu-accel-2204-amd64-tpu-v5e-v5p-v6e")
    assert disk["diskSizeGb"] == "100"
    scheduling = body["scheduling"]
    assert (scheduling["provisioningModel"], scheduling["onHostMaintenance"]) == ("SPOT", "TERMINATE")
    assert body["serviceAccounts"][0]["scopes"] == ["https://www.googleapis.com/auth/cloud-platform"]
    assert (body["tags"], body["labels"]) == ({"items": ["a", "b"]}, {"x": "y"})
    assert "accessConfigs" not in body["networkInterfaces"][0]


def test_a_queued_resource_is_its_node():
    """With the words of the other API for how it waits."""
    sent = instead(
        f"{QUEUED} --accelerator-type v5p-8 --provisioning-model flex-start --max-run-duration 4h "
        "--valid-until-duration 2h"
    )
    assert (sent.body["name"], sent.body["machineType"].rpartition("/")[2]) == ("n", "ct5p-hightpu-4t")
    assert sent.body["scheduling"]["provisioningModel"] == "FLEX_START"
    assert sent.body["scheduling"]["maxRunDuration"] == {"seconds": "14400"}
    assert sent.body["params"]["requestValidForDuration"] == {"seconds": "7200"}


@pytest.mark.parametrize("model", ["--spot", "--provisioning-model=flex-start --max-run-duration=4h", ""])
def test_a_node_of_several_hosts_is_refused_with_the_slice_that_it_is(model):
    """The three commands can be run as they are, and make a job."""
    said = refusal(f"{NODE} --accelerator-type=v6e-16 --project=p --subnetwork=s {model}")
    commands = re.findall(r"`(gcloud [^`]*)`", said)
    policy, template, group = requests("\n".join(commands).encode(), defaults=Defaults())
    assert policy.body["workloadPolicy"]["acceleratorTopology"] == "4x4"
    assert template.body["properties"]["machineType"] == "ct6e-standard-4t"
    assert template.body["properties"]["networkInterfaces"][0]["subnetwork"].endswith(
        "us-east5/subnetworks/s"
    )
    assert (group.body["name"], group.body["targetSize"], group.body["zone"]) == ("train", 4, "us-east5-b")
    assert ("targetSizePolicy" in group.body) == ("flex" in model)


def test_a_node_on_demand_is_an_instance_on_demand():
    """Which Compute Engine would otherwise migrate."""
    scheduling = instead(f"{NODE} {V6E}").body["scheduling"]
    assert scheduling["onHostMaintenance"] == "TERMINATE"
    assert "provisioningModel" not in scheduling


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        ("--accelerator-type=v6e-24", "One VM has v6e-1, v6e-4, v6e-8; several have v6e-16"),
        ("--accelerator-type=v5litepod-4", "Compute Engine creates no VMs with v5litepod"),
        ("", "Compute Engine creates no VMs with v2"),
        ("--type=v6e --topology=2x2", "give --accelerator-type for one VM"),
        ("--accelerator-type=$(nproc)", "write gcloud compute instances create with the machine type"),
    ],
)
def test_what_no_instance_can_be_is_told(flags, says):
    """Slices, generations without instances, and what depends on the machine that runs the script."""
    assert says in refusal(f"{NODE} {flags}")


def test_a_long_value_is_not_said_again():
    """A startup script may be the whole value."""
    said = refusal(f"{NODE} {V6E} --metadata=startup-script={'x' * 9000}")
    assert "--metadata=…" in said
    assert len(said) < 600


def test_a_node_beside_an_instance_is_not_passed_over():
    """Half of what the script creates would not come back."""
    assert "is not an instance" in refusal(
        f"gcloud compute instances create vm --zone=us-east5-b\n{NODE} {V6E}"
    )


@pytest.mark.parametrize(
    "words",
    [
        "create train --version=v2-alpha-tpuv6e",
        "create train --version v2-alpha-tpuv6e",
        "create --version v2-alpha-tpuv6e train",
        "create --version=v2-alpha-tpuv6e train",
        'create train --version "v2-alpha-tpuv6e"',
        "create train --version='v2-alpha-tpuv6e'",
        'create train --version="$IMAGE"',
        'create train --version "$IMAGE"',
        "create train --description=x \\\n  --version \\\n  v2-alpha-tpuv6e",
        "--quiet create train --version v2-alpha-tpuv6e",
    ],
)
@pytest.mark.parametrize("track", ["", "alpha ", "beta "])
def test_the_image_of_a_node_is_no_question_for_the_version_of_gcloud(words, track):
    """However it is written: a script that makes a node is never one that makes nothing."""
    text = f"IMAGE=v2-alpha-tpuv6e\ngcloud {track}compute tpus tpu-vm {words} --zone=us-east5-b {V6E}"
    sent = instead(text)
    assert (sent.body["name"], sent.body["machineType"].rpartition("/")[2]) == ("train", "ct6e-standard-4t")


@pytest.mark.parametrize("words", ["--runtime-version v", "--runtime-version=v", "--version v"])
def test_the_image_of_a_queued_resource_is_none_either(words):
    """Its own flag has another name; whoever mixes them up gets the same answer."""
    text = f"gcloud compute tpus queued-resources create qr {words} --node-id=n --zone=us-east5-b {V6E}"
    assert instead(text).body["name"] == "n"


@pytest.mark.parametrize(
    "command",
    [
        "gcloud --version compute tpus tpu-vm create",
        "gcloud -v compute tpus tpu-vm create",
        "gcloud compute tpus tpu-vm create train --version v -h",
        "gcloud compute tpus queued-resources create --help",
    ],
)
def test_who_asks_gcloud_about_itself_creates_no_node(command):
    """Its own version is asked for before the name of the command, help anywhere."""
    assert requests(command.encode(), defaults=Defaults(project="p")) == []


@pytest.mark.parametrize("command", ["tpu-vm list", "tpu-vm ssh train", "tpu-vm create --help"])
def test_other_commands_about_tpus_are_no_part_of_a_request(command):
    """They create nothing."""
    text = f"gcloud compute tpus {command}\ngcloud compute instances create vm --zone=us-east5-b"
    assert len(requests(text.encode(), defaults=Defaults(project="p"))) == 1
