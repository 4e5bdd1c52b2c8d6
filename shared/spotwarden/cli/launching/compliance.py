"""Whether the rule `compliance` would stop what a job may become: asked before anything is sent."""

import click

from spotwarden.cli.context import Context, new_tick
from spotwarden.model.jobfile import JobFile
from spotwarden.model.launch import Launch
from spotwarden.recovery.kinds.complying import acting
from spotwarden.recovery.kinds.disallowed import left_out, refused


def check_allowed(context: Context, launch: Launch, file: JobFile, owner: str) -> None:
    """Refuse a machine, a kind of VM or a region in which the job would be stopped; tell what is left out.

    Raises:
        UsageError: what of the script or of job.toml, and every reason.
    """
    policy, tick = context.deployed(), new_tick("submit")
    held = acting(launch, policy, tick, owner=file.owner or owner, file=file)
    if held is None:
        return
    if reasons := refused(launch, file, policy.placement, held):
        raise click.UsageError(f"can't launch it: {'; '.join(reasons)}. Nothing was sent.")
    for line in left_out(launch, file, policy.placement, held):
        click.echo(line, err=True)
