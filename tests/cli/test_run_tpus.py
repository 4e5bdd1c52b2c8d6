"""`run --tpu`: which machine is meant, what it is launched with, and what is told where there is none."""

import click
import pytest

from spotwarden.cli.launching.machines import MachineType, machine_for
from spotwarden.gcp.built_in import built_in
from spotwarden.model.tpus import GENERATIONS, offered
from tests.cli.test_run_script import here, launch, machine, write

__all__ = ["here", "write"]


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
        ("", "", "v6e-16", "spans several VMs (a multi-host slice)"),
        ("", "", "v6e-16", "One VM has v6e-1, v6e-4, v6e-8"),
        ("", "", "v5p-16", "v5p counts TensorCores, two for each chip. One VM has v5p-8"),
        ("", "", "v6e-2", "no VM has so many chips. One VM has v6e-1, v6e-4, v6e-8"),
        ("", "", "v5p-4", "no VM has so many chips. v5p counts TensorCores"),
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
