"""`spotwarden submit`: store a create script, record the attempt, launch it; no gcloud needed."""

import sys
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import click
import msgspec
from msgspec.structs import replace

from spotwarden.cli.context import Context, default_owner, new_tick, open_context
from spotwarden.cli.launching.package import FolderFiles, pack
from spotwarden.cli.launching.resolve import resolve as run_and_record
from spotwarden.decide import submission
from spotwarden.decide.admission import inadmissible
from spotwarden.decide.attempts import next_step
from spotwarden.decide.progress import after
from spotwarden.layout import (
    Code,
    CreateScript,
    NotInLayoutError,
    ResolvedScript,
    ScriptFile,
    StatusCode,
    Thing,
)
from spotwarden.model.action import DropObject, StoreObject, Wait
from spotwarden.model.attempt import Attempt, State
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch, NoLaunch, StoredScript
from spotwarden.model.outcome import Lost
from spotwarden.runner import Places, advance, look_at_job
from spotwarden.script import Defaults
from spotwarden.script.known import with_places
from spotwarden.script.lint import check
from spotwarden.script.stored import launch_of

LOOK_EVERY_SECONDS = 0.5
PATIENCE_SECONDS = 120
"""In the public traces 99 % of the insert operations end within 76 s."""


class Package(msgspec.Struct, frozen=True, kw_only=True):
    """Everything of a submission that is stored: `resolved` is what a script that is not pure came to."""

    script: bytes
    resolved: bytes | None
    files: Mapping[str, bytes]
    tarball: bytes | None
    launch: Launch


@click.command()
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--job", default="", help="The job's name [default: the instance's name in the script].")
@click.option("--code", type=click.Path(exists=True, path_type=Path), help="Folder or tarball of the code.")
@click.option(
    "--owner", default=default_owner, help="Who is told about it [default: SPOTWARDEN_OWNER, else you]."
)
@click.option("--again", is_flag=True, help="Launch a job that has ended or is closed once more.")
@click.option(
    "--resolve", is_flag=True, help="Run a script that cannot be read as data here, creating nothing."
)
def submit(script: Path, job: str, code: Path | None, owner: str, *, again: bool, resolve: bool) -> None:  # noqa: PLR0913 — one parameter per option
    """Store SCRIPT with its files and code, and launch the job it creates.

    SCRIPT is a create script with one `gcloud compute instances create` or `bulk create`. It is read as
    data: nothing in it is run here, unless it cannot be read and you say --resolve.
    """
    context = open_context()
    package = _package(context, script, code, resolve=resolve)
    facts = _look(context, job or package.launch.job)
    if problem := submission.problem(facts, again=again):
        raise click.ClickException(problem)
    applier = context.applier(new_tick("submit"))
    for action in _uploads(context, facts, package):
        applier.apply(action)
    launched = _launch(context, _look(context, facts.job), package.launch, owner)
    attempt = launched.ledger[-1].attempt
    ids = ", ".join(attempt.instances.values())
    click.echo(f"{attempt.job}: attempt {attempt.number} runs in {attempt.tries[-1].place} as instance {ids}")


def _package(context: Context, file: Path, code: Path | None, *, resolve: bool) -> Package:
    """The script with the files it names, checked, and what it comes to."""
    text, files = file.read_bytes(), FolderFiles(file.parent)
    report = check(text, files=files, defaults=Defaults(project=context.settings.project))
    for warning in report.warnings:
        click.echo(f"{file}:{warning.line}: warning: {warning.text} [{warning.rule}]", err=True)
    tarball = pack(code) if code else None
    if report.refusal is not None and _may_resolve(
        f"{file}:{report.refusal.line}: {report.refusal.reason}", resolve
    ):
        resolved = run_and_record(file)
        launch = _launch_of(context, file, resolved.text, resolved.files)
        return Package(
            script=text, resolved=resolved.text, files=resolved.files, tarball=tarball, launch=launch
        )
    launch = _launch_of(context, file, text, files)
    return Package(script=text, resolved=None, files=dict(files.used), tarball=tarball, launch=launch)


def _may_resolve(refusal: str, said: bool) -> bool:  # noqa: FBT001 — the one thing it is about
    """Whether the developer lets the script run on this machine; the refusal is the end where not."""
    if said:
        return True
    question = (
        f"{refusal}\nRun the script on this machine, with a gcloud that creates nothing, to resolve it?"
    )
    if sys.stdin.isatty() and click.confirm(question):
        return True
    raise click.ClickException(
        f"{refusal}\n--resolve runs it on this machine, with a gcloud that creates nothing"
    )


def _launch_of(context: Context, file: Path, text: bytes, files: Mapping[str, bytes]) -> Launch:
    script = StoredScript(name=str(file), text=text, generation=0, files=files)
    launch = launch_of(script, context.settings.project)
    if isinstance(launch, NoLaunch):
        raise click.ClickException(launch.reason)
    limits = context.agreed().admission
    if faults := tuple(inadmissible(launch, limits, context.settings.project)):
        listed = "\n".join(f"  {fault}" for fault in faults)
        raise click.ClickException(f"{file}: the policy does not admit what it makes:\n{listed}")
    return launch


def _look(context: Context, job: str) -> JobFacts:
    try:
        return look_at_job(context.cloud.store, context.settings.layout, job)
    except NotInLayoutError as error:
        raise click.ClickException(
            f"{job!r} cannot be a job: {error.reason}; choose one with --job"
        ) from error


def _uploads(context: Context, facts: JobFacts, package: Package) -> Iterator[StoreObject | DropObject]:
    """Everything the job's instances will want to find, before the first of them exists."""
    job, build = facts.job, context.settings.layout.build

    def store(thing: Thing, data: bytes) -> StoreObject:
        return StoreObject(reason="submitted", job=job, name=build(thing), data=data)

    if package.tarball is not None:
        yield store(Code(job=job), package.tarball)
    for path, data in package.files.items():
        yield store(ScriptFile(job=job, path=path), data)
    yield store(CreateScript(job=job), package.script)
    if package.resolved is not None:
        yield store(ResolvedScript(job=job), package.resolved)
    outdated: list[Thing] = [] if package.resolved is not None else [ResolvedScript(job=job)]
    if facts.status_code is not None:
        outdated.append(StatusCode(job=job))
    for thing in outdated:
        if old := context.cloud.store.read(build(thing)):
            yield DropObject(reason="launched again", job=job, name=build(thing), generation=old.generation)


def _launch(context: Context, facts: JobFacts, launch: Launch, owner: str) -> JobFacts:
    """Claim the attempt, or carry on with one that was claimed, and take it as far as an instance."""
    tick = new_tick("submit")
    applier = context.applier(tick)
    launch = _as_stored(launch, facts)
    if not submission.in_flight(facts):
        first = submission.claim(facts, launch, owner, context.policy.recovery, tick)
        if isinstance(applier.apply(first), Lost):
            raise click.ClickException(f"{facts.job} was submitted by somebody else at the same moment")
    decide = partial(next_step, policy=context.policy, tick=tick)
    places = Places(context.cloud, context.settings.layout, context.policy, tick)
    told, until = "", time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until:
        known = places.recall(replace(_look(context, facts.job), launch=launch))
        known = with_places(known, context.policy.placement)
        waiting = advance(known, next_step=decide, after=after, apply=applier.apply)
        known = _look(context, facts.job)
        if known.ledger[-1].attempt.state in {State.RUNNING, State.ENDED}:
            return known
        _stop_if_refused(known.ledger[-1].attempt)
        if isinstance(waiting, Wait) and waiting.reason != told:
            click.echo(waiting.reason, err=True)
            told = waiting.reason
        time.sleep(LOOK_EVERY_SECONDS)
    raise click.ClickException(
        f"{facts.job} is still being created; `spotwarden show {facts.job}` tells more"
    )


def _as_stored(launch: Launch, facts: JobFacts) -> Launch:
    """The launch, with the generation that its script has in the bucket now."""
    generation = facts.script.generation if facts.script else 0
    version = launch.script and replace(launch.script, generation=generation)
    return replace(launch, script=version)


def _stop_if_refused(attempt: Attempt) -> None:
    error = attempt.tries[-1].error if attempt.tries else ""
    if attempt.state is State.GAVE_UP:
        raise click.ClickException(f"Compute Engine refuses it: {error or attempt.reason}")
    if attempt.state is State.BACKING_OFF:
        hint = f"each minute's tick goes on trying; `spotwarden show {attempt.job}` tells how it stands"
        raise click.ClickException(f"Compute Engine has no room for it now: {error}; {hint}")
