"""When the output of jobs came: many jobs are one list, for most that are asked about have little."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import takewhile

import msgspec
from msgspec.structs import replace

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import each
from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.motion import gap_in
from spotwarden.governance.signals.records import attempt_by_time
from spotwarden.governance.signals.rising import rise
from spotwarden.governance.signals.table import NodeSignals, Signal, SignalKind, SignalSource
from spotwarden.layout import Layout
from spotwarden.ports import Store

IN_A_LIST = 20
"""Jobs whose outputs are one list; their names are in its glob."""
ROWS_AT_MOST = 1_000
"""Rows of such a list, a page: a job that is not shown whole is listed by itself."""


class SeenOutput(msgspec.Struct, frozen=True, kw_only=True):
    """When a job's newest output came, and the longest time between two of this attempt."""

    newest: datetime
    gap: timedelta | None = None


_OUTPUTS: GenerationCache[SeenOutput] = GenerationCache()
"""What was seen of a job's output, by attempt: progress that was made stays made."""


def with_known_output(layout: Layout, record: JobRecord) -> JobRecord:
    """The record with what its output has told before; nothing is read."""
    seen = _OUTPUTS.get(layout.outputs(record.job), record.attempt)
    return record if seen is None else _with_newest(record, seen)


def with_outputs(context: SweepContext, records: Sequence[JobRecord]) -> dict[str, JobRecord]:
    """The records, by job, with their newest outputs."""
    store, layout, workers = context.cloud.store, context.settings.layout, context.settings.workers
    jobs = sorted(record.job for record in records)
    parts = [jobs[first : first + IN_A_LIST] for first in range(0, len(jobs), IN_A_LIST)]
    shown: dict[str, list[datetime]] = {}
    # A list that is not answered shows nothing: its jobs are listed by name.
    for found in each(parts, lambda part: _together(store, layout, part), workers).results:
        shown |= found
    done = each(records, lambda record: with_output(context, record, shown.get(record.job)), workers)
    rise("outputs of jobs", done.failures)
    return {record.job: record for record in done.results}


def with_output(
    context: SweepContext, record: JobRecord, came: Sequence[datetime] | None = None
) -> JobRecord:
    """The record with its newest output, and how far apart its outputs of this attempt came.

    `came` are the times of all its outputs where they are known.
    """
    below = context.settings.layout.outputs(record.job)
    if came is None:
        # Of each row its time alone: a data set may be a million files.
        came = [entry.updated for entry in context.cloud.store.each_entry(below)]
    if not came:
        return record
    mine = [at for at in came if attempt_by_time(record, at)]
    seen = SeenOutput(newest=max(came), gap=gap_in(mine))
    return _with_newest(record, _OUTPUTS.keep(below, record.attempt, seen))


def _together(store: Store, layout: Layout, jobs: Sequence[str]) -> dict[str, list[datetime]]:
    """When each output of these jobs came, of those that one page shows whole; one alone needs none."""
    if len(jobs) == 1:
        return {}
    rows = store.entries(layout.prefix + _beginning(jobs), glob=layout.outputs_of(jobs), limit=ROWS_AT_MOST)
    last = rows[-1].name if len(rows) >= ROWS_AT_MOST else ""
    found: dict[str, list[datetime]] = {job: [] for job in jobs if _is_whole(layout.outputs(job), last)}
    start = len(layout.prefix)
    for row in rows:
        job = row.name[start : row.name.find("/", start)]
        if job in found:
            found[job].append(row.updated)
    return found


def _is_whole(below: str, last: str) -> bool:
    """Whether a list that was cut behind this row, or "" for nowhere, shows all that is below."""
    return not last or (below < last and not last.startswith(below))


def _beginning(names: Sequence[str]) -> str:
    """How all of these names begin, which are in order."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(names[0], names[-1], strict=False))
    return "".join(character for character, _ in same)


def _with_newest(record: JobRecord, seen: SeenOutput) -> JobRecord:
    signal = Signal(kind=SignalKind.PROGRESS, source=SignalSource.OUTPUT, at=seen.newest)
    row = NodeSignals(attempt=attempt_by_time(record, seen.newest), signals=(signal,))
    return replace(record, signals=record.signals.with_row(row).with_gap(seen.gap))
