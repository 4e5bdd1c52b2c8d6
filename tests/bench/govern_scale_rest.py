"""Cloud Monitoring's lists over REST, as our adapter had them: what `govern_scale_clients.py` compares."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from math import isfinite
from typing import Any

import msgspec

from spotwarden.gcp import gathering, monitoring, series
from spotwarden.gcp.calls import decode
from spotwarden.gcp.gathering import UNKNOWN
from spotwarden.gcp.rest import Rest
from spotwarden.gcp.retry_policy import RetryPolicy

Query = Mapping[str, str | list[str]]
FIELDS = (
    "timeSeries(resource/labels,points(interval/endTime,value)),nextPageToken,executionErrors,unreachable"
)


class Value(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """A number, of either type; 64-bit integers are text in JSON."""

    double_value: float | None = None
    int64_value: str | None = None


class Interval(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """Of an aligned point only the end counts. Kept as text: few moments are told of many points."""

    end_time: str


class Point(msgspec.Struct, frozen=True, gc=False):
    """One aligned value."""

    interval: Interval
    value: Value


class Resource(msgspec.Struct, frozen=True, gc=False):
    """What a series is about."""

    labels: dict[str, str] = {}


class Series(msgspec.Struct, frozen=True, gc=False):
    """One series, or what of it stands on this page."""

    resource: Resource = Resource()
    points: Sequence[Point] = ()


class Page(msgspec.Struct, frozen=True, rename="camel"):
    """One page of an answer."""

    time_series: Sequence[Series] = ()
    next_page_token: str = ""


def use(endpoint: str) -> None:
    """Have the adapter ask this server from now on."""
    rest = Rest(endpoint=endpoint, retry_policy=RetryPolicy())

    def listed(
        _: object, project: str, ask: series.SeriesQuestion, ids: Collection[str] = (), every: int = 0
    ) -> Iterator[Series]:
        for named in series.named_calls(set(ids), every):
            query = _query(ask, project, named)
            token: dict[str, str] = {}
            while True:
                page = decode(rest.get(f"/v3/projects/{project}/timeSeries", {**query, **token}), Page)
                yield from page.time_series
                if not page.next_page_token:
                    break
                token = {"pageToken": page.next_page_token}

    vars(monitoring)["listed"] = listed
    gathering.PagedRows.take = _take  # type: ignore[method-assign] # what is measured


def _query(ask: series.SeriesQuestion, project: str, ids: Collection[str]) -> Query:
    request = ask.request(project, ids)
    query: dict[str, str | list[str]] = {
        "filter": request.filter,
        "interval.startTime": _stamp(ask.start),
        "interval.endTime": _stamp(ask.end),
        "view": "FULL",
        "pageSize": str(request.page_size),
        "fields": FIELDS,
    }
    for name, step in (
        ("aggregation", request.aggregation),
        ("secondaryAggregation", request.secondary_aggregation),
    ):
        if step:
            query |= {
                f"{name}.alignmentPeriod": f"{int(ask.step.total_seconds())}s",
                f"{name}.perSeriesAligner": step.per_series_aligner.name,
                f"{name}.crossSeriesReducer": step.cross_series_reducer.name,
                f"{name}.groupByFields": list(step.group_by_fields),
            }
    return query


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _take(self: gathering.PagedRows, found: Iterable[Series]) -> None:
    for listed in found:
        instance = listed.resource.labels.get("instance_id", "")
        if not self._ids or instance in self._ids:
            _fill(self, self._rows.setdefault(instance, [UNKNOWN] * self._grid.count), listed.points)


def _fill(self: gathering.PagedRows, row: list[float], points: Sequence[Point]) -> None:
    for point in points:
        place = _place(self._grid, point.interval.end_time)
        told = point.value.double_value
        number = told if told is not None else float(point.value.int64_value or "nan")
        if place is not None and isfinite(number):
            value = round(number * self._scale, 2)
            row[place] = self._rounded.setdefault(value, value)


@lru_cache(maxsize=4096)
def _place(grid: Any, end: str) -> int | None:
    back = (grid.end - msgspec.convert(end, datetime)) // grid.step
    count: int = grid.count
    return count - 1 - back if 0 <= back < count else None
