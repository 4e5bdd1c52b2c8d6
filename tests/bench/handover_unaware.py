"""What a notice is to a program that knows nothing of it: `handover_unaware.py [JOBS]`.

The program saves every SAVES steps and looks at nothing. Each job is preempted once on a local cloud with the
real recover_spot, half of them with the 120 s of notice that `run` asks for by default and half where the
machine type takes none, by turns, with recorded insert times. Measured is how much later than undisturbed the
job ends, by its own pace; how many steps are made twice; and the seconds of VMs that are paid beside it.
"""

import statistics
import sys
import tempfile
import time
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from localcloud.limits.inserts import recorded
from tests.bench.handover_gap import APART_SECONDS, ROOT, STEPS, launch_with, log, until
from tests.e2e.chaos.cloud import Cloud, served
from tests.job.training import TRAIN, stepped

SAVES = 400
"""Some 20 s apart: longer than the 10 s that SIGTERM leaves, shorter than the notice."""
AWARE = """    if guard.requested:
        save()
        print("saved at", state["step"])
    if guard.stopping:
        raise SystemExit(143)
"""
MACHINE = "e2-small"


class Run(NamedTuple):
    """What became of one job: seconds late, steps made twice, seconds of VMs beside the training."""

    late: float
    twice: int
    beside: float


def unaware() -> str:
    """The program of the other bench without a word of the notice."""
    lines = (TRAIN % STEPS).replace("import spotwarden_preemption as preemption\n", "")
    lines = lines.replace("guard = preemption.guard()\n", "")
    saving = f"    if state['step'] % {SAVES} == 0:\n        save()\n"
    return lines.replace(AWARE, saving)


def preempt(cloud: Cloud, job: str, seconds: float, *, notice: bool) -> None:
    """Launch it with a notice or without, and take its VM once it trains; the next insert takes so long."""
    cloud.post("/local/preemption-notice", {"machine": MACHINE, "refused": None if notice else "field"})
    for name in cloud.objects("spotwarden/placement/"):
        cloud.remove(name)
    cloud.post("/local/timings", {"provisioning": 0.1})
    launch_with(cloud, job, ("--no-code",), (unaware(),))
    until(lambda: "step 500 " in log(cloud, job, 1), f"the first steps of {job}")
    cloud.post("/local/timings", {"provisioning": seconds})
    cloud.post("/local/preempt", {"node": job})


def judged(cloud: Cloud, job: str) -> Run:
    """What it came to."""
    until(lambda: cloud.read(f"{job}/metadata/status-code"), f"the end of {job}")
    gone = f"the end of the VMs of {job}"
    until(lambda: job not in {vm["name"] for vm in cloud.instances()}, gone)
    old, new = stepped(log(cloud, job, 1)), stepped(log(cloud, job, 2))
    pace = statistics.median(b[1] - a[1] for a, b in pairwise(new))
    undisturbed = old[0][1] + pace * STEPS
    paid = sum(spans(cloud, job))
    return Run(new[-1][1] - undisturbed, max(old[-1][0] - new[0][0] + 1, 0), paid - pace * STEPS)


def spans(cloud: Cloud, job: str) -> list[float]:
    """How long each of its VMs was up, by the cloud's history."""
    changes = [change for change in cloud.get("/local/history")["changes"] if change["name"] == job]
    up: dict[str, list[float]] = {}
    for change in changes:
        up.setdefault(change["id"], []).append(datetime.fromisoformat(change["at"]).timestamp())
    return [max(moments) - min(moments) for moments in up.values()]


def main(count: int) -> None:
    """Measure and print a table."""
    inserts = [recorded((number + 0.5) / count) for number in range(count)]
    found: dict[bool, list[Run]] = {True: [], False: []}
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), ROOT / "infra/policy.toml") as cloud:
        for number, seconds in enumerate(inserts):
            for notice in (True, False):
                preempt(cloud, f"job-{number}-{int(notice)}", seconds, notice=notice)
                time.sleep(APART_SECONDS)
        for number in range(count):
            for notice in (True, False):
                found[notice].append(judged(cloud, f"job-{number}-{int(notice)}"))
    print("| notice | seconds late | steps twice | VM seconds beside |")
    for notice, runs in found.items():
        for run in runs:
            print(f"| {notice} | {run.late:.0f} | {run.twice} | {run.beside:.0f} |")
        late, twice, beside = (statistics.mean(part) for part in zip(*runs, strict=True))
        print(f"| {notice}, mean of {len(runs)} | {late:.0f} | {twice:.0f} | {beside:.0f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
