"""Whether a job can be launched on the other machine types of its owner: asked before anything is sent."""

from collections.abc import Iterator

import click

from spotwarden.cli.context import Context
from spotwarden.cli.launching.offered import check_offered_anywhere
from spotwarden.cli.launching.priced import check_priced
from spotwarden.create_script.request.cache import MOST_MACHINES, on_machine
from spotwarden.model.jobfile import JobFile
from spotwarden.model.launch import Launch
from spotwarden.recovery.admission import inadmissible


def check_fitting(context: Context, launch: Launch, file: JobFile) -> None:
    """Refuse a machine type that the job can't be launched on.

    Raises:
        UsageError: which one of job.toml, or of --or-machine, and every reason.
    """
    if len(file.machines) > MOST_MACHINES:
        raise click.UsageError(
            f"{len(file.machines)} other machine types are more than {MOST_MACHINES}. Nothing was sent."
        )
    for machine in file.machines:
        if reasons := tuple(_reasons(context, launch, machine)):
            raise click.UsageError(f"can't launch it on {machine}: {'; '.join(reasons)}. Nothing was sent.")


def check_others(context: Context, launch: Launch, file: JobFile) -> None:
    """Whether those that fit exist, and what they cost is known.

    Raises:
        ClickException: no zone has one of them, or a budget can't be enforced.
    """
    for machine in file.machines:
        other = on_machine(launch, machine)
        if isinstance(other, Launch):
            check_priced(context, other, file.budget)
            check_offered_anywhere(context.cloud.compute, other)


def _reasons(context: Context, launch: Launch, machine: str) -> Iterator[str]:
    other = on_machine(launch, machine)
    if isinstance(other, Launch):
        yield from inadmissible(other, context.agreed().admission, context.settings.project)
    else:
        yield from other.reasons
