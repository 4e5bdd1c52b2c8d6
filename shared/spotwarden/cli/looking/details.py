"""Everything on record about one job, read once: for looking at it, and for holding it against another."""

from collections.abc import Mapping
from datetime import datetime

import click
import msgspec

from spotwarden import typed
from spotwarden.cli.context import Context
from spotwarden.engine.decoding import decoded
from spotwarden.engine.fan_out import each
from spotwarden.governance.cases.deliveries import as_arrived
from spotwarden.layout import CaseRecord, MetricsFile, NotInLayoutError, RunRecord, job_problem
from spotwarden.model.case import Case
from spotwarden.model.facts import JobFacts
from spotwarden.model.heartbeat import Beat
from spotwarden.model.policy import RULES
from spotwarden.model.run import RunRequest
from spotwarden.ports import BrokenError
from spotwarden.recovery.folder.chain import as_told
from spotwarden.recovery.folder.folder_list import JobFolder, look_with
from spotwarden.recovery.folder.heartbeats import beat_in, beats_in, progress_in
from spotwarden.recovery.folder.job_folder import look_at_job, telling
from spotwarden.recovery.folder.node_beats import JobBeats
from spotwarden.report.figures import beats
from spotwarden.report.model.experiments import MetricSummary
from spotwarden.report.model.job import Curve
from spotwarden.report.model.kept import NodeMetrics

typed.prepare(RunRequest, Case)


class Details(msgspec.Struct, frozen=True, kw_only=True):
    """One job. `run` is how `spotwarden run` was asked for it, if it was.

    `beat` is the heartbeat that tells most; it came at `beat_at`, and says that the program last made
    progress at `progress_at`.
    """

    facts: JobFacts
    run: RunRequest | None = None
    lines: tuple[NodeMetrics, ...] = ()
    beat: Beat | None = None
    beat_at: datetime | None = None
    progress_at: datetime | None = None

    @property
    def curves(self) -> tuple[Curve, ...]:
        """Each metric over all attempts."""
        return beats.joined(self.lines)

    @property
    def measures(self) -> tuple[MetricSummary, ...]:
        """The last and the best value of each metric."""
        return beats.measures(self.curves, self.beat)

    @property
    def tags(self) -> Mapping[str, str]:
        """What its developer gave it."""
        return self.run.tags if self.run else {}


def read_details(context: Context, job: str) -> Details:
    """Read a job; a `ClickException` says that there is none."""
    store, layout = context.cloud.store, context.settings.layout
    if problem := job_problem(job):
        raise click.ClickException(problem)
    folder = look_with(store, layout, JobBeats(store, layout), job)
    facts = as_told(look_at_job(store, layout, job, folder))
    if not (facts.script or facts.ledger or facts.watched or facts.status_code is not None):
        raise click.ClickException(context.unknown_job(job))
    beat_at, beat = _beat(context, folder)
    return Details(
        facts=facts,
        run=_run(context, folder, job),
        lines=_lines(context, folder),
        beat=beat,
        beat_at=beat_at,
        progress_at=progress_in(beat, beat_at) if beat and beat_at else None,
    )


def _run(context: Context, folder: JobFolder, job: str) -> RunRequest | None:
    object_name = RunRecord(job=job)
    name = context.settings.layout.build(object_name)
    stored = context.cloud.store.read(name) if object_name in folder.things else None
    try:
        return decoded(name, stored.data, RunRequest) if stored else None
    except BrokenError as problem:
        click.echo(f"{problem}", err=True)
        return None


def _beat(context: Context, folder: JobFolder) -> tuple[datetime | None, Beat | None]:
    object_name = telling(folder)
    if object_name is None:
        return None, None
    at, beat = folder.things[object_name].updated, folder.beats.get(object_name)
    if beat is None:
        stored = context.cloud.store.read(context.settings.layout.build(object_name))
        if stored is None:
            return at, None
        beat = beat_in(stored.data)
    # One that does not say when it was measured was, as far as anybody knows, when it came.
    return at, msgspec.structs.replace(beat, at=beat.at or at)


def _lines(context: Context, folder: JobFolder) -> tuple[NodeMetrics, ...]:
    """What the metrics of every node and attempt say."""

    def read(object_name: MetricsFile) -> NodeMetrics | None:
        stored = context.cloud.store.read(context.settings.layout.build(object_name))
        return beats.line(object_name.node, object_name.attempt, beats_in(stored.data)) if stored else None

    things = [object_name for object_name in folder.of(MetricsFile) if isinstance(object_name, MetricsFile)]
    found = each(things, read, context.settings.workers)
    if found.failures:
        raise found.failures[0]
    return tuple(sorted(found.results, key=lambda line: (line.attempt, line.node)))


def cases_of(context: Context, facts: JobFacts) -> list[Case]:
    """The open cases about a job and its VMs, the oldest first; others are not read."""
    store, layout = context.cloud.store, context.settings.layout
    keys = {
        facts.job,
        *(instance for recorded in facts.ledger for instance in recorded.attempt.instances.values()),
    }

    def read(name: str) -> Case | None:
        stored = store.read(name)
        return as_arrived(store, layout, decoded(name, stored.data, Case)) if stored else None

    listed = store.entries(layout.cases(), glob=layout.cases_of(RULES))
    found = each(
        [entry.name for entry in listed if _key(context, entry.name) in keys], read, context.settings.workers
    )
    if found.failures:
        raise found.failures[0]
    return sorted(found.results, key=lambda case: case.opened)


def _key(context: Context, name: str) -> str:
    try:
        object_name = context.settings.layout.parse(name)
    except NotInLayoutError:
        return ""
    return object_name.key if isinstance(object_name, CaseRecord) else ""
