"""Points of many instances, put into rows on one grid; a hundred thousand rows have few distinct values."""

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import TypeVar

from spotwarden.gcp.series import GCE_INSTANCE, WireSeries, instance_id, number_of
from spotwarden.model.load import Buckets

UNKNOWN = -1.0

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
        self._values: dict[float, float] = {}

    def __bool__(self) -> bool:
        return bool(self._rows)

    def take(self, series: WireSeries) -> None:
        """Add the points of a series, or of the part of it that stands on one page."""
        instance = instance_id(series, self._label)
        if self._ids and instance not in self._ids:
            return
        row = self._rows.get(instance)
        if row is None:
            row = self._rows[instance] = [UNKNOWN] * self._grid.count
        if series.points:
            self._fill(row, series)

    def _fill(self, row: list[float], series: WireSeries) -> None:
        # Millions of points come along here, and each attribute of a message costs as much as decoding it.
        places, values, scale = self._places, self._values, self._scale
        field = number_of(series)
        for point in series.points:
            moment = point.interval.end_time
            end = moment.seconds + (moment.nanos > 0)
            try:
                place = places[end]
            except KeyError:
                place = self._place(end)
            number = getattr(point.value, field)
            if place is not None and isfinite(number):
                value = round(number * scale, 2)
                row[place] = values.setdefault(value, value)

    def _place(self, end: int) -> int | None:
        """Which bucket a point is in, by its second, or the next one where it is after the full second."""
        back = (self._grid.end - datetime.fromtimestamp(end, UTC)) // self._grid.step
        place = self._grid.count - 1 - back if 0 <= back < self._grid.count else None
        return self._places.setdefault(end, place)

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
