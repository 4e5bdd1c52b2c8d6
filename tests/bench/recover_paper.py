"""A storm as ten idle machines would see it, on paper: `recover_paper.py [--jobs 1000] [--instances 10]`.

The instances of recover_spot are played one after the other in this process, each with an empty memory, over
a local cloud in another. So neither the machine's load nor the local cloud's own work counts, but for what a
busy machine makes of processor time. VMs have no processes, are gone at once, and the log says so at once.

The event of a marker finds the storm and names all jobs. Each instance then has its share of the events, two
a job, and of the messages that name jobs. Of each run of the function its processor time and its calls are
counted. On paper a call takes 20 ms; calls of the workers are under way as many at a time as there are
of them, all others one by one. A run that writes its claims a second time waits a second for that, with all
of them. The last create comes no later than the end of the busiest instance. What a start of an instance
takes comes on top of it (`cold_start.py`).
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.settings import WORKERS
from spotwarden.gcp import authorized, grpc_service
from spotwarden.gcp.spacing import APART, WriteSpacing
from spotwarden.layout import Layout, MarkerName
from tests.bench.recover_calls import opened, tick
from tests.bench.recover_storm import PAPER_GOAL, POLICY, asked, launch, preempt_all
from tests.e2e.chaos.cast import Job
from tests.e2e.chaos.cloud import PROJECT, TOPIC, Cloud, served

EVENTS_OF_A_JOB = 2
"""One of its marker, one of the audit log."""
EVENTS = 40
"""Events that are played; all others cost as much."""
BATCHES = f"/v1/projects/{PROJECT}/subscriptions/batches"
LIMITS = ("--limit", "insert_times=0.02", "--limit", "log_lag_seconds=0")
SEEN = 6
"""Ticks after which all jobs are on record."""


class Cost(NamedTuple):
    """Processor seconds, calls that wait for one another or are under way beside others, and waits."""

    cpu: float = 0
    alone: float = 0
    beside: float = 0
    waits: float = 0

    def plus(self, other: "Cost", times: float = 1) -> "Cost":
        """Both, the other so many times."""
        return Cost(*(mine + times * more for mine, more in zip(self, other, strict=True)))

    def seconds(self, latency: float) -> float:
        """How long it takes on a processor of its own."""
        return self.cpu + (self.alone + self.beside / WORKERS) * latency + self.waits * APART


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Calls while the block runs, by whether they are made one after the other; and whether a write waits."""
    calls: Counter[str] = Counter()
    lock, main = threading.Lock(), threading.current_thread()

    def count(service: str) -> None:
        with lock:
            calls["alone" if threading.current_thread() is main else "beside"] += 1

    def wait(_spacing: WriteSpacing, _name: str) -> None:
        with lock:
            calls["waits"] = 1

    with (
        patch.object(authorized, "count", count),
        patch.object(grpc_service, "count", count),
        patch.object(WriteSpacing, "wait", wait),
    ):
        yield calls


def cost_of(environ: dict[str, str], attributes: dict[str, str], **message: str) -> Cost:
    """What one run of the function costs."""
    with counted() as calls:
        began = time.process_time()
        tick(environ, attributes, **message)
        return Cost(time.process_time() - began, calls["alone"], calls["beside"], calls["waits"])


def event(environ: dict[str, str], job: str, number: int) -> Cost:
    """The event of a job's marker."""
    return cost_of(environ, {"objectId": Layout().build(MarkerName(node=job))}, messageId=f"event-{number}")


def batches(cloud: Cloud) -> list[dict[str, Any]]:
    """The messages that name jobs, since the last time."""
    found: list[dict[str, Any]] = []
    while some := cloud.post(f"{BATCHES}:pull", {"maxMessages": 1000, "returnImmediately": True}).get(
        "receivedMessages"
    ):
        found += [received["message"] for received in some]
        cloud.post(f"{BATCHES}:acknowledge", {"ackIds": [received["ackId"] for received in some]})
    return found


def begun(cloud: Cloud, environ: dict[str, str], count: int) -> dict[str, Job]:
    """So many jobs that run and are on record, then all preempted; the topic of the function is there."""
    jobs = launch(cloud, count)
    for _ in range(SEEN):
        tick(environ, {"spotwarden-tick": "1"})
    cloud._http.put(f"/v1/projects/{PROJECT}/topics/{TOPIC}", json={}).raise_for_status()
    body = {"topic": f"projects/{PROJECT}/topics/{TOPIC}"}
    cloud._http.put(BATCHES, json=body).raise_for_status()
    preempt_all(cloud, jobs)
    return jobs


def events_of(environ: dict[str, str], jobs: list[str]) -> tuple[Cost, Cost]:
    """What an instance that was just started does for its first event, and for each of the others."""
    GenerationCache.forget()
    first, others = event(environ, jobs[0], 0), Cost()
    played = jobs[1 : EVENTS + 1]
    for number, job in enumerate(played, 1):
        others = others.plus(event(environ, job, number), 1 / len(played))
    return first, others


def looks_of(environ: dict[str, str], messages: list[dict[str, Any]]) -> Cost:
    """What an instance that was just started does for its messages, one after the other."""
    GenerationCache.forget()
    looks = Cost()
    for message in messages:
        said = {"data": message["data"], "messageId": message["messageId"]}
        looks = looks.plus(cost_of(environ, message["attributes"], **said))
    return looks


def paper(cloud: Cloud, environ: dict[str, str], given: argparse.Namespace) -> list[str]:
    """The table."""
    several = given.instances
    launched = begun(cloud, environ, given.jobs)
    jobs = sorted(launched)
    GenerationCache.forget()
    share = event(environ, jobs[0], -1)
    named = batches(cloud)
    # Before the messages: while the turn is kept for the event that has named the jobs.
    found = [events_of(environ, jobs[1:]) for _ in range(several)]
    looks = [looks_of(environ, named[number::several]) for number in range(several)]
    events = EVENTS_OF_A_JOB * len(jobs) / several
    instances = [
        share.plus(first).plus(other, events).plus(own)
        for (first, other), own in zip(found, looks, strict=True)
    ]
    ends = [instance.seconds(given.latency / 1000) for instance in instances]
    made = len(asked(cloud, launched))
    return [
        "| what | aim | processor time; calls one by one, beside others; waits |",
        "|---|---|---|",
        row("the event that names all jobs", [share]),
        row("the first event of an instance", [first for first, _ in found]),
        row("each other event", [other for _, other in found]),
        row(f"a message, of {len(named)}", looks, len(named)),
        row("a job: its share of the messages", looks, len(jobs)),
        f"| jobs that were asked for | {len(jobs)} | {made} |",
        f"| **last create after the last preemption** | {PAPER_GOAL} s | **{max(ends):.1f} s** |",
    ]


def row(what: str, costs: list[Cost], times: float = 0) -> str:
    """The mean of the costs, or all of them by so many times."""
    whole, times = reduce(Cost.plus, costs), times or len(costs)
    calls = f"{whole.alone / times:.1f}, {whole.beside / times:.1f}; {whole.waits / times:.1f}"
    return f"| {what} | | {whole.cpu / times * 1000:.1f} ms; {calls} |"


def main() -> None:
    """Count and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--latency", type=float, default=20, help="milliseconds that a call takes")
    given = parser.parse_args()
    os.environ["SPOTWARDEN_WORKERS"] = str(WORKERS)
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home,
        served(Path(home), POLICY, "--no-machines", *LIMITS, functions=False) as cloud,
    ):
        print("\n".join(paper(cloud, opened(cloud), given)))


if __name__ == "__main__":
    main()
