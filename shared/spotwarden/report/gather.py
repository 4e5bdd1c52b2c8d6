"""A job's own objects, as the report reads them: what has changed since, and what is not yet gathered.

One object that is broken, or was never meant so, costs its own figures: the job keeps its row, which says so.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from spotwarden import typed
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.decoding import decoded
from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.heard import Heard
from spotwarden.governance.signals.heartbeats import with_heard
from spotwarden.governance.signals.records import alive, ended
from spotwarden.governance.signals.table import SignalTable
from spotwarden.layout import (
    AttemptRecord,
    Code,
    CreateScript,
    InstanceId,
    LaunchedRecord,
    Layout,
    LogFile,
    MetricsFile,
    NotInLayoutError,
    ObjectName,
    RunRecord,
    StatusCode,
)
from spotwarden.model.attempt import Attempt
from spotwarden.model.heartbeat import Beat
from spotwarden.model.run import RunRequest
from spotwarden.ports import BrokenError, Entry
from spotwarden.recovery.folder.chain import told
from spotwarden.recovery.folder.folder_list import JobFolder, look_with, once
from spotwarden.recovery.folder.heartbeats import beat_in, beats_in, progress_in
from spotwarden.recovery.folder.job_folder import read_job_file, read_status, telling
from spotwarden.recovery.folder.node_beats import BeatSource
from spotwarden.recovery.folder.status_code import attempt_in, code_in, is_late
from spotwarden.report.figures.beats import line
from spotwarden.report.launched import ran_in
from spotwarden.report.model.kept import Gathered, NodeMetrics, Ran, Sources
from spotwarden.report.store import ReportStore

typed.prepare(Attempt, RunRequest, dict[str, dict[str, Any]])

METRICS_AT_MOST = 4 * 1024 * 1024
LAUNCHED_AT_MOST = 16 * 1024 * 1024
TEXT_AT_MOST = 64 * 1024
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
AHEAD = timedelta(hours=1)
"""The clock of a VM may be so much before the bucket's; what is later cannot be."""

Value = TypeVar("Value")

_CACHE: GenerationCache[object] = GenerationCache()


class OpenSeen(NamedTuple):
    """What all jobs share: the list of open ones, the nodes that have a marker, the jobs that stall."""

    opened: frozenset[str] = frozenset()
    marked: frozenset[str] = frozenset()
    stalled: frozenset[str] = frozenset()
    bucket: str = ""


class JobReader(msgspec.Struct, kw_only=True):
    """Reads one job; `problems` are what could not be read."""

    shelf: ReportStore
    job: str
    folder: JobFolder
    problems: list[str] = []

    @classmethod
    def open(
        cls, shelf: ReportStore, job: str, beats: BeatSource, rows: Iterable[Entry] | None = None
    ) -> "JobReader":
        """What there is, with the heartbeats of the job kit; listed, unless its `rows` are there already."""
        if rows is None:
            return cls(shelf=shelf, job=job, folder=look_with(shelf.store, shelf.layout, beats, job))
        return cls(shelf=shelf, job=job, folder=folder_in(shelf.layout, rows).with_beats(beats.of(job)))

    def read(
        self, object_name: ObjectName, at_most: int, make: Callable[[str, bytes], Value]
    ) -> Value | None:
        """What this object says; None where there is none, or where it cannot be read."""
        if object_name not in self.folder.things:
            return None
        name = self.shelf.layout.build(object_name)

        def fetch() -> tuple[Value | None]:
            stored = self.shelf.store.read(name, at_most=at_most)
            return (make(name, stored.data) if stored else None,)

        try:
            return once(_CACHE, self.shelf.layout, self.folder, object_name, fetch)[0]
        except BrokenError as problem:
            self.problems.append(str(problem))
            return None

    def each(self, kind: type[ObjectName]) -> Iterator[Any]:
        """All objects of a kind, by name."""
        return iter(sorted(self.folder.of(kind), key=self.shelf.layout.build))


def folder_in(layout: Layout, rows: Iterable[Entry]) -> JobFolder:
    """A job's folder by the rows of a list; what has no name of the layout is left alone."""
    found: dict[ObjectName, Entry] = {}
    for row in rows:
        try:
            found[layout.parse(row.name)] = row
        except NotInLayoutError:
            continue
    return JobFolder(found)


def read_sources(reader: JobReader, seen: OpenSeen, known: Mapping[str, str]) -> Sources:
    """The job as it is now; `known` are the links that are known already. Its end comes last.

    One that was taken back while we read is then no end.
    """
    job = reader.job
    found = (reader.read(item, TEXT_AT_MOST * 64, _attempt) for item in reader.each(AttemptRecord))
    ledger = sorted((match for match in found if match), key=lambda candidate: candidate.number)
    beat, beat_at = _beat(reader)
    registered = {each.node: reader.read(each, TEXT_AT_MOST, _text) or "" for each in reader.each(InstanceId)}
    run = reader.read(RunRecord(job=job), TEXT_AT_MOST * 16, _run)
    sources = Sources(
        job=job,
        ledger=told(ledger),
        registrations=registered,
        beat=beat,
        beat_at=beat_at,
        watched=job in seen.opened,
        marked=tuple(sorted(seen.marked & {*registered, *_nodes(ledger), job})),
        stalled=job in seen.stalled,
        has=_links(reader, seen.bucket, known),
        tags=run.tags if run else {},
        signals=_signals(reader, ledger, beat),
        file=read_job_file(reader.shelf.store, reader.shelf.layout, job, reader.folder),
    )
    return replace(_with_end(reader, sources), problem="; ".join(reader.problems)[:500])


def _nodes(ledger: Iterable[Attempt]) -> set[str]:
    return {node for attempt in ledger for node in attempt.instances}


def _attempt(name: str, data: bytes) -> Attempt:
    """Without what the report does not tell."""
    whole = decoded(name, data, Attempt)
    return replace(whole, lease=None, markers={}, script=None, cause="")


def _text(_name: str, data: bytes) -> str:
    return data.decode(errors="replace").strip()[:100]


def _run(name: str, data: bytes) -> RunRequest:
    return decoded(name, data, RunRequest)


def _beat(reader: JobReader) -> tuple[Beat | None, datetime | None]:
    """The heartbeat that tells most, and when the program last made progress by it."""
    object_name = telling(reader.folder)
    if object_name is None:
        return None, None
    came = reader.folder.things[object_name].updated
    beat = reader.folder.beats.get(object_name)
    if beat is None:
        beat = reader.read(object_name, TEXT_AT_MOST * 16, lambda _, data: beat_in(data))
    return (timed(beat, came), progress_in(beat, came)) if beat else (None, came)


def _signals(reader: JobReader, ledger: Sequence[Attempt], beat: Beat | None) -> SignalTable:
    """What the listing tells of each node, and the one heartbeat that is read."""
    newest = ledger[-1] if ledger else None
    record = JobRecord(
        job=reader.job,
        attempt=newest.number if newest else 0,
        claimed=newest.created if newest else None,
        instances=newest.instances if newest else {},
    )
    record = replace(record, signals=alive(reader.folder, record))
    object_name = telling(reader.folder)
    if object_name is not None and beat is not None:
        came = reader.folder.things[object_name].updated
        record = with_heard(
            record, object_name.node, Heard(came=came, progress=progress_in(beat, came), beat=beat)
        )
    return record.signals


def _links(reader: JobReader, bucket: str, known: Mapping[str, str]) -> Mapping[str, str]:
    """Where the parts of a job are that are there; what was once there is not looked for again."""
    layout, store, job, folder = reader.shelf.layout, reader.shelf.store, reader.job, reader.folder
    there = {
        "script": layout.build(CreateScript(job=job)) if CreateScript(job=job) in folder.things else "",
        "logs": layout.logs(job) if folder.of(LogFile) else "",
    }
    for part, name in (("code", layout.build(Code(job=job))), ("output", layout.outputs(job))):
        there[part] = name if known.get(part) or store.entries(name, limit=1) else ""
    return {part: f"gs://{bucket}/{name}" if name else "" for part, name in there.items()}


def _with_end(reader: JobReader, sources: Sources) -> Sources:
    object_name = StatusCode(job=sources.job)
    if object_name not in reader.folder.things:
        return sources
    stored = read_status(reader.shelf.store, reader.shelf.layout.build(object_name))
    if stored is None:
        return sources
    newest = sources.ledger[-1] if sources.ledger else None
    code, number = code_in(stored.data), newest.number if newest else 0
    late = is_late(stored.metadata, stored.updated, newest)
    of = attempt_in(stored.metadata) if late else number
    signals = sources.signals.with_row(ended(of or 0, code, stored.updated))
    if late:
        return replace(sources, signals=signals)
    return replace(sources, status_code=code, ended=stored.updated, signals=signals)


def gather(reader: JobReader, gathered: Gathered) -> Gathered:
    """What was launched, and what heartbeats have said, where it has not been read before."""
    lines = tuple(_lines(reader, {(metrics.node, metrics.attempt): metrics for metrics in gathered.lines}))
    ran = dict(gathered.ran)
    recorded = list(gathered.recorded)
    for object_name in reader.each(LaunchedRecord):
        # Summaries of older versions name records of which they have taken in nothing.
        if object_name.attempt not in recorded or not gathered.ran:
            ran |= reader.read(object_name, LAUNCHED_AT_MOST, _ran) or {}
            recorded.append(object_name.attempt)
    return replace(gathered, lines=lines or gathered.lines, ran=ran, recorded=tuple(sorted({*recorded})))


def _lines(reader: JobReader, known: Mapping[tuple[str, int], NodeMetrics]) -> Iterator[NodeMetrics]:
    """Of each attempt the first node's: a training says the same on all of them."""
    files: dict[int, MetricsFile] = {}
    for item in sorted(reader.each(MetricsFile), key=lambda candidate: (len(candidate.node), candidate.node)):
        files.setdefault(item.attempt, item)
    for attempt, object_name in sorted(files.items()):
        generation = reader.folder.things[object_name].generation
        before = known.get((object_name.node, attempt))
        if before is not None and before.generation == generation:
            yield before
            continue
        # Only what is kept of it is remembered: a warm function would hold thousands of beats of each look.
        make = partial(_line, object_name, reader.folder.things[object_name])
        if (line := reader.read(object_name, METRICS_AT_MOST, make)) is not None:
            yield line
        elif before is not None:
            yield before


def _line(object_name: MetricsFile, entry: Entry, _name: str, data: bytes) -> NodeMetrics:
    beats = (timed(beat, entry.updated) for beat in beats_in(data))
    return line(object_name.node, object_name.attempt, beats, entry.generation)


def timed(beat: Beat, written: datetime) -> Beat:
    """Without its moment, where that is of a clock that is wrong: far back, or after it was written."""
    if beat.at is None or EARLIEST <= beat.at <= written + AHEAD:
        return beat
    return replace(beat, at=None)


def _ran(name: str, data: bytes) -> dict[str, Ran]:
    return ran_in(decoded(name, data, dict[str, dict[str, Any]]))
