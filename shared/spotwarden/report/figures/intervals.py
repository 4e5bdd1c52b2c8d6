"""Sets of moments, as ordered pairs that do not touch: what figures are cut out of. Whole seconds."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)
Pair = tuple[datetime, datetime]
Pairs = tuple[Pair, ...]


def whole(moment: datetime) -> datetime:
    """The moment without parts of a second, in UTC: then all sums are whole numbers."""
    return moment.astimezone(UTC).replace(microsecond=0)


def pair(start: datetime, end: datetime) -> Pairs:
    """From when to when; nothing where it does not end after its start."""
    first, last = whole(start), whole(end)
    return ((first, last),) if last > first else ()


def union(parts: Iterable[Pair]) -> Pairs:
    """All of them, and none twice."""
    found: list[Pair] = []
    for start, end in sorted(parts):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return tuple(found)


def within(these: Pairs, those: Pairs) -> Pairs:
    """What is in both."""
    return tuple(
        (start, end)
        for item in these
        for other in those
        if (start := max(item[0], other[0])) < (end := min(item[1], other[1]))
    )


def without(these: Pairs, those: Pairs) -> Pairs:
    """What is in the first and not in the second."""
    left = these
    for start, end in those:
        left = tuple(piece for leftover in left for piece in _cut(leftover, start, end))
    return left


def _cut(item: Pair, start: datetime, end: datetime) -> Iterator[Pair]:
    if item[0] < min(item[1], start):
        yield item[0], min(item[1], start)
    if max(item[0], end) < item[1]:
        yield max(item[0], end), item[1]


def seconds(pairs: Iterable[Pair]) -> int:
    """How long they are together."""
    return sum(int((end - start) / SECOND) for start, end in pairs)


def by_day(pairs: Iterable[Pair], zone: tzinfo) -> Iterator[tuple[date, int]]:
    """The seconds of each day of this time zone: one on which clocks change has 23 or 25 hours."""
    for start, end in pairs:
        at = start
        while at < end:
            day = at.astimezone(zone).date()
            until = min(end, max(first_of(day + DAY, zone), at + SECOND))
            yield day, int((until - at) / SECOND)
            at = until


def first_of(day: date, zone: tzinfo) -> datetime:
    """When a day begins there, in UTC: where clocks skip midnight, it is the moment at which they do."""
    return datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)
