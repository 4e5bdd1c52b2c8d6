"""Aligners: one value per series and alignment period, as the enum `Aggregation.Aligner` documents them."""

import math
import statistics
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from localcloud.monitoring.distribution import merged, percentile
from localcloud.monitoring.series import Nanos, Track

MINUTE: Nanos = 60_000_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """One alignment period: the points with `low` < time ≤ `high`; the result carries the time `high`."""

    low: Nanos
    high: Nanos


Aligned = Iterator[tuple[Window, Any]]
Work = Callable[[Track, Sequence[Window]], Aligned]

NUMBERS = frozenset({"INT64", "DOUBLE"})
BOOLS = frozenset({"BOOL"})
DISTRIBUTIONS = frozenset({"DISTRIBUTION"})
ANY = NUMBERS | BOOLS | DISTRIBUTIONS | {"STRING"}

GAUGE = frozenset({"GAUGE"})
DELTA = frozenset({"DELTA"})
CUMULATIVE = frozenset({"CUMULATIVE"})


@dataclass(frozen=True, kw_only=True)
class Aligner:
    """What an aligner takes and gives: `kind` and `value_type` empty mean those of the series."""

    kinds: frozenset[str]
    types: frozenset[str]
    work: Work
    kind: str = ""
    value_type: str = ""


def windows(start: Nanos, end: Nanos, period: Nanos) -> list[Window]:
    """The periods of an interval, oldest first: the last ends at `end`, the first ends after `start`."""
    count = max(0, -(-(end - start) // period))
    return [Window(low=end - (back + 1) * period, high=end - back * period) for back in range(count)][::-1]


def _each(function: Callable[[Sequence[Any]], Any]) -> Work:
    """An aligner that looks at the values inside each period and nothing else."""

    def work(track: Track, periods: Sequence[Window]) -> Aligned:
        for window in periods:
            low, high = bisect_right(track.ends, window.low), bisect_right(track.ends, window.high)
            if low < high and (value := function(track.values[low:high])) is not None:
                yield window, value

    return work


def _fraction_true(values: Sequence[bool]) -> float:
    return sum(values) / len(values)


def _count_false(values: Sequence[bool]) -> int:
    return len(values) - sum(values)


def _interpolate(track: Track, periods: Sequence[Window]) -> Aligned:
    for window in periods:
        if (value := _value_at(track, window.high)) is not None:
            yield window, _typed(value, track)


def _value_at(track: Track, moment: Nanos) -> float | None:
    """The value on the straight line between the points around a moment; None outside of the series."""
    after = bisect_left(track.ends, moment)
    if after == len(track.ends):
        return None
    if track.ends[after] == moment:
        return float(track.values[after])
    if after == 0:
        return None
    span = track.ends[after] - track.ends[after - 1]
    share = (moment - track.ends[after - 1]) / span
    before = float(track.values[after - 1])
    return before + share * (float(track.values[after]) - before)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Growth:
    """By how much a value grew in a stretch of time, evenly."""

    low: Nanos
    high: Nanos
    amount: float


def _growths(track: Track) -> Iterator[_Growth]:
    """The stretches of a DELTA or CUMULATIVE series; a new start time is a reset to zero."""
    for at, (start, end, value) in enumerate(zip(track.starts, track.ends, track.values, strict=True)):
        if track.kind == "DELTA" or at == 0 or track.starts[at - 1] != start:
            yield _Growth(low=start, high=end, amount=value)
        else:
            yield _Growth(low=track.ends[at - 1], high=end, amount=value - track.values[at - 1])


def _covered(track: Track, periods: Sequence[Window]) -> Iterator[tuple[Window, float, Nanos]]:
    """Each period with its growth and the time it covers; a stretch across a boundary is shared out."""
    growths = list(_growths(track))
    for window in periods:
        amount, covered = 0.0, 0
        first = bisect_right(growths, window.low, key=lambda growth: growth.high)
        for growth in islice(growths, first, None):
            if growth.low >= window.high:
                break
            overlap = min(growth.high, window.high) - max(growth.low, window.low)
            if overlap > 0:
                amount += growth.amount * overlap / (growth.high - growth.low)
                covered += overlap
        if covered:
            yield window, amount, covered


def _delta(track: Track, periods: Sequence[Window]) -> Aligned:
    if track.value_type == "DISTRIBUTION":
        yield from _each(merged)(track, periods)
        return
    for window, amount, _ in _covered(track, periods):
        yield window, _typed(amount, track)


def _rate(track: Track, periods: Sequence[Window]) -> Aligned:
    for window, amount, covered in _covered(track, periods):
        yield window, amount / (covered / 1e9)


def _percent_change(track: Track, periods: Sequence[Window]) -> Aligned:
    for window in periods:
        current, previous = _moving_mean(track, window.high), _moving_mean(track, window.low)
        if current is None or previous is None:
            continue
        if previous:
            yield window, (current - previous) / previous * 100
        else:
            yield window, math.inf if current else 0.0


def _moving_mean(track: Track, moment: Nanos) -> float | None:
    """The mean of the last ten minutes; values below zero count as missing."""
    low, high = bisect_right(track.ends, moment - 10 * MINUTE), bisect_right(track.ends, moment)
    values = [value for value in track.values[low:high] if value >= 0]
    return statistics.fmean(values) if values else None


def _percentile_of_all(distributions: Sequence[Any], *, percent: float) -> float | None:
    return percentile(merged(distributions), percent)


def _typed(value: float, track: Track) -> float:
    return round(value) if track.value_type == "INT64" else value


def _simple(function: Callable[[Sequence[Any]], Any], value_type: str = "") -> Aligner:
    work = _each(function)
    return Aligner(kinds=GAUGE | DELTA, types=NUMBERS, kind="GAUGE", value_type=value_type, work=work)


def _of_bools(function: Callable[[Sequence[Any]], Any], value_type: str) -> Aligner:
    return Aligner(kinds=GAUGE, types=BOOLS, kind="GAUGE", value_type=value_type, work=_each(function))


def _percentiles() -> Iterable[tuple[str, Aligner]]:
    for percent in (99, 95, 50, 5):
        work = _each(partial(_percentile_of_all, percent=percent))
        aligner = Aligner(
            kinds=GAUGE | DELTA, types=DISTRIBUTIONS, kind="GAUGE", value_type="DOUBLE", work=work
        )
        yield f"ALIGN_PERCENTILE_{percent:02}", aligner


def _sum(values: Sequence[Any]) -> Any:
    return sum(values) if isinstance(values[0], int | float) else merged(values)


ALIGNERS = {
    "ALIGN_DELTA": Aligner(
        kinds=DELTA | CUMULATIVE, types=NUMBERS | DISTRIBUTIONS, kind="DELTA", work=_delta
    ),
    "ALIGN_RATE": Aligner(
        kinds=DELTA | CUMULATIVE, types=NUMBERS, kind="GAUGE", value_type="DOUBLE", work=_rate
    ),
    "ALIGN_INTERPOLATE": Aligner(kinds=GAUGE, types=NUMBERS, kind="GAUGE", work=_interpolate),
    "ALIGN_NEXT_OLDER": Aligner(kinds=GAUGE, types=ANY, kind="GAUGE", work=_each(lambda values: values[-1])),
    "ALIGN_MIN": _simple(min),
    "ALIGN_MAX": _simple(max),
    "ALIGN_MEAN": _simple(statistics.fmean, "DOUBLE"),
    "ALIGN_COUNT": Aligner(
        kinds=GAUGE | DELTA, types=NUMBERS | BOOLS, kind="GAUGE", value_type="INT64", work=_each(len)
    ),
    "ALIGN_SUM": Aligner(kinds=GAUGE | DELTA, types=NUMBERS | DISTRIBUTIONS, work=_each(_sum)),
    "ALIGN_STDDEV": _simple(statistics.pstdev, "DOUBLE"),
    "ALIGN_COUNT_TRUE": _of_bools(sum, "INT64"),
    "ALIGN_COUNT_FALSE": _of_bools(_count_false, "INT64"),
    "ALIGN_FRACTION_TRUE": _of_bools(_fraction_true, "DOUBLE"),
    "ALIGN_PERCENT_CHANGE": Aligner(
        kinds=GAUGE | DELTA, types=NUMBERS, kind="GAUGE", value_type="DOUBLE", work=_percent_change
    ),
    **dict(_percentiles()),
}
"""Every aligner but ALIGN_NONE, with what its documentation says it is valid for."""


def aligned(track: Track, aligner: Aligner, periods: Sequence[Window]) -> Track:
    """A series with one point per period that has a value."""
    points = list(aligner.work(track, periods))
    kind = aligner.kind or track.kind
    ends = [window.high for window, _ in points]
    return Track(
        identity=track.identity,
        kind=kind,
        value_type=aligner.value_type or track.value_type,
        starts=ends if kind == "GAUGE" else [window.low for window, _ in points],
        ends=ends,
        values=[value for _, value in points],
    )
