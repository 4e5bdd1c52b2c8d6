"""What a job's VMs will want to find, sent before the first of them exists."""

from collections.abc import Collection, Mapping
from pathlib import Path

import click

from spotwarden.cli.context import Context
from spotwarden.cli.interrupted import so_far
from spotwarden.cli.launching.package import packed
from spotwarden.cli.launching.reading import Package
from spotwarden.cli.launching.sending import send_code
from spotwarden.cli.launching.staging import Staging
from spotwarden.layout import (
    Code,
    CreateScript,
    Layout,
    NotInLayoutError,
    ObjectName,
    ResolvedScript,
    ScriptFile,
)
from spotwarden.model.facts import JobFacts
from spotwarden.recovery.folder.job_folder import look_at_job


def look(context: Context, job: str, *, script: bool = False) -> JobFacts:
    """What is known of the job, its script only where that is said; `ClickException` for no job's name."""
    try:
        return look_at_job(context.cloud.store, context.settings.layout, job, script=script)
    except NotInLayoutError as error:
        raise click.ClickException(f"{error.reason}; choose one with --job") from error


def storing(job: str) -> None:
    """From now on an interrupted command leaves something behind."""
    so_far(
        f"nothing was launched; what was sent for {job} so far is kept. Run the same command to"
        " continue without sending it again"
    )


def store_code(
    stage: Staging, layout: Layout, job: str, code: Path, without: Collection[Path] = ()
) -> tuple[str, int]:
    """Pack the code and send it where it has changed; gives its checksum and its size."""
    with packed(code, without) as done:
        for line in done.told():
            click.echo(line, err=True)
        return send_code(stage, done, layout.build(Code(job=job))), done.size


def store(
    stage: Staging, layout: Layout, job: str, package: Package, more: Mapping[ObjectName, bytes]
) -> None:
    """Send the script with its files, and `more`; a resolved script of an earlier launch is to go."""
    things: dict[ObjectName, bytes] = {
        **{ScriptFile(job=job, path=path): data for path, data in package.files.items()},
        CreateScript(job=job): package.script,
        **({ResolvedScript(job=job): package.resolved} if package.resolved is not None else {}),
        **more,
    }
    held = stage.held(layout.metadata(job))
    stage.add(dict(stage.text(name, data) for name, data in things.items()), held)
    outdated = held.get(layout.build(ResolvedScript(job=job)))
    if package.resolved is None and outdated:
        stage.outdate(outdated)
