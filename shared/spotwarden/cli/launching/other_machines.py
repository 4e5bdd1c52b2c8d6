"""Whether a job can be launched on its machine type, and on the others of its owner: asked first."""

from collections.abc import Iterator

import click

from spotwarden.cli.context import Context, new_tick
from spotwarden.cli.launching.offered import check_offered_anywhere
from spotwarden.create_script.request.cache import MOST_MACHINES, on_machine
from spotwarden.model.jobfile import JobFile
from spotwarden.model.launch import Launch
from spotwarden.recovery.kinds.admission import inadmissible
from spotwarden.recovery.kinds.complying import forbidden


def check_fitting(context: Context, launch: Launch, file: JobFile, owner: str) -> None:
    """Refuse another machine type that the job can't be launched on, or would be stopped on.

    Raises:
        UsageError: which one of job.toml, or of --or-machine, and every reason.
    """
    if len(file.machines) > MOST_MACHINES:
        raise click.UsageError(
            f"{len(file.machines)} other machine types are more than {MOST_MACHINES}. Nothing was sent."
        )
    for machine in file.machines:
        if reasons := tuple(_reasons(context, launch, machine, file, owner)):
            raise click.UsageError(f"can't launch it on {machine}: {'; '.join(reasons)}. Nothing was sent.")


def check_others(context: Context, launch: Launch, file: JobFile) -> None:
    """Whether those that fit exist.

    Raises:
        UsageError: no zone has one of them.
    """
    for machine in file.machines:
        other = on_machine(launch, machine)
        if isinstance(other, Launch):
            check_offered_anywhere(context.cloud.compute, other)


def _reasons(context: Context, launch: Launch, machine: str, file: JobFile, owner: str) -> Iterator[str]:
    other = on_machine(launch, machine)
    if isinstance(other, Launch):
        yield from inadmissible(other, context.agreed().admission, context.settings.project)
    else:
        yield from other.reasons
    if why := _forbidden(context, launch, machine, file, owner):
        yield why


def _forbidden(context: Context, launch: Launch, machine: str, file: JobFile, owner: str) -> str:
    policy, tick = context.deployed(), new_tick("submit")
    return forbidden(machine, launch, policy, tick, owner=file.owner or owner, file=file)
