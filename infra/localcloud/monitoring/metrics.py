"""The MetricService: time series and their descriptors."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace

from google.api import metric_pb2, monitored_resource_pb2
from google.protobuf.empty_pb2 import Empty

from localcloud.google_types import monitoring as types
from localcloud.monitoring.descriptors import Descriptors, resource_descriptors
from localcloud.monitoring.filter import name_filter
from localcloud.monitoring.json_form import series_json
from localcloud.monitoring.listing import read_query
from localcloud.monitoring.names import check_project, tail
from localcloud.monitoring.series import Nanos, SeriesStore
from localcloud.monitoring.writing import Writer
from localcloud.rpc import Method, Raw, RpcError, page, plain, table

SERVICE = "google.monitoring.v3.MetricService"
_PROJECT = "{name=projects/*}"
_METRIC = "{name=projects/*/metricDescriptors/**}"
ROWS = (
    (
        "ListTimeSeries",
        types.ListTimeSeriesRequest,
        types.ListTimeSeriesResponse,
        f"GET /v3/{_PROJECT}/timeSeries",
    ),
    ("CreateTimeSeries", types.CreateTimeSeriesRequest, Empty, f"POST /v3/{_PROJECT}/timeSeries *"),
    (
        "ListMetricDescriptors",
        types.ListMetricDescriptorsRequest,
        types.ListMetricDescriptorsResponse,
        f"GET /v3/{_PROJECT}/metricDescriptors",
    ),
    (
        "GetMetricDescriptor",
        types.GetMetricDescriptorRequest,
        metric_pb2.MetricDescriptor,
        f"GET /v3/{_METRIC}",
    ),
    (
        "CreateMetricDescriptor",
        types.CreateMetricDescriptorRequest,
        metric_pb2.MetricDescriptor,
        f"POST /v3/{_PROJECT}/metricDescriptors metric_descriptor",
    ),
    ("DeleteMetricDescriptor", types.DeleteMetricDescriptorRequest, Empty, f"DELETE /v3/{_METRIC}"),
    (
        "ListMonitoredResourceDescriptors",
        types.ListMonitoredResourceDescriptorsRequest,
        types.ListMonitoredResourceDescriptorsResponse,
        f"GET /v3/{_PROJECT}/monitoredResourceDescriptors",
    ),
    (
        "GetMonitoredResourceDescriptor",
        types.GetMonitoredResourceDescriptorRequest,
        monitored_resource_pb2.MonitoredResourceDescriptor,
        "GET /v3/{name=projects/*/monitoredResourceDescriptors/*}",
    ),
)


class Metrics:
    """Answers the calls of `MetricServiceClient`, and of those who ask for time series over REST."""

    def __init__(
        self,
        *,
        project: str,
        store: SeriesStore,
        descriptors: Descriptors,
        writer: Writer,
        visible: Callable[[str], Nanos | None] = lambda _metric: None,
    ) -> None:
        """`visible` says up to which time the points of a metric type are there to be seen; None: all are."""
        self._visible = visible
        self._project = project
        self._store = store
        self._descriptors = descriptors
        self._writer = writer

    def methods(self) -> Iterator[Method]:
        """The table of methods."""
        for method in table(SERVICE, self, ROWS):
            yield replace(method, render=series_json) if method.name == "ListTimeSeries" else method

    async def list_time_series(self, request: Raw) -> Raw:
        """One page of series. Copied in the loop, worked on in a thread: 10,000 series take a second."""
        check_project(request.name, self._project)
        query = read_query(request, self._store, self._descriptors, self._project)
        query = replace(query, visible=self._visible(query.metric))
        return await asyncio.to_thread(query.answer, query.snapshot())

    def create_time_series(self, request: Raw) -> Raw:
        """Write points."""
        check_project(request.name, self._project)
        self._writer.write(request.time_series)
        return Empty()

    def list_metric_descriptors(self, request: Raw) -> Raw:
        """One page of descriptors; the filter may compare `metric.type`."""
        check_project(request.name, self._project)
        wanted = name_filter(request.filter, _descriptor_field)
        found = {each.type: each for each in self._descriptors.all() if wanted(each)}
        names, token = page(found, size=request.page_size, token=request.page_token, most=10_000)
        return plain(types.ListMetricDescriptorsResponse)(
            metric_descriptors=[found[name] for name in names], next_page_token=token
        )

    def get_metric_descriptor(self, request: Raw) -> Raw:
        """The descriptor of one metric type."""
        return self._descriptors.need(tail(request.name, self._project, "metricDescriptors"))

    def create_metric_descriptor(self, request: Raw) -> Raw:
        """Store a user's descriptor."""
        check_project(request.name, self._project)
        return self._descriptors.make(request.metric_descriptor)

    def delete_metric_descriptor(self, request: Raw) -> Raw:
        """Remove a user's descriptor, and with it the series."""
        metric = tail(request.name, self._project, "metricDescriptors")
        self._descriptors.delete(metric)
        self._store.drop_metric(metric)
        return Empty()

    def list_monitored_resource_descriptors(self, request: Raw) -> Raw:
        """One page of resource descriptors; the filter may compare `resource.type`."""
        check_project(request.name, self._project)
        wanted = name_filter(request.filter, _descriptor_field)
        found = {each.type: each for each in resource_descriptors(self._project) if wanted(each)}
        names, token = page(found, size=request.page_size, token=request.page_token)
        return plain(types.ListMonitoredResourceDescriptorsResponse)(
            resource_descriptors=[found[name] for name in names], next_page_token=token
        )

    def get_monitored_resource_descriptor(self, request: Raw) -> Raw:
        """The descriptor of one resource type."""
        kind = tail(request.name, self._project, "monitoredResourceDescriptors")
        for found in resource_descriptors(self._project):
            if found.type == kind:
                return found
        raise RpcError("NOT_FOUND", f"Could not find descriptor for resource type {kind!r}.")


def _descriptor_field(descriptor: Raw, path: str) -> str:
    return str(descriptor.type) if path in ("metric.type", "resource.type", "type") else ""
