"""A sweep of `flag_idle_gpus` over 10,000 and 100,000 VMs, and 250 stops, beside Cloud Custodian.

    python tests/bench/govern_scale.py [--home FOLDER] [--rounds 5] [--counts 10000 100000] [--without-c7n]

Prints tables. Both sides run as processes of their own, from start to end, imports included, against the one
server of `govern_scale_server.py`; rounds take turns, and medians are shown. Cloud Custodian (c7n) is
installed from its registry on the first run, into a virtual environment under `--home`.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
sys.path.insert(0, str(ROOT))

from spotwarden.engine.executor.on_bucket import pretty
from spotwarden.engine.settings import WORKERS
from spotwarden.gcp.storage import CloudStorage
from spotwarden.layout import AttemptRecord, Layout, OpenJob
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.watch import Watch
from tests.bench import beside
from tests.bench.govern_scale_c7n import Custodian

MB = 1024
UP_FOR = timedelta(hours=8)
"""For so long all VMs have been up."""
LATE, LARGE = 10_000, 100_000
"""VMs of the look with latency, and of the sweep whose memory counts."""
IDLE = 20
"""One job in so many idles, with all its eight VMs."""
WARM_TRIES = 30
COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""What is deployed is compiled, and so is what Cloud Custodian has installed."""
DEPLOYED = {**COMPILED, "MALLOC_ARENA_MAX": "1"}
"""As `infra/terraform/service/main.tf` has it."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """One run: seconds, seconds of CPU, kilobytes at its peak, calls by service and method.

    `stops` are the seconds from the first stop to the last.
    """

    wall: float
    cpu: float
    peak: int
    calls: Mapping[str, int]
    stops: float
    said: str = ""


class Server:
    """The cloud of one scenario."""

    def __init__(self, said: dict[str, str]) -> None:
        self.said = said
        self._http = httpx.Client(base_url=said["http"], trust_env=False, timeout=600)

    def prepare(self) -> None:
        """A bucket with the list of open jobs and their records, and a topic."""
        self._http.post("/storage/v1/b?project=project", json={"name": "jobs"}).raise_for_status()
        self._http.put("/v1/projects/project/topics/notices", json={}).raise_for_status()
        os.environ |= {
            "STORAGE_EMULATOR_HOST": self.said["http"],
            "DISABLE_GCS_PYTHON_CLIENT_OTEL_BUCKET_METADATA": "true",
        }
        store = CloudStorage(bucket="jobs")
        born = datetime.fromisoformat(self.said["now"]) - UP_FOR
        for job, instances in self._http.post("/bench/jobs").json().items():
            watch = Watch(job=job, attempt=1, instances=instances, recorded=True)
            attempt = Attempt(
                job=job,
                number=1,
                state=AttemptState.RUNNING,
                created=born,
                updated=born,
                started=born,
                instances=instances,
                owner="ada@example.com",
            )
            # As the executor writes them.
            for what, value in ((OpenJob(job=job), watch), (AttemptRecord(job=job, attempt=1), attempt)):
                name, data = Layout().build(what), pretty(value)
                store.write(name, data, generation=0, content_type="application/json", shown=True)
        store.close()

    def delay(self, **milliseconds: float) -> None:
        """Let every call to these services wait."""
        self._http.post("/bench/delays", json=milliseconds).raise_for_status()

    def counted(self) -> tuple[Mapping[str, int], float]:
        """The calls since this was last asked, and the seconds from the first stop to the last."""
        found = self._http.post("/bench/reset").json()
        return found["calls"], found["stops"]


@contextmanager
def serving(count: int, idle: int = IDLE) -> Iterator[Server]:
    """A cloud with so many VMs, of which one in `idle` idles."""
    with beside.server("govern_scale_server.py", count, idle) as said:
        server = Server(said)
        server.prepare()
        yield server


def measured(server: Server, command: list[str], environment: Mapping[str, str]) -> Cost:
    """Run a command, and say what it cost."""
    server.counted()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        process = subprocess.Popen(command, env=dict(environment), stdout=out, stderr=err)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode:
            sys.exit(f"{command[:3]} failed:\n{err.read().decode()[-4000:]}")
        said = [line for line in out.read().decode().splitlines() if line.startswith("done ")]
    calls, stopping = server.counted()
    return Cost(
        wall=wall,
        cpu=used.ru_utime + used.ru_stime,
        peak=used.ru_maxrss,
        calls=calls,
        stops=stopping,
        said=said[-1].removeprefix("done ") if said else "",
    )


def ours(server: Server, stage: str, workers: int = WORKERS) -> Cost:
    """One run of ours."""
    script = [str(HERE / "govern_scale_sweep.py"), json.dumps(server.said), stage, str(workers)]
    return measured(server, [sys.executable, *script], DEPLOYED)


def warm(server: Server, count: int) -> None:
    """Ask until the server knows all answers: the first time they take longer than we wait for them."""
    for _ in range(WARM_TRIES):
        if json.loads(ours(server, "warm").said)["found"] >= count // IDLE:
            return
    sys.exit(f"{count:,} VMs are too many for the local cloud on this machine")


def theirs(server: Server, custodian: Custodian, *, stop: bool = False) -> Cost:
    """One run of Cloud Custodian."""
    return measured(server, *custodian.command(server.said["http"], stop=stop))


def row(what: str, costs: list[Cost], found: object = "") -> None:
    """One line of the table: medians."""
    wall, cpu = (statistics.median(getattr(one, name) for one in costs) for name in ("wall", "cpu"))
    peak = statistics.median(one.peak for one in costs) / MB
    calls = ", ".join(f"{count} {call}" for call, count in sorted(costs[-1].calls.items()))
    if costs[-1].stops:
        calls += f"; {costs[-1].stops:.1f} s from the first stop to the last"
    print(
        f"| {what:<46} | {wall:7.2f} s | {cpu:6.2f} s | {peak:5.0f} MB | {found!s:>6} | {calls} |", flush=True
    )


def head(title: str) -> None:
    """The head of a table."""
    print(f"\n{title}\n\n| | wall | CPU | peak | found | calls |\n|---|---|---|---|---|---|", flush=True)


def lists(count: int, rounds: int, custodian: Custodian | None) -> None:
    """Look and judge, and whole sweeps that observe, over so many VMs."""
    with serving(count) as server:
        head(f"{count:,} VMs, one job in {IDLE} idles, no latency")
        warm(server, count)
        if custodian:
            theirs(server, custodian)
        runs: dict[str, list[Cost]] = {"ours": [], "c7n": []}
        for _ in range(rounds):
            runs["ours"].append(ours(server, "look"))
            if custodian:
                runs["c7n"].append(theirs(server, custodian))
        row("look and judge", runs["ours"], json.loads(runs["ours"][-1].said)["found"])
        if custodian:
            row("c7n: the like policy, without an action", runs["c7n"], custodian.matched())
        first = [ours(server, "observe")]
        row("first sweep that observes: cases and notices", first)
        later = [ours(server, "observe") for _ in range(rounds)]
        row("the next", later)
        cpu, peak = median(runs["ours"], "cpu"), median(runs["ours"], "peak") / MB
        if custodian:
            aim("CPU against Cloud Custodian", 0.35, cpu / median(runs["c7n"], "cpu"))
            aim("peak, MB", 80, peak)
        if count >= LARGE:
            aim("CPU of the first sweep, s", 6, first[0].cpu)
            aim("peak of a sweep, MB", 200, max(first[0].peak, median(later, "peak")) / MB)
        if count == LATE:
            server.delay(compute=100, monitoring=100)
            late = [ours(server, "look") for _ in range(rounds)]
            row("look and judge at 100 ms a call", late)
            seconds = statistics.median(json.loads(cost.said)["seconds"] for cost in late)
            aim("the look at 100 ms a call, s", 1.5, seconds)


def aim(what: str, most: float, figure: float) -> None:
    """What was aimed for, beside what it is."""
    print(f"\n{what}: {figure:.2f} (aim: at most {most:g})", flush=True)


def median(costs: list[Cost], name: str) -> float:
    """Of one figure of some runs."""
    return float(statistics.median(getattr(cost, name) for cost in costs))


def bucket_calls(*costs: Cost) -> int:
    """How often the bucket was asked."""
    return sum(count for cost in costs for call, count in cost.calls.items() if call.startswith("storage "))


def stops(custodian: Custodian | None, delays: Mapping[str, float], title: str) -> None:
    """Stop 250 VMs of 5,000."""
    head(f"250 of 5,000 VMs stopped, {title}")
    for workers in (WORKERS, 64):
        with serving(5_000) as server:
            warned = ours(server, "warn")
            warm(server, 5_000)
            server.delay(**delays)
            acted = ours(server, "act", workers)
            row("warned", [warned])
            row(f"warned before; second look, stopped, told; {workers} workers", [acted])
            aim("wall, s", 6, acted.wall)
            aim("CPU, s", 2, acted.cpu)
            aim("calls to the bucket for each VM, the warning included", 3, bucket_calls(warned, acted) / 250)
    if custodian:
        with serving(5_000) as server:
            theirs(server, custodian)
            server.delay(**delays)
            row("c7n: the like policy", [theirs(server, custodian)])
            row(
                "c7n: the like policy, with `stop`",
                [theirs(server, custodian, stop=True)],
                custodian.matched(),
            )


def main() -> None:
    """Read the arguments and print the tables."""
    parser = argparse.ArgumentParser(description="Measure a sweep of governance.")
    parser.add_argument("--home", type=Path, default=Path(tempfile.gettempdir()) / "spotwarden-bench-c7n")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--counts", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--without-c7n", action="store_true")
    parser.add_argument("--without-stops", action="store_true")
    said = parser.parse_args()
    custodian = None if said.without_c7n else Custodian(said.home)
    for count in said.counts:
        lists(count, said.rounds, custodian if count <= 10_000 else None)
    if not said.without_stops:
        stops(
            custodian, {"compute": 100, "monitoring": 100}, "100 ms a call to Compute Engine and Monitoring"
        )
        every = {"compute": 100, "monitoring": 100, "storage": 100, "pubsub": 100}
        stops(None, every, "100 ms a call to anybody")


if __name__ == "__main__":
    main()
