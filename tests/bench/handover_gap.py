"""Seconds without training at an announced preemption: `handover_gap.py [JOBS] [SEED]`.

With `--torch PYTHON` it trains infra/job/example/torch/handover.py, which starts before its turn.
With `--region` the jobs leave their zone to Compute Engine.

Each job trains on a local cloud with the real recover_spot, 120 s of notice, and inserts that take as long
as those of 1,442 preemptible VMs in a public trace (`localcloud.limits.inserts`). It is preempted once.
Measured is the time from the last step of the old VM to the first of the new one, how many steps were made
twice, and whether the curve is, bit by bit, that of a training that nothing befell. Without a hand-over the
recorded insert alone is a gap. A VM here is a process: a real image takes some 20 s more to boot.
"""

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from localcloud.limits.inserts import recorded
from tests.e2e.chaos.cloud import SPOTWARDEN, Cloud, served
from tests.job.training import TRAIN, stepped, undisturbed

ROOT = Path(__file__).resolve().parents[2]
TORCH = ROOT / "infra/job/example/torch"
STEPS = 4000
"""More than three and a half minutes: longer than the notice and the slowest insert."""
P50_GOAL, P99_GOAL = 5.0, 30.0
APART_SECONDS = 7.0
"""Between two preemptions, so that jobs do not wait for one another's sweeps."""
PATIENCE_SECONDS = 600
ZONE, REGION = ("--zone", "us-central1-a"), ("--region", "us-central1")
AT = ("--machine", "e2-small")
OWNER = ("--owner", "ada@example.com")


class Training(NamedTuple):
    """What each job runs, with which code, the curve of a run that nothing befell, and where it runs."""

    command: tuple[str, ...]
    code: tuple[str, ...]
    curve: list[str]
    place: tuple[str, ...] = ZONE


def plain() -> Training:
    """A training of the standard library alone."""
    return Training((TRAIN % STEPS,), ("--no-code",), undisturbed(STEPS))


def with_torch(python: str) -> Training:
    """The example with PyTorch, run once without a cloud."""
    words = [python, "handover.py", "--steps", str(STEPS)]
    with tempfile.TemporaryDirectory() as folder:
        paths = {"SPOTWARDEN_OUTPUT": folder, "PYTHONPATH": str(ROOT / "infra/job/kit/python")}
        environment = {**os.environ, **paths}
        alone = [*words, "--pause", "0"]
        subprocess.run(alone, env=environment, cwd=TORCH, check=True, capture_output=True)
        curve = Path(folder, "curve.csv").read_text().splitlines()
    return Training((shlex.join(words),), ("--code", str(TORCH)), curve)


def launch_with(
    cloud: Cloud, job: str, more: Sequence[str], command: Sequence[str], place: Sequence[str] = ZONE
) -> None:
    """Launch a job, as its developer would."""
    words = ["run", "--job", job, *AT, *place, *more, "--no-follow", *OWNER]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, **cloud.get("/local/env")}
        whole = [str(SPOTWARDEN), *words, "--", *command]
        subprocess.run(whole, env=environment, cwd=folder, check=True, capture_output=True)


def until(look: Callable[[], Any], what: str) -> Any:
    """Look until there is something."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not (seen := look()):
        if time.monotonic() > end:
            sys.exit(f"waited in vain for {what}")
        time.sleep(0.5)
    return seen


def log(cloud: Cloud, job: str, attempt: int) -> str:
    """What the program of an attempt has printed, as far as it is in the bucket."""
    return (cloud.read(f"{job}/metadata/logs/{job}/{attempt}.log") or b"").decode()


def read_record(cloud: Cloud, job: str) -> Any:
    """What the chain says of the second attempt."""
    return json.loads(cloud.read(f"{job}/metadata/attempts/2.json") or b"{}")


def train_and_preempt(cloud: Cloud, job: str, seconds: float, training: Training) -> None:
    """Launch it, and announce that its VM will be taken; the next insert takes so long."""
    cloud.post("/local/timings", {"provisioning": 0.1})
    launch_with(cloud, job, training.code, training.command, training.place)
    until(lambda: "step 5 " in log(cloud, job, 1), f"the first steps of {job}")
    cloud.post("/local/timings", {"provisioning": seconds})
    cloud.post("/local/preempt", {"node": job})


def judged(cloud: Cloud, job: str, undisturbed_curve: list[str]) -> tuple[float, int, bool]:
    """The gap in seconds, the steps that were made twice, and whether the curve is that of one run."""
    until(lambda: cloud.read(f"{job}/metadata/status-code"), f"the end of {job}")
    old, new = stepped(log(cloud, job, 1)), stepped(log(cloud, job, 2))
    curve = (cloud.read(f"{job}/output/curve.csv") or b"").decode().splitlines()
    twice = old[-1][0] - new[0][0] + 1
    return new[0][1] - old[-1][1], twice, curve == undisturbed_curve


def main(count: int, seed: int, training: Training) -> None:
    """Measure and print a table."""
    jobs = [f"gap-{number}" for number in range(count)]
    # Evenly through what was recorded, the slowest hundredth with it.
    inserts = [recorded((number + 0.5) / count if number < count - 1 else 0.99) for number in range(count)]
    order = Random(seed).sample(range(count), count)
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), ROOT / "infra/policy.toml") as cloud:
        for number in order:
            train_and_preempt(cloud, jobs[number], inserts[number], training)
            time.sleep(APART_SECONDS)
        found = {number: judged(cloud, jobs[number], training.curve) for number in order}
        early = [
            json.loads(cloud.read(f"{job}/metadata/attempts/2.json") or b"{}").get("early") for job in jobs
        ]
    print("| insert | gap | steps made twice | curve | early |")
    for number, (gap, twice, same) in sorted(found.items()):
        curve = "same" if same else "DIFFERS"
        print(f"| {inserts[number]:.1f} s | {gap:.1f} s | {twice} | {curve} | {early[number]} |")
    gaps = sorted(gap for gap, _, _ in found.values())
    p99 = gaps[min(len(gaps) - 1, int(len(gaps) * 0.99))]
    print(
        f"gap p50 {statistics.median(gaps):.1f} s (goal {P50_GOAL:g}), p99 {p99:.1f} s (goal {P99_GOAL:g}),"
    )
    print(f"steps made twice at most {max(twice for _, twice, _ in found.values())} (goal 1), {count} jobs")
    print(f"without a hand-over the insert alone: p50 {recorded(0.5):.1f} s, p99 {recorded(0.99):.1f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("jobs", type=int, nargs="?", default=10)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--torch", default="", help="A Python that has PyTorch.")
    parser.add_argument("--region", action="store_true", help="Leave the zone to Compute Engine.")
    options = parser.parse_args()
    made = with_torch(options.torch) if options.torch else plain()
    main(options.jobs, options.seed, made._replace(place=REGION if options.region else ZONE))
