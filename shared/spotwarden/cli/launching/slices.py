"""A TPU slice of several hosts, as `spotwarden run` is asked for it and writes it."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import click

from spotwarden.cli.launching.asked import LaunchRequest
from spotwarden.cli.launching.machines import MachineType
from spotwarden.model.launch import Launch
from spotwarden.model.placement import region_of
from spotwarden.notify.templates.text import count
from spotwarden.ports import Compute, RejectedError, UnansweredError

TOPOLOGY = "spotwarden-topology"
"""The metadata that tells the job kit how the chips of the slice are laid out."""
_BULK = re.compile(r"--provisioning-model[= ](?:flex[-_]start|reservation[-_]bound)", re.IGNORECASE)
"""Models whose VMs come all at once (Google: "About bulk mode")."""


def check_slice(said: Mapping[str, Any], machine: MachineType) -> None:
    """Refuse what a slice cannot be launched with.

    Raises:
        UsageError: its size is its topology's, and it stays in its zone.
    """
    named = f"--tpu {said['tpu']} is a slice of {machine.hosts} VMs"
    if tuple(said["nodes"]) not in {(1, 1), (machine.hosts, machine.hosts)}:
        raise click.UsageError(f"{named}: leave --nodes out")
    if said["handover"]:
        raise click.UsageError(f"{named}, which have no hand-over: leave --handover out")
    if said["region"]:
        raise click.UsageError(f"{named} in one zone: use --zone, not --region")
    for option, value in (("--place", said["places"]), ("--or-machine", said["machines"])):
        if value:
            raise click.UsageError(f"{named}, and stays in its zone, on its machines: leave {option} out")


def slice_commands(asked: LaunchRequest, flags: Iterable[str]) -> Iterator[list[str]]:
    """The three commands that make the slice, each by its lines; `flags` are those of its VMs.

    The workload policy is shared by all slices of this topology in the region, so it bears no job's name.
    """
    machine, region = asked.machine, region_of(asked.zone)
    policy = f"spotwarden-tpu-{machine.topology}"
    yield [
        f"gcloud compute resource-policies create workload-policy {policy}",
        "--type=high-throughput",
        f"--accelerator-topology={machine.topology}",
        f"--region={region}",
    ]
    own = list(flags)
    yield [f"gcloud compute instance-templates create {asked.job}", f"--region={region}", *own]
    bulk = any(_BULK.fullmatch(" ".join(shlex.split(flag))) for flag in asked.flags)
    yield [
        f"gcloud compute instance-groups managed create {asked.job}",
        f"--size={machine.hosts}",
        f"--template={asked.job}",
        f"--workload-policy={policy}",
        f"--zone={asked.zone}",
        *(["--target-size-policy-mode=bulk", "--default-action-on-vm-failure=do-nothing"] if bulk else []),
    ]


def tell_of_group(compute: Compute, launch: Launch) -> None:
    """Say that the script was run by hand: the VMs of that group are no job's, and nobody stops them.

    The groups of a job have names of their own. Where nobody answers, the launch tells.
    """
    if launch.slice is None:
        return
    name, zone = str(launch.request.body["name"]), launch.place
    with suppress(RejectedError, UnansweredError):
        seen = compute.group(zone, name)
        vms = [member for member in seen.members if member.id] if seen else []
        if vms:
            click.echo(
                f"warning: {zone} has a group {name} with {count(len(vms), 'VM')}, as gcloud makes it of this"
                " script. It is not the job's, and costs money beside it. To delete it:\n"
                f"  gcloud compute instance-groups managed delete {name} --zone={zone}",
                err=True,
            )
