"""What each door to Google costs a function that has just been started: time and memory to its first answer.

    python tests/bench/cold_start_clients.py [ROUNDS]

Each row is a fresh process, timed from its start to its end; rounds go through all rows in turn, so that a
busy moment of the machine hits all alike. A first round, not counted, compiles: a deployed function is.
The other tables list instances through our adapter and through
google-cloud-compute, the same pages of 500 with only the fields that we read.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.contract.scripted import Scripted
from tests.contract.served import PROJECT, Served

OPEN = (
    "import os; from spotwarden.gcp.connect import connect; "
    f"cloud = connect(project='{PROJECT}', bucket='bench', topic='bench', "
    "compute_endpoint=os.environ['SPOTWARDEN_COMPUTE_ENDPOINT'], "
    "pubsub_endpoint=os.environ['SPOTWARDEN_PUBSUB_ENDPOINT']); "
)
STORE = "cloud.store.read('none'); "
COMPUTE = "cloud.compute.instances(); "
TOPIC = "cloud.notices.publish(b'x', {}); "
TYPED = (
    "import os; from google.cloud import compute_v1; "
    "from google.auth.credentials import AnonymousCredentials; "
    "client = compute_v1.InstancesClient(credentials=AnonymousCredentials(), "
    "client_options={'api_endpoint': os.environ['SPOTWARDEN_COMPUTE_ENDPOINT']}); "
    f"found = [one for _, scope in client.aggregated_list(project='{PROJECT}') for one in scope.instances]; "
)
GRPC = (
    "from google.pubsub_v1 import PublisherClient; "
    f"PublisherClient().publish(topic='projects/{PROJECT}/topics/bench', messages=[{{'data': b'x'}}]); "
)
ROWS: Mapping[str, str] = {
    "bare interpreter": "",
    "the door, unopened": OPEN,
    "bucket: first read": OPEN + STORE,
    "Compute Engine: first list": OPEN + COMPUTE,
    "topic: first publish": OPEN + TOPIC,
    "bucket + Compute Engine": OPEN + STORE + COMPUTE,
    "all three": OPEN + STORE + COMPUTE + TOPIC,
    "import google.cloud.compute_v1": "import google.cloud.compute_v1",
    "google-cloud-pubsub: first publish": GRPC,
    "google-cloud-compute: first list": TYPED,
    "bucket + google-cloud-compute": OPEN + STORE + TYPED,
}
LISTS = {"our adapter": OPEN + "found = cloud.compute.instances().items; ", "google-cloud-compute": TYPED}
TELL = """
import json
lines = [*open("/proc/self/smaps_rollup"), *open("/proc/self/status")]
size = {line.split()[0]: int(line.split()[1]) / 1024 for line in lines if line.endswith("kB\\n")}
print(json.dumps({"pss": size["Pss:"], "peak": size["VmHWM:"]}))
"""


def run(script: str, environment: Mapping[str, str]) -> tuple[float, float, float]:
    """Seconds from start to end, MB in use at the end (proportional set size), MB at the most."""
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script + TELL], check=True, capture_output=True, env=environment
    )
    told = json.loads(done.stdout.splitlines()[-1])
    return time.perf_counter() - begun, told["pss"], told["peak"]


def table(title: str, rows: Mapping[str, str], rounds: int, environment: Mapping[str, str]) -> None:
    """Run every row in every round and print the medians."""
    measured: dict[str, list[tuple[float, float, float]]] = {name: [] for name in rows}
    for turn in range(-1, rounds):
        for name, script in rows.items():
            taken = run(script, environment)
            if turn >= 0:
                measured[name].append(taken)
    print(f"\n{title}\n{'':36}{'s':>8}{'PSS MB':>10}{'peak MB':>10}")
    for name, tries in measured.items():
        seconds, pss, peak = (statistics.median(column) for column in zip(*tries, strict=True))
        print(f"{name:36}{seconds:8.3f}{pss:10.1f}{peak:10.1f}")


def page(number: int, last: int) -> dict[str, object]:
    """A page of 500 instances with the fields that the adapter asks for."""
    instances = [
        {
            "id": str(4_000_000_000_000_000_000 + number * 500 + row),
            "name": f"node-{number}-{row}",
            "status": "RUNNING",
            "creationTimestamp": "2026-01-05T12:30:00.000-08:00",
            "lastStartTimestamp": "2026-01-05T12:30:09.000-08:00",
            "labels": {"spotwarden-job": f"job-{number}", "spotwarden-attempt": "1"},
        }
        for row in range(500)
    ]
    answer: dict[str, object] = {"items": {"zones/us-central1-a": {"instances": instances}}}
    return answer if number == last else {**answer, "nextPageToken": str(number)}


def main(rounds: int) -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory() as folder, Served(Path(folder)) as served, Scripted() as google:
        served.run(lambda: served.storage.ensure_bucket("bench"))
        environment = {
            **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            "PYTHONPYCACHEPREFIX": str(Path(folder) / "compiled"),
            "STORAGE_EMULATOR_HOST": served.url,
            "PUBSUB_EMULATOR_HOST": served.grpc,
            "DISABLE_GCS_PYTHON_CLIENT_OTEL_BUCKET_METADATA": "true",
            "SPOTWARDEN_COMPUTE_ENDPOINT": google.url,
            "SPOTWARDEN_PUBSUB_ENDPOINT": f"http://{served.grpc}",
        }
        make_topic(environment)
        google.say({"items": {}})
        table(f"Cold start, median of {rounds}", ROWS, rounds, environment)
        for count in (10_000, 100_000):
            lists(count, max(1, rounds // 3), environment)


def lists(count: int, rounds: int, environment: Mapping[str, str]) -> None:
    """Print what it takes to list so many instances, the start of the process included."""
    pages = [page(number, count // 500 - 1) for number in range(count // 500)]
    with Scripted() as google:
        for _ in range((rounds + 1) * len(LISTS)):
            for answer in pages:
                google.say(answer)
        there = {**environment, "SPOTWARDEN_COMPUTE_ENDPOINT": google.url}
        check = f"assert len(found) == {count}"
        table(
            f"{count:,} instances, process start included, median of {rounds}",
            {name: script + check for name, script in LISTS.items()},
            rounds,
            there,
        )


def make_topic(environment: Mapping[str, str]) -> None:
    """Create the topic that the rows publish to."""
    script = (
        "from google.cloud.pubsub_v1 import PublisherClient; "
        f"PublisherClient().create_topic(request={{'name': 'projects/{PROJECT}/topics/bench'}})"
    )
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
