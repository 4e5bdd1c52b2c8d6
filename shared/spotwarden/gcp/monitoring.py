"""Cloud Monitoring behind `Metrics`: a few questions about the whole project, never one for each VM.

Monitoring itself makes one number of all points of an instance in a bucket, by the instance's *id*.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from math import ceil

import msgspec
from google.cloud.monitoring_v3 import MetricServiceClient

from spotwarden import clock
from spotwarden.gcp.gathering import PagedRows
from spotwarden.gcp.grpc_service import Typed
from spotwarden.gcp.retry_policy import RetryPolicy
from spotwarden.gcp.series import (
    GCE_INSTANCE,
    SHORTEST,
    TPU_WORKER,
    MonitoredKind,
    SeriesQuestion,
    WireSeries,
    instance_id,
    listed,
    number_of,
)
from spotwarden.gcp.side_by_side import side_by_side
from spotwarden.model.load import Buckets, GpuLoads, VmLoad
from spotwarden.ports import RejectedError, UnansweredError

PERCENT = 100.0
LOG_BUCKETS = 30

_CPU = "compute.googleapis.com/instance/cpu/utilization"
_LINES = "logging.googleapis.com/log_entry_count"
# What Google writes about a VM, and what its agents write without anybody doing anything.
_NOT_THEIRS = (
    'metric.labels.log != starts_with("cloudaudit.googleapis.com") AND '
    'metric.labels.log != one_of("GCEGuestAgent","OSConfigAgent","ops-agent-health")'
)


class MetricSource(msgspec.Struct, frozen=True):
    """A metric with a series for each GPU or TPU chip of a VM; `percent` is what 1 of it means."""

    metric: str
    percent: float
    kind: MonitoredKind = GCE_INSTANCE


SOURCES = (
    # "Ops Agent metrics", section gpu: labels gpu_number, model, uuid; in percent.
    MetricSource("agent.googleapis.com/gpu/utilization", 1.0),
    # "NVIDIA Data Center GPU Manager (DCGM)", version 2 of the receiver: the same labels; a fraction.
    MetricSource("workload.googleapis.com/gpu.dcgm.utilization", PERCENT),
)
"""In the order in which they are believed: a later one counts for instances that the earlier lack."""

TPUS = MetricSource("tpu.googleapis.com/accelerator/duty_cycle", 1.0, TPU_WORKER)
"""The share of time in which a chip's TensorCores worked, in percent ("Google Cloud metrics", tpu)."""

SILENT_FOR = timedelta(minutes=10)
"""How long a source that knew nobody is not asked for everybody: most projects have one kind of agent."""

_SILENT: dict[tuple[str, str], datetime] = {}
"""Until when, by project and metric, for as long as the process lives."""

_EVERY: dict[tuple[str, str], int] = {}
"""How many VMs a source knew when it was last asked for all, kept likewise: by it some are asked for."""


class _Question(msgspec.Struct, frozen=True):
    """Which number is made of an instance's points in a bucket; `scale` is what 1 of it becomes."""

    metric: str
    aligner: str
    reducer: str
    scale: float = 1.0
    kind: MonitoredKind = GCE_INSTANCE


class CloudMonitoring:
    """`Metrics` over one project. Safe to use from several threads."""

    def __init__(
        self,
        *,
        project: str,
        endpoint: str = "",
        retry_policy: RetryPolicy = RetryPolicy(),
    ) -> None:
        self._project = project
        self._monitoring = Typed(
            MetricServiceClient, service="monitoring", endpoint=endpoint, retry_policy=retry_policy
        )

    def close(self) -> None:
        """Give the connection back; the next call opens a new one."""
        self._monitoring.close()

    def gpus(self, grid: Buckets, *, ids: Collection[str] = (), counts: bool = True) -> GpuLoads:
        """As `Metrics.gpus`, from the first source that knows an instance; see `SOURCES`.

        Of given ids a source is asked only for those that the sources before it lack. Of all of them,
        without counts, one that knew nobody is asked again after `SILENT_FOR`, or once it has known an id.
        """
        try:
            rows = self._of(frozenset(ids), grid, counts=counts) if ids else self._of_all(grid, counts=counts)
        except (RejectedError, UnansweredError) as error:
            return GpuLoads(grid=grid, problem=f"Cloud Monitoring: {error}")
        return GpuLoads(grid=grid, rows=rows)

    def tpus(self, grid: Buckets, *, ids: Collection[str]) -> GpuLoads:
        """As `Metrics.tpus`. Where Google refuses the question nothing is known of TPUs, and GPUs go on."""
        try:
            rows = dict(self._source(TPUS, grid, frozenset(ids), counts=True)) if ids else {}
        except RejectedError:
            rows = {}
        except UnansweredError as error:
            return GpuLoads(grid=grid, problem=f"Cloud Monitoring: {error}")
        return GpuLoads(grid=grid, rows=rows)

    def _of(self, ids: frozenset[str], grid: Buckets, *, counts: bool) -> dict[str, VmLoad]:
        rows: dict[str, VmLoad] = {}
        for source in SOURCES:
            if lacking := ids - rows.keys():
                found = dict(self._source(source, grid, lacking, counts=counts))
                if found:
                    _SILENT.pop((self._project, source.metric), None)
                rows |= found
        return rows

    def _of_all(self, grid: Buckets, *, counts: bool) -> dict[str, VmLoad]:
        rows: dict[str, VmLoad] = {}
        for source in SOURCES:
            key, now = (self._project, source.metric), clock.now()
            if not counts and source is not SOURCES[0] and now < _SILENT.get(key, now):
                continue
            found = dict(self._source(source, grid, frozenset(), counts=counts))
            _EVERY[key] = len(found)
            if not found:
                _SILENT[key] = now + SILENT_FOR
            rows = found | rows if rows else found
        return rows

    def _source(
        self, source: MetricSource, grid: Buckets, ids: frozenset[str], *, counts: bool
    ) -> Iterator[tuple[str, VmLoad]]:
        top = _Question(source.metric, "ALIGN_MAX", "REDUCE_MAX", source.percent, source.kind)
        if not counts:
            loads: dict[tuple[float, ...], VmLoad] = {}  # equal rows are kept once
            for key, row in self._rows(top, grid, ids).tuples().items():
                yield key, loads.get(row) or loads.setdefault(row, VmLoad(top=row))
            return
        # The counts come before the maximum: a point that is late arrives between two questions, and one
        # that was counted must have been looked at, or a busy GPU would pass for an idle one.
        questions = [
            _Question(source.metric, "ALIGN_COUNT", how, kind=source.kind)
            for how in ("REDUCE_COUNT", "REDUCE_MIN")
        ]
        cards, fewest = side_by_side(questions, lambda question: self._rows(question, grid, ids))
        if not cards:
            return
        points = fewest.counts()
        busiest = self._rows(top, grid, ids).tuples()
        nothing = (-1,) * grid.count
        for key, row in cards.counts().items():
            yield key, VmLoad(top=busiest.get(key, nothing), points=points.get(key, nothing), gpus=row)

    def _rows(self, question: _Question, grid: Buckets, ids: frozenset[str]) -> PagedRows:
        ask = SeriesQuestion(
            metric=question.metric,
            aligner=question.aligner,
            reducer=question.reducer,
            each_gpu=question.aligner == "ALIGN_COUNT",
            start=grid.end - grid.step * grid.count,
            end=grid.end,
            step=grid.step,
            kind=question.kind,
        )
        rows = PagedRows(grid, question.scale, ids, question.kind.instance)
        every = _EVERY.get((self._project, question.metric), 0)
        rows.take(listed(self._monitoring, self._project, ask, ids, every))
        return rows

    def cpus(self, since: datetime, until: datetime, *, ids: Collection[str] = ()) -> Mapping[str, float]:
        """As `Metrics.cpus`; what the hypervisor saw, so it needs no agent in the VM."""
        step = timedelta(seconds=max(60, ceil((until - since).total_seconds())))
        ask = SeriesQuestion(
            metric=_CPU,
            aligner="ALIGN_MAX",
            reducer="REDUCE_MAX",
            start=until - step,
            end=until,
            step=step,
        )
        wanted = frozenset(ids)
        return {
            instance_id(series): max(_numbers(series)) * PERCENT
            for series in self._answered(ask, ids)
            if series.points and (not wanted or instance_id(series) in wanted)
        }

    def logged(
        self, since: datetime, until: datetime, *, ids: Collection[str] = ()
    ) -> Mapping[str, datetime]:
        """As `Metrics.logged`: the end of the newest bucket with a line, of some thirty of whole minutes."""
        minutes = max(1, ceil((until - since) / SHORTEST / LOG_BUCKETS))
        step = SHORTEST * minutes
        start = until - step * ceil((until - since) / step)
        ask = SeriesQuestion(
            metric=_LINES,
            aligner="ALIGN_SUM",
            reducer="REDUCE_SUM",
            start=start,
            end=until,
            step=step,
            where=_NOT_THEIRS,
        )
        newest: dict[str, datetime] = {}
        wanted = frozenset(ids)
        for series in self._answered(ask, ids):
            instance = instance_id(series)
            for point, number in zip(series.points, _numbers(series), strict=True):
                if number > 0:
                    at = min(until, point.interval.end_time.ToDatetime(UTC))
                    newest[instance] = max(at, newest.get(instance, at))
        return {key: at for key, at in newest.items() if not wanted or key in wanted}

    def _answered(self, ask: SeriesQuestion, ids: Collection[str]) -> Iterator[WireSeries]:
        try:
            yield from listed(self._monitoring, self._project, ask, ids)
        except RejectedError as refused:
            raise UnansweredError(str(refused)) from refused


def _numbers(series: WireSeries) -> Iterator[float]:
    field = number_of(series)
    return (getattr(point.value, field) for point in series.points)
