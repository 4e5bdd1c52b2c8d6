"""ListTimeSeries: what a request asks for, its pages, and the messages that answer it."""

import base64
import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from google.api import metric_pb2

from localcloud.google_types import monitoring as types
from localcloud.monitoring.aggregation import Step, read_step
from localcloud.monitoring.descriptors import Descriptors
from localcloud.monitoring.filter import series_filter
from localcloud.monitoring.series import Nanos, Series, SeriesStore, Track
from localcloud.monitoring.writing import VALUE_FIELDS
from localcloud.rpc import Raw, RpcError, plain

MOST_RESULTS = 100_000
# A client's channel takes 4 MB unless told otherwise. A point has at most 46 bytes, its series a few hundred.
MOST_BYTES = 3_000_000
POINT_BYTES = 46
SERIES_BYTES = 400

_Response = plain(types.ListTimeSeriesResponse)
_TimeSeries = plain(types.TimeSeries)
_Kind = metric_pb2.MetricDescriptor.MetricKind
_Type = metric_pb2.MetricDescriptor.ValueType


@dataclass(frozen=True, kw_only=True)
class SeriesQuery:
    """One request, checked. The series it is about, as they were when it came, are found by `snapshot`."""

    metric: str
    series: Sequence[Series]
    start: Nanos
    end: Nanos
    steps: tuple[Step, ...]
    full: bool
    size: int
    place: tuple[tuple[str, ...], int]
    unit: str
    visible: Nanos | None = None
    """Points that are newer are not there yet; None: all are."""

    def snapshot(self) -> list[Track]:
        """Copy what the answer is made of; afterwards it can be made while points go on arriving."""
        reach = max(step.reach for step in self.steps)
        margin = 1 if reach else 0
        until = self.end if self.visible is None else min(self.end, self.visible)
        return [
            each.track(self.start - reach, until, margin=margin, visible=self.visible)
            for each in self.series
            if each.has_point(self.start - reach, until)
        ]

    def answer(self, tracks: Sequence[Track]) -> Raw:
        """The response to one page.

        Raises:
            RpcError: INVALID_ARGUMENT when an aligner or reducer is not for these series.
        """
        found: Sequence[Track] = tracks
        for step in self.steps:
            found = step.apply(found, self.start, self.end)
        found = sorted((track for track in found if track.ends), key=_key)
        response = _Response(unit=self.unit)
        for track, low, high in self._page(found, response):
            _render(response.time_series.add(), track, low, high)
        return response

    def _page(self, tracks: Sequence[Track], response: Raw) -> Iterator[tuple[Track, int, int]]:
        """What one page shows: of each series the points from `low` to `high`, counted from the newest."""
        # A token names a series, not a number: others may have come and gone since the page before.
        first, offset = self.place
        number = bisect_left(tracks, first, key=_key)
        if number < len(tracks) and _key(tracks[number]) != first:
            offset = 0
        results, room = self.size, MOST_BYTES
        while number < len(tracks):
            room -= SERIES_BYTES
            if results <= 0 or room <= POINT_BYTES:
                response.next_page_token = _token(_key(tracks[number]), offset)
                return
            track = tracks[number]
            if not self.full:
                yield track, 0, 0
                number, results = number + 1, results - 1
                continue
            size = _point_bytes(track)
            shown = min(max(0, len(track.ends) - offset), results, max(1, room // size))
            yield track, offset, offset + shown
            results, room = results - shown, room - shown * size
            done = offset + shown >= len(track.ends)
            number, offset = (number + 1, 0) if done else (number, offset + shown)


def read_query(request: Raw, store: SeriesStore, descriptors: Descriptors, project: str) -> SeriesQuery:
    """Check a `ListTimeSeriesRequest`.

    Raises:
        RpcError: INVALID_ARGUMENT with the field that cannot be used, NOT_FOUND for an unknown metric.
    """
    metric, wanted = series_filter(request.filter, project)
    start, end = _interval(request.interval)
    if request.order_by:
        raise _invalid("orderBy", request.order_by, "It is not supported and must be empty.")
    if request.page_size < 0:
        raise _invalid("pageSize", str(request.page_size), "It must not be negative.")
    steps = (
        read_step(request.aggregation, "aggregation"),
        read_step(request.secondary_aggregation, "secondaryAggregation"),
    )
    return SeriesQuery(
        metric=metric,
        series=store.select(metric, wanted),
        start=start,
        end=end,
        steps=steps,
        full=request.view == types.ListTimeSeriesRequest.TimeSeriesView.FULL,
        size=min(request.page_size or MOST_RESULTS, MOST_RESULTS),
        place=_place(request.page_token),
        unit=descriptors.need(metric).unit,
    )


def _interval(interval: Raw) -> tuple[Nanos, Nanos]:
    if not interval.HasField("end_time"):
        raise _invalid("interval.endTime", "", "It must be given.")
    end = interval.end_time.ToNanoseconds()
    start = interval.start_time.ToNanoseconds() if interval.HasField("start_time") else end
    if start > end:
        shown = interval.start_time.ToJsonString()
        raise _invalid("interval.startTime", shown, "The start time must be before the end time.")
    # Without a start the interval is the one moment of its end.
    return (start, end) if start < end else (end - 1, end)


def _invalid(field: str, value: str, why: str) -> RpcError:
    return RpcError("INVALID_ARGUMENT", f'Field {field} had an invalid value of "{value}": {why}')


def _key(track: Track) -> tuple[str, ...]:
    return track.identity.key


def _token(key: tuple[str, ...], offset: int) -> str:
    return base64.urlsafe_b64encode(json.dumps([key, offset]).encode()).decode()


def _place(token: str) -> tuple[tuple[str, ...], int]:
    if not token:
        return (), 0
    try:
        key, offset = json.loads(base64.b64decode(token.encode(), altchars=b"-_", validate=True))
        return tuple(str(part) for part in key), max(0, int(offset))
    except (ValueError, TypeError) as error:
        raise _invalid("pageToken", token, "It is not a token of this listing.") from error


def _point_bytes(track: Track) -> int:
    if track.value_type == "DISTRIBUTION":
        return int(POINT_BYTES + max(value.ByteSize() for value in track.values))
    if track.value_type == "STRING":
        return POINT_BYTES + max(len(value.encode()) for value in track.values)
    return POINT_BYTES


def _render(message: Raw, track: Track, low: int, high: int) -> None:
    """Fill a `TimeSeries`, its newest point first."""
    identity = track.identity
    message.metric.type = identity.metric
    message.metric.labels.update(identity.metric_labels)
    message.resource.type = identity.resource
    message.resource.labels.update(identity.resource_labels)
    message.metric_kind = _Kind.Value(track.kind)
    message.value_type = _Type.Value(track.value_type)
    name = VALUE_FIELDS[track.value_type]
    count = len(track.ends)
    for at in range(count - 1 - low, count - 1 - high, -1):
        point = message.points.add()
        interval = point.interval
        _stamp(interval.start_time, track.starts[at])
        _stamp(interval.end_time, track.ends[at])
        if track.value_type == "DISTRIBUTION":
            point.value.distribution_value.CopyFrom(track.values[at])
        else:
            setattr(point.value, name, track.values[at])


def _stamp(timestamp: Raw, moment: Nanos) -> None:
    timestamp.seconds, timestamp.nanos = divmod(moment, 1_000_000_000)
