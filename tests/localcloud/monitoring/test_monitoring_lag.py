"""Points of VMs that are not visible yet."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from google.cloud import monitoring_v3

from localcloud.limits import Limits, LimitsBook
from localcloud.monitoring import MonitoringService
from localcloud.ports import Point
from tests.localcloud.monitoring.conftest import NOW, Fixed
from tests.localcloud.stand import PROJECT, Stand

CPU = "compute.googleapis.com/instance/cpu/utilization"
STEP = "custom.googleapis.com/step"
Metrics = monitoring_v3.MetricServiceClient


@pytest.fixture
def book() -> LimitsBook:
    """The limits: four minutes."""
    return LimitsBook(Limits(metric_lag_seconds=240))


@pytest.fixture
def stand(clock: Fixed, book: LimitsBook) -> Iterator[Stand]:
    """A Monitoring with these limits, and a point of two metrics for each of the last ten minutes."""
    stand = Stand()
    stand.service = stand.call(MonitoringService, project=PROJECT, clock=clock, limits=lambda: book.now)
    stand.serve([stand.service])
    for metric in (CPU, STEP):
        for minutes in range(10, -1, -1):
            at = NOW - timedelta(minutes=minutes)
            point = Point(
                metric=metric,
                metric_labels={},
                resource="gce_instance",
                resource_labels={"instance_id": "17", "zone": "us-central1-a"},
                value=float(minutes),
                at=at,
            )
            stand.call(stand.service.measure, point)
    yield stand
    stand.close()


def seen(metrics: Metrics, metric: str = CPU, minutes: int = 60, **aggregation: object) -> list[float]:
    """The values that are seen of the last minutes, newest first."""
    request = {
        "name": f"projects/{PROJECT}",
        "filter": f'metric.type="{metric}"',
        "interval": {"start_time": NOW - timedelta(minutes=minutes), "end_time": NOW},
        "aggregation": aggregation,
    }
    return [
        point.value.double_value for series in metrics.list_time_series(request) for point in series.points
    ]


def test_a_point_is_seen_when_it_is_four_minutes_old(metrics: Metrics, clock: Fixed) -> None:
    """Not a second sooner."""
    assert seen(metrics) == [4, 5, 6, 7, 8, 9, 10]
    clock.moment = NOW + timedelta(seconds=59)
    assert seen(metrics)[0] == 4
    clock.moment = NOW + timedelta(seconds=60)
    assert seen(metrics)[0] == 3


def test_what_is_asked_of_the_last_minutes_alone_is_not_there_yet(metrics: Metrics) -> None:
    """No series, as of a VM that says nothing."""
    assert seen(metrics, minutes=4) == []
    assert seen(metrics, minutes=5) == [4]


def test_means_are_made_of_what_can_be_seen(metrics: Metrics) -> None:
    """Windows still count back from the end that was asked for."""
    mean = monitoring_v3.Aggregation.Aligner.ALIGN_MEAN
    assert seen(metrics, alignment_period={"seconds": 300}, per_series_aligner=mean) == [4, 7, 10]


def test_interpolation_does_not_look_into_the_future(metrics: Metrics) -> None:
    """Nor into what cannot be seen yet."""
    near = monitoring_v3.Aggregation.Aligner.ALIGN_INTERPOLATE
    assert min(seen(metrics, alignment_period={"seconds": 60}, per_series_aligner=near)) >= 4


def test_what_programs_write_themselves_is_seen_at_once(metrics: Metrics) -> None:
    """Of a metric of their own."""
    assert seen(metrics, STEP)[0] == 0


def test_without_the_limit_everything_is_seen(metrics: Metrics, book: LimitsBook) -> None:
    """It is a knob."""
    book.set(Limits(metric_lag_seconds=0))
    assert seen(metrics)[0] == 0
