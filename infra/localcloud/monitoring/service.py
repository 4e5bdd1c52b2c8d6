"""Monitoring, put together."""

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Annotated

import grpc
import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcloud.clock import Clock
from localcloud.errors import ApiError
from localcloud.http import Json
from localcloud.limits import OFF, Limits
from localcloud.monitoring.alerts import AlertPolicies, Channels
from localcloud.monitoring.align import MINUTE
from localcloud.monitoring.descriptors import Descriptors
from localcloud.monitoring.metrics import Metrics
from localcloud.monitoring.series import Nanos, SeriesIdentity, SeriesStore
from localcloud.monitoring.writing import Writer, nanos
from localcloud.permissions import checked_methods
from localcloud.ports import Point
from localcloud.rpc import grpc_handlers, rest_routes

# Series that fell silent are looked for once in so many points.
SWEEP_EACH = 10_000

# A series whose newest point is older has ended; agents and the platform report at least each minute.
ALIVE = 5 * MINUTE


OWN_METRICS = ("custom.googleapis.com/", "external.googleapis.com/", "workload.googleapis.com/")
"""What users write can be read at once; of VMs many metrics "are not visible for up to 240 seconds"."""


class GivenPoint(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A point for `/local/points`: of a GAUGE or a DELTA, now unless `age_seconds` says how long ago."""

    metric: str
    value: float
    resource: str = "gce_instance"
    metric_labels: dict[str, str] = {}
    resource_labels: dict[str, str] = {}
    age_seconds: Annotated[float, msgspec.Meta(ge=0)] = 0.0


class MonitoringService:
    """The Monitoring of one project, in memory. A series keeps its points for `retention`."""

    def __init__(
        self,
        *,
        project: str,
        clock: Clock,
        retention: timedelta = timedelta(hours=24),
        limits: Callable[[], Limits] = lambda: OFF,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._store = SeriesStore(retention=int(retention.total_seconds() * 1e9))
        self._descriptors = Descriptors(project)
        self._points = 0
        writer = Writer(store=self._store, descriptors=self._descriptors, clock=clock)
        metrics = Metrics(
            project=project,
            store=self._store,
            descriptors=self._descriptors,
            writer=writer,
            visible=self._visible,
        )
        channels = Channels(project=project, clock=clock)
        policies = AlertPolicies(project=project, clock=clock, channels=channels)
        methods = (method for each in (metrics, channels, policies) for method in each.methods())
        self._methods = [*checked_methods(methods)]

    def measure(self, point: Point) -> None:
        """Write one point; this method is the `Measure` that services take.

        Any metric may be written; a point of a DELTA is about the minute before it, or what of that is new.
        A point that is not newer than its series is dropped, as Monitoring would refuse it: nobody who
        measures could do anything about that.

        Raises:
            RpcError: INVALID_ARGUMENT for a metric that is no GAUGE or DELTA of numbers.
        """
        identity = SeriesIdentity(
            metric=point.metric,
            metric_labels=dict(point.metric_labels),
            resource=point.resource,
            resource_labels=dict(point.resource_labels),
        )
        self._descriptors.ensure(point.metric, ("GAUGE", "DOUBLE", ""), point.metric_labels)
        kind, convert = self._descriptors.number(point.metric)
        series = self._store.make(identity, kind, "INT64" if convert is int else "DOUBLE")
        at = _nanos(point.at)
        if series.last_end is None or at > series.last_end:
            start = at if kind == "GAUGE" else max(at - MINUTE, series.last_end or 0)
            self._store.add(series, start, at, convert(point.value))
        self._points += 1
        if self._points % SWEEP_EACH == 0:
            self._store.drop_silent(nanos(self._clock))

    def carry_on(self, instances: Collection[str], since: datetime, until: datetime) -> None:
        """Let each GAUGE of these instances go on as it last was, a point a minute, over a skipped time.

        What is counted, such as lines of a log, is not invented.
        """
        skipped, end = _nanos(since), _nanos(until)
        for series in list(self._store.all()):
            last = series.last_end
            if series.kind != "GAUGE" or last is None or not skipped - ALIVE <= last <= skipped:
                continue
            if series.identity.resource_labels.get("instance_id") in instances:
                for at in range(last + MINUTE, end, MINUTE):
                    self._store.add(series, at, at, series.last_value)

    def _visible(self, metric: str) -> Nanos | None:
        lag = self._limits().metric_lag_seconds
        if not lag or metric.startswith(OWN_METRICS):
            return None
        return nanos(self._clock) - int(lag * 1e9)

    def handlers(self) -> list[grpc.GenericRpcHandler]:
        """The gRPC services."""
        return grpc_handlers(self._methods)

    def routes(self) -> list[BaseRoute]:
        """The REST paths under `/v3/projects/P/`."""
        return rest_routes(self._methods)

    def admin_routes(self) -> list[BaseRoute]:
        """`/local/metrics` counts the series, `/local/points` takes a point of any metric."""
        return [
            Route("/local/metrics", self._overview, methods=["GET"]),
            Route("/local/points", self._take_point, methods=["POST"]),
        ]

    async def _overview(self, _request: Request) -> Response:
        counts = [{"metric": metric, "series": count} for metric, count in self._store.counts()]
        return Json({"metrics": counts})

    async def _take_point(self, request: Request) -> Response:
        try:
            given = msgspec.json.decode(await request.body(), type=GivenPoint)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ApiError(400, "invalid", f"This is no point: {error}") from error
        self.measure(
            Point(
                metric=given.metric,
                metric_labels=given.metric_labels,
                resource=given.resource,
                resource_labels=given.resource_labels,
                value=given.value,
                at=self._clock.now() - timedelta(seconds=given.age_seconds),
            )
        )
        return Json({})


def _nanos(moment: datetime) -> Nanos:
    return int(moment.timestamp() * 1e6) * 1000
