"""What a job's VMs will want to find, into the bucket, before the first of them exists."""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import click

from spotwarden.cli.context import Context, new_tick
from spotwarden.cli.interrupted import so_far
from spotwarden.cli.launching.package import packed
from spotwarden.cli.launching.reading import Package
from spotwarden.cli.launching.sending import AT_ONCE, send_code
from spotwarden.engine.fan_out import each
from spotwarden.layout import Code, CreateScript, NotInLayoutError, ObjectName, ResolvedScript, ScriptFile
from spotwarden.model.action import DropObject, StoreObject
from spotwarden.model.facts import JobFacts
from spotwarden.model.outcome import Done, Unanswered
from spotwarden.ports import UnansweredError
from spotwarden.recovery.job_folder import look_at_job


def look(context: Context, job: str, *, script: bool = False) -> JobFacts:
    """What is known of the job, its script only where that is said; `ClickException` for no job's name."""
    try:
        return look_at_job(context.cloud.store, context.settings.layout, job, script=script)
    except NotInLayoutError as error:
        raise click.ClickException(
            f"{job!r} cannot be a job: {error.reason}; choose one with --job"
        ) from error


def storing(job: str) -> None:
    """From now on an interrupted command leaves something behind."""
    so_far(
        f"nothing was launched; what {job} has stored by now is kept, and the same command again goes on "
        "without sending it anew"
    )


def store_code(context: Context, job: str, code: Path, without: Collection[Path] = ()) -> tuple[str, int]:
    """Pack the code and store it where it has changed; gives its checksum and its size."""
    with packed(code, without) as done:
        for line in done.told():
            click.echo(line, err=True)
        name = context.settings.layout.build(Code(job=job))
        return send_code(context.files(), done, name), done.size


def store(context: Context, facts: JobFacts, package: Package, more: Mapping[ObjectName, bytes]) -> None:
    """Store the script with its files, and `more`; a resolved script of an earlier launch goes."""
    with context.executor(new_tick("submit")).together() as apply:

        def do(action: StoreObject | DropObject) -> None:
            outcome = apply(action)
            if isinstance(outcome, Unanswered):
                raise UnansweredError(f"{action.name}: {outcome.detail}")
            if not isinstance(outcome, Done):
                raise click.ClickException(
                    f"{action.name} could not be stored: {outcome}; nothing was launched"
                )

        actions = list(_actions(context, facts, package, more))
        for failure in each(actions, do, AT_ONCE).failures:
            raise failure


def _actions(
    context: Context, facts: JobFacts, package: Package, more: Mapping[ObjectName, bytes]
) -> Iterator[StoreObject | DropObject]:
    job, build = facts.job, context.settings.layout.build
    things: dict[ObjectName, bytes] = {
        **{ScriptFile(job=job, path=path): data for path, data in package.files.items()},
        CreateScript(job=job): package.script,
        **({ResolvedScript(job=job): package.resolved} if package.resolved is not None else {}),
        **more,
    }
    for object_name, data in things.items():
        yield StoreObject(reason="submitted", job=job, name=build(object_name), data=data)
    outdated = build(ResolvedScript(job=job))
    if package.resolved is None and (old := context.cloud.store.read(outdated)):
        yield DropObject(reason="launched again", job=job, name=outdated, generation=old.generation)
