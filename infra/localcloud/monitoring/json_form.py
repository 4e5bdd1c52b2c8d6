"""The JSON of time series, ten times as fast as protobuf's own way, for listings of thousands."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from google.api import metric_pb2
from google.protobuf import json_format

from localcloud.rpc import Raw

_Kind = metric_pb2.MetricDescriptor.MetricKind
_Type = metric_pb2.MetricDescriptor.ValueType


def series_json(response: Raw) -> Mapping[str, Any]:
    """A `ListTimeSeriesResponse` as JSON: the same as `json_format.MessageToDict` makes of it."""
    answer: dict[str, Any] = {}
    if response.time_series:
        answer["timeSeries"] = [_series(each) for each in response.time_series]
    if response.next_page_token:
        answer["nextPageToken"] = response.next_page_token
    if response.unit:
        answer["unit"] = response.unit
    return answer


def _series(message: Raw) -> dict[str, Any]:
    found: dict[str, Any] = {
        "metric": _typed(message.metric),
        "resource": _typed(message.resource),
        "metricKind": _Kind.Name(message.metric_kind),
        "valueType": _Type.Name(message.value_type),
    }
    if message.points:
        found["points"] = [_point(point) for point in message.points]
    return found


def _typed(message: Raw) -> dict[str, Any]:
    found: dict[str, Any] = {"type": message.type}
    if message.labels:
        found["labels"] = dict(message.labels)
    return found


def _point(point: Raw) -> dict[str, Any]:
    interval = point.interval
    start, end = interval.start_time, interval.end_time
    return {
        "interval": {
            "startTime": _moment(start.seconds, start.nanos),
            "endTime": _moment(end.seconds, end.nanos),
        },
        "value": _value(point.value),
    }


def _value(value: Raw) -> dict[str, Any]:
    match value.WhichOneof("value"):
        case "double_value" if math.isfinite(value.double_value):
            return {"doubleValue": value.double_value}
        case "int64_value":
            return {"int64Value": str(value.int64_value)}
        case "bool_value":
            return {"boolValue": value.bool_value}
        case _:
            return json_format.MessageToDict(value)


@lru_cache(maxsize=10_000)
def _moment(seconds: int, nanos: int) -> str:
    """A time as protobuf writes it: no fraction, or one of 3, 6 or 9 digits."""
    whole = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    if not nanos:
        return f"{whole}Z"
    digits = f"{nanos:09}"
    for length in (3, 6):
        if not digits[length:].strip("0"):
            return f"{whole}.{digits[:length]}Z"
    return f"{whole}.{digits}Z"
