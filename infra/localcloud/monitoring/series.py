"""Time series in memory: columns of times and values, one set per series."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, MutableSequence, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Nanos = int
"""A moment: nanoseconds since 1970, UTC."""

# Old points are cut off this many at a time, or each new point would move all others.
CUT_AT_ONCE = 64


@dataclass(frozen=True, kw_only=True)
class SeriesIdentity:
    """What tells one series of a project from another."""

    metric: str
    metric_labels: Mapping[str, str]
    resource: str
    resource_labels: Mapping[str, str]

    @cached_property
    def key(self) -> tuple[str, ...]:
        """The same as a tuple that can be sorted and looked up."""
        labels = [
            *sorted(self.metric_labels.items()),
            ("", self.resource),
            *sorted(self.resource_labels.items()),
        ]
        return (self.metric, *(part for pair in labels for part in pair))


@dataclass(frozen=True, kw_only=True)
class Track:
    """A stretch of one series, oldest point first. `starts` is `ends` itself for a GAUGE."""

    identity: SeriesIdentity
    kind: str
    value_type: str
    starts: Sequence[Nanos]
    ends: Sequence[Nanos]
    values: Sequence[Any]


class Series:
    """One series. `kind` and `value_type` are names of Google's enums, such as GAUGE and DOUBLE."""

    def __init__(self, identity: SeriesIdentity, kind: str, value_type: str) -> None:
        self.identity = identity
        self.kind = kind
        self.value_type = value_type
        self._ends = array("q")
        self._starts = self._ends if kind == "GAUGE" else array("q")
        self._values: MutableSequence[Any] = array("d") if value_type == "DOUBLE" else []

    @property
    def last_end(self) -> Nanos | None:
        """The time of the newest point."""
        return self._ends[-1] if self._ends else None

    @property
    def last_start(self) -> Nanos | None:
        """The start of the newest point's interval."""
        return self._starts[-1] if self._starts else None

    @property
    def last_value(self) -> Any:
        """What the newest point says; only where there is one."""
        return self._values[-1]

    def add(self, start: Nanos, end: Nanos, value: Any) -> None:
        """Append a point, newer than all others."""
        self._ends.append(end)
        if self._starts is not self._ends:
            self._starts.append(start)
        self._values.append(value)

    def forget_before(self, horizon: Nanos) -> None:
        """Drop points that ended before this moment, when there are enough of them."""
        count = bisect_left(self._ends, horizon)
        if count >= CUT_AT_ONCE:
            del self._values[:count]
            if self._starts is not self._ends:
                del self._starts[:count]
            del self._ends[:count]

    def track(self, after: Nanos, until: Nanos, *, margin: int = 0, visible: Nanos | None = None) -> Track:
        """The points whose time is in (after, until], with up to `margin` more on either side.

        None is newer than `visible`.
        """
        low = max(0, bisect_right(self._ends, after) - margin)
        high = bisect_right(self._ends, until) + margin
        if visible is not None:
            high = min(high, bisect_right(self._ends, visible))
        ends = self._ends[low:high]
        return Track(
            identity=self.identity,
            kind=self.kind,
            value_type=self.value_type,
            starts=ends if self._starts is self._ends else self._starts[low:high],
            ends=ends,
            values=self._values[low:high],
        )

    def has_point(self, after: Nanos, until: Nanos) -> bool:
        """Whether there is any point in (after, until]."""
        at = bisect_right(self._ends, after)
        return at < len(self._ends) and self._ends[at] <= until


class SeriesStore:
    """All series of the project, by metric. Points older than `retention`, in nanoseconds, go."""

    def __init__(self, *, retention: Nanos) -> None:
        self._retention = retention
        self._metrics: dict[str, dict[tuple[str, ...], Series]] = {}

    def find(self, identity: SeriesIdentity) -> Series | None:
        """The series of this identity."""
        return self._metrics.get(identity.metric, {}).get(identity.key)

    def make(self, identity: SeriesIdentity, kind: str, value_type: str) -> Series:
        """The series of this identity, made if it is new."""
        found = self._metrics.setdefault(identity.metric, {})
        return found.get(identity.key) or found.setdefault(identity.key, Series(identity, kind, value_type))

    def add(self, series: Series, start: Nanos, end: Nanos, value: Any) -> None:
        """Append a point, and let go of what is too old."""
        series.add(start, end, value)
        series.forget_before(end - self._retention)

    def select(self, metric: str, wanted: Callable[[SeriesIdentity], bool]) -> list[Series]:
        """The series of a metric that are wanted, in the order of their keys."""
        found = self._metrics.get(metric, {})
        return [found[key] for key in sorted(found) if wanted(found[key].identity)]

    def all(self) -> Iterator[Series]:
        """Every series."""
        for found in self._metrics.values():
            yield from found.values()

    def drop_silent(self, now: Nanos) -> None:
        """Forget series whose newest point is older than the retention: their machines are long gone."""
        for metric, found in self._metrics.items():
            kept = {key: each for key, each in found.items() if (each.last_end or 0) >= now - self._retention}
            self._metrics[metric] = kept

    def drop_metric(self, metric: str) -> None:
        """Forget every series of a metric."""
        self._metrics.pop(metric, None)

    def counts(self) -> Iterator[tuple[str, int]]:
        """The number of series of each metric."""
        for metric, found in sorted(self._metrics.items()):
            yield metric, len(found)
