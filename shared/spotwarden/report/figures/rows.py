"""A job's records → its row, its cells and its timeline: all that the report keeps of it."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import takewhile

import msgspec

from spotwarden.model.attempt import CLOSED, Attempt, AttemptState
from spotwarden.model.placement import PlaceEvent
from spotwarden.model.prices import VmKind
from spotwarden.model.standing import Standing
from spotwarden.recovery.folder.standing import is_broken, new_in
from spotwarden.recovery.forecast.course import Course
from spotwarden.recovery.requests.refusals import RefusalKind, refusal
from spotwarden.report.figures import beats, counting, marks, stays
from spotwarden.report.figures.forecasting import course_of, past, returns
from spotwarden.report.figures.intervals import SECOND, whole
from spotwarden.report.model.experiments import OVER, Experiment, JobLinks
from spotwarden.report.model.job import Bar, BarEnd
from spotwarden.report.model.kept import (
    FigureRules,
    Gathered,
    Happened,
    IndexEntry,
    JobStory,
    Loss,
    Sources,
    Summary,
)

SUCCESS = "0"
MOST_HAPPENED = 2_000
MOST_TAGS, TAG, PROBLEM = 64, 100, 500
"""Tags, and characters of one and of a problem: a row is part of the one index of all jobs."""
_CLOSED = {
    AttemptState.ENDED: Standing.ENDED,
    AttemptState.STOPPED: Standing.STOPPED,
    AttemptState.GAVE_UP: Standing.GAVE_UP,
}


def digest(what: object) -> str:
    """Tells whether anything of it has changed."""
    return sha256(msgspec.json.encode(what, order="sorted")).hexdigest()[:32]


def summary(sources: Sources, gathered: Gathered, rules: FigureRules) -> Summary:
    """Everything about one job."""
    bars = tuple(
        msgspec.structs.replace(bar, kept=counting.kept_until(bar, gathered))
        if bar.fate in counting.GONE
        else bar
        for bar in stays.bars(sources, gathered, rules)
    )
    waits = stays.waits(sources)
    kinds, cells = counting.cells(sources, gathered, bars, waits, rules)
    row = _row(sources, gathered, bars)
    course = _course(sources, gathered, rules)
    story = JobStory(bars=bars, waits=waits, marks=marks.marks(sources, gathered, bars))
    entry = IndexEntry(
        row=row,
        nodes=_once((*sources.registrations, *_nodes(sources), *(bar.node for bar in bars))),
        kinds=kinds,
        cells=cells,
        losses=tuple(_losses(sources.ledger, gathered, bars)),
        happened=tuple(_happened(sources.ledger))[-MOST_HAPPENED:],
        digest=digest((sources, gathered)),
        shape=digest(story),
        looked=rules.now,
        course=None if row.standing in OVER else course,
        past=past(course) if course else None,
        settled=_settled(row, bars, sources),
    )
    return Summary(entry=entry, story=story, gathered=gathered, signals=sources.signals)


def _course(sources: Sources, gathered: Gathered, rules: FigureRules) -> Course | None:
    """How it goes, or went."""
    if not sources.ledger:
        return None
    return course_of(
        sources.ledger,
        sources.file,
        gathered.lines,
        beat=sources.beat,
        moved=sources.beat_at,
        now=rules.now,
        returns=returns(sources, gathered),
    )


def _settled(row: Experiment, bars: Sequence[Bar], sources: Sources) -> bool:
    """Whether nothing more happens by itself."""
    return row.standing in OVER and not sources.watched and not any(bar.fate is BarEnd.UP for bar in bars)


def _row(sources: Sources, gathered: Gathered, bars: Sequence[Bar]) -> Experiment:
    over = stays.over_at(sources)
    newest = _newest(sources, bars)
    kinds = {bar.node or bar.instance_id: stays.kind_of(bar.instance_id, None, gathered) for bar in newest}
    return Experiment(
        job=sources.job,
        owner=counting.said(sources) or next((usage.owner for usage in gathered.metered.values()), ""),
        standing=standing(sources, bars),
        exit_code=sources.status_code or "",
        attempts=sources.ledger[-1].number if sources.ledger else len({bar.start for bar in bars}),
        nodes=max((len(attempt.instances) for attempt in sources.ledger), default=len(newest)),
        gpus=stays.gpus_of(kinds),
        zones=_once(bar.zone for bar in bars),
        machines=_once(bar.machine for bar in bars),
        instances=_ids(sources, gathered),
        started=min((bar.start for bar in bars), default=None),
        ended=over,
        preemptions=sum(source.fate == stays.PREEMPTED for source in sources.ledger),
        advance=beats.advance(sources, gathered.lines),
        metrics=beats.measures(beats.joined(gathered.lines), sources.beat),
        links=JobLinks(
            **{part: link for part, link in sources.has.items() if part in JobLinks.__struct_fields__}
        ),
        tags={name[:TAG]: value[:TAG] for name, value in list(sources.tags.items())[:MOST_TAGS]},
        problem=(sources.problem or sources.file.problem)[:PROBLEM],
    )


def _newest(sources: Sources, bars: Sequence[Bar]) -> list[Bar]:
    """The VMs of the newest attempt that had any."""
    ids = next((set(item.instances.values()) for item in reversed(sources.ledger) if item.started), set())
    mine = [bar for bar in bars if bar.instance_id in ids]
    return mine or [bar for bar in bars if bar.attempt == bars[-1].attempt]


def standing(sources: Sources, bars: Sequence[Bar]) -> Standing:
    """How the job stands, by its end, else by the ledger, else by what has been seen of it."""
    if sources.status_code is not None:
        return Standing.ENDED if sources.status_code == SUCCESS else Standing.FAILED
    if not sources.ledger:
        return _unwritten(sources, bars)
    newest = sources.ledger[-1]
    if newest.state in CLOSED:
        return _CLOSED[newest.state]
    if newest.state is not AttemptState.RUNNING:
        return Standing.RECOVERING if newest.number > 1 else Standing.QUEUED
    if sources.marked:
        return Standing.RECOVERING
    return Standing.STALLED if sources.stalled or is_broken(newest) else Standing.RUNNING


def _unwritten(sources: Sources, bars: Sequence[Bar]) -> Standing:
    if sources.marked:
        return Standing.RECOVERING
    if any(bar.fate is BarEnd.UP for bar in bars):
        return Standing.STALLED if sources.stalled else Standing.RUNNING
    return Standing.UNKNOWN


def _ids(sources: Sources, gathered: Gathered) -> tuple[str, ...]:
    """Every id that the job ever had."""
    ledger = (
        instance_id
        for attempt in sources.ledger
        for ids in (attempt.replaces, attempt.instances)
        for instance_id in ids.values()
    )
    return _once((*ledger, *sources.registrations.values(), *gathered.metered, *gathered.ran))


def _nodes(sources: Sources) -> Iterator[str]:
    """Those of every attempt, up or not yet."""
    return (node for attempt in sources.ledger for node in attempt.instances)


def _once(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word))


def _losses(ledger: Sequence[Attempt], gathered: Gathered, bars: Sequence[Bar]) -> Iterator[Loss]:
    """Each time that VMs were lost, and how long it took until those that replaced them started."""
    for number, attempt in enumerate(ledger):
        if attempt.lost is None or (attempt.bent and not attempt.replaces):
            continue
        place, kind = next(counting.wanted(attempt, gathered, bars), (attempt.lost_in, VmKind()))
        lost, started = whole(attempt.lost), _replaced_at(attempt, ledger[number + 1 :])
        yield Loss(
            at=lost,
            preempted=attempt.fate == stays.PREEMPTED,
            zone=place,
            machine=kind.machine_type,
            seconds=None if started is None else max(0, int((whole(started) - lost) / SECOND)),
        )


def _replaced_at(attempt: Attempt, later: Sequence[Attempt]) -> datetime | None:
    """When what it stands in for was there again; of a gang that went on, when the last of it joined."""
    if not attempt.bent:
        return attempt.started
    went_on = takewhile(lambda record: record.bent, later)
    return next(
        (record.started for record in went_on if attempt.replaces.keys() <= record.instances.keys()), None
    )


def _happened(ledger: Sequence[Attempt]) -> Iterator[Happened]:
    """What places did: took VMs, had no room, gave."""
    news = [*ledger[:1], *map(new_in, ledger, ledger[1:])]
    for attempt, fresh in zip(ledger, news, strict=True):
        if attempt.fate == stays.PREEMPTED and attempt.lost and attempt.lost_in:
            yield Happened(zone=attempt.lost_in, at=attempt.lost, event=PlaceEvent.PREEMPTED)
        for two in fresh.tries:
            if two.error and two.spot and refusal(two.error) is RefusalKind.STOCKOUT:
                yield Happened(zone=two.place, at=two.at, event=PlaceEvent.STOCKOUT)
        gave = fresh.instances if attempt.bent else attempt.tries
        if attempt.started and gave and attempt.tries and attempt.tries[-1].spot:
            yield Happened(zone=attempt.tries[-1].place, at=attempt.started, event=PlaceEvent.GAVE)
