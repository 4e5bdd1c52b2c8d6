"""Points of many instances, put into rows on one grid; a hundred thousand rows have few distinct values."""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import TypeVar

from spotwarden.gcp.series import DOUBLES, GCE_INSTANCE, WirePoint, WireSeries, number_of
from spotwarden.model.load import Buckets

UNKNOWN = -1.0
MOST_NUMBERS = 10_000
"""So many are remembered as they came: agents report whole percents, but nobody promises that."""

Row = TypeVar("Row", bound=tuple[float, ...])


class PagedRows:
    """Takes series, and gives a row of numbers for each instance id; `scale` is what 1 becomes.

    With `ids` other instances are left out: of very many, Monitoring is asked for all. The id is in `label`.
    """

    def __init__(
        self,
        grid: Buckets,
        scale: float = 1.0,
        ids: Collection[str] = (),
        label: str = GCE_INSTANCE.instance,
    ) -> None:
        self._grid = grid
        self._scale = scale
        self._ids = ids
        self._label = label
        self._places: dict[int, int | None] = {}
        self._rows: dict[str, list[float]] = {}
        self._values: dict[float, float | None] = {}
        self._rounded: dict[float, float] = {}

    def __bool__(self) -> bool:
        return bool(self._rows)

    def take(self, found: Iterable[WireSeries]) -> None:
        """Add the points of each series, or of the part of it that stands on one page."""
        ids, label, rows, count = self._ids, self._label, self._rows, self._grid.count
        for series in found:
            instance = series.resource.labels[label]
            if not ids or instance in ids:
                row = rows.get(instance)
                if row is None:
                    row = rows[instance] = [UNKNOWN] * count
                if points := series.points:
                    self._fill(row, points, doubles=number_of(series) == DOUBLES)
                del points
            del series  # it keeps its page, and the next one may stand on another

    def _fill(self, row: list[float], points: Iterable[WirePoint], *, doubles: bool) -> None:
        # Millions of points come along here, and each attribute of a message costs as much as decoding it.
        places, values = self._places, self._values
        for point in points:
            moment = point.interval.end_time
            end = moment.seconds + (moment.nanos > 0)
            number = point.value.double_value if doubles else point.value.int64_value
            try:
                place, value = places[end], values[number]
            except KeyError:
                place, value = self._place(end), self._value(number)
            if place is not None and value is not None:
                row[place] = value

    def _place(self, end: int) -> int | None:
        """Which bucket a point is in, by its second, or the next one where it is after the full second."""
        back = (self._grid.end - datetime.fromtimestamp(end, UTC)) // self._grid.step
        place = self._grid.count - 1 - back if 0 <= back < self._grid.count else None
        return self._places.setdefault(end, place)

    def _value(self, number: float) -> float | None:
        """What a number becomes: those that are equal then are one. None for one that is none."""
        if not isfinite(number):
            return None
        rounded = round(number * self._scale, 2)
        value = self._rounded.setdefault(rounded, rounded)
        if len(self._values) < MOST_NUMBERS:
            self._values[number] = value
        return value

    def tuples(self) -> Mapping[str, tuple[float, ...]]:
        """The rows by instance id, oldest bucket first. Nothing is left here."""
        return self._emptied(tuple)

    def counts(self) -> Mapping[str, tuple[int, ...]]:
        """The same as whole numbers."""
        return self._emptied(lambda row: tuple(map(int, row)))

    def _emptied(self, form: Callable[[list[float]], Row]) -> Mapping[str, Row]:
        same: dict[Row, Row] = {}  # equal rows are kept once
        found: dict[str, Row] = {}
        while self._rows:
            key, row = self._rows.popitem()
            made = form(row)
            found[key] = same.setdefault(made, made)
        return found
