"""How fast the local cloud's Monitoring lists: `python tests/bench/monitoring_list.py [series] [points]`."""

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import grpc
from google.cloud import monitoring_v3
from google.cloud.monitoring_v3.services.metric_service.transports import MetricServiceGrpcTransport

from localcloud.clock import Clock
from localcloud.monitoring import MonitoringService
from localcloud.ports import Point
from tests.localcloud.stand import PROJECT, Stand

GPU = "agent.googleapis.com/gpu/utilization"
MEAN = {"alignment_period": {"seconds": 3600}, "per_series_aligner": "ALIGN_MEAN"}
BY_ZONE = {**MEAN, "cross_series_reducer": "REDUCE_MAX", "group_by_fields": ["resource.labels.zone"]}
REST = {"aggregation.alignmentPeriod": "3600s", "aggregation.perSeriesAligner": "ALIGN_MEAN"}


def main(series: int, points: int) -> None:
    """Print the time of writing and of four listings."""
    stand = Stand()
    service = stand.call(MonitoringService, project=PROJECT, clock=Clock())
    stand.serve([service])
    now = datetime.now(UTC)
    print(f"{series} series of {points} points                     seconds")
    show("measure, in process", lambda: fill(service, series, points, now))
    with grpc.insecure_channel(stand.grpc) as channel:
        client = monitoring_v3.MetricServiceClient(transport=MetricServiceGrpcTransport(channel=channel))
        show("list all points", lambda: read(client, now))
        show("list the mean of the hour of each", lambda: read(client, now, aggregation=MEAN))
        show("list the maximum by zone", lambda: read(client, now, aggregation=BY_ZONE))
        show("list headers", lambda: read(client, now, view="HEADERS"))
    show("list the mean of the hour of each, REST", lambda: read_rest(stand, now))
    stand.close()


def show(what: str, work: Callable[[], None]) -> None:
    """Print how long something took."""
    began = time.perf_counter()
    work()
    print(f"{what:45} {time.perf_counter() - began:8.2f}")


def fill(service: MonitoringService, series: int, points: int, now: datetime) -> None:
    """Write the points, one a minute."""
    for number in range(series):
        for ago in range(points, 0, -1):
            service.measure(
                Point(
                    metric=GPU,
                    metric_labels={"gpu_number": "0"},
                    resource="gce_instance",
                    resource_labels={"instance_id": str(number), "zone": f"zone-{number % 10}"},
                    value=float(number % 100),
                    at=now - timedelta(minutes=ago - 1),
                )
            )


def read(client: monitoring_v3.MetricServiceClient, now: datetime, **more: object) -> None:
    """List every page."""
    interval = monitoring_v3.TimeInterval(start_time=now - timedelta(hours=1), end_time=now)
    request = {
        "name": f"projects/{PROJECT}",
        "filter": f'metric.type = "{GPU}"',
        "interval": interval,
        **more,
    }
    for page in client.list_time_series(request=request).pages:
        len(page.time_series)


def read_rest(stand: Stand, now: datetime) -> None:
    """List every page over REST."""
    query = {
        "filter": f'metric.type = "{GPU}"',
        "interval.startTime": (now - timedelta(hours=1)).isoformat(),
        "interval.endTime": now.isoformat(),
        **REST,
    }
    with stand.client() as http:
        token: str | None = ""
        while token is not None:
            answer = http.get(
                f"/v3/projects/{PROJECT}/timeSeries", params={**query, "pageToken": token}
            ).json()
            token = answer.get("nextPageToken")


if __name__ == "__main__":
    main(*(int(each) for each in (sys.argv[1:] + ["10000", "60"][len(sys.argv) - 1 :])))
