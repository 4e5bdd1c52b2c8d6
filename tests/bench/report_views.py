"""What the report costs to read and to make: `python tests/bench/report_views.py [10 1000 10000]`.

A bucket in memory holds so many jobs, 35 % of which are open, with four attempts, metrics and a day of
the audit. Every call of the bucket is counted, with the bytes that it reads. Times are those of the processor
for the whole page, which is made before its first byte goes out; nothing of the network is in them. A cold
process unpacks the index, a warm one has it. Beyond 1,000 jobs no copy of the pages is written: it grows by
500 pages a tick whatever their number.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from msgspec.structs import replace

from spotwarden.engine.cache import GenerationCache
from spotwarden.model.attempt import Attempt
from spotwarden.ports import Entry, Stored
from tests.fakes.store import MemoryStore
from tests.report.report_world import HOUR, MINUTE, ReportWorld

SIZES = (10, 1_000, 10_000)
VIEWS = ("/", "/jobs/job-00001", "/fleet", "/trust", "/trust?about=job-00001", "/index.json", "/fleet.csv")
MOST_PAGES = 1_000
NOTHING_AIM, QUIET_AIM = 20, 1
"""Seconds of 10,000 jobs: a report that is made from nothing, and a tick in which nothing is new."""
OPEN, OF = 7, 20
"""So many jobs of so many are open."""
WIDTH = 30


class Counted(MemoryStore):
    """A bucket that counts what is asked of it."""

    calls: ClassVar[Counter[str]] = Counter()
    read_bytes: ClassVar[int] = 0

    def read(
        self, name: str, *, at_most: int = 4 * 1024 * 1024, listed: Entry | None = None
    ) -> Stored | None:
        """Counted."""
        self.calls["get"] += 1
        found = super().read(name, at_most=at_most, listed=listed)
        Counted.read_bytes += len(found.data) if found else 0
        return found

    def entries(
        self, prefix: str, *, glob: str = "", limit: int | None = None, start: str = "", end: str = ""
    ) -> list[Entry]:
        """Counted, a page of a thousand names each."""
        found = super().entries(prefix, glob=glob, limit=limit, start=start, end=end)
        self.calls["list"] += max(1, -(-len(found) // 1000))
        return found

    def folders(self, prefix: str) -> list[str]:
        """Counted likewise."""
        found = super().folders(prefix)
        self.calls["list"] += max(1, -(-len(found) // 1000))
        return found

    def write(
        self,
        name: str,
        data: bytes,
        *,
        generation: int | None,
        content_type: str = "",
        shown: bool = False,
        spaced: bool = False,
    ) -> int:
        """Counted."""
        self.calls["write"] += 1
        return super().write(
            name, data, generation=generation, content_type=content_type, shown=shown, spaced=spaced
        )


def world(jobs: int) -> ReportWorld:
    """A bucket with so many jobs."""
    made = ReportWorld(pages=jobs <= MOST_PAGES)
    store = Counted(clock=made.cloud.clock)
    made.cloud = replace(made.cloud, store=store)
    used = []
    for number in range(jobs):
        name = f"job-{number:05}"
        last = made.job(name, owner=f"dev{number % 40}@example.com", ago=(number % 200 + 8) * HOUR)
        for turn in range(3):
            assert last.started is not None
            lost = last.started + (turn + 1) * HOUR
            last = made.again(last, lost=lost, started=lost + 5 * MINUTE, new=f"{number}{turn}7")
        assert last.started is not None
        beats = [
            {
                "at": last.started + step * MINUTE,
                "step": step,
                "checkpoint": f"c{step // 10}",
                "metrics": {"loss": 1 / (step + 1)},
            }
            for step in range(60)
        ]
        made.beats(*beats, job=name, attempt=last.number)
        used.append((name, f"{number}27", last.started, 1800))
        if number % OF >= OPEN:
            made.end(name)
    made.metered(made.now.date(), *used)
    for number in range(min(1_000, jobs)):
        made.audit(f"{number // 60:02}{number % 60:02}00-recover_spot-s-0001", _record(number, last))
    return made


def _record(number: int, one: Attempt) -> dict[str, Any]:
    job = f"job-{number:05}"
    detail = {"type": "DeleteInstance", "job": job, "node": job, "instance_id": f"{number}7"}
    said = {"at": one.created, "function": "recover_spot", "action": "DeleteInstance", "why": "a preemption"}
    return {**said, "detail": detail, "outcome": {"type": "Done"}}


def measured(work: Callable[[], object]) -> tuple[float, Counter[str], int]:
    """Seconds, calls and bytes read."""
    Counted.calls, Counted.read_bytes = Counter(), 0
    began = time.process_time()
    work()
    return time.process_time() - began, Counter(Counted.calls), Counted.read_bytes


def line(what: str, seconds: float, calls: Counter[str], size: int, more: str = "") -> None:
    """One row of the table."""
    said = "  ".join(f"{calls[kind]:6} {kind}" for kind in ("get", "list", "write"))
    sys.stdout.write(
        f"  {what:{WIDTH}} {seconds * 1000:8.0f} ms  {said}  {size / 1000:9.0f} kB read  {more}\n"
    )


def _load(made: ReportWorld, view: str, sent: list[int]) -> None:
    answer = made.get(view, headers={"Accept-Encoding": "gzip"})
    assert answer.status_code == 200, answer.get_data(as_text=True)
    sent.append(len(answer.get_data()))


def _sizes(made: ReportWorld, view: str, sent: int) -> str:
    """The bytes that are sent packed, and unpacked."""
    return f"{sent / 1000:7.0f} kB sent  {len(made.get(view).get_data()) / 1000:7.0f} kB unpacked"


def main(sizes: list[int]) -> None:
    """The table for each size."""
    for jobs in sizes:
        sys.stdout.write(f"{jobs:,} jobs\n")
        made = world(jobs)
        _ticks(made, jobs)
        for view in VIEWS:
            for how in ("cold", "warm"):
                if how == "cold":
                    GenerationCache.forget()
                sent: list[int] = []
                seconds, calls, size = measured(partial(_load, made, view, sent))
                line(f"{view} ({how})", seconds, calls, size, _sizes(made, view, sent[0]))


def _ticks(made: ReportWorld, jobs: int) -> None:
    """From nothing to the tick in which nothing is new: more than an hour after the last change."""
    taken = 0.0
    for number in count(1):
        seconds, calls, size = measured(made.tick)
        taken += seconds
        line(f"tick {number}, from nothing", seconds, calls, size)
        made.wait(minutes=10)
        if len(made.index().entries) >= jobs:
            break
    sys.stdout.write(f"  all of it from nothing: {taken:.1f} s{_aim(jobs, NOTHING_AIM)}\n")
    made.wait(hours=1)
    for _ in range(2):
        made.tick()
        made.wait(minutes=10)
    line("tick, nothing new", *measured(made.tick), _aim(jobs, QUIET_AIM))


def _aim(jobs: int, seconds: int) -> str:
    return f" (aim: {seconds} s)" if jobs == max(SIZES) else ""


if __name__ == "__main__":
    main([int(one) for one in sys.argv[1:]] or list(SIZES))
