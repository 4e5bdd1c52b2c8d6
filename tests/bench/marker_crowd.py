"""Many markers at 40 ms a call: `python tests/bench/marker_crowd.py`.

The sweep is real, with 16 workers; the cloud is in memory, and each call, and each page of a list, really
takes 40 ms. Nothing else runs: what Pub/Sub and Compute Engine take comes on top. The processor time of the
function is in the figures, on this machine.
"""

import contextlib
import io
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from spotwarden.engine.cache import GenerationCache
from tests.fakes.world import World, load
from tests.recovery.crowd_world import Crowded, Slow

JOBS, GARBAGE = 1_000, 5_000


def swept(crowd: Crowded, about: str = "") -> tuple[list[float], float, int]:
    """One sweep: seconds until each create, seconds in all, calls."""
    slow = Slow(crowd.world.cloud.ports(), sleep=True)
    creates: list[float] = []
    launch, began = slow.cloud.compute.launch, time.monotonic()

    def timed(*args: Any, **named: Any) -> Any:
        creates.append(time.monotonic() - began)
        return launch(*args, **named)

    slow.cloud.compute.launch = timed  # type: ignore[method-assign]  # what is measured
    with contextlib.redirect_stdout(io.StringIO()):
        crowd.world.sweep_over(slow.cloud, about)
    return creates, time.monotonic() - began, len(slow.made)


def crowded(jobs: int = 0) -> Crowded:
    """Jobs that run and were seen."""
    with contextlib.redirect_stdout(io.StringIO()):
        crowd = Crowded(World(load("recover_spot")))
        crowd.jobs(jobs)
        crowd.world.settle()
    return crowd


def storm(*, cold: bool) -> list[str]:
    """All are preempted at once."""
    crowd = crowded(JOBS)
    crowd.preempt(*(f"job-{number}" for number in range(JOBS)))
    crowd.world.wait(minutes=1)
    if cold:
        GenerationCache.forget()
    creates, seconds, calls = swept(crowd)
    what = f"{JOBS} jobs preempted, {'a new' if cold else 'a warm'} function"
    return [
        f"| {what}: first create | 3 s | {creates[0]:.1f} s |",
        f"| … last of {len(creates)} creates | 120 s | {creates[-1]:.1f} s |",
        f"| … the whole sweep ({calls} calls) | 120 s | {seconds:.1f} s |",
    ]


def among_garbage(*, seen: bool, about: str = "") -> list[str]:
    """One real preemption among forged markers, of a job that was seen or of one that nobody has seen."""
    with contextlib.redirect_stdout(io.StringIO()):
        crowd = crowded() if seen else Crowded(World(load("recover_spot")))
    crowd.garbage(GARBAGE)
    crowd.preempt("test-vm")
    crowd.world.wait(minutes=1)
    creates, seconds, calls = swept(crowd, about)
    what = "one that was seen" if seen else "one that was never seen"
    by = "its own event" if about else "a tick"
    return [
        f"| {GARBAGE} forged markers and {what}, {by}: its create | 15 s | {creates[0]:.1f} s |",
        f"| … the whole sweep ({calls} calls) | 120 s | {seconds:.1f} s |",
    ]


def main() -> None:
    """Measure and print a table."""
    rows = [*storm(cold=False), *storm(cold=True)]
    rows += [
        *among_garbage(seen=True),
        *among_garbage(seen=True, about="test-vm"),
        *among_garbage(seen=False),
    ]
    print("\n".join(["| what | aim | measured |", "|---|---|---|", *rows]))


if __name__ == "__main__":
    main()
