"""Reducers: several aligned series become one, as the enum `Aggregation.Reducer` documents them."""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from localcloud.monitoring.align import ANY, BOOLS, DISTRIBUTIONS, NUMBERS
from localcloud.monitoring.distribution import merged, percentile
from localcloud.monitoring.series import Nanos, SeriesIdentity, Track


@dataclass(frozen=True, kw_only=True)
class Reducer:
    """What a reducer takes and gives; `value_type` empty means that of the series."""

    types: frozenset[str]
    work: Callable[[Sequence[Any]], Any]
    value_type: str = ""


def _mean(values: Sequence[Any]) -> float:
    if isinstance(values[0], int | float):
        return statistics.fmean(values)
    return float(merged(values).mean)


def _sum(values: Sequence[Any]) -> Any:
    return sum(values) if isinstance(values[0], int | float) else merged(values)


def _deviation(values: Sequence[Any]) -> float:
    if isinstance(values[0], int | float):
        return float(statistics.pstdev(values))
    total = merged(values)
    return math.sqrt(total.sum_of_squared_deviation / total.count) if total.count else 0.0


def _count_false(values: Sequence[bool]) -> int:
    return len(values) - sum(values)


def _fraction_true(values: Sequence[bool]) -> float:
    return sum(values) / len(values)


def _percentile(values: Sequence[Any], *, percent: float) -> float | None:
    if not isinstance(values[0], int | float):
        return percentile(merged(values), percent)
    ranked = sorted(values)
    place = (len(ranked) - 1) * percent / 100
    below = int(place)
    above = min(below + 1, len(ranked) - 1)
    return float(ranked[below] + (ranked[above] - ranked[below]) * (place - below))


def _percentiles() -> Iterable[tuple[str, Reducer]]:
    for percent in (99, 95, 50, 5):
        work = partial(_percentile, percent=percent)
        yield (
            f"REDUCE_PERCENTILE_{percent:02}",
            Reducer(types=NUMBERS | DISTRIBUTIONS, value_type="DOUBLE", work=work),
        )


REDUCERS = {
    "REDUCE_MEAN": Reducer(types=NUMBERS | DISTRIBUTIONS, value_type="DOUBLE", work=_mean),
    "REDUCE_MIN": Reducer(types=NUMBERS, work=min),
    "REDUCE_MAX": Reducer(types=NUMBERS, work=max),
    "REDUCE_SUM": Reducer(types=NUMBERS | DISTRIBUTIONS, work=_sum),
    "REDUCE_STDDEV": Reducer(types=NUMBERS | DISTRIBUTIONS, value_type="DOUBLE", work=_deviation),
    "REDUCE_COUNT": Reducer(types=ANY, value_type="INT64", work=len),
    "REDUCE_COUNT_TRUE": Reducer(types=BOOLS, value_type="INT64", work=sum),
    "REDUCE_COUNT_FALSE": Reducer(types=BOOLS, value_type="INT64", work=_count_false),
    "REDUCE_FRACTION_TRUE": Reducer(types=BOOLS, value_type="DOUBLE", work=_fraction_true),
    **dict(_percentiles()),
}
"""Every reducer but REDUCE_NONE, with what its documentation says it is valid for."""

Field = tuple[str, str]
"""What to group by: (`metric` or `resource`, the name of a label)."""


def reduced(tracks: Sequence[Track], reducer: Reducer, fields: Sequence[Field]) -> Iterator[Track]:
    """One series per group of series that agree in these labels; resource types are never mixed."""
    groups: defaultdict[tuple[str, ...], list[Track]] = defaultdict(list)
    for track in tracks:
        values = (_label(track.identity, field) or "" for field in fields)
        groups[track.identity.resource, *values].append(track)
    for _, members in sorted(groups.items()):
        yield _combined(members, reducer, fields)


def _combined(members: Sequence[Track], reducer: Reducer, fields: Sequence[Field]) -> Track:
    first = members[0]
    columns: defaultdict[Nanos, list[Any]] = defaultdict(list)
    starts: dict[Nanos, Nanos] = {}
    for member in members:
        for start, end, value in zip(member.starts, member.ends, member.values, strict=True):
            columns[end].append(value)
            starts[end] = start
    values = {end: reducer.work(columns[end]) for end in sorted(columns)}
    ends = [end for end, value in values.items() if value is not None]
    return Track(
        identity=_group_identity(members, fields),
        kind=first.kind,
        value_type=reducer.value_type or first.value_type,
        starts=[starts[end] for end in ends],
        ends=ends,
        values=[values[end] for end in ends],
    )


def _group_identity(members: Sequence[Track], fields: Sequence[Field]) -> SeriesIdentity:
    """The labels that were grouped by, and the project, which no reduction takes away."""
    first = members[0].identity
    kept = [*fields, ("resource", "project_id")]

    def labels(side: str) -> dict[str, str]:
        found = {name: _label(first, (of, name)) for of, name in kept if of == side}
        return {name: value for name, value in found.items() if value is not None}

    return SeriesIdentity(
        metric=first.metric,
        metric_labels=labels("metric"),
        resource=first.resource,
        resource_labels=labels("resource"),
    )


def _label(identity: SeriesIdentity, field: Field) -> str | None:
    of, name = field
    return (identity.metric_labels if of == "metric" else identity.resource_labels).get(name)
