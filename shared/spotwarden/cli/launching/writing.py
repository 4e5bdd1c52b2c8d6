"""The create script that `spotwarden run` writes, with its files; the same words, the same bytes."""

import re
import shlex
from collections.abc import Iterator, Mapping

import click

from spotwarden.cli.launching.asked import LaunchRequest
from spotwarden.cli.launching.gcloud_flags import without
from spotwarden.cli.launching.package import FILE_AT_MOST
from spotwarden.cli.launching.slices import TOPOLOGY, slice_commands
from spotwarden.layout import Layout
from spotwarden.model.tpus import image_for

SCRIPT = "create-instance.sh"
KEEP_VM = "spotwarden-keep-vm"
"""The metadata key by which a VM stays once its job has ended."""
GPU_IMAGE = ("pytorch-2-7-cu128-ubuntu-2204-nvidia-570", "deeplearning-platform-release")
"""Drivers, CUDA, PyTorch; the newest image of a family (Google: "Choose an image", Deep Learning VM)."""
CPU_IMAGE = ("debian-12", "debian-cloud")
CONTAINER_IMAGE = ("cos-stable", "cos-cloud")
"""Has docker, and nothing else."""
GPU_DISK_GB = 200
ALL_AT_MOST = 500 * 1024
"""Bytes of all that goes by files; 512 kB is the limit for all metadata (Google: "About VM metadata")."""
METADATA = "--metadata="
"""May be said once, so that what a developer adds by --flag stands beside what the job kit needs."""
_PLAIN = re.compile(r"[A-Za-z0-9_./:@+=,-]+")
PIP = (
    "python3 -m pip -V >/dev/null 2>&1 || { apt-get -qq update && apt-get -qqy install python3-pip; }\n"
    "export PIP_BREAK_SYSTEM_PACKAGES=1\n"
    "python3 -m pip install --quiet --disable-pip-version-check -r requirements.txt"
)
"""Debian's image has no pip, and its pip wants to be told that the whole machine is ours."""


def setup_of(asked: LaunchRequest, *, has_requirements: bool) -> str:
    """What is run before the command: the developer's own, or what installs requirements.txt."""
    if asked.setup or asked.container or not has_requirements:
        return asked.setup
    return PIP


def image_of(asked: LaunchRequest) -> tuple[str, str, str]:
    """Flag, name and project of the image: what was said, else one that fits the machine."""
    if asked.image:
        return "--image", asked.image, asked.image_project
    if asked.image_family:
        return "--image-family", asked.image_family, asked.image_project
    return "--image-family", *_family_of(asked)


def _family_of(asked: LaunchRequest) -> tuple[str, str]:
    """The family of images that has what the machine's accelerators need, and its project."""
    if asked.machine.has_tpu:
        return image_for(asked.machine.gpu)
    if asked.machine.has_gpus:
        return GPU_IMAGE
    return CONTAINER_IMAGE if asked.container else CPU_IMAGE


def command_of(asked: LaunchRequest) -> str:
    """The command line: one word is a line for the shell, several reach the program as they are."""
    return asked.command[0] if len(asked.command) == 1 else shlex.join(asked.command)


def files_of(asked: LaunchRequest, setup: str, kit: Mapping[str, str]) -> dict[str, str]:
    """Every file beside the script by name: the job kit, and what is too long or too wild for a flag.

    Raises:
        UsageError: it is more than a VM's metadata can hold.
    """
    found = {
        "command.sh": command_of(asked),
        "setup.sh": setup,
        "environment": "\n".join(f"{name}={value}" for name, value in asked.env.items()),
        "inputs": "\n".join(f"{given.address} {given.name}" for given in asked.inputs),
        "metrics": "\n".join(f"{name}={pattern}" for name, pattern in asked.metrics.items()),
        "container-flags": asked.container_flags,
    }
    files = {**kit, **{name: f"{text}\n" for name, text in found.items() if text}}
    for name, text in files.items():
        if (size := len(text.encode())) > FILE_AT_MOST:
            raise click.UsageError(
                f"{KEYS[name]} would be {size} bytes; the VM's metadata holds {FILE_AT_MOST} in one value"
            )
    if (size := sum(len(text.encode()) for text in files.values())) > ALL_AT_MOST:
        raise click.UsageError(f"{size} bytes are too many for the VM's metadata, which holds {ALL_AT_MOST}")
    return files


KEYS: Mapping[str, str] = {
    "startup.sh": "startup-script",
    "shutdown.sh": "shutdown-script",
    "command.sh": "spotwarden-command",
    "setup.sh": "spotwarden-setup",
    "environment": "spotwarden-env",
    "inputs": "spotwarden-inputs",
    "metrics": "spotwarden-metrics",
    "container-flags": "spotwarden-container-flags",
}
"""Under which key of the metadata each file reaches the VM."""


def script_of(asked: LaunchRequest, files: Mapping[str, str], bucket: str, layout: Layout) -> str:
    """The create script."""
    flags = [*_flags(asked), *_metadata(asked, files, bucket, layout)]
    commands = list(slice_commands(asked, flags)) if asked.machine.topology else [[*_call(asked), *flags]]
    return "\n".join([*_head(asked), *(" \\\n  ".join(lines) for lines in commands)]) + "\n"


def _head(asked: LaunchRequest) -> Iterator[str]:
    yield "#!/bin/bash"
    yield f"# What `spotwarden run` launches as the job {asked.job}, and launches again when it is preempted."
    yield "# It is yours: read it, keep it, edit it, and launch it with `spotwarden submit`."


def _call(asked: LaunchRequest) -> Iterator[str]:
    """The command, how many, and where: a region and a gang need `bulk create`."""
    if asked.nodes == 1 and asked.zone:
        yield f"gcloud compute instances create {asked.job}"
        yield f"--zone={asked.zone}"
        return
    yield "gcloud compute instances bulk create"
    if asked.nodes == 1:
        yield f"--predefined-names={asked.job}"
    else:
        yield f"--name-pattern={asked.job}-{'#' * len(str(asked.nodes))}"
        yield f"--count={asked.nodes}"
    yield f"--zone={asked.zone}" if asked.zone else f"--region={asked.region}"


def _flags(asked: LaunchRequest) -> Iterator[str]:
    more = [flag for flag in asked.flags if not flag.startswith(METADATA)]
    yield from without(_own_flags(asked), more)
    yield from map(shlex.quote, more)


def _own_flags(asked: LaunchRequest) -> Iterator[str]:
    yield f"--machine-type={asked.machine.name}"
    if asked.machine.attached:
        yield f"--accelerator=type={asked.machine.gpu},count={asked.machine.count}"
    flag, image, project = image_of(asked)
    yield f"{flag}={shlex.quote(image)}"
    if project:
        yield f"--image-project={shlex.quote(project)}"
    if size := asked.disk_gb or (GPU_DISK_GB if asked.machine.has_gpus else None):
        yield f"--boot-disk-size={size}GB"
    if asked.service_account:
        yield f"--service-account={shlex.quote(asked.service_account)}"
    yield "--scopes=cloud-platform"
    if asked.machine.has_gpus or not asked.on_demand:
        yield "--maintenance-policy=TERMINATE"
    if not asked.on_demand:
        yield "--provisioning-model=SPOT"
        yield "--instance-termination-action=DELETE"
    if asked.tags:
        yield "--labels=" + ",".join(f"{name}={value}" for name, value in asked.tags.items())


def _metadata(asked: LaunchRequest, files: Mapping[str, str], bucket: str, layout: Layout) -> Iterator[str]:
    said = {
        "spotwarden-bucket": bucket,
        "spotwarden-prefix": layout.prefix,
        "spotwarden-job": asked.job,
        "spotwarden-code": "1" if asked.code else "",
        "spotwarden-container": asked.container,
        KEEP_VM: "1" if asked.keep_vm else "",
        "spotwarden-early": "1" if asked.handover else "",
        TOPOLOGY: asked.machine.topology,
    }
    if asked.nodes > 1:
        said |= {"NODES": str(asked.nodes), "MASTER_ADDR": f"{asked.job}-{1:0{len(str(asked.nodes))}}"}
    more = (flag.removeprefix(METADATA) for flag in asked.flags if flag.startswith(METADATA))
    joined = ",".join([*(f"{key}={value}" for key, value in said.items() if value), *more])
    yield f"{METADATA}{joined if _PLAIN.fullmatch(joined) else shlex.quote(joined)}"
    yield "--metadata-from-file=" + ",".join(f"{KEYS[name]}={name}" for name in KEYS if name in files)
