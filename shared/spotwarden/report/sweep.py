"""The tick of the report: what has changed is read, and its summaries, the index and the pages are written.

The index goes last but for the audit's days, each under the generation that was read. A tick that dies, or
that another overtakes, has written nothing that the next would not write again: how far things have been
taken in stands in the index, and is written only when every job that has news has taken them in.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from functools import partial

import msgspec
from msgspec.structs import replace

from spotwarden.engine.context import SweepContext
from spotwarden.engine.fan_out import Swept, each, swept
from spotwarden.engine.turn import end_turn, take_turn
from spotwarden.governance.cases.store import read_cases
from spotwarden.layout import NotInLayoutError, OpenJob
from spotwarden.model.action import Wait
from spotwarden.model.case import CaseState, Filed
from spotwarden.model.policy import RULES, Policy
from spotwarden.model.standing import Standing
from spotwarden.ports import ConflictError
from spotwarden.recovery.folder.node_beats import LazyBeats
from spotwarden.report.changes import read_states, summaries
from spotwarden.report.due import ReportRun, heard_of, is_job, resting, token_of, wanted
from spotwarden.report.figures.cases import pending
from spotwarden.report.figures.merging import merged
from spotwarden.report.figures.rows import summary as make_summary
from spotwarden.report.gather import JobReader, OpenSeen, gather, read_sources
from spotwarden.report.model.experiments import OVER, JobLinks
from spotwarden.report.model.kept import (
    FigureRules,
    Gathered,
    IndexEntry,
    JobNews,
    ReportIndex,
    Sources,
    Summary,
)
from spotwarden.report.news import TakenNews, take
from spotwarden.report.resting import is_hourly
from spotwarden.report.site import publish, tell
from spotwarden.report.store import ReportStore, no_collecting

GONE = "its folder is gone from the bucket"


class JobUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """A job's entry; with the summary that was written, where it had to be. `hurt`: its past was lost."""

    entry: IndexEntry
    summary: Summary | None = None
    hurt: bool = False


def sweep(context: SweepContext) -> Swept:
    """Read what has changed, write it down, write its pages, and once a week tell people."""
    store, layout, tick = context.cloud.store, context.settings.layout, context.tick
    taken = take_turn(store, layout, tick)
    if taken is None:
        return swept([Wait(reason="another tick makes the report", soon=False)], ())
    with no_collecting():
        done = _refresh(context)
    end_turn(store, layout, taken, tick.now if not done.failures else taken.turn.swept)
    return done


def _refresh(context: SweepContext) -> Swept:
    shelf, now = ReportStore(context.cloud.store, context.settings.layout), context.tick.now
    index, generation = shelf.index()
    # The list of open jobs before the folders: a job that opens meanwhile is looked at next time.
    cases = read_cases(shelf.store, shelf.layout, tuple(RULES), workers=context.settings.workers)
    work = _work(context, index, _see(context, shelf, cases.filed))
    turn = index.turn + 1 if index else 0
    due = wanted(work, turn)
    done = each(due.jobs, partial(_look, work), context.settings.workers)
    behind = [failure for failure in done.failures if isinstance(failure, ConflictError)]
    if behind:
        return swept(
            [Wait(reason="another tick makes the report", soon=False)], _without(done.failures, behind)
        )
    fresh = _index(work, index, done.results, now)
    fresh = replace(
        fresh,
        turn=turn,
        timezone=work.rules.timezone,
        threshold=work.rules.threshold,
        part=bool(done.failures or due.more or work.taken.more),
        cases=pending((filed.case for filed in cases.filed), context.policy),
    )
    if not done.failures:
        fresh = _with_marks(fresh, work.taken, hurt=any(made.hurt for made in done.results))
    summaries = {result.entry.row.job: result.summary for result in done.results if result.summary}
    published = each([fresh], lambda report_index: publish(context, report_index, summaries))
    fresh = next(iter(published.results), fresh)
    try:
        shelf.put_index(fresh, generation)
        for day, read in work.taken.days if not done.failures else ():
            shelf.put_audit_day(day, read)
    except ConflictError:
        return swept([Wait(reason="another tick has made the report", soon=False)], done.failures)
    failures = [*done.failures, *published.failures, *cases.broken.values()]
    # People are told of a week only by figures that are whole; the next ticks bring them nearer to it.
    return swept((), [*failures, *(() if fresh.part or fresh.anew else tell(context, fresh))])


def _work(context: SweepContext, index: ReportIndex | None, seen: OpenSeen) -> ReportRun:
    shelf, rules = (
        ReportStore(context.cloud.store, context.settings.layout),
        rules_of(context.policy, context.tick.now),
    )
    by = (rules.timezone, rules.threshold)
    known = {entry.row.job: entry for entry in index.entries} if index else {}
    folders = frozenset(name for name in shelf.store.folders(shelf.layout.prefix) if is_job(name))
    open_now = {job for job in seen.opened if is_job(job)} | {
        job for job, entry in known.items() if job and not entry.settled
    }
    work = ReportRun(
        shelf=shelf,
        rules=rules,
        seen=seen,
        known=known,
        folders=folders,
        states=read_states(shelf, open_now, len(folders), context.settings.workers),
        summaries=summaries(shelf),
        beats=LazyBeats(shelf.store, shelf.layout),
        anew=index is not None and (index.timezone, index.threshold) != by,
    )
    still = {} if work.anew or is_hourly(index, rules.now) else resting(work)
    taken = take(shelf, index, rules.now, context.settings.workers, still)
    return replace(work, resting=still, taken=taken)


def rules_of(policy: Policy, now: datetime) -> FigureRules:
    """By what figures are made."""
    return FigureRules(now=now, timezone=policy.notify.timezone, threshold=policy.idle.threshold)


def _without(failures: Iterable[Exception], these: Collection[Exception]) -> list[Exception]:
    return [failure for failure in failures if failure not in these]


def _see(context: SweepContext, shelf: ReportStore, filed: Iterable[Filed]) -> OpenSeen:
    store, layout = shelf.store, shelf.layout
    marked = (row.name.removeprefix(layout.markers()) for row in store.entries(layout.markers()))
    stalled = (
        filed_case.case.subject.job
        for filed_case in filed
        if filed_case.case.rule == "stall"
        and filed_case.case.state in {CaseState.WARNED, CaseState.DUE, CaseState.ACTED}
    )
    return OpenSeen(
        opened=frozenset(_opened(shelf)),
        marked=frozenset(marked),
        stalled=frozenset(stalled),
        bucket=context.settings.bucket,
    )


def _opened(shelf: ReportStore) -> Iterable[str]:
    for row in shelf.store.entries(shelf.layout.open_jobs()):
        try:
            object_name = shelf.layout.parse(row.name)
        except NotInLayoutError:
            continue
        if isinstance(object_name, OpenJob):
            yield object_name.job


def _look(work: ReportRun, job: str) -> JobUpdate:
    """One job, as it is now. What is known of it stays where its folder is gone."""
    read = work.shelf.summary(job)
    before, _ = read
    known = work.known.get(job)
    hurt = known is not None and known.digest != "" and before is None
    past = merged(before.gathered if before else Gathered(), work.taken.news.get(job, JobNews()))
    if not job:
        return _kept(work, Sources(job=""), past, read, hurt=hurt)
    reader = JobReader.open(work.shelf, job, work.beats, work.states.get(job))
    links = before.entry.row.links if before and reader.folder.things else JobLinks()
    sources = read_sources(reader, work.seen, msgspec.structs.asdict(links))
    if before is not None and not reader.folder.things and (_written(before) or not sources.has["code"]):
        return JobUpdate(entry=_gone(known or before.entry), hurt=hurt)
    return _kept(work, sources, gather(reader, past), read, hurt=hurt)


def _written(summary: Summary) -> bool:
    """Whether it had a ledger."""
    return any(bar.attempt for bar in summary.story.bars)


def _gone(entry: IndexEntry) -> IndexEntry:
    """As it was when it was last seen; nobody knows what became of one that was not over then."""
    row = entry.row
    standing = row.standing if row.standing in OVER else Standing.UNKNOWN
    return replace(entry, settled=True, row=replace(row, standing=standing, problem=GONE))


def _kept(
    work: ReportRun, sources: Sources, gathered: Gathered, read: tuple[Summary | None, int], *, hurt: bool
) -> JobUpdate:
    """Its summary, written unless neither what it is made of nor its timeline has changed."""
    before, generation = read
    summary = make_summary(sources, gathered, work.rules)
    known = work.known.get(sources.job)
    state, heard = token_of(work, sources.job, summary.entry.nodes), heard_of(work, sources.job)
    same = before is not None and (before.entry.digest, before.entry.shape) == (
        summary.entry.digest,
        summary.entry.shape,
    )
    entry = replace(
        summary.entry,
        paged=known.paged if known else "",
        state=state,
        heard=heard,
        changed=known.changed
        if known and same and (known.state, known.heard) == (state, heard)
        else work.rules.now,
        kept=generation,
    )
    if same:
        return JobUpdate(entry=entry, hurt=hurt)
    summary = replace(summary, entry=entry)
    kept = work.shelf.put_summary(sources.job, summary, generation)
    return JobUpdate(entry=replace(entry, kept=kept), summary=summary, hurt=hurt)


def _index(
    work: ReportRun, index: ReportIndex | None, made: Iterable[JobUpdate], now: datetime
) -> ReportIndex:
    entries = {**work.known, **work.resting, **{update.entry.row.job: update.entry for update in made}}
    rows = tuple(entries[job] for job in sorted(entries))
    return replace(index, at=now, entries=rows) if index else ReportIndex(at=now, entries=rows)


def _with_marks(index: ReportIndex, taken: TakenNews, *, hurt: bool) -> ReportIndex:
    """How far things have been taken in; where a job's past was lost, the next tick takes all in anew."""
    marked = replace(index, metered=taken.metered, swept=taken.swept, audited=taken.audited)
    return replace(marked, anew=hurt)
