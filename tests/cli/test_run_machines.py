"""Which machine is meant, and what is told where there is none such."""

import click
import pytest

from spotwarden.cli.launching.machines import ATTACHED, WITH_GPUS, MachineType, machine_for
from spotwarden.gcp.built_in import built_in


@pytest.mark.parametrize(
    ("machine", "gpu", "meant"),
    [
        ("e2-standard-8", "", MachineType(name="e2-standard-8")),
        ("g2-standard-24", "", MachineType(name="g2-standard-24", gpu="nvidia-l4", count=2)),
        ("g2-standard-24", "l4:2", MachineType(name="g2-standard-24", gpu="nvidia-l4", count=2)),
        ("g2-standard-8", "nvidia-l4", MachineType(name="g2-standard-8", gpu="nvidia-l4", count=1)),
        ("", "l4", MachineType(name="g2-standard-4", gpu="nvidia-l4", count=1)),
        ("", "L4:8", MachineType(name="g2-standard-96", gpu="nvidia-l4", count=8)),
        ("", "a100:16", MachineType(name="a2-megagpu-16g", gpu="nvidia-tesla-a100", count=16)),
        ("", "a100-80gb:2", MachineType(name="a2-ultragpu-2g", gpu="nvidia-a100-80gb", count=2)),
        ("", "h100:8", MachineType(name="a3-highgpu-8g", gpu="nvidia-h100-80gb", count=8)),
        ("", "t4:4", MachineType(name="n1-standard-32", gpu="nvidia-tesla-t4", count=4, attached=True)),
        (
            "n1-highmem-4", "v100:1",
            MachineType(name="n1-highmem-4", gpu="nvidia-tesla-v100", count=1, attached=True),
        ),
        (
            "custom-12-65536", "v100:1",
            MachineType(name="custom-12-65536", gpu="nvidia-tesla-v100", count=1, attached=True),
        ),
    ],
)  # fmt: skip
def test_the_machine_that_is_meant(machine, gpu, meant):
    """Named, or the smallest with these GPUs; only an N1 has them attached."""
    assert machine_for(machine, gpu) == meant


@pytest.mark.parametrize(
    ("machine", "gpu", "says"),
    [
        ("", "", "add --machine"),
        ("g2-standard-8", "l4:2", "comes with 1 nvidia-l4, not with 2 nvidia-l4; nvidia-l4 comes"),
        ("g2-standard-8", "t4:1", "an N1 machine takes 1 with up to 48 vCPUs"),
        ("e2-standard-8", "t4:1", "nvidia-tesla-t4 cannot be attached to e2-standard-8"),
        ("n1-standard-8", "l4:1", "nvidia-l4 comes with g2-standard-4"),
        ("n1-standard-8", "t4:3", "n1-standard-8 cannot have 3 nvidia-tesla-t4"),
        ("n1-standard-16", "v100:1", "has too many vCPUs for 1 nvidia-tesla-v100: at most 12"),
        ("f1-micro", "t4:1", "cannot be attached to f1-micro"),
        ("", "h100:3", "no machine has 3 nvidia-h100-80gb; nvidia-h100-80gb comes with a3-highgpu-1g"),
        ("", "k80:1", "'k80' is not a known GPU"),
        ("", "l4:0", "write it like l4:1"),
        ("", "two l4", "write it like l4:1"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_what_fits(machine, gpu, says):
    """The message names the machine, the GPU, and what to say instead."""
    with pytest.raises(click.UsageError) as refused:
        machine_for(machine, gpu)
    assert says in refused.value.message


@pytest.mark.parametrize(("kind", "counts"), ATTACHED.items())
def test_the_most_vcpus_are_allowed_and_one_more_is_not(kind, counts):
    """For each number of GPUs that an N1 takes."""
    for count, most in counts.items():
        assert machine_for(f"custom-{most}-65536", f"{kind}:{count}").attached
        with pytest.raises(click.UsageError, match=f"at most {most}"):
            machine_for(f"custom-{most + 1}-65536", f"{kind}:{count}")


@pytest.mark.parametrize("name", WITH_GPUS)
def test_each_machine_that_is_offered_brings_gpus_along(name):
    """The two tables agree."""
    assert built_in(name)[0] > 0


@pytest.mark.parametrize(
    ("name", "has"), [("g2-standard-4", True), ("g4-standard-48", True), ("e2-standard-4", False)]
)
def test_a_family_of_gpus_is_known_though_its_machine_is_not(name, has):
    """It cannot be migrated, whatever is in it."""
    assert machine_for(name, "").has_gpus is has
