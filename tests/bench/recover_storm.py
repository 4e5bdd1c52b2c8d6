"""A thousand jobs preempted at once: `python tests/bench/recover_storm.py [--jobs 1000] [--gcloud 3]`.

The function is real, in a process of its own. VMs have no process: two cores have no room for a thousand.
Compute's rate quotas are in force as Google published them last (1,500 a minute per region for changes, reads
and looks at operations; 750 for aggregated lists). Beside it: gcloud, run once per script, on the same local
cloud; a few runs are measured and multiplied.
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
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.e2e.chaos.cast import Job, Kind
from tests.e2e.chaos.cloud import Cloud, served

POLICY = Path(__file__).resolve().parents[2] / "infra" / "policy.toml"
ZONES = tuple(f"us-central1-{letter}" for letter in "abcf")
TIMEOUT_SECONDS = 1800
HANDS = 8
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
    began = last = time.monotonic()
    while not fact():
        now = time.monotonic()
        if now - began > TIMEOUT_SECONDS:
            sys.exit(f"waited in vain for {what}")
        if now - last > 60:
            last = now
            cloud.tick()
        time.sleep(0.5)
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


def storm(cloud: Cloud, count: int) -> list[str]:
    """Run it, and give the rows of the table."""
    jobs = launch(cloud, count)
    cloud.tick()
    seen = until(cloud, lambda: len(cloud.objects("spotwarden/open/")) == count, "all to be seen")
    cloud.end("/local/rates")
    cloud.post("/local/rates", {})
    memory = Memory(cloud.function()["pid"])
    idle, cpu = memory.now(), cpu_of(cloud.function()["pid"])
    began = time.time()
    preempt_all(cloud, jobs)
    preempted_in = time.time() - began
    until(cloud, lambda: len(asked(cloud, jobs)) >= count, "all create requests")
    times = [at - began for at in asked(cloud, jobs)]
    until(
        cloud, lambda: len(running(cloud, jobs)) == count and not cloud.objects("preempted-jobs/"), "the end"
    )
    over, first, half, last = time.time() - began, times[0], times[len(times) // 2], times[-1]
    cpu = (cpu_of(cloud.function()["pid"]) - cpu) / count * 1000
    rates = f"{count / last:.1f}, {busiest(times, 10) / 10:.1f} a second, {busiest(times, 60)}"
    return [
        f"| jobs first seen by ticks, without quotas | {seen:.0f} s |",
        f"| {count} VMs preempted and their markers written, over | {preempted_in:.1f} s |",
        f"| create requests accepted | {len(times)} of {count} |",
        f"| first, half, last of them after | {first:.1f}, {half:.1f}, {last:.1f} s |",
        f"| on average, in the busiest 10 s, in the busiest minute | {rates} |",
        f"| all running again, registered and markers cleared after | {over:.0f} s |",
        f"| function: processor milliseconds a job, all of it (aim: at most {CPU_GOAL}) | {cpu:.1f} |",
        f"| function: memory before, at its peak | {idle / 2**20:.0f}, {memory.end() / 2**20:.0f} MiB |",
        *calls(cloud, count),
    ]


def calls(cloud: Cloud, count: int) -> list[str]:
    """Compute calls by quota group."""
    rows = []
    for one in cloud.get("/local/rates")["counts"]:
        each = f"{one['calls']} calls, {one['calls'] / count:.2f} a job"
        most = f"at most {one['busiest_minute']} a minute, {one['refused']} refused"
        rows.append(f"| {one['metric']} {one['region']} | {each}, {most} |")
    return rows


def gcloud(cloud: Cloud, runs: int, count: int) -> list[str]:
    """What running gcloud once per script costs: a few runs, multiplied."""
    if not shutil.which("gcloud") or not runs:
        return ["| gcloud | not measured |"]
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
        f"| gcloud, one run (mean of {runs}) | {one} |",
        f"| {count} runs of it, multiplied: one after another; CPU alone | {many} |",
    ]


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--gcloud", type=int, default=3, help="runs of gcloud to measure; 0 for none")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home,
        served(Path(home), POLICY, "--no-machines") as cloud,
    ):
        rows = storm(cloud, given.jobs)
        rows += gcloud(cloud, given.gcloud, given.jobs)
    print("VMs had no processes. Rate quotas as Google published them last.\n")
    print("\n".join(["| what | measured |", "|---|---|", *rows]))


if __name__ == "__main__":
    main()
