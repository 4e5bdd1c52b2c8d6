"""CreateTimeSeries: what may be written, and writing it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from google.api import metric_pb2

from localcloud.clock import Clock
from localcloud.monitoring.align import MINUTE
from localcloud.monitoring.descriptors import WRITABLE, Descriptors
from localcloud.monitoring.series import Nanos, Series, SeriesIdentity, SeriesStore
from localcloud.rpc import Raw, RpcError

# "Quotas and limits" of Cloud Monitoring.
MOST_SERIES = 200
SAMPLING: Nanos = 5_000_000_000
OLDEST: Nanos = 25 * 60 * MINUTE
NEWEST: Nanos = 5 * MINUTE
MILLISECOND: Nanos = 1_000_000

VALUE_FIELDS: Mapping[str, str] = {
    "BOOL": "bool_value",
    "INT64": "int64_value",
    "DOUBLE": "double_value",
    "STRING": "string_value",
    "DISTRIBUTION": "distribution_value",
}
"""The field of `TypedValue` for each value type."""

_TYPES = {name: kind for kind, name in VALUE_FIELDS.items()}
_Kind = metric_pb2.MetricDescriptor.MetricKind
_Type = metric_pb2.MetricDescriptor.ValueType

FREQUENT = (
    "One or more points were written more frequently than the maximum sampling period configured for the "
    "metric."
)
DISORDER = (
    "Points must be written in order. One or more of the points specified had an older {} time than the most "
    "recent point."
)


class _RefusedError(Exception):
    """One series of a request cannot be written; says why."""


@dataclass(frozen=True, kw_only=True)
class Writer:
    """Writes what clients send; when one series of a request is refused, the others are written."""

    store: SeriesStore
    descriptors: Descriptors
    clock: Clock
    _seen: set[tuple[str, ...]] = field(default_factory=set)

    def write(self, many: Sequence[Raw]) -> None:
        """Write one point to each of these `TimeSeries`.

        Raises:
            RpcError: INVALID_ARGUMENT, with each series that was not written and why.
        """
        if not 0 < len(many) <= MOST_SERIES:
            text = f"A request writes 1 to {MOST_SERIES} TimeSeries, not {len(many)}."
            raise RpcError("INVALID_ARGUMENT", f"Field timeSeries had an invalid value: {text}")
        self._seen.clear()
        complaints = list(self._write_each(many))
        if complaints:
            reasons = "; ".join(complaints)
            raise RpcError("INVALID_ARGUMENT", f"One or more TimeSeries could not be written: {reasons}")

    def _write_each(self, many: Sequence[Raw]) -> Iterator[str]:
        for number, message in enumerate(many):
            try:
                self._write(message, number)
            except _RefusedError as refusal:
                yield f"{refusal}: {_shown(message, number)}"

    def _write(self, message: Raw, number: int) -> None:
        identity = identity_of(message)
        if identity.key in self._seen:
            raise _RefusedError(
                f"Field timeSeries[{number}] had an invalid value: Duplicate TimeSeries encountered. "
                "Only one point can be written per TimeSeries per request."
            )
        self._seen.add(identity.key)
        kind, value_type, value = self._typed(message, number)
        start, end = self._interval(message.points[0].interval, kind)
        series = self.store.find(identity)
        if series is not None:
            _check_order(series, start, end)
        values = (kind, value_type, message.unit)
        self.descriptors.ensure(identity.metric, values, identity.metric_labels)
        self.store.add(series or self.store.make(identity, kind, value_type), start, end, value)

    def _typed(self, message: Raw, number: int) -> tuple[str, str, object]:
        """The kind, the value type and the value, checked against the descriptor if there is one."""
        if len(message.points) != 1:
            raise _RefusedError(
                f"Field timeSeries[{number}].points had an invalid value: "
                f"One point must be provided, but there are {len(message.points)}."
            )
        value = message.points[0].value
        which = value.WhichOneof("value")
        if which is None:
            raise _RefusedError(
                f"Field timeSeries[{number}].points[0].value had an invalid value: It is missing."
            )
        value_type, kind = _TYPES[which], _Kind.Name(message.metric_kind or _Kind.Value("GAUGE"))
        self._check_metric(message, number, kind, value_type)
        return kind, value_type, getattr(value, which)

    def _check_metric(self, message: Raw, number: int, kind: str, value_type: str) -> None:
        metric = message.metric.type
        where = f"Field timeSeries[{number}]"
        if not metric.startswith(WRITABLE) or metric.endswith("/"):
            raise _RefusedError(
                f'{where}.metric.type had an invalid value of "{metric}": '
                "The metric type must be a URL-formatted string with a domain and non-empty path."
            )
        if not message.resource.type:
            raise _RefusedError(f'{where}.resource.type had an invalid value of "": It must be given.')
        found = self.descriptors.get(metric)
        if found is None and value_type == "STRING":
            raise _RefusedError(
                f"{where} had an invalid value: A metric of strings is not made by writing to it."
            )
        wanted = (
            (_Kind.Name(found.metric_kind), _Type.Name(found.value_type)) if found else (kind, value_type)
        )
        if message.value_type and _Type.Name(message.value_type) != value_type:
            raise _RefusedError(f"{where}.valueType had an invalid value: The point's value is {value_type}.")
        if (kind, value_type) != wanted:
            raise _RefusedError(
                f"{where} had an invalid value: The metric is {' '.join(wanted)}, not {kind} {value_type}."
            )

    def _interval(self, interval: Raw, kind: str) -> tuple[Nanos, Nanos]:
        """The start and end of a point, checked against its kind and the clock."""
        end = interval.end_time.ToNanoseconds()
        start = interval.start_time.ToNanoseconds() if interval.HasField("start_time") else end
        now = nanos(self.clock)
        if not now - OLDEST <= end <= now + NEWEST:
            raise _RefusedError(
                "Data points cannot be written more than 25 hours in the past "
                "or more than five minutes in the future"
            )
        if kind == "GAUGE" and start != end:
            raise _RefusedError("The start time of a GAUGE point must equal its end time, or be absent")
        if kind != "GAUGE" and start >= end:
            raise _RefusedError(f"The start time of a {kind} point must be before its end time")
        return start, end


def _check_order(series: Series, start: Nanos, end: Nanos) -> None:
    last_end, last_start = series.last_end, series.last_start
    if last_end is None or last_start is None:
        return
    if end < last_end:
        raise _RefusedError(DISORDER.format("end"))
    if end - last_end < SAMPLING:
        raise _RefusedError(FREQUENT)
    fresh_start = start if series.kind != "CUMULATIVE" or start != last_start else None
    if series.kind != "GAUGE" and fresh_start is not None and fresh_start < last_end + MILLISECOND:
        raise _RefusedError(DISORDER.format("start"))


def identity_of(message: Raw) -> SeriesIdentity:
    """Which series a `TimeSeries` message is about."""
    return SeriesIdentity(
        metric=message.metric.type,
        metric_labels=dict(message.metric.labels),
        resource=message.resource.type,
        resource_labels=dict(message.resource.labels),
    )


def nanos(clock: Clock) -> Nanos:
    """The moment that the clock shows."""
    return int(clock.now().timestamp() * 1e6) * 1000


def _shown(message: Raw, number: int) -> str:
    return (
        f"{message.resource.type}{_labels(message.resource.labels)} timeSeries[{number}]: "
        f"{message.metric.type}{_labels(message.metric.labels)}"
    )


def _labels(labels: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{key}:{value}" for key, value in sorted(labels.items())) + "}"
