"""Cloud Monitoring's `ListTimeSeries`, as far as it is asked here: the question, and its pages."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec
from google.api_core import exceptions as api
from google.cloud.monitoring_v3 import (
    Aggregation,
    ListTimeSeriesRequest,
    ListTimeSeriesResponse,
    MetricServiceClient,
    TimeInterval,
)
from google.protobuf.unknown_fields import UnknownFieldSet

from spotwarden.gcp.calls import ID_ONLY
from spotwarden.gcp.grpc_service import Typed
from spotwarden.gcp.side_by_side import in_order
from spotwarden.ports import RejectedError, UnansweredError

SHORTEST = timedelta(minutes=1)
"""The least alignment period ("Method: projects.timeSeries.list", `Aggregation`)."""

MOST_IDS = 60
"""So many are named in one filter, whose greatest length Google does not tell."""

MOST_CALLS = 10
"""For more ids than fit into so many calls everything is asked for, and cut here; see `named_calls`."""

MOST_CALLS_OF_MANY = 200
"""The same where the project is known to have far more. Three questions make at most a tenth of the 6,000
queries that Monitoring takes in a minute ("Quotas and limits")."""

POINTS = 20_000
"""On one page, which is then some two megabytes of messages. Monitoring gives 100,000 at most."""

DOUBLES = "double_value"
NUMBERS: Mapping[int, str] = {2: "int64_value", 3: DOUBLES}
"""The field that holds a point's number, by the `ValueType` of its series."""

WirePoint = Any
"""A raw `Point` message, of which the end of the `interval` and the `value` are read."""

WireSeries = Any
"""A raw `TimeSeries` message; of it `resource.labels`, `value_type` and `points` are read."""


class MonitoredKind(msgspec.Struct, frozen=True, kw_only=True):
    """A monitored resource that is one VM: its type, which label has the VM's id, which the accelerator's."""

    resource: str
    instance: str
    accelerator: str


GCE_INSTANCE = MonitoredKind(resource="gce_instance", instance="instance_id", accelerator="gpu_number")
TPU_WORKER = MonitoredKind(
    resource="tpu.googleapis.com/GceTpuWorker", instance="worker_id", accelerator="accelerator_id"
)
"""A host of TPUs ("Monitored resource types"). That `worker_id` is the VM's id stands on no page: one that is
not is no VM of ours, and the VM is unknown."""


class SeriesQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """One number for each instance and period: `aligner` within a series, `reducer` over its series.

    With `each_gpu` the points of a GPU, whatever its series are called, are first summed up, and `reducer` is
    over its GPUs: an agent that was restarted may call them by another uuid or model. `where` narrows down
    the metric's series, in the language of "Monitoring filters".
    """

    metric: str
    aligner: str
    reducer: str
    start: datetime
    end: datetime
    step: timedelta
    each_gpu: bool = False
    where: str = ""
    kind: MonitoredKind = GCE_INSTANCE

    def request(self, project: str, ids: Collection[str]) -> ListTimeSeriesRequest:
        """The request for the first page."""
        return ListTimeSeriesRequest(
            name=f"projects/{project}",
            filter=" AND ".join(self._terms(project, ids)),
            interval=TimeInterval(start_time=self.start, end_time=self.end),
            view="FULL",
            page_size=POINTS,
            **self._aggregations(),
        )

    def _aggregations(self) -> Mapping[str, Aggregation]:
        instance = f"resource.label.{self.kind.instance}"
        if not self.each_gpu:
            return {"aggregation": self._aggregation(self.aligner, self.reducer, [instance])}
        accelerator = f"metric.label.{self.kind.accelerator}"
        return {
            "aggregation": self._aggregation(self.aligner, "REDUCE_SUM", [instance, accelerator]),
            # One value a period: to align it once more changes nothing, but no reducer goes without.
            "secondary_aggregation": self._aggregation("ALIGN_MAX", self.reducer, [instance]),
        }

    def _aggregation(self, aligner: str, reducer: str, groups: list[str]) -> Aggregation:
        return Aggregation(
            alignment_period=self.step,
            per_series_aligner=aligner,
            cross_series_reducer=reducer,
            group_by_fields=groups,
        )

    def _terms(self, project: str, ids: Collection[str]) -> Iterator[str]:
        # One project may be set up to see the metrics of others; theirs would only cost.
        yield f'project = "{project}"'
        yield f'metric.type = "{self.metric}"'
        yield f'resource.type = "{self.kind.resource}"'
        if self.where:
            yield self.where
        if ids:
            named = ",".join(f'"{item}"' for item in ids)
            yield f"resource.labels.{self.kind.instance} = one_of({named})"


def named_calls(ids: Collection[str], every: int = 0) -> list[list[str]]:
    """The ids that each call names; one call that names none, for everything, where that is better.

    Google bills the series that it returns. `every` is how many there are as far as is known: where naming
    saves half of them, it may take more calls.
    """
    wanted = sorted(ids)
    calls = [wanted[first : first + MOST_IDS] for first in range(0, len(wanted), MOST_IDS)]
    most = MOST_CALLS_OF_MANY if 2 * len(ids) <= every else MOST_CALLS
    return calls if 0 < len(calls) <= most else [[]]


def listed(
    monitoring: Typed[MetricServiceClient],
    project: str,
    ask: SeriesQuestion,
    ids: Collection[str] = (),
    every: int = 0,
) -> Iterator[WireSeries]:
    """The series of the answer; none where the metric was never written, which Monitoring says by NOT_FOUND.

    They are raw messages: reading a point through the client's own classes takes 18 times as long. Each of
    them keeps its whole page in memory: who has read it lets it go before the next. `every` is as in
    `named_calls`.

    Raises:
        RejectedError: the question was refused.
        UnansweredError: no answer, or one that is not whole.
    """
    wanted = {name for name in ids if ID_ONLY.fullmatch(name)}
    if ids and not wanted:
        return
    calls = named_calls(wanted, every)
    if calls == [[]]:
        for page in _pages(monitoring, ask.request(project, [])):
            yield from page.time_series
            del page
        return
    for pages in in_order(calls, lambda named: list(_pages(monitoring, ask.request(project, named)))):
        while pages:
            yield from pages.pop(0).time_series


def _pages(monitoring: Typed[MetricServiceClient], request: ListTimeSeriesRequest) -> Iterator[Any]:
    while True:
        try:
            # One page of the pager is one call: each has its own patience.
            pager = monitoring.call(
                lambda client, seconds: client.list_time_series(request, retry=None, timeout=seconds)
            )
        except api.NotFound:
            return
        except api.GoogleAPICallError as error:
            raise RejectedError(error.reason or type(error).__name__, str(error)) from error
        page = ListTimeSeriesResponse.pb(next(pager.pages))
        _check(page)
        request.page_token = page.next_page_token
        yield page
        del page, pager
        if not request.page_token:
            return


def _check(page: Any) -> None:
    """Raise `UnansweredError` where something may be missing: it may be the busiest GPU."""
    # `unreachable` stands in Google's discovery document; the client's 2.32 does not know it yet, but keeps
    # it among the unknown fields, whose names nobody tells. So one that is unknown may be this one.
    said = [*(error.message for error in page.execution_errors), *getattr(page, "unreachable", ())]
    unknown = UnknownFieldSet(page)
    said += [f"field {unknown[index].field_number}" for index in range(len(unknown))]
    if said:
        raise UnansweredError(f"Monitoring gave a partial answer: {'; '.join(said)}")


def instance_id(series: WireSeries, label: str = GCE_INSTANCE.instance) -> str:
    """The instance's id, which is in this label; "" for none."""
    found: str = series.resource.labels[label]  # a protobuf map has "" for what it lacks
    return found


def number_of(series: WireSeries) -> str:
    """Which field of a point's value holds its number; `UnansweredError` where none that we know does."""
    try:
        return NUMBERS[series.value_type]
    except KeyError:
        raise UnansweredError("a series of Monitoring without numbers") from None
