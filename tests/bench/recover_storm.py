"""A thousand jobs preempted at once: `recover_storm.py [--jobs 1000] [--latency 20] [--instances 10]`.

The function is real: as many processes as Cloud Run may start instances, each with one request at a time.
VMs have no process: two cores have no room for a thousand. A call takes 20 ms unless told otherwise, an
object takes one write a second, and Compute's rate quotas are in force as Google published them last (1,500 a
minute per region for changes, reads and looks at operations; 750 for aggregated lists).

On paper: what the storm would take where each instance has a processor of its own, from what was counted:
its share of all processor time and, as many at a time as it has workers, of all calls.

With `--grow 1,10,100` a table of how all of it grows; `--plot FILE` draws it. With `--gcloud 3` beside it:
gcloud, run once per script, on the same local cloud; a few runs are measured and multiplied.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from spotwarden.engine.settings import WORKERS
from tests.bench.plot import drawn
from tests.e2e.chaos.cast import Job, Kind
from tests.e2e.chaos.cloud import Cloud, served

POLICY = Path(__file__).resolve().parents[2] / "infra" / "policy.toml"
ZONES = tuple(f"us-central1-{letter}" for letter in "abcf")
TIMEOUT_SECONDS = 1800
HANDS = 8
AFTER_GOAL, PAPER_GOAL, CALLS_GOAL = 20, 10, 12
"""Seconds from the last preemption to the last create, measured and on paper; calls to the bucket a job."""
CPU_GOAL = 30
"""Milliseconds; `recover_calls.py` says what they are, and counts the calls to the bucket."""


class Memory:
    """The most memory that the function's processes held together, looked at five times a second."""

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._over.wait(0.2):
            self.peak = max(self.peak, self.now())

    def now(self) -> int:
        """Bytes now."""
        process = psutil.Process(self._pid)
        return sum(one.memory_info().rss for one in (process, *process.children(recursive=True)))

    def end(self) -> int:
        """Look no more; gives the peak in bytes."""
        self._over.set()
        self._thread.join()
        return self.peak


def cpu_of(pid: int) -> float:
    """Processor seconds that the function's processes have used, those that have ended included."""
    process = psutil.Process(pid)
    times = [each.cpu_times() for each in (process, *process.children(recursive=True))]
    ended = process.cpu_times()
    return sum(time.user + time.system for time in times) + ended.children_user + ended.children_system


def until(cloud: Cloud, fact: Any, what: str) -> float:
    """Seconds until it is so, ticking once a minute as Scheduler does."""
    began = last = before = time.monotonic()
    while not fact():
        now = time.monotonic()
        if now - began > TIMEOUT_SECONDS:
            sys.exit(f"waited in vain for {what}")
        if now - last > 60:
            last = now
            cloud.tick()
        # To list a thousand VMs takes what the storm needs: looking has a fifth of the time.
        time.sleep(max(0.5, 4 * (now - before)))
        before = time.monotonic()
    return time.monotonic() - began


def running(cloud: Cloud, jobs: dict[str, Job]) -> dict[str, dict[str, Any]]:
    """The VMs of jobs that run, by name."""
    found = cloud.instances()
    return {vm["name"]: vm for vm in found if vm["name"] in jobs and vm["status"] == "RUNNING"}


def all_hands(work: Any, things: Any) -> None:
    """Do it for each thing, several at a time."""
    with ThreadPoolExecutor(HANDS) as pool:
        list(pool.map(work, things))


def launch(cloud: Cloud, count: int) -> dict[str, Job]:
    """So many jobs that run, registered as their startup scripts would have done."""
    kinds = {f"job-{number}": ZONES[number % len(ZONES)] for number in range(count)}
    jobs = {name: Job(name=name, kind=Kind.SILENT, zone=zone) for name, zone in kinds.items()}
    all_hands(lambda job: job.launch(cloud), jobs.values())
    until(cloud, lambda: len(running(cloud, jobs)) == count, "all VMs to run")
    vms = running(cloud, jobs)
    all_hands(lambda name: jobs[name].register(cloud, [vms[name]]), jobs)
    return jobs


def preempt_all(cloud: Cloud, jobs: dict[str, Job]) -> None:
    """Preempt all; each VM's shutdown script writes its marker, which here we do."""
    vms = running(cloud, jobs)

    def one(name: str) -> None:
        cloud.post("/local/preempt", {"id": vms[name]["id"]})
        marker = {"node": name, "instance_id": vms[name]["id"]}
        cloud.write(f"preempted-jobs/{name}", json.dumps(marker).encode())

    all_hands(one, jobs)


def asked(cloud: Cloud, jobs: dict[str, Job]) -> list[float]:
    """When each second VM of a job was accepted, in seconds since the epoch."""
    seen: set[str] = set()
    times = []
    for change in cloud.get("/local/history")["changes"]:
        if change["name"] in jobs and change["status"] == "PROVISIONING":
            if change["name"] in seen:
                times.append(datetime.fromisoformat(change["at"]).timestamp())
            seen.add(change["name"])
    return sorted(times)


def busiest(times: list[float], seconds: float) -> int:
    """The most requests within so many seconds."""
    return max(sum(1 for at in times if start <= at < start + seconds) for start in times)


@dataclass(frozen=True, kw_only=True)
class Storm:
    """What a storm took: seconds since its begin, processor seconds, calls of the function by service."""

    count: int
    instances: int
    latency: float
    seen: float
    preempted: float
    creates: list[float]
    over: float
    cpu: float
    memory: tuple[int, int]
    calls: Counter[str]
    sweeps: int
    twice: int
    refused: int

    @property
    def paper(self) -> float:
        """Seconds from the last preemption to the last create where each instance has a processor."""
        busy = min(self.instances, max(1, self.count // 25))
        waited = sum(self.calls.values()) / busy / WORKERS * self.latency
        return self.cpu / busy + waited

    def rows(self) -> list[str]:
        """The table."""
        first, half, last = self.creates[0], self.creates[len(self.creates) // 2], self.creates[-1]
        rates = f"{self.count / last:.1f}, {busiest(self.creates, 10) / 10:.1f} a second"
        each = ", ".join(f"{name} {number / self.count:.1f}" for name, number in self.calls.most_common())
        bucket = self.calls["storage"] / self.count
        return [
            f"| {self.count} VMs preempted and their markers written, over | | {self.preempted:.1f} s |",
            f"| create requests accepted; VMs made twice | all; 0 | {len(self.creates)}; {self.twice} |",
            f"| first, half, last of them after | | {first:.1f}, {half:.1f}, {last:.1f} s |",
            f"| last create after the last preemption | {AFTER_GOAL} s | {last - self.preempted:.1f} s |",
            f"| the same on paper, {self.instances} processors | {PAPER_GOAL} s | {self.paper:.1f} s |",
            f"| creates on average, in the busiest 10 s | | {rates} |",
            f"| all running again, registered and markers cleared after | | {self.over:.0f} s |",
            f"| processor milliseconds a job, all of it | {CPU_GOAL} | {self.cpu / self.count * 1000:.1f} |",
            f"| calls to the bucket a job, all of it | {CALLS_GOAL} | {bucket:.1f} |",
            f"| calls a job, by service; runs of the function | | {each}; {self.sweeps} |",
            f"| calls that a quota refused, of anybody | 0 | {self.refused} |",
            f"| memory before, at its peak | | {self.memory[0] >> 20}, {self.memory[1] >> 20} MiB |",
        ]


def on_record(cloud: Cloud) -> int:
    """The jobs of which it is written down what they run."""
    return sum("/metadata/launched/" in name for name in cloud.objects("job-"))


def storm(cloud: Cloud, count: int, instances: int, latency: float) -> Storm:
    """Launch, preempt all, and wait until all is over."""
    jobs = launch(cloud, count)
    cloud.tick()
    seen = until(cloud, lambda: on_record(cloud) == count, "all to be seen, and what they run on record")
    cloud.end("/local/rates")
    cloud.post("/local/rates", {})
    pid = cloud.function()["pid"]
    memory = Memory(pid)
    idle, cpu, logged = memory.now(), cpu_of(pid), cloud.log.stat().st_size
    began = time.time()
    preempt_all(cloud, jobs)
    preempted = time.time() - began
    until(cloud, lambda: len(asked(cloud, jobs)) >= count, "all create requests")
    until(
        cloud, lambda: len(running(cloud, jobs)) == count and not cloud.objects("preempted-jobs/"), "the end"
    )
    creates = [at - began for at in asked(cloud, jobs)]
    made, sweeps = called(cloud, logged)
    return Storm(
        count=count,
        instances=instances,
        latency=latency,
        seen=seen,
        preempted=preempted,
        creates=creates,
        over=time.time() - began,
        cpu=cpu_of(pid) - cpu,
        memory=(idle, memory.end()),
        calls=made,
        sweeps=sweeps,
        twice=len([vm for vm in cloud.instances() if vm["name"] in jobs]) - count + len(creates) - count,
        refused=sum(row["refused"] for row in cloud.get("/local/rates")["counts"]),
    )


def called(cloud: Cloud, start: int) -> tuple[Counter[str], int]:
    """The calls that the function's log tells of from there on, by service, and how many runs made them."""
    calls: Counter[str] = Counter()
    sweeps = 0
    with cloud.log.open("rb") as log:
        log.seek(start)
        for line in log:
            said = json.loads(line) if line.startswith(b"{") else {}
            if isinstance(said.get("calls"), dict):
                calls.update(said["calls"])
                sweeps += 1
    return calls, sweeps


def calls(cloud: Cloud, count: int) -> list[str]:
    """Compute calls by quota group."""
    rows = []
    for one in cloud.get("/local/rates")["counts"]:
        each = f"{one['calls']} calls, {one['calls'] / count:.2f} a job"
        most = f"at most {one['busiest_minute']} a minute, {one['refused']} refused"
        rows.append(f"| {one['metric']} {one['region']} | | {each}, {most} |")
    return rows


def gcloud(cloud: Cloud, runs: int, count: int) -> list[str]:
    """What running gcloud once per script costs: a few runs, multiplied."""
    if not shutil.which("gcloud") or not runs:
        return ["| gcloud | | not measured |"]
    cloud.end("/local/rates")
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    environment = {**os.environ, **cloud.get("/local/env")}
    for number in range(runs):
        job = Job(name=f"by-gcloud-{number}", kind=Kind.SILENT, zone=ZONES[0])
        subprocess.run(["bash", "-c", job.script], env=environment, check=True, capture_output=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), (time.monotonic() - began) / runs
    cpu = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / runs
    used = sum(one["calls"] for one in cloud.get("/local/rates")["counts"]) / runs
    memory = after.ru_maxrss / 1024
    one = f"{wall:.1f} s, {cpu:.1f} s of CPU, {used:.0f} Compute calls, {memory:.0f} MiB"
    many = f"{wall * count / 60:.0f} min; {cpu * count / 60:.0f} min"
    return [
        f"| gcloud, one run (mean of {runs}) | | {one} |",
        f"| {count} runs of it, multiplied: one after another; CPU alone | | {many} |",
    ]


def measured(count: int, given: argparse.Namespace) -> tuple[Storm, list[str]]:
    """One storm in a cloud of its own, and what a table says beside it."""
    latency = given.latency / 1000
    limit = ("--limit", f"latency_seconds={latency}")
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home,
        served(Path(home), POLICY, "--no-machines", *limit) as cloud,
    ):
        found = storm(cloud, count, given.instances, latency)
        return found, [*calls(cloud, count), *gcloud(cloud, given.gcloud, count)]


def grown(counts: list[int], given: argparse.Namespace) -> None:
    """The same for storms of several sizes, as a table and as a plot."""
    print("| preempted | last create | on paper | processor ms a job | bucket calls a job |")
    print("|---|---|---|---|---|")
    storms = [measured(count, given)[0] for count in counts]
    for found in storms:
        after, cpu = found.creates[-1] - found.preempted, found.cpu / found.count * 1000
        bucket = found.calls["storage"] / found.count
        print(f"| {found.count:,} | {after:.1f} s | {found.paper:.1f} s | {cpu:.1f} | {bucket:.1f} |")
    if given.plot:
        lines = {
            "seconds, measured": [(it.count, it.creates[-1] - it.preempted) for it in storms],
            "seconds, on paper": [(it.count, it.paper) for it in storms],
            "bucket calls a job": [(it.count, it.calls["storage"] / it.count) for it in storms],
        }
        given.plot.write_text(drawn("A storm of preemptions", "VMs preempted", lines), encoding="utf-8")


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--latency", type=float, default=20, help="milliseconds that a call takes")
    parser.add_argument("--instances", type=int, default=10, help="processes of the function")
    parser.add_argument("--gcloud", type=int, default=0, help="runs of gcloud to measure; 0 for none")
    parser.add_argument("--grow", default="", help="numbers of jobs, with commas between them")
    parser.add_argument("--plot", type=Path, help="file for a plot of --grow, as SVG")
    given = parser.parse_args()
    # What functions-framework takes for processes and threads: Cloud Run gives an instance one request.
    os.environ.update(WORKERS=str(given.instances), THREADS="1")
    if given.grow:
        grown([int(count) for count in given.grow.split(",")], given)
        return
    found, beside = measured(given.jobs, given)
    print(
        f"VMs had no processes; {given.instances} instances; {given.latency:g} ms a call; quotas in force.\n"
    )
    print("\n".join(["| what | aim | measured |", "|---|---|---|", *found.rows(), *beside]))


if __name__ == "__main__":
    main()
