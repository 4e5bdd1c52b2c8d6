"""What a tick of each function asks of Google, counted against the local cloud, for docs/deploy/cost.md.

All VMs run, with the job kit, and nothing is wrong: the ordinary hour of a project. Each function's sweep
runs in this process, through the real clients, over HTTP and gRPC; every request is counted where it goes
out. The first tick of a process knows nothing, those after it are warm, and one in each hour lists all jobs.

    python tests/bench/deploy_count.py VMS VMS_OF_A_JOB

prints what was counted as JSON.
"""

import io
import json
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlsplit

import httpx
import msgspec

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
sys.path.insert(0, str(ROOT))

from urllib3 import HTTPConnectionPool

from spotwarden.engine.cache import GenerationCache
from spotwarden.gcp.gathering import PagedRows
from spotwarden.layout import (
    AttemptRecord,
    Code,
    CreateScript,
    InstanceId,
    Layout,
    NodeHeartbeat,
    OpenJob,
    Output,
)
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.watch import Watch
from tests.bench.beside import server

FUNCTIONS = (
    "recover_spot",
    "reap_vms",
    "flag_idle_gpus",
    "cap_runtime",
    "check_compliance",
    "notify_developers",
    "report_jobs",
)
OBJECT = re.compile(r"/b/[^/]+/o/[^/]+$")
TRAVEL = timedelta(minutes=5)
SETTLE = 3
"""Warm ticks before those that count: the first ones write down what they see for the first time."""
SCRIPT = b"gcloud compute instances create NAME --zone=us-central1-a --machine-type=a2-highgpu-1g\n"


@dataclass(frozen=True, kw_only=True)
class Ticked:
    """One tick: operations of class A and B, calls of all services, series returned, seconds of CPU."""

    class_a: int
    class_b: int
    calls: int
    series: int
    cpu: float


def class_of(method: str, url: str) -> str:
    """Which class of operations a request is ("Cloud Storage pricing"); "" for none that costs."""
    path = urlsplit(url).path
    if "/storage/v1/" not in path or method == "DELETE":
        return ""
    return "b" if method == "GET" and OBJECT.search(path) else "a"


class Meter:
    """Counts what goes out of this process."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count every request over HTTP, and every series that Monitoring returns."""
        send, take, counts = HTTPConnectionPool.urlopen, PagedRows.take, self.counts

        def sent(pool: Any, method: str, url: str, *args: Any, **kwargs: Any) -> Any:
            counts["calls"] += "/token" not in url
            counts[class_of(method, url)] += 1
            return send(pool, method, url, *args, **kwargs)

        def taken(rows: Any, found: Iterable[Any]) -> None:
            take(rows, told(found))

        def told(found: Iterable[Any]) -> Iterator[Any]:
            for series in found:
                counts["series"] += 1
                yield series

        with patch.object(HTTPConnectionPool, "urlopen", sent), patch.object(PagedRows, "take", taken):
            yield

    def tick(self, sweep: Any) -> Ticked:
        """What one tick costs."""
        self.counts.clear()
        began = time.process_time()
        sweep()
        return Ticked(
            cpu=time.process_time() - began,
            class_a=self.counts["a"],
            class_b=self.counts["b"],
            calls=self.counts["calls"],
            series=self.counts["series"],
        )


class Project:
    """A project of so many VMs, in jobs of so many each, all of which run with the job kit."""

    def __init__(self, said: Mapping[str, str]) -> None:
        self.said, self._ahead = said, timedelta(0)
        self._http = httpx.Client(base_url=said["http"], trust_env=False, timeout=600)
        self._pool = ThreadPoolExecutor(8)
        self.jobs: dict[str, dict[str, str]] = {}

    @property
    def now(self) -> datetime:
        """The moment by the cloud's clock."""
        return datetime.now(UTC) + self._ahead

    def fill(self) -> None:
        """A bucket with the records of all jobs, and a topic."""
        self._http.post("/storage/v1/b?project=project", json={"name": "jobs"}).raise_for_status()
        self._http.put("/v1/projects/project/topics/notices", json={}).raise_for_status()
        self.jobs = self._http.post("/bench/jobs").json()
        objects = [pair for job, ids in self.jobs.items() for pair in self._records(job, ids)]
        list(self._pool.map(lambda pair: self._write(*pair), objects))
        self.beat()

    def _records(self, job: str, ids: Mapping[str, str]) -> Iterator[tuple[Any, bytes]]:
        began = self.now - timedelta(hours=8)
        yield OpenJob(job=job), msgspec.json.encode(Watch(job=job, attempt=1, instances=ids, recorded=True))
        record = Attempt(
            job=job,
            number=1,
            state=AttemptState.RUNNING,
            created=began,
            updated=began,
            started=began,
            owner="ann@example.com",
            instances=ids,
        )
        yield AttemptRecord(job=job, attempt=1), msgspec.json.encode(record)
        yield CreateScript(job=job), SCRIPT
        yield Code(job=job), b"code"
        yield Output(job=job, path="last.pt"), b"weights"
        for node, instance_id in ids.items():
            yield InstanceId(job=job, node=node), instance_id.encode()

    def beat(self) -> None:
        """Each node's job kit writes its heartbeat."""
        nodes = [(job, *pair) for job, ids in self.jobs.items() for pair in ids.items()]
        list(self._pool.map(lambda node: self._beat(*node), nodes))

    def _beat(self, job: str, node: str, instance_id: str) -> None:
        moment = f"{self.now:%Y-%m-%dT%H:%M:%SZ}"
        told = {"job": job, "attempt": "1", "instance_id": instance_id, "status": "running"}
        told |= {"at": moment, "progress_at": moment, "step": str(self.now.minute), "steps": "100"}
        self._write(NodeHeartbeat(node=node), b"", told)

    def _write(self, thing: Any, data: bytes, metadata: Mapping[str, str] | None = None) -> None:
        resource = json.dumps({"name": Layout().build(thing), "metadata": metadata or {}}).encode()
        body = b"--x\r\nContent-Type: application/json\r\n\r\n" + resource
        body += b"\r\n--x\r\nContent-Type: text/plain\r\n\r\n" + data + b"\r\n--x--\r\n"
        self._http.post(
            "/upload/storage/v1/b/jobs/o?uploadType=multipart",
            content=body,
            headers={"Content-Type": "multipart/related; boundary=x"},
        ).raise_for_status()

    def travel(self, by: timedelta) -> None:
        """Time passes, and heartbeats come."""
        self._http.post("/bench/travel", json=by.total_seconds()).raise_for_status()
        self._ahead += by
        self.beat()


@contextmanager
def project(vms: int, of_a_job: int) -> Iterator[Project]:
    """A project in a local cloud of its own."""
    with server("deploy_count_server.py", vms, of_a_job) as said:
        made = Project(said)
        made.fill()
        yield made


def counted(vms: int, of_a_job: int, functions: Sequence[str] = FUNCTIONS) -> dict[str, dict[str, Ticked]]:
    """By function a cold tick, a warm one, and the one that lists all jobs again."""
    with project(vms, of_a_job) as made, patch.dict(os.environ, _environment(made)):
        sweeps = {function: Process(_sweep(made, function)) for function in functions}
        found: dict[str, dict[str, Ticked]] = {name: {"cold": one.tick()} for name, one in sweeps.items()}
        # Metrics are not written while the clock travels: whether VMs idle is asked for now.
        for name in {"flag_idle_gpus"} & set(sweeps):
            process = sweeps.pop(name)
            process.tick()
            found[name] |= {"warm": process.tick(), "again": process.tick()}
        # Warm ticks are those within an hour, five minutes after it began. More than an hour goes by in any
        # case: who has not swept since is asked about, whichever minute it is.
        made.travel(timedelta(minutes=(65 - made.now.minute) % 60, hours=1))
        for _ in range(SETTLE):
            made.travel(TRAVEL)
            for process in sweeps.values():
                process.tick()
        for which, by in (("warm", TRAVEL), ("again", timedelta(hours=1))):
            made.travel(by)
            for name, process in sweeps.items():
                found[name][which] = process.tick()
        return found


class Process:
    """One function, which remembers what it has read, and nothing of what the others have."""

    def __init__(self, sweep: Any) -> None:
        self._sweep, self._meter = sweep, Meter()
        self._known: list[dict[str, Any]] = []

    def tick(self) -> Ticked:
        """What its next tick costs."""
        caches: list[Any] = GenerationCache._all
        GenerationCache.forget()
        for cache, known in zip(caches, self._known, strict=False):
            cache.__dict__.update(known)
        said = io.StringIO()
        with self._meter.counting(), redirect_stdout(said):
            ticked = self._meter.tick(self._sweep)
        self._known = [dict(cache.__dict__) for cache in caches]
        return ticked


def _environment(made: Project) -> dict[str, str]:
    return {
        "STORAGE_EMULATOR_HOST": made.said["http"],
        "DISABLE_GCS_PYTHON_CLIENT_OTEL_BUCKET_METADATA": "true",
    }


def _sweep(made: Project, function: str) -> Any:
    """One tick of the function, by the policy that a deployment has."""
    from spotwarden.engine.context import SweepContext
    from spotwarden.engine.policy_file.reading import read_policy
    from spotwarden.engine.settings import Settings
    from spotwarden.engine.trigger import close_tick
    from spotwarden.gcp.connect import connect
    from spotwarden.model.policy import Mode
    from spotwarden.model.tick import Tick

    settings = Settings(
        project="project",
        bucket="jobs",
        notices="notices",
        compute_endpoint=made.said["http"],
        monitoring_endpoint="http://" + made.said["grpc"],
        pubsub_endpoint="http://" + made.said["grpc"],
        policy_file=ROOT / "infra/policy.toml",
        prices_file=ROOT / "infra/prices.toml",
        workers=16,
    )
    policy = read_policy(settings.policy_file, Mode.OBSERVE, "ops@example.com")
    cloud, sweep = connect(**settings.connection()), _entry(function)

    def run() -> None:
        tick = Tick(function=function, sweep=f"{time.time_ns():x}", now=made.now)
        close_tick(tick, sweep(SweepContext.open(cloud, settings, policy, tick)))

    return run


def _entry(function: str) -> Any:
    import importlib

    if function == "notify_developers":
        from spotwarden.notify.outbox.sweep import take_in_or_deliver

        return lambda context: take_in_or_deliver(context, {}, os.environ)
    places = {
        "recover_spot": "recovery",
        "reap_vms": "governance.reap",
        "flag_idle_gpus": "governance.idle",
        "cap_runtime": "governance.caps",
        "check_compliance": "governance.compliance",
        "report_jobs": "report",
    }
    return importlib.import_module(f"spotwarden.{places[function]}.sweep").sweep


SIZES = ((40, 1), (240, 1), (240, 8))
"""VMs, and how many of them a job has: three, for what a tick costs hangs on VMs, on jobs, and on neither.

Each has more jobs than are listed one by one.
"""
FILE = HERE / "data/deploy_counts.json"


def count_all() -> None:
    """Count every size, and keep it."""
    found = [row(*size) for size in SIZES]
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def row(vms: int, of_a_job: int) -> dict[str, Any]:
    """What was counted of one size, in plain values."""
    ticks = {
        function: {which: asdict(ticked) for which, ticked in kinds.items()}
        for function, kinds in counted(vms, of_a_job).items()
    }
    return {"vms": vms, "of_a_job": of_a_job, "ticks": ticks}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(row(int(sys.argv[1]), int(sys.argv[2]))) + "\n")
