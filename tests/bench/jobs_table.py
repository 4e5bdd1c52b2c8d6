"""What `spotwarden jobs` costs with ever more jobs: `python -m tests.bench.jobs_table [10 1000 10000]`.

The bucket is that of `report_views.py`: one job in ten runs, each has four attempts. Every call of it takes
30 ms, as Google's does from a laptop. Printed are seconds on the clock, those of the processor, and calls:
without a report, with one, and for a second look at the same table as `--watch` takes it.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from spotwarden import clock
from spotwarden.cli.context import Context
from spotwarden.cli.looking.rows import JobRows
from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.settings import Settings
from spotwarden.model.policy import Policy
from spotwarden.ports import Cloud
from tests.bench.report_views import Counted, world

SIZES = (10, 1_000, 10_000)
DELAY = 0.03


@dataclass
class Far:
    """A bucket at a distance."""

    near: Any

    def __getattr__(self, name: str) -> Any:
        """The same call, some time later."""
        call = getattr(self.near, name)

        def later(*args: Any, **more: Any) -> Any:
            time.sleep(DELAY)
            return call(*args, **more)

        return later


def look(rows: JobRows) -> int:
    """Read the table."""
    return len(rows.read(rows.names(), clock.now()).rows)


def row(what: str, work: Callable[[], int]) -> None:
    """One row of the table."""
    Counted.calls.clear()
    wall, busy = time.perf_counter(), time.process_time()
    found = work()
    wall, busy = time.perf_counter() - wall, time.process_time() - busy
    said = "  ".join(f"{Counted.calls[kind]:6} {kind}" for kind in ("get", "list"))
    sys.stdout.write(f"  {what:28} {found:6} rows  {wall:7.2f} s  {busy:7.2f} s processor  {said}\n")


def main(sizes: list[int]) -> None:
    """The table for each size."""
    for jobs in sizes:
        sys.stdout.write(f"{jobs:,} jobs\n")
        made = world(jobs)
        cloud = made.cloud.ports()
        far = Cloud(
            store=Far(made.cloud.store), compute=cloud.compute, notices=cloud.notices, metrics=cloud.metrics
        )
        settings = Settings(project="p", bucket="b", notices="n", policy_file=Path("policy.toml"), workers=16)
        context = Context(settings=settings, policy=Policy(version="bench"), cloud=far)
        clock.now = made.cloud.clock.now
        GenerationCache.forget()
        exact = JobRows(context, exact=True)
        row("no report, or --exact", partial(look, exact))
        row("a second look", partial(look, exact))
        made.tick()
        while len(made.index().entries) < jobs:
            made.wait(minutes=10)
            made.tick()
        GenerationCache.forget()
        reported = JobRows(context)
        row("with the report", partial(look, reported))
        row("a second look", partial(look, reported))


if __name__ == "__main__":
    main([int(one) for one in sys.argv[1:]] or list(SIZES))
