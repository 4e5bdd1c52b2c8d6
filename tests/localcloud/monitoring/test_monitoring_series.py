"""Time series through Google's own client: written by its rules, read back by interval, page and view."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from google.api import metric_pb2
from google.api_core import exceptions
from google.cloud import monitoring_v3

from localcloud.ports import Point
from tests.localcloud.monitoring.conftest import NOW, Fixed
from tests.localcloud.stand import PROJECT, Stand

GPU = "agent.googleapis.com/gpu/utilization"
CUSTOM = "custom.googleapis.com/loss"
NAME = f"projects/{PROJECT}"
MINUTE = timedelta(minutes=1)

Measure = Callable[..., None]
Read = Callable[..., list[Any]]


@pytest.fixture
def measure(stand: Stand) -> Measure:
    """Let the cloud itself measure: a value of one VM, so many minutes ago."""

    def write(
        value: float, ago: float = 0, *, vm: str = "1", gpu: str = "0", zone: str = "us-central1-a"
    ) -> None:
        point = Point(
            metric=GPU,
            metric_labels={"gpu_number": gpu},
            resource="gce_instance",
            resource_labels={"instance_id": vm, "zone": zone, "project_id": PROJECT},
            value=value,
            at=NOW - ago * MINUTE,
        )
        stand.call(stand.service.measure, point)

    return write


def request(metric: str = GPU, rest: str = "", *, start: float = 60, end: float = 0, **more: Any) -> Any:
    """A request for the series of a metric from `start` to `end` minutes ago."""
    interval = monitoring_v3.TimeInterval(start_time=NOW - start * MINUTE, end_time=NOW - end * MINUTE)
    return monitoring_v3.ListTimeSeriesRequest(
        name=NAME, filter=f'metric.type = "{metric}" {rest}', interval=interval, **more
    )


@pytest.fixture
def read(metrics: monitoring_v3.MetricServiceClient) -> Read:
    """List all series that a request asks for."""

    def all_pages(*args: Any, **kwargs: Any) -> list[Any]:
        return list(metrics.list_time_series(request(*args, **kwargs)))

    return all_pages


def series(value: Any = 1.0, ago: float = 0, *, metric: str = CUSTOM, **more: Any) -> Any:
    """A series with one point, as a client writes it."""
    field = {bool: "bool_value", int: "int64_value", float: "double_value", str: "string_value"}[type(value)]
    labels = {"run": more.pop("run", "a")}
    interval = {"end_time": NOW - ago * MINUTE, **more.pop("interval", {})}
    return monitoring_v3.TimeSeries(
        metric={"type": metric, "labels": labels},
        resource={"type": "global", "labels": {"project_id": PROJECT}},
        points=[{"interval": interval, "value": {field: value}}],
        **more,
    )


def values(found: Any) -> list[Any]:
    """The doubles of a series as they were listed."""
    return [point.value.double_value for point in found.points]


def test_points_are_listed_newest_first(measure: Measure, read: Read):
    """With their labels, kind, type and times."""
    for ago in (3, 2, 1):
        measure(float(ago), ago)
    (found,) = read()
    assert values(found) == [1.0, 2.0, 3.0]
    assert found.metric.labels["gpu_number"] == "0"
    assert found.resource.labels["instance_id"] == "1"
    assert found.metric_kind == metric_pb2.MetricDescriptor.GAUGE
    assert found.value_type == metric_pb2.MetricDescriptor.DOUBLE
    assert found.points[0].interval.start_time == found.points[0].interval.end_time == NOW - MINUTE


def test_an_interval_excludes_its_start_and_includes_its_end(measure: Measure, read: Read):
    """Half-open, as the reference of TimeInterval says for reads."""
    for ago in (3, 2, 1):
        measure(float(ago), ago)
    (found,) = read(start=3, end=1)
    assert values(found) == [1.0, 2.0]


def test_a_series_without_points_in_the_interval_is_not_listed(measure: Measure, read: Read):
    """Nor is one in the view of headers."""
    measure(1.0, 30)
    assert read(start=20) == []
    assert read(start=20, view="HEADERS") == []


def test_two_vms_of_one_name_are_two_series(measure: Measure, read: Read):
    """The id and the zone tell them apart."""
    measure(78.0, vm="1", zone="us-central1-a")
    measure(0.0, vm="2", zone="us-east1-b")
    assert [values(each) for each in read()] == [[78.0], [0.0]]
    assert [values(each) for each in read(rest='AND resource.labels.zone = "us-east1-b"')] == [[0.0]]


def test_headers_carry_no_points(measure: Measure, read: Read):
    """Only who is there."""
    measure(1.0)
    (found,) = read(view="HEADERS")
    assert found.resource.labels["instance_id"] == "1"
    assert not found.points


def test_pages_hold_so_many_points_and_miss_none(
    measure: Measure, metrics: monitoring_v3.MetricServiceClient
):
    """A long series is cut across pages; together they are everything, once."""
    for vm in ("1", "2", "3"):
        for ago in range(7, 0, -1):
            measure(float(ago), ago, vm=vm)
    pages = list(metrics.list_time_series(request(page_size=5)).pages)
    assert [sum(len(each.points) for each in page.time_series) for page in pages] == [5, 5, 5, 5, 1]
    read = [
        (each.resource.labels["instance_id"], point.value.double_value)
        for page in pages
        for each in page.time_series
        for point in each.points
    ]
    assert read == [(vm, float(ago)) for vm in ("1", "2", "3") for ago in range(1, 8)]


def test_pages_of_headers_hold_so_many_series(measure: Measure, metrics: monitoring_v3.MetricServiceClient):
    """There the size counts series."""
    for vm in "12345":
        measure(1.0, vm=vm)
    pages = list(metrics.list_time_series(request(page_size=2, view="HEADERS")).pages)
    assert [len(page.time_series) for page in pages] == [2, 2, 1]


def test_a_series_that_appears_between_two_pages_hides_no_other(
    measure: Measure, metrics: monitoring_v3.MetricServiceClient
):
    """A token names the place in the order of series, not a number."""
    for vm in ("2", "3"):
        measure(1.0, vm=vm)
    pages = metrics.list_time_series(request(page_size=1)).pages
    first = next(pages)
    measure(1.0, vm="1")
    second = next(pages)
    assert [page.time_series[0].resource.labels["instance_id"] for page in (first, second)] == ["2", "3"]


def test_a_series_that_disappears_between_two_pages_cuts_nothing_off_the_next(
    stand: Stand, measure: Measure, metrics: monitoring_v3.MetricServiceClient
):
    """How far the last one was shown does not count for another."""
    for vm in ("1", "2"):
        for ago in (3, 2, 1):
            measure(float(ago), ago, vm=vm)
    pages = metrics.list_time_series(request(page_size=2)).pages
    next(pages)
    found = stand.service._store._metrics[GPU]
    stand.call(found.pop, next(iter(found)))
    second = next(pages)
    assert [values(each) for each in second.time_series] == [[1.0, 2.0]]
    assert second.time_series[0].resource.labels["instance_id"] == "2"


def test_many_points_stay_below_what_a_channel_takes(
    metrics: monitoring_v3.MetricServiceClient, stand: Stand
):
    """A plain channel refuses more than 4 MB: pages end before that, whatever size was asked for."""

    def fill() -> None:
        for vm in range(100):
            for ago in range(1500, 0, -1):
                stand.service.measure(
                    Point(
                        metric=GPU,
                        resource="gce_instance",
                        resource_labels={"instance_id": str(vm)},
                        value=1.0,
                        at=NOW - timedelta(seconds=ago, microseconds=1),
                    )
                )

    stand.call(fill)
    pages = list(metrics.list_time_series(request(page_size=100_000)).pages)
    assert len(pages) > 1
    assert sum(len(each.points) for page in pages for each in page.time_series) == 150_000


def test_an_aligned_mean_has_one_point_per_period(measure: Measure, read: Read):
    """With the time of the period's end."""
    for ago, value in ((25, 10.0), (15, 20.0), (12, 40.0), (0, 6.0)):
        measure(value, ago)
    aggregation = {"alignment_period": {"seconds": 600}, "per_series_aligner": "ALIGN_MEAN"}
    (found,) = read(start=30, aggregation=aggregation)
    assert values(found) == [6.0, 30.0, 10.0]
    assert [point.interval.end_time for point in found.points] == [NOW, NOW - 10 * MINUTE, NOW - 20 * MINUTE]


def test_reduction_groups_by_label_and_a_second_step_goes_on(measure: Measure, read: Read):
    """First the busiest GPU of each VM, then the mean of all VMs."""
    for vm, gpu, value in (("1", "0", 99.0), ("1", "1", 1.0), ("2", "0", 3.0)):
        measure(value, vm=vm, gpu=gpu)
    first = {
        "alignment_period": {"seconds": 300},
        "per_series_aligner": "ALIGN_MAX",
        "cross_series_reducer": "REDUCE_MAX",
        "group_by_fields": ["resource.labels.instance_id"],
    }
    found = read(start=5, aggregation=first)
    assert [(each.resource.labels["instance_id"], values(each)) for each in found] == [
        ("1", [99.0]),
        ("2", [3.0]),
    ]
    second = {
        "alignment_period": {"seconds": 300},
        "per_series_aligner": "ALIGN_MEAN",
        "cross_series_reducer": "REDUCE_MEAN",
    }
    (mean,) = read(start=5, aggregation=first, secondary_aggregation=second)
    assert values(mean) == [51.0]


MEAN = {"alignment_period": {"seconds": 60}, "per_series_aligner": "ALIGN_MEAN"}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"order_by": "x"}, "Field orderBy"),
        ({"page_size": -1}, "Field pageSize"),
        ({"page_token": "x"}, "Field pageToken"),
        ({"aggregation": {"per_series_aligner": "ALIGN_MEAN"}}, "aggregation.alignmentPeriod.*at least 60"),
        ({"aggregation": {**MEAN, "alignment_period": {"seconds": 59}}}, r'"59s": .*at least 60 seconds'),
        ({"aggregation": {"cross_series_reducer": "REDUCE_SUM"}}, "needs an aligner"),
        ({"aggregation": {**MEAN, "per_series_aligner": "ALIGN_RATE"}}, "kind GAUGE and value type DOUBLE"),
        ({"aggregation": {**MEAN, "per_series_aligner": "ALIGN_PERCENTILE_99"}}, "cannot be applied"),
        (
            {"aggregation": {**MEAN, "cross_series_reducer": "REDUCE_COUNT_TRUE"}},
            "The reducer cannot be applied",
        ),
        (
            {"aggregation": {**MEAN, "cross_series_reducer": "REDUCE_SUM", "group_by_fields": ["zone"]}},
            "aggregation.groupByFields",
        ),
        ({"start": -1}, "interval.startTime"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(measure: Measure, read: Read, more: Any, words: str):
    """With the field that does not fit."""
    measure(1.0)
    with pytest.raises(exceptions.InvalidArgument, match=words):
        read(**more)


def test_a_metric_that_nobody_knows_is_not_found(read: Read):
    """As opposed to one that is known and silent."""
    with pytest.raises(exceptions.NotFound, match="Cannot find metric"):
        read("custom.googleapis.com/none")
    assert read(GPU) == []


def test_old_points_are_forgotten(measure: Measure, read: Read):
    """Two hours here; what is younger stays."""
    for ago in range(240, -1, -1):
        measure(1.0, ago)
    (found,) = read(start=600)
    assert 121 <= len(found.points) <= 121 + 64


def test_a_measurement_older_than_the_last_is_dropped(measure: Measure, read: Read):
    """A clock that went back does no harm."""
    measure(1.0, 0)
    measure(2.0, 5)
    (found,) = read()
    assert values(found) == [1.0]


def test_a_written_point_is_read_back(metrics: monitoring_v3.MetricServiceClient, read: Read):
    """The descriptor comes into being with the first write."""
    metrics.create_time_series(name=NAME, time_series=[series(0.5)])
    (found,) = read(CUSTOM)
    assert values(found) == [0.5]
    descriptor = metrics.get_metric_descriptor(name=f"{NAME}/metricDescriptors/{CUSTOM}")
    assert (descriptor.metric_kind, descriptor.value_type) == (descriptor.GAUGE, descriptor.DOUBLE)


@pytest.mark.parametrize("value", [True, 7, 0.5])
def test_each_type_keeps_its_type(metrics: monitoring_v3.MetricServiceClient, read: Read, value: Any):
    """Booleans, whole numbers and doubles come back as what they were."""
    metrics.create_time_series(name=NAME, time_series=[series(value)])
    (found,) = read(CUSTOM)
    point = monitoring_v3.TypedValue.pb(found.points[0].value)
    assert getattr(point, point.WhichOneof("value")) == value
    assert (
        point.WhichOneof("value")
        == {bool: "bool_value", int: "int64_value", float: "double_value"}[type(value)]
    )


COUNTER = {"metric_kind": "CUMULATIVE", "interval": {"start_time": NOW - 50 * MINUTE}}


@pytest.mark.parametrize(
    ("written", "wrong", "words"),
    [
        ([], series(ago=-6), "more than five minutes in the future"),
        ([], series(ago=25 * 60 + 1), "more than 25 hours in the past"),
        ([], series("text"), "strings"),
        ([], series(metric="compute.googleapis.com/instance/uptime"), "metric.type had an invalid value"),
        ([], series(metric="loss"), "metric.type had an invalid value"),
        ([], series(interval={"start_time": NOW - MINUTE}), "start time of a GAUGE point must equal"),
        ([], series(metric_kind="CUMULATIVE"), "start time of a CUMULATIVE point must be before"),
        ([series(1.0, 1)], series(1), "The metric is GAUGE DOUBLE, not GAUGE INT64"),
        ([series(1.0, 1)], series(1.0, 2), "Points must be written in order.*older end time"),
        ([series(1.0, 1)], series(1.0, 1), "more frequently than the maximum sampling period"),
        ([series(1.0, 1)], series(1.0, 1 - 4.9 / 60), "more frequently than the maximum sampling period"),
        (
            [series(1.0, 10, **COUNTER)],
            series(2.0, 5, metric_kind="CUMULATIVE", interval={"start_time": NOW - 20 * MINUTE}),
            "older start time",
        ),
    ],
)
def test_a_point_that_cannot_be_written_is_refused(
    metrics: monitoring_v3.MetricServiceClient, written: list[Any], wrong: Any, words: str
):
    """With the reason and the series."""
    for each in written:
        metrics.create_time_series(name=NAME, time_series=[each])
    with pytest.raises(
        exceptions.InvalidArgument, match=f"One or more TimeSeries could not be written: .*{words}"
    ):
        metrics.create_time_series(name=NAME, time_series=[wrong])


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ([], series(ago=-5)),
        ([], series(ago=25 * 60)),
        ([series(1.0, 1)], series(1.0, 1 - 5 / 60)),
        ([series(1.0, 10, **COUNTER)], series(2.0, 5, **COUNTER)),
        (
            [series(1.0, 10, **COUNTER)],
            series(2.0, 5, metric_kind="CUMULATIVE", interval={"start_time": NOW - 9 * MINUTE}),
        ),
    ],
)
def test_a_point_at_the_limit_is_written(
    metrics: monitoring_v3.MetricServiceClient, written: list[Any], right: Any
):
    """One fact apart from what is refused."""
    for each in [*written, right]:
        metrics.create_time_series(name=NAME, time_series=[each])


def test_one_refused_series_does_not_hold_up_the_others(
    metrics: monitoring_v3.MetricServiceClient, read: Read
):
    """They are written all the same, and only the refused one is named."""
    good, bad = series(run="good"), series(run="bad", ago=-60)
    with pytest.raises(exceptions.InvalidArgument, match=r"timeSeries\[1\]: .*\{run:bad\}") as refused:
        metrics.create_time_series(name=NAME, time_series=[good, bad])
    assert "good" not in str(refused.value)
    assert [each.metric.labels["run"] for each in read(CUSTOM)] == ["good"]


def test_a_request_writes_each_series_once(metrics: monitoring_v3.MetricServiceClient):
    """A duplicate is refused."""
    with pytest.raises(exceptions.InvalidArgument, match="Duplicate TimeSeries encountered"):
        metrics.create_time_series(name=NAME, time_series=[series(), series()])


def test_a_request_writes_up_to_200_series(metrics: monitoring_v3.MetricServiceClient):
    """And not 201."""
    many = [series(run=str(number)) for number in range(201)]
    metrics.create_time_series(name=NAME, time_series=many[:200])
    with pytest.raises(exceptions.InvalidArgument, match="201"):
        metrics.create_time_series(name=NAME, time_series=many)


def test_descriptors_are_listed_made_and_deleted(metrics: monitoring_v3.MetricServiceClient, read: Read):
    """Those of Google's stay."""
    descriptor = {"type": CUSTOM, "metric_kind": "GAUGE", "value_type": "DOUBLE", "unit": "1"}
    metrics.create_metric_descriptor(name=NAME, metric_descriptor=descriptor)
    listed = metrics.list_metric_descriptors(
        request={"name": NAME, "filter": 'metric.type = starts_with("custom.googleapis.com/")'}
    )
    assert [each.type for each in listed] == [CUSTOM]
    metrics.delete_metric_descriptor(name=f"{NAME}/metricDescriptors/{CUSTOM}")
    with pytest.raises(exceptions.NotFound):
        read(CUSTOM)
    with pytest.raises(exceptions.PermissionDenied):
        metrics.delete_metric_descriptor(name=f"{NAME}/metricDescriptors/{GPU}")


def test_a_deleted_metric_takes_its_points_with_it(metrics: monitoring_v3.MetricServiceClient, read: Read):
    """One of the same name starts empty."""
    metrics.create_time_series(name=NAME, time_series=[series(1.0, 10, run="old")])
    metrics.delete_metric_descriptor(name=f"{NAME}/metricDescriptors/{CUSTOM}")
    metrics.create_time_series(name=NAME, time_series=[series(2.0, 5, run="new")])
    assert [each.metric.labels["run"] for each in read(CUSTOM)] == ["new"]


def test_the_kinds_of_resources_are_known(metrics: monitoring_v3.MetricServiceClient):
    """A VM has an id and a zone."""
    found = metrics.get_monitored_resource_descriptor(
        name=f"{NAME}/monitoredResourceDescriptors/gce_instance"
    )
    assert {label.key for label in found.labels} == {"project_id", "instance_id", "zone"}
    listed = metrics.list_monitored_resource_descriptors(name=NAME)
    assert "gce_instance" in [each.type for each in listed]


def rest(read_from: datetime, **more: Any) -> dict[str, Any]:
    """The query of a REST listing."""
    return {
        "filter": f'metric.type = "{GPU}"',
        "interval.startTime": (read_from - 60 * MINUTE).isoformat(),
        "interval.endTime": read_from.isoformat(),
        **more,
    }


def test_rest_answers_the_same(measure: Measure, http: httpx.Client, clock: Fixed):
    """Camel case, times as text, newest first."""
    for ago in (3, 1):
        measure(float(ago), ago)
    query = rest(
        clock.moment, **{"aggregation.alignmentPeriod": "120s", "aggregation.perSeriesAligner": "ALIGN_MAX"}
    )
    (found,) = http.get(f"/v3/{NAME}/timeSeries", params=query).json()["timeSeries"]
    assert found["metric"]["type"] == GPU
    assert [point["value"]["doubleValue"] for point in found["points"]] == [1.0, 3.0]
    assert found["points"][0]["interval"]["endTime"] == "2026-11-21T08:00:00Z"


def test_a_long_question_comes_as_a_post(measure: Measure, http: httpx.Client, clock: Fixed):
    """With the header that says it is a GET, and the query in the body: so google-api-python-client does."""
    measure(1.0)
    headers = {"x-http-method-override": "GET"}
    found = http.post(f"/v3/{NAME}/timeSeries", data=rest(clock.moment), headers=headers).json()
    assert len(found["timeSeries"]) == 1


def test_a_post_without_the_header_writes(http: httpx.Client):
    """The two share a path."""
    point = {"interval": {"endTime": NOW.isoformat()}, "value": {"int64Value": "3"}}
    body = {"timeSeries": [{"metric": {"type": CUSTOM}, "resource": {"type": "global"}, "points": [point]}]}
    assert http.post(f"/v3/{NAME}/timeSeries", json=body).json() == {}
    query = rest(NOW, filter=f'metric.type = "{CUSTOM}"')
    (found,) = http.get(f"/v3/{NAME}/timeSeries", params=query).json()["timeSeries"]
    assert found["points"][0]["value"] == {"int64Value": "3"}


def test_a_point_can_be_set_by_hand(http: httpx.Client, read: Read):
    """The admin API takes a point of any metric, to make a VM look idle."""
    body = {"metric": GPU, "value": 0.5, "resource_labels": {"instance_id": "7"}, "age_seconds": 60}
    http.post("/local/points", json=body).raise_for_status()
    (found,) = read(rest='AND resource.labels.instance_id = "7"')
    assert values(found) == [0.5]
    assert http.get("/local/metrics").json() == {"metrics": [{"metric": GPU, "series": 1}]}
    assert http.post("/local/points", json={"metric": GPU}).status_code == 400


LINES = "logging.googleapis.com/log_entry_count"


def test_an_answer_shows_only_the_fields_that_were_asked_for(
    measure: Measure, http: httpx.Client, clock: Fixed
):
    """The parameter `fields` that every REST method has; a large project's answer is half as long."""
    measure(1.0)
    query = rest(clock.moment, fields="timeSeries(resource/labels,points/value)")
    (found,) = http.get(f"/v3/{NAME}/timeSeries", params=query).json()["timeSeries"]
    assert sorted(found) == ["points", "resource"]
    assert found["points"] == [{"value": {"doubleValue": 1.0}}]


def test_a_count_is_of_the_minute_before(http: httpx.Client, clock: Fixed):
    """A point of a DELTA metric, set by hand, has an interval; sums of them are sums."""
    for age in (90, 60, 0):
        body = {"metric": LINES, "value": 3, "age_seconds": age, "resource_labels": {"instance_id": "7"}}
        http.post("/local/points", json=body).raise_for_status()
    query = rest(clock.moment, filter=f'metric.type = "{LINES}"')
    (found,) = http.get(f"/v3/{NAME}/timeSeries", params=query).json()["timeSeries"]
    intervals = [point["interval"] for point in found["points"]]
    assert [one["startTime"] for one in intervals] == [
        "2026-11-21T07:59:00Z",
        "2026-11-21T07:58:30Z",
        "2026-11-21T07:57:30Z",
    ]
    summed = {"aggregation.alignmentPeriod": "3600s", "aggregation.perSeriesAligner": "ALIGN_SUM"}
    (found,) = http.get(f"/v3/{NAME}/timeSeries", params={**query, **summed}).json()["timeSeries"]
    assert found["points"][0]["value"] == {"int64Value": "9"}
