"""What `spotwarden run` may be told, and how that becomes an `LaunchRequest`."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from spotwarden.cli.context import Context
from spotwarden.cli.launching.asked import LaunchRequest, check_job, environment, metrics, tags
from spotwarden.cli.launching.gcloud_flags import with_model
from spotwarden.cli.launching.inputs import inputs_of
from spotwarden.cli.launching.machines import MachineType, machine_for
from spotwarden.cli.launching.near import unknown_kind
from spotwarden.cli.launching.node_range import NodesParam
from spotwarden.cli.launching.offered import named
from spotwarden.cli.launching.slices import check_slice
from spotwarden.cli.owners import OwnerParam
from spotwarden.cli.times import MomentParam, SpanParam

_FILE = click.Path(exists=True, path_type=Path)

OPTIONS = (
    click.option("--job", required=True, help="Name of the job and of its VMs."),
    click.option("--machine", default="", help="Machine type [default: the smallest with --gpu or --tpu]."),
    click.option("--gpu", default="", help="GPU type and count of each VM, such as l4:1 or v100:2."),
    click.option("--tpu", default="", help="TPU, such as v6e-4 for each VM, or v6e-16 for a slice of four."),
    click.option(
        "--nodes", type=NodesParam(), default="1", show_default=True,
        help="Number of VMs, or as 8:16 how many are enough and how many are wanted.",
    ),
    click.option("--zone", default="", help="Zone, such as us-central1-a [default: SPOTWARDEN_ZONE]."),
    click.option("--region", default="", help="Region; Compute Engine chooses the zone."),
    click.option("--place", "places", multiple=True, help="Zone or region to move to; repeatable."),
    click.option(
        "--or-machine", "machines", multiple=True, help="Machine type to use if there is no room; repeatable."
    ),
    click.option("--image", default="", help="Boot image, from --image-project."),
    click.option("--image-family", default="", help="Image family; its newest image is used."),
    click.option("--image-project", default="", help="Project of the image or image family."),
    click.option("--container", default="", help="Run the command in this container image."),
    click.option("--container-flags", default="", help="Flags for docker run, such as '--shm-size=8g'."),
    click.option("--code", type=_FILE, default=".", show_default=True, help="Folder or tarball of the code."),
    click.option("--no-code", is_flag=True, help="Upload no code; the image has it."),
    click.option(
        "--input", "inputs", multiple=True, metavar="[NAME=]PATH",
        help="File or folder here, or gs://…; repeatable.",
    ),
    click.option("--input-job", "input_jobs", multiple=True, help="Use this job's output as input."),
    click.option("--wait", is_flag=True, help="First wait until the --input-job jobs end."),
    click.option("--env", multiple=True, metavar="NAME[=VALUE]", help="Environment variable for COMMAND."),
    click.option("--setup", default="", help="Shell line to run first [default: install requirements.txt]."),
    click.option("--metric", "metrics", multiple=True, metavar="NAME=PATTERN", help="Metric in the log."),
    click.option("--tag", "tags", multiple=True, metavar="NAME=VALUE", help="Label for the VMs."),
    click.option("--max-runtime", type=SpanParam(), help="Time limit over all attempts, such as 12h."),
    click.option("--budget", type=click.FloatRange(min=0, min_open=True), help="Cost limit in US dollars."),
    click.option("--deadline", type=MomentParam(), help="When it must be done; see --work."),
    click.option("--work", type=SpanParam(), help="Total run time, to meet --deadline on demand."),
    click.option("--job-toml", type=_FILE, help="job.toml with more limits and rules."),
    click.option("--on-demand", is_flag=True, help="Use on-demand VMs: costlier, never preempted."),
    click.option(
        "--handover/--no-handover", default=None,
        help="Train on for the 120 s notice of a preemption [default: for spot VMs].",
    ),
    click.option("--disk-gb", type=click.IntRange(10, 65536), help="Boot disk size in GB."),
    click.option("--service-account", default="", help="Service account [default: Compute Engine's]."),
    click.option("--flag", "flags", multiple=True, help="Any other gcloud flag: --flag=--no-address."),
    click.option("--keep-vm", is_flag=True, help="Keep the VM after COMMAND ends. It costs money."),
    click.option(
        "--owner", type=OwnerParam(), default="",
        help="Who gets messages [default: SPOTWARDEN_OWNER, else you].",
    ),
    click.option("--again", is_flag=True, help="Launch again a job that is over."),
    click.option("--overwrite", is_flag=True, help="Overwrite the script, even if you edited it."),
    click.option("--script-only", is_flag=True, help="Write the create script; launch nothing."),
    click.option("--dry-run", "--show", "dry_run", is_flag=True, help="Show the launch; do nothing."),
    click.option("--follow/--no-follow", default=True, help="Follow the log until the job ends."),
    click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="COMMAND..."),
)  # fmt: skip


READ = frozenset({"machine", "code", "inputs", "env", "metrics", "tags"})
"""Fields of `LaunchRequest` that are not taken as they were said."""


def with_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add them all, in this order."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def asked_of(said: Mapping[str, Any], context: Context) -> LaunchRequest:
    """Everything that was said, checked against itself; `UsageError` says what cannot be, and what can."""
    if not said["command"]:
        raise click.UsageError("the command is missing. Add it after --, such as: -- python train.py")
    said = with_model(said)
    machine = machine_for(said["machine"], said["gpu"], said["tpu"])
    least, most = _nodes(said, machine)
    said = {**said, "nodes": most, "least_nodes": least if least < most else 0}
    check_job(said["job"], most, of_slice=bool(machine.topology))
    if not said["region"]:
        said = {**said, "zone": said["zone"] or os.environ.get("SPOTWARDEN_ZONE", "")}
    if said["handover"] is None:
        said = {**said, "handover": not said["on_demand"] and not machine.topology}
    _check_place(said, machine, context)
    if said["handover"] and said["on_demand"]:
        raise click.UsageError(
            "--handover is for spot VMs: leave out --on-demand and any other --provisioning-model"
        )
    if said["least_nodes"] and said["region"]:
        raise click.UsageError(
            "--nodes with a range needs --zone: missing nodes are added in the zone of the others"
        )
    if said["image"] and said["image_family"]:
        raise click.UsageError("use --image or --image-family, not both")
    if said["image_project"] and not (said["image"] or said["image_family"]):
        raise click.UsageError("--image-project needs --image or --image-family")
    if any(part.startswith("--metadata-from-file") for part in said["flags"]):
        raise click.UsageError(
            "--flag=--metadata-from-file would replace the job kit's own; use "
            "--flag=--metadata=KEY=VALUE, or write the script with --script-only and edit it"
        )
    if said["container_flags"] and not said["container"]:
        raise click.UsageError("--container-flags needs --container")
    layout, bucket = context.settings.layout, context.settings.bucket
    alike = {name: said[name] for name in LaunchRequest.__struct_fields__ if name not in READ}
    return LaunchRequest(
        **alike,
        machine=machine,
        code=None if said["no_code"] else said["code"],
        inputs=tuple(inputs_of(said["inputs"], said["input_jobs"], said["job"], bucket, layout)),
        env=environment(said["env"]),
        metrics=metrics(said["metrics"]),
        tags=tags(said["tags"]),
    )


def _nodes(said: Mapping[str, Any], machine: MachineType) -> tuple[int, int]:
    """How many VMs are enough, and how many there are to be."""
    if machine.topology:
        check_slice(said, machine)
        return machine.hosts, machine.hosts
    least, most = said["nodes"]
    return least, most


def _check_place(said: Mapping[str, Any], machine: MachineType, context: Context) -> None:
    """A zone or a region, not both, not neither: where there are such machines is told."""
    if said["zone"] and said["region"]:
        raise click.UsageError("use --zone or --region, not both")
    if said["zone"] or said["region"]:
        return
    kinds = [machine.gpu] if machine.attached else []
    zones = context.cloud.compute.offers(machine.name, kinds).zones
    if not zones:
        raise click.UsageError(unknown_kind(context.cloud.compute, machine.name, kinds))
    raise click.UsageError(
        f"--zone or --region is missing. Add --zone with one that offers {machine.name}: {named(zones)}"
    )
