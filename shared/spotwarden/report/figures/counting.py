"""Where a job's VM time went: every second of every VM into exactly one part, by day, zone and kind of VM."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo

from msgspec.structs import replace

from spotwarden.model.attempt import Attempt
from spotwarden.model.opening import zone_of
from spotwarden.model.prices import VmKind
from spotwarden.report.figures.intervals import Pair, Pairs, by_day, pair, union, within, without
from spotwarden.report.figures.stays import interruptions, kind_of, over_at, up_of
from spotwarden.report.model.job import Bar, BarEnd, JobWait
from spotwarden.report.model.kept import (
    SLOT,
    Cell,
    FigureRules,
    Gathered,
    KeptLoads,
    NodeMetrics,
    Seconds,
    Sources,
)

USEFUL, STARTING, IDLE, LOST, AFTER, UNKNOWN, WAITING = range(len(Seconds._fields))
GONE = frozenset((BarEnd.PREEMPTED, BarEnd.LOST, BarEnd.EXPIRED))
OWNER = 300
"""Characters of an owner's name; it stands in each cell of all jobs."""
FOREVER = datetime(9999, 1, 1, tzinfo=UTC)

Key = tuple[date, str, VmKind, str]
Sums = defaultdict[Key, list[int]]
Parts = Mapping[int, Pairs]


def cells(
    sources: Sources, gathered: Gathered, bars: Sequence[Bar], waits: Sequence[JobWait], rules: FigureRules
) -> tuple[tuple[VmKind, ...], tuple[Cell, ...]]:
    """The kinds of VM of a job, and its cells."""
    sums: Sums = defaultdict(lambda: [0] * len(Seconds._fields))
    zone = days_in(rules.timezone)
    for bar in bars:
        attempt = next((two for two in sources.ledger if two.number == bar.attempt), None)
        kind = kind_of(bar.instance_id, attempt, gathered)
        owner = owner_of(bar, sources, gathered)
        for part, pairs in parts(bar, sources, gathered, rules).items():
            _add(sums, part, pairs, zone, (bar.zone, kind, owner))
    for where, pairs in _waiting(sources, gathered, bars, waits, rules):
        _add(sums, WAITING, pairs, zone, where)
    return _packed(sums)


def owner_of(bar: Bar, sources: Sources, gathered: Gathered) -> str:
    """Whose a VM is: its job's owner, or what the meter says of it."""
    metered = gathered.metered.get(bar.instance_id)
    return said(sources) or (metered.owner if metered else "")


def said(sources: Sources) -> str:
    """Who owns the job, as it says itself."""
    named = sources.file.owner or next(
        (attempt.owner for attempt in reversed(sources.ledger) if attempt.owner), ""
    )
    return named[:OWNER]


def days_in(name: str) -> tzinfo:
    """The time zone that days are of; UTC where there is none of this name."""
    try:
        return zone_of(name)
    except (ValueError, LookupError):
        return UTC


def _add(sums: Sums, part: int, pairs: Pairs, zone: tzinfo, where: tuple[str, VmKind, str]) -> None:
    for day, span in by_day(pairs, zone):
        sums[day, *where][part] += span


def _packed(sums: Sums) -> tuple[tuple[VmKind, ...], tuple[Cell, ...]]:
    kinds = tuple(sorted({key[2] for key in sums}, key=repr))
    rows = sorted(
        Cell(day=day, zone=place, kind=kinds.index(kind), owner=owner, seconds=Seconds(*row))
        for (day, place, kind, owner), row in sums.items()
    )
    return kinds, tuple(rows)


def parts(bar: Bar, sources: Sources, gathered: Gathered, rules: FigureRules) -> Parts:
    """The up-time of one VM in one attempt, cut into the parts of `Spans`; the first that fits wins."""
    rest = up_of(bar, gathered, sources, rules.now)
    found: dict[int, Pairs] = {}
    for part, pairs in _claims(bar, sources, gathered, rules):
        found[part] = union((*found.get(part, ()), *within(rest, pairs)))
        rest = without(rest, pairs)
    return {**found, USEFUL: rest}


def _claims(
    bar: Bar, sources: Sources, gathered: Gathered, rules: FigureRules
) -> Iterator[tuple[int, Pairs]]:
    over = over_at(sources)
    if over is not None:
        yield AFTER, pair(over, FOREVER)
    if bar.fate in GONE:
        kept = kept_until(bar, gathered)
        # What a lost VM is metered beyond its loss is the meter's clock, and lost as well.
        yield (UNKNOWN, pair(bar.start, FOREVER)) if kept is None else (LOST, pair(kept, FOREVER))
    for record in interruptions(bar, sources):
        # What it had not saved its program did again.
        kept = kept_until(replace(bar, end=record.started), gathered)
        yield (UNKNOWN if kept is None else LOST), pair(kept or bar.start, record.lost or record.created)
    mine = [line for line in gathered.lines if line.attempt == bar.attempt and line.first]
    if mine:
        yield STARTING, pair(bar.start, min(line.first for line in mine if line.first))
    if loads := gathered.loads.get(bar.instance_id):
        yield IDLE, idle(loads, rules.threshold)


def kept_until(bar: Bar, gathered: Gathered) -> datetime | None:
    """Up to when the work of a lost VM had been saved: its newest checkpoint before that, or its start.

    None where its job has told of no checkpoint up to then: nobody knows what was saved.
    """
    end = bar.end or FOREVER
    told = (at <= end or line.attempt <= bar.attempt for line in gathered.lines for at, _ in line.saved)
    if not any(told):
        return None
    return max([bar.start, *_saved(gathered.lines, bar.start, end)])


def _saved(lines: Sequence[NodeMetrics], start: datetime, end: datetime) -> Iterator[datetime]:
    return (at for line in lines for at, _ in line.saved if start <= at <= end)


def idle(loads: KeptLoads, threshold: float) -> Pairs:
    """The slots in which all GPUs of a VM were below the threshold."""
    return union(slot(number) for number, top in loads.slots.items() if 0 <= top < threshold)


def slot(number: str) -> Pair:
    """From when to when the slot of this number is."""
    start = datetime.fromtimestamp(int(number) * SLOT, UTC)
    return start, start + timedelta(seconds=SLOT)


def _waiting(
    sources: Sources, gathered: Gathered, bars: Sequence[Bar], waits: Sequence[JobWait], rules: FigureRules
) -> Iterator[tuple[tuple[str, VmKind, str], Pairs]]:
    """What a job waited for, by VM: as many as it had before, of the same kind, where they were lost."""
    ledger = {attempt.number: attempt for attempt in sources.ledger}
    for wait in waits:
        pairs = pair(wait.start, wait.end or rules.now)
        for place, kind in wanted(ledger[wait.attempt], gathered, bars):
            yield (place, kind, said(sources)), pairs


def wanted(attempt: Attempt, gathered: Gathered, bars: Sequence[Bar]) -> Iterator[tuple[str, VmKind]]:
    """The place and kind of each VM that an attempt stands in for; where there is none, of its own."""
    for node in attempt.replaces or attempt.instances:
        mine = [bar for bar in bars if bar.node == node]
        before = [bar for bar in mine if bar.attempt < attempt.number]
        for bar in before[-1:] or mine[:1]:
            yield attempt.lost_in or bar.zone, kind_of(bar.instance_id, attempt, gathered)
