"""What a storm costs the functions beside recovery: `python tests/bench/recover_beside.py [--jobs 200]`.

All jobs are preempted at once; `cap_runtime` and `reap_vms` tick before, between recovery's sweeps, and
after. All sweeps run in this process, each function with what it remembers itself, over a local cloud in
another. The jobs are without the kit and have run for an hour; VMs have no processes. A tick's calls are
those of all services, its processor time is its own.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from spotwarden.clock import AHEAD_FILE
from spotwarden.engine.context import SweepContext
from spotwarden.engine.entry import wake
from spotwarden.engine.fan_out import Swept
from spotwarden.gcp.connect import connect
from spotwarden.governance.caps.sweep import sweep as cap
from spotwarden.governance.reap.sweep import sweep as reap
from tests.bench.deploy_count import Process, Ticked
from tests.bench.recover_calls import opened, tick
from tests.bench.recover_storm import POLICY, launch, preempt_all, running
from tests.e2e.chaos.cloud import Cloud, served

CALLS_GOAL = 15
SWEEPS_AT_MOST = 20
HOUR, FIVE_MINUTES = 3600, 300
TICKS_AFTER = 3
EVENT = {"spotwarden-tick": "1"}


def beside(environ: dict[str, str]) -> dict[str, Process]:
    """The functions beside recovery."""

    def process(name: str, sweep: Callable[[SweepContext], Swept]) -> Process:
        return Process(lambda: wake(name, {"attributes": EVENT}, environ, connect, sweep))

    return {"cap_runtime": process("cap_runtime", cap), "reap_vms": process("reap_vms", reap)}


def ticked(cloud: Cloud, environ: dict[str, str], count: int) -> Iterator[tuple[str, dict[str, Ticked]]]:
    """What each tick took, by when it was."""
    functions, recovery = beside(environ), Process(lambda: tick(environ, EVENT))

    def all_of(when: str) -> tuple[str, dict[str, Ticked]]:
        return when, {name: process.tick() for name, process in functions.items()}

    jobs = launch(cloud, count)
    for _ in range(3):
        recovery.tick()
    cloud.post("/local/travel", {"seconds": HOUR})
    yield all_of("cold")
    for _ in range(2):
        cloud.post("/local/travel", {"seconds": FIVE_MINUTES})
        yield all_of("warm")
    preempt_all(cloud, jobs)
    yield all_of("preempted")
    for number in range(1, SWEEPS_AT_MOST):
        recovery.tick()
        yield all_of(f"after sweep {number} of recovery")
        if len(running(cloud, jobs)) == count and not cloud.objects("preempted-jobs/"):
            break
    for _ in range(TICKS_AFTER):
        cloud.post("/local/travel", {"seconds": FIVE_MINUTES})
        yield all_of("all run again, five minutes later")


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--jobs", type=int, default=200)
    given = parser.parse_args()
    print(f"| tick (aim when warm: {CALLS_GOAL} calls) | cap_runtime | reap_vms |\n|---|---|---|")
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home,
        served(Path(home), POLICY, "--no-machines", functions=False) as cloud,
    ):
        environ = opened(cloud)
        environ[AHEAD_FILE] = os.environ[AHEAD_FILE] = str(Path(home) / "cloud" / "ahead")
        cloud.post("/local/travel", {"seconds": 1})
        for when, found in ticked(cloud, environ, given.jobs):
            cells = [f"{one.calls} calls, {one.cpu:.2f} s" for one in found.values()]
            print(f"| {when} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
