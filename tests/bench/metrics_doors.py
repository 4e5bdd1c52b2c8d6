"""What Cloud Monitoring and a large fleet cost a function that has just been started: time and memory.

    python tests/bench/metrics_doors.py [ROUNDS]

Each row is a fresh process from its start to its end, as in `cold_start_clients.py`. The first table asks a
small question; the others read 10,000 and 100,000
VMs, and their GPUs of two hours in buckets of five minutes, from a server that answers at once.
"""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from google.cloud.monitoring_v3 import ListTimeSeriesResponse

from localcloud.clock import Clock
from localcloud.monitoring import MonitoringService
from tests.bench.cold_start_clients import table
from tests.contract.scripted import Scripted
from tests.contract.scripted_rpc import ScriptedRpc
from tests.localcloud.stand import PROJECT, Stand

NOW = datetime(2026, 11, 21, 8, 0, tzinfo=UTC)
BUCKETS = 24
STEP = timedelta(minutes=5)
POINTS = 50_000
FIRST = 4_000_000_000_000_000_000

OPEN = (
    "import os; from datetime import UTC, datetime, timedelta; from spotwarden.gcp.connect import connect; "
    "from spotwarden.model.load import Buckets; "
    f"cloud = connect(project='{PROJECT}', bucket='b', topic='t', "
    "compute_endpoint=os.environ['SPOTWARDEN_COMPUTE_ENDPOINT'], "
    "monitoring_endpoint=os.environ['SPOTWARDEN_MONITORING_ENDPOINT']); "
    "now = datetime(2026, 11, 21, 8, 0, tzinfo=UTC); "
    f"grid = Buckets(end=now, step=timedelta(minutes=5), count={BUCKETS}); "
)
OURS = OPEN + "cloud.metrics.cpus(now - timedelta(hours=1), now); "
FLEET = OPEN + "found = cloud.compute.fleet().items; "
TOP = OPEN + "found = cloud.metrics.gpus(grid, counts=False).rows; "
ALL = OPEN + "found = cloud.metrics.gpus(grid).rows; "


def vms(count: int) -> Iterator[Mapping[str, object]]:
    """Pages of 500 VMs of 50 jobs each, with the fields that the adapter asks for."""
    for first in range(0, count, 500):
        page = [
            {
                "id": str(FIRST + number),
                "name": f"node-{number}",
                "status": "RUNNING",
                "creationTimestamp": "2026-01-05T12:30:00.000-08:00",
                "lastStartTimestamp": "2026-01-05T12:30:09.000-08:00",
                "machineType": "https://www.googleapis.com/compute/v1/projects/p/zones/z/machineTypes/a2",
                "guestAccelerators": [{"acceleratorType": "x/nvidia-tesla-a100", "acceleratorCount": 8}],
                "scheduling": {"provisioningModel": "SPOT", "preemptible": True},
                "labels": {"spotwarden-job": f"job-{number // 10}", "owner": "a", "team": "b"},
            }
            for number in range(first, first + 500)
        ]
        answer: dict[str, object] = {"items": {"zones/us-central1-a": {"instances": page}}}
        yield answer if first + 500 >= count else {**answer, "nextPageToken": str(first)}


def series(count: int, kind: str) -> Iterator[bytes]:
    """Pages of the answer to one question: a point for each VM and bucket."""
    ends = [int((NOW - STEP * back).timestamp()) for back in range(BUCKETS)]
    each = POINTS // BUCKETS
    for first in range(0, count, each):
        page = ListTimeSeriesResponse.pb(ListTimeSeriesResponse())
        for number in range(first, min(count, first + each)):
            found = page.time_series.add(value_type=3 if kind == "top" else 2)
            found.resource.labels.update(project_id=PROJECT, instance_id=str(FIRST + number))
            for back, end in enumerate(ends):
                point = found.points.add()
                point.interval.end_time.seconds = end
                if kind == "top":
                    point.value.double_value = (number + back) * 7919 % 9973 / 99.73
                else:
                    point.value.int64_value = 5
        if first + each < count:
            page.next_page_token = str(first + each)
        yield page.SerializeToString()


def read(count: int, rounds: int, environment: Mapping[str, str]) -> None:
    """Print what it takes to read so many VMs."""
    questions = {
        "fleet": (FLEET, []),
        "GPUs, the highest value": (TOP, ["top", "none"]),
        "GPUs, with counts": (ALL, ["count", "count", "top", "none"]),
    }
    for name, (script, parts) in questions.items():
        with Scripted() as google, ScriptedRpc() as rpc:
            pages = [page for part in parts for page in ([b""] if part == "none" else series(count, part))]
            for _ in range(rounds + 1):
                for page in pages:
                    rpc.say(page)
                for vm_page in [] if parts else vms(count):
                    google.say(vm_page)
            there = {
                **environment,
                "SPOTWARDEN_MONITORING_ENDPOINT": rpc.url,
                "SPOTWARDEN_COMPUTE_ENDPOINT": google.url,
            }
            rows = {name: f"{script} assert len(found) == {count}"}
            table(f"{count:,} VMs, median of {rounds}", rows, rounds, there)


def main(rounds: int) -> None:
    """Print all tables."""
    stand = Stand()
    try:
        stand.serve([stand.call(MonitoringService, project=PROJECT, clock=Clock())])
        with tempfile.TemporaryDirectory() as folder:
            environment = {
                **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
                "PYTHONPYCACHEPREFIX": folder,
                "SPOTWARDEN_COMPUTE_ENDPOINT": stand.http,
                "SPOTWARDEN_MONITORING_ENDPOINT": f"http://{stand.grpc}",
            }
            rows = {"first question": OURS}
            table(f"Cold start, median of {rounds}", rows, rounds, environment)
            for count in (10_000, 100_000):
                read(count, max(1, rounds // 3), environment)
    finally:
        stand.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
