"""Which jobs a tick of the report looks at: those of which something is not as it was."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple
from zlib import crc32

import msgspec

from spotwarden.layout import RESERVED_JOBS, job_problem
from spotwarden.ports import Entry
from spotwarden.recovery.folder.node_beats import BeatSource
from spotwarden.report.changes import digest, token
from spotwarden.report.gather import OpenSeen, folder_in
from spotwarden.report.model.kept import FigureRules, IndexEntry
from spotwarden.report.news import TakenNews
from spotwarden.report.resting import goes_on, hour, rested
from spotwarden.report.store import ReportStore, summary_path

FIRST = 1_000
"""Jobs without any news that a tick looks at for the first time, at most."""
ROUND = 144
"""A job of which nothing changes is looked at again each so many ticks: once a day, at ten minutes each."""
FRESH = timedelta(hours=1)
"""So long after a look found something new an open job is looked at each tick: what falls silent shows."""


class ReportRun(msgspec.Struct, frozen=True, kw_only=True):
    """What one tick works with; `anew` where all figures change, for they are made by other rules.

    `folders` are all jobs of the bucket, `states` the listed metadata of those that are not settled, and
    `summaries` the generation of each summary by its name. `resting` are entries that need no look.
    """

    shelf: ReportStore
    rules: FigureRules
    seen: OpenSeen
    known: Mapping[str, IndexEntry]
    taken: TakenNews = msgspec.field(default_factory=TakenNews)
    folders: frozenset[str]
    states: Mapping[str, Sequence[Entry]]
    summaries: Mapping[str, int]
    beats: BeatSource
    resting: Mapping[str, IndexEntry] = {}
    anew: bool = False


class DueJobs(NamedTuple):
    """The jobs to look at; with `more` there are new ones that the next tick looks at."""

    jobs: list[str]
    more: bool


def wanted(work: ReportRun, turn: int) -> DueJobs:
    """The jobs to look at: those with news, the changed ones, some new ones, and the others in turn."""
    due = {job for job, entry in work.known.items() if work.anew or _is_due(work, entry, turn)}
    unseen = work.seen.opened - work.known.keys()
    must = {job for job in (*work.taken.news, *unseen, *due) if not job or is_job(job)}
    new = sorted(work.folders - work.known.keys() - must)
    return DueJobs([*sorted(must), *new[:FIRST]], len(new) > FIRST)


def _is_due(work: ReportRun, entry: IndexEntry, turn: int) -> bool:
    """Whether a job that is known is looked at: something of it, or of its summary, is not as it was."""
    job = entry.row.job
    if job in work.resting:
        return False
    if not _is_kept(work, entry) or crc32(job.encode()) % ROUND == turn % ROUND:
        return True
    open_now = job in work.seen.opened or not entry.settled
    fresh = entry.changed is None or entry.looked - entry.changed < FRESH
    state = (token_of(work, job, entry.nodes), heard_of(work, job))
    return open_now and (fresh or state != (entry.state, entry.heard))


def _is_kept(work: ReportRun, entry: IndexEntry) -> bool:
    """Whether its summary is the one that was written with it."""
    return work.summaries.get(work.shelf.name(summary_path(entry.row.job)), 0) == entry.kept


def token_of(work: ReportRun, job: str, nodes: Collection[str]) -> str:
    """How the listings of this tick show a job, but for what its program says."""
    seen = work.seen
    lists = [name for name, jobs in (("open", seen.opened), ("stalled", seen.stalled)) if job in jobs]
    rows, said = work.states.get(job), _said(work, job)
    shown = digest(row for row in rows if not row.name.startswith(said)) if rows else ""
    return token(shown, lists, seen.marked & {job, *nodes})


def heard_of(work: ReportRun, job: str) -> str:
    """How its heartbeats of the job kit came, its log and its metrics; "" where it has none."""
    said = _said(work, job)
    rows = [row for row in work.states.get(job, ()) if row.name.startswith(said)]
    rows += [beat.entry for beat in work.beats.of(job).values()]
    return digest(rows) if rows else ""


def _said(work: ReportRun, job: str) -> tuple[str, ...]:
    """Where a program's own words are: new ones at every tick, as long as it runs."""
    layout = work.shelf.layout
    return (layout.logs(job), layout.metrics(job)) if job else ()


def is_job(name: str) -> bool:
    """Whether a folder of this name is a job's."""
    return name not in RESERVED_JOBS and job_problem(name) is None


def resting(work: ReportRun) -> dict[str, IndexEntry]:
    """The entries of jobs that go on as they did, as their heartbeats say."""
    layout, now = work.shelf.layout, work.rules.now
    found = (
        rested(
            entry,
            folder_in(layout, work.states.get(job, ())).with_beats(work.beats.of(job)),
            heard_of(work, job),
        )
        for job, entry in work.known.items()
        if job in work.seen.opened
        and hour(now) <= entry.looked <= now
        and goes_on(entry, work.beats.of(job), now)
        and _is_kept(work, entry)
        and entry.state == token_of(work, job, entry.nodes)
    )
    return {entry.row.job: entry for entry in found if entry is not None}
