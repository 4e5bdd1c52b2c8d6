"""`run --tpu`: which machine is meant, what it is launched with, and what is told where there is none."""

from types import SimpleNamespace

import click
import pytest

from spotwarden.cli.launching.machines import MachineType, machine_for
from spotwarden.cli.launching.slices import tell_of_group
from spotwarden.gcp.built_in import built_in
from spotwarden.model.slices import GroupMember, SeenGroup
from spotwarden.model.tpus import GENERATIONS, offered
from tests.cli.test_run_script import here, launch, machine, write
from tests.recovery.slice_world import launch_of_slice

__all__ = ["here", "write"]


def slice_of(name, gpu, hosts, topology):
    """A slice of machines with four chips each."""
    return MachineType(name=name, gpu=gpu, count=4, hosts=hosts, topology=topology)


@pytest.mark.parametrize(
    ("named", "tpu", "meant"),
    [
        ("", "v6e-1", MachineType(name="ct6e-standard-1t", gpu="tpu-v6e", count=1)),
        ("", "v6e-4", MachineType(name="ct6e-standard-4t", gpu="tpu-v6e", count=4)),
        ("", "V6E-8", MachineType(name="ct6e-standard-8t", gpu="tpu-v6e", count=8)),
        ("ct6e-standard-4t", "v6e-4", MachineType(name="ct6e-standard-4t", gpu="tpu-v6e", count=4)),
        ("ct6e-standard-4t", "", MachineType(name="ct6e-standard-4t", gpu="tpu-v6e", count=4)),
        ("", "v5p-8", MachineType(name="ct5p-hightpu-4t", gpu="tpu-v5p", count=4)),
        ("", "tpu7x-8", MachineType(name="tpu7x-standard-4t", gpu="tpu7x", count=4)),
        ("", "v6e:4", MachineType(name="ct6e-standard-4t", gpu="tpu-v6e", count=4)),
        ("", "v6e-16", slice_of("ct6e-standard-4t", "tpu-v6e", 4, "4x4")),
        ("", "v6e:16", slice_of("ct6e-standard-4t", "tpu-v6e", 4, "4x4")),
        ("", "v6e-256", slice_of("ct6e-standard-4t", "tpu-v6e", 64, "16x16")),
        ("", "v5p-16", slice_of("ct5p-hightpu-4t", "tpu-v5p", 2, "2x2x2")),
        ("", "v5p:8", slice_of("ct5p-hightpu-4t", "tpu-v5p", 2, "2x2x2")),
        ("", "TPU7x-4096", slice_of("tpu7x-standard-4t", "tpu7x", 512, "8x16x16")),
    ],
)
def test_the_machine_of_a_tpu(named, tpu, meant):
    """By the name of the accelerator type; v5p and TPU7x count TensorCores, two for each chip."""
    assert machine_for(named, "", tpu) == meant
    assert meant.has_tpu


def test_each_name_that_is_offered_is_a_machine_that_brings_its_chips():
    """The tables agree, and every generation has one."""
    assert len(offered()) == sum(len(generation.chips) for generation in GENERATIONS.values())
    for said in offered():
        meant = machine_for("", "", said)
        assert built_in(meant.name) == (meant.count, meant.gpu)


@pytest.mark.parametrize(
    ("named", "gpu", "tpu", "says"),
    [
        ("", "", "v6e-24", "One VM has v6e-1, v6e-4, v6e-8; several have v6e-16, v6e-32, v6e-64"),
        ("", "", "v6e-512", "no VM and no slice has so many chips"),
        ("", "", "v5p-8192", "v5p counts TensorCores, two for each chip. One VM has v5p-8; several"),
        ("", "", "v6e-2", "no VM and no slice has so many chips. One VM has v6e-1, v6e-4, v6e-8"),
        ("", "", "v5p-4", "no VM and no slice has so many chips. v5p counts TensorCores"),
        ("", "", "v6e:x", "'v6e:x' is not a known TPU"),
        ("", "", "v5litepod-4", "Compute Engine creates no VMs with v5litepod; only GKE"),
        ("", "", "v5e-4", "Use one of v6e-1, v6e-4, v6e-8, v5p-8, tpu7x-8"),
        ("", "", "v4-8", "Compute Engine creates no VMs with v4"),
        ("ct5lp-hightpu-4t", "", "", "Compute Engine creates no VMs with this TPU"),
        ("", "", "v9x-4", "'v9x-4' is not a known TPU; write one of v6e-1"),
        ("", "", "v6e", "'v6e' is not a known TPU"),
        ("", "l4:1", "v6e-4", "use --gpu or --tpu, not both"),
        ("e2-standard-8", "", "v6e-4", "comes with ct6e-standard-4t, not with e2-standard-8"),
    ],
)
def test_a_tpu_that_cannot_be_is_refused_with_what_to_write(named, gpu, tpu, says):
    """Unknown ones, slices of several hosts, and those that Compute Engine has no VMs of."""
    with pytest.raises(click.UsageError) as refused:
        machine_for(named, gpu, tpu)
    assert says in refused.value.message


@pytest.mark.parametrize(
    ("words", "name", "family"),
    [
        (["--tpu", "v6e-4"], "ct6e-standard-4t", "ubuntu-accel-2204-amd64-tpu-v5e-v5p-v6e"),
        (["--machine", "ct6e-standard-1t"], "ct6e-standard-1t", "ubuntu-accel-2204-amd64-tpu-v5e-v5p-v6e"),
        (["--tpu", "v6e-4", "--container", "a/b"], "ct6e-standard-4t", "-tpu-v5e-v5p-v6e"),
        (["--tpu", "tpu7x-8"], "tpu7x-standard-4t", "ubuntu-accel-2404-amd64-tpu-tpu7x"),
    ],
)
def test_a_tpu_brings_the_image_of_its_generation_and_room_for_it(write, words, name, family):
    """Google's own, whose disk of 10 GB holds no framework; spot unless something else is said."""
    found = launch(write("--job", "j", "--zone", "us-east5-b", *words))
    body = machine(found)
    assert found.machine == name
    assert "guestAccelerators" not in body
    disk = body["disks"][0]["initializeParams"]
    assert disk["sourceImage"].partition("projects/")[2].startswith("ubuntu-os-accelerator-images/")
    assert disk["sourceImage"].endswith(family)
    assert int(disk["diskSizeGb"]) == 200
    scheduling = body["scheduling"]
    assert (scheduling["provisioningModel"], scheduling["onHostMaintenance"]) == ("SPOT", "TERMINATE")


def test_an_image_that_is_named_is_taken(write):
    """Whoever says it has the drivers in it."""
    words = ["--tpu", "v6e-4", "--image-family", "ours", "--image-project", "p"]
    body = machine(launch(write("--job", "j", "--zone", "us-east5-b", *words)))
    assert body["disks"][0]["initializeParams"]["sourceImage"].endswith("p/global/images/family/ours")


def test_a_slice_is_three_commands_that_the_launch_reads(write):
    """With the job kit in its template; each VM knows the others, and how the chips lie."""
    found = launch(write("--job", "train", "--zone", "us-east5-b", "--tpu", "v6e-16", "--tag", "team=a"))
    assert found.nodes == ("train-1", "train-2", "train-3", "train-4")
    assert (found.machine, found.spot, found.place) == ("ct6e-standard-4t", True, "us-east5-b")
    assert found.slice.policy.path.endswith("/regions/us-east5/resourcePolicies")
    assert found.slice.policy.body["workloadPolicy"]["acceleratorTopology"] == "4x4"
    assert found.request.body["resourcePolicies"]["workloadPolicy"] == found.slice.policy.body["name"]
    assert found.properties["labels"] == {"team": "a"}
    said = {item["key"]: item["value"] for item in found.properties["metadata"]["items"]}
    assert (said["NODES"], said["MASTER_ADDR"], said["spotwarden-topology"]) == ("4", "train-1", "4x4")
    assert {"startup-script", "shutdown-script"} <= said.keys()
    disk = found.properties["disks"][0]["initializeParams"]
    assert disk["sourceImage"].endswith("ubuntu-accel-2204-amd64-tpu-v5e-v5p-v6e")
    assert "targetSizePolicy" not in found.request.body


def test_a_slice_of_many_hosts_has_numbers_of_one_length(write):
    """As the nodes of any gang."""
    found = launch(write("--job", "train", "--zone", "us-east5-b", "--tpu", "v5p-1024"))
    assert (len(found.nodes), found.nodes[0], found.nodes[-1]) == (128, "train-001", "train-128")
    said = {item["key"]: item["value"] for item in found.properties["metadata"]["items"]}
    assert said["MASTER_ADDR"] == "train-001"


@pytest.mark.parametrize("flag", ["--provisioning-model=FLEX_START", "--provisioning-model=flex-start"])
def test_flex_start_vms_of_a_slice_come_all_at_once(write, flag):
    """Compute Engine takes such a group in bulk mode only."""
    words = [
        "--on-demand",
        "--flag",
        flag,
        "--flag=--max-run-duration=4h",
        "--flag=--instance-termination-action=DELETE",
    ]
    found = launch(write("--job", "j", "--zone", "us-east5-b", "--tpu", "v6e-16", *words))
    assert (found.flexible, found.spot) == (True, False)
    assert found.request.body["targetSizePolicy"] == {"mode": "BULK"}
    assert found.request.body["instanceLifecyclePolicy"] == {"defaultActionOnFailure": "DO_NOTHING"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--nodes", "2"], "is a slice of 4 VMs: leave --nodes out"),
        (["--nodes", "2:4"], "is a slice of 4 VMs: leave --nodes out"),
        (["--region", "us-east5"], "use --zone, not --region"),
        (["--place", "us-east5-a"], "leave --place out"),
        (["--or-machine", "ct6e-standard-8t"], "leave --or-machine out"),
        (["--handover"], "leave --handover out"),
        (["--job", "j" * 46], "45 characters at most"),
    ],
)
def test_what_a_slice_cannot_be_launched_with_is_refused(workstation, words, says):
    """Also where it is only shown."""
    place = [] if "--region" in words else ["--zone", "us-east5-b"]
    job = [] if "--job" in words else ["--job", "j"]
    refused = workstation.run("run", *job, *place, "--tpu", "v6e-16", "--dry-run", *words, "--", "true")
    assert refused.exit_code == 2
    assert says in refused.output


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ((GroupMember(name="slice-x1y2", id="5"), GroupMember(name="slice-z3a4")), True),
        ((GroupMember(name="slice-z3a4"),), False),
        (None, False),
    ],
)
def test_a_slice_that_somebody_made_by_hand_of_the_script_is_told_of(capsys, members, told):
    """Its VMs are no job's, so nobody stops them. One that is empty costs nothing."""
    found = members and SeenGroup(id="7", name="slice", zone="us-central1-a", size=2, members=members)
    asked = []
    compute = SimpleNamespace(group=lambda zone, name: asked.append((zone, name)) or found)
    tell_of_group(compute, launch_of_slice())
    said = capsys.readouterr().err
    assert asked == [("us-central1-a", "slice")]
    assert ("has a group slice with 1 VM," in said) is told
    assert ("instance-groups managed delete slice --zone=us-central1-a" in said) is told
