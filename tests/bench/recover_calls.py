"""What a storm costs: `python tests/bench/recover_calls.py [--jobs 200]`.

Calls to the bucket by kind of call and of object, and processor time, both for each job: from the sweep that
sees the markers to the first that looks at no job any more. recover_spot's own sweeps run in this process,
over a local cloud in another, so neither the machine's load nor the local cloud's own work is in the figures.
VMs have no processes. Last comes what each further event costs while one sweep looks at everything.

With `--grow 1,10,100` a table of how that grows; `--plot FILE` draws it.
"""

import argparse
import contextlib
import io
import json
import os
import re
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch
from urllib.parse import parse_qs, unquote, urlsplit

from werkzeug.exceptions import ServiceUnavailable

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.entry import open_context, wake
from spotwarden.engine.turn import end_turn, take_turn
from spotwarden.gcp.authorized import Answered, Authorized
from spotwarden.gcp.connect import connect
from spotwarden.layout import Layout, MarkerName, NotInLayoutError
from spotwarden.recovery.sweep import sweep
from tests.bench.plot import drawn
from tests.bench.recover_storm import POLICY, launch, preempt_all, running
from tests.e2e.chaos.cloud import BUCKET, NOTICES, PROJECT, Cloud, served

CALLS_GOAL, MILLISECONDS_GOAL = 12, 30
SWEEPS_AT_MOST = 20
A_LOOK = "list metadata"
"""What each job that is looked at is asked first: a sweep without it has nothing left to do."""
NAMED = re.compile(rb'"name":"([^"]+)"')
"""The object that an upload in two parts names in its first."""


@contextlib.contextmanager
def counted() -> Iterator[Counter[str]]:
    """Requests to the bucket while the block runs, by what was done to what."""
    kinds: Counter[str] = Counter()
    lock, send = threading.Lock(), Authorized.request

    def count(
        service: Authorized, method: str, path: str, data: bytes | None, *words: Any, **named: Any
    ) -> Answered:
        if kind := kind_of(method, path, data or b""):
            with lock:
                kinds[kind] += 1
        return send(service, method, path, data, *words, **named)

    with patch.object(Authorized, "request", count):
        yield kinds


def kind_of(method: str, url: str, body: bytes) -> str:
    """What a request does to which kind of object; "" for another service's."""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    if "/storage/" not in parts.path:
        return ""
    if parts.path.startswith("/batch/"):
        return "a batch of deletes"
    _, _, name = parts.path.partition("/o/")
    if parts.path.startswith("/upload/"):
        said = NAMED.search(body)
        return f"write {_object(said[1].decode() if said else '')}"
    if not name:
        return f"list {query.get('prefix', ['everything'])[0].replace('/', ' ').split(' ')[-2:][0] or 'jobs'}"
    does = "delete" if method == "DELETE" else "read" if query.get("alt") == ["media"] else "find"
    return f"{does} {_object(unquote(name))}"


def _object(name: str) -> str:
    try:
        return type(Layout().parse(name)).__name__
    except NotInLayoutError:
        return name


def tick(environ: dict[str, str], attributes: dict[str, str], **message: str) -> bool:
    """One run of the function; whether it asks to be woken again."""
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            wake("recover_spot", {"attributes": attributes, **message}, environ, connect, sweep)
        except ServiceUnavailable:
            return True
    return False


def opened(cloud: Cloud) -> dict[str, str]:
    """The environment of the function in this process, over a new bucket."""
    cloud.post(f"/storage/v1/b?project={PROJECT}", {"name": BUCKET})
    cloud.put_topic()
    said = cloud.get("/local/env")
    environ = {**os.environ, **said.get("env", said), "SPOTWARDEN_POLICY": str(POLICY)}
    environ |= {"SPOTWARDEN_PROJECT": PROJECT, "SPOTWARDEN_BUCKET": BUCKET, "SPOTWARDEN_NOTICES": NOTICES}
    environ |= {"SPOTWARDEN_MODE": "enforce"}
    os.environ.update(environ)
    return environ


class Storm(NamedTuple):
    """What a storm took: requests to the bucket by kind, processor seconds, sweeps."""

    jobs: list[str]
    kinds: Counter[str]
    cpu: float
    sweeps: int

    @property
    def calls(self) -> float:
        """Calls to the bucket for each job."""
        return sum(self.kinds.values()) / len(self.jobs)

    @property
    def milliseconds(self) -> float:
        """Processor time for each job."""
        return self.cpu / len(self.jobs) * 1000


def storm(cloud: Cloud, environ: dict[str, str], count: int) -> Storm:
    """Preempt all, and sweep until all run."""
    jobs = launch(cloud, count)
    for _ in range(3):
        tick(environ, {"spotwarden-tick": "1"})
    preempt_all(cloud, jobs)
    with counted() as kinds:
        cpu = time.process_time()
        sweeps = 0
        looked, before = 1, 0
        while looked or len(running(cloud, jobs)) < count or cloud.objects("preempted-jobs/"):
            tick(environ, {"spotwarden-tick": "1"})
            sweeps += 1
            looked, before = kinds[A_LOOK] - before, kinds[A_LOOK]
            if sweeps > SWEEPS_AT_MOST:
                sys.exit("not all came back")
        cpu = time.process_time() - cpu
    return Storm(sorted(jobs), kinds, cpu, sweeps)


def table(found: Storm) -> list[str]:
    """What each job took."""
    kinds = found.kinds.most_common()
    return [
        *(f"| {kind} | {number / len(found.jobs):.2f} |" for kind, number in kinds),
        f"| **calls to the bucket a job, {found.sweeps} sweeps (aim: {CALLS_GOAL})** | {found.calls:.1f} |",
        f"| **processor milliseconds a job (aim: at most {MILLISECONDS_GOAL})** | {found.milliseconds:.1f} |",
    ]


def events(cloud: Cloud, environ: dict[str, str], jobs: list[str]) -> list[str]:
    """What each marker's event costs while one sweep is at work."""
    for name in jobs:
        cloud.write(f"preempted-jobs/{name}", json.dumps({"node": name}).encode())
    context = open_context("recover_spot", {"attributes": {"spotwarden-tick": "1"}}, environ, connect)
    taken = take_turn(context.cloud.store, Layout(), context.tick)
    assert taken is not None
    with counted() as kinds:
        cpu = time.process_time()
        for name in jobs:
            tick(environ, {"objectId": Layout().build(MarkerName(node=name))})
        cpu = (time.process_time() - cpu) / len(jobs) * 1000
    end_turn(context.cloud.store, Layout(), taken, None)
    calls = sum(kinds.values()) / len(jobs)
    return [f"| an event during another's sweep: calls; processor milliseconds | {calls:.2f}; {cpu:.1f} |"]


@contextlib.contextmanager
def cloud_of() -> Iterator[Cloud]:
    """A local cloud without functions."""
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home,
        served(Path(home), POLICY, "--no-machines", functions=False) as cloud,
    ):
        yield cloud


def grown(counts: list[int], plot: Path | None) -> None:
    """The same for storms of several sizes, as a table and as a plot."""
    print("| preempted | calls to the bucket a job | processor time a job | sweeps |\n|---:|---:|---:|---:|")
    calls, cpu = [], []
    with cloud_of() as cloud:
        storm(cloud, opened(cloud), 1)  # imports what it needs
    for count in counts:
        GenerationCache.forget()
        with cloud_of() as cloud:
            found = storm(cloud, opened(cloud), count)
        print(f"| {count:,} | {found.calls:.1f} | {found.milliseconds:.1f} ms | {found.sweeps} |", flush=True)
        calls.append((count, found.calls))
        cpu.append((count, found.milliseconds))
    if plot:
        lines = {"calls to the bucket a job": calls, "processor time a job, ms": cpu}
        plot.write_text(
            drawn("Recovery, by the number of preemptions", "VMs preempted", lines), encoding="utf-8"
        )


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--grow", default="", help="numbers of jobs, with commas between them")
    parser.add_argument("--plot", type=Path, help="file for a plot of --grow, as SVG")
    given = parser.parse_args()
    if given.grow:
        grown([int(count) for count in given.grow.split(",")], given.plot)
        return
    with cloud_of() as cloud:
        environ = opened(cloud)
        found = storm(cloud, environ, given.jobs)
        rows = [*table(found), *events(cloud, environ, jobs=found.jobs[:50])]
    print("\n".join(["| what | for each job |", "|---|---|", *rows]))


if __name__ == "__main__":
    main()
