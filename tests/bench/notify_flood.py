"""A flood of notices through the outbox: 10,000 to 100 people, and 1,000 to one.

    python tests/bench/notify_flood.py [--delay 30] [--workers 16] [--scenes many one]

Prints a table: time, CPU, memory at its peak, calls to the bucket, messages. Each step is its own process
through the real Storage client, against the local cloud's bucket; `--delay` are milliseconds that each call
to it waits, as Google's does. Messages are counted and go nowhere.
"""

import argparse
import json
import os
import sys
import time
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.govern_scale import MB, Cost, Server, measured, serving

SCENES = {
    "many": ("10,000 notices to 100 people", 10_000, 100),
    "one": ("1,000 notices to one", 1_000, 1),
}
MOST_TICKS = 30


class CountingMailer:
    """Takes every message."""

    def __init__(self) -> None:
        self.messages = 0

    def send(self, message: object, *, before: object = None) -> str:
        """Count it."""
        del message, before
        self.messages += 1
        return "250 ok"


def step(server: dict[str, str], stage: str, count: int, people: int, workers: int) -> dict[str, Any]:
    """Take all messages in, as `take`, or send what is due, as `tick`."""
    os.environ |= {
        "STORAGE_EMULATOR_HOST": server["http"],
        "DISABLE_GCS_PYTHON_CLIENT_OTEL_BUCKET_METADATA": "true",
    }
    from msgspec.structs import replace

    from spotwarden.engine.context import SweepContext
    from spotwarden.engine.settings import Settings
    from spotwarden.gcp.connect import connect
    from spotwarden.model.limits import NotifyLimits
    from spotwarden.model.policy import Mode, Policy
    from spotwarden.model.tick import Tick
    from spotwarden.notify.outbox.intake import take_in
    from spotwarden.notify.outbox.renderer import Renderer
    from spotwarden.notify.outbox.sweep import deliver

    settings = Settings(
        project="project", bucket="jobs", notices="notices", policy_file=Path("policy.toml"), workers=workers
    )
    policy = Policy(version="bench", mode=Mode.ENFORCE, notify=NotifyLimits(email=True))
    mailer = CountingMailer()
    cloud = replace(connect(**settings.connection()), mailer=mailer)
    now = datetime.now(UTC) + (timedelta(minutes=1) if stage == "tick" else timedelta(0))
    tick = Tick(function="notify_developers", sweep=f"{time.time_ns():x}", now=now)
    context = SweepContext.open(cloud, settings, policy, tick)
    if stage == "take":
        with ThreadPoolExecutor(workers) as pool:
            done = pool.map(lambda one: take_in(context, one), messages(count, people))
            failures = [failure for swept in done for failure in swept.failures]
    else:
        ahead = now - datetime.now(UTC)
        renderer = Renderer(limits=policy.notify, domain="example.com")
        failures = list(deliver(context, renderer, lambda: datetime.now(UTC) + ahead).failures)
    if failures:
        raise ExceptionGroup("the flood was too much", failures)
    left = len(cloud.store.entries(settings.layout.outbox()))
    return {"messages": mailer.messages, "left": left}


def messages(count: int, people: int) -> list[dict[str, str]]:
    """Messages of the topic: a gang of jobs gave up, each with the evidence that such a notice has."""
    import msgspec

    from spotwarden.model.notice import Notice, Severity

    made = []
    for number in range(count):
        notice = Notice(
            id=f"gave-up/job-{number}/2",
            kind="gave_up",
            severity=Severity.URGENT,
            job=f"job-{number}",
            at=datetime(2026, 1, 5, tzinfo=UTC),
            what=f"job-{number} could not be started again; attempt 2 is given up",
            why="no zone of us-central1 has room for a2-highgpu-1g, for 6 hours",
            owner=f"person-{number % people}@example.com",
            evidence={f"fact {fact}": "a line of evidence, as long as one usually is" for fact in range(8)},
        )
        made.append({"data": b64encode(msgspec.json.encode(notice)).decode()})
    return made


def run(server: Server, stage: str, count: int, people: int, workers: int) -> tuple[Cost, dict[str, Any]]:
    """One step in a process of its own."""
    said = [json.dumps(server.said), stage, str(count), str(people), str(workers)]
    cost = measured(server, [sys.executable, __file__, "--step", *said], os.environ)
    return cost, json.loads(cost.said)


def row(what: str, cost: Cost, said: dict[str, Any]) -> None:
    """One line of the table."""
    calls = {call.removeprefix("storage "): count for call, count in sorted(cost.calls.items())}
    shown = ", ".join(f"{count:,} {call}" for call, count in calls.items())
    print(
        f"| {what:<44} | {cost.wall:6.1f} s | {cost.cpu:6.1f} s | {cost.peak / MB:4.0f} MB |"
        f" {said['messages']:>5} | {said['left']:>6,} | {shown} |",
        flush=True,
    )


def scene(title: str, count: int, people: int, delay: float, workers: int) -> None:
    """Take all in, take all in once more, and tick until nothing waits."""
    print(f"\n{title}, {workers} at a time, {delay:g} ms a call\n")
    print("| | wall | CPU | peak | messages | waiting after | calls |\n|---|---|---|---|---|---|---|")
    with serving(8) as server:
        server.delay(storage=delay)
        row("taken in", *run(server, "take", count, people, workers))
        for number in range(1, MOST_TICKS + 1):
            cost, said = run(server, "tick", count, people, workers)
            row(f"tick {number}", cost, said)
            if not said["left"]:
                break
        row("every message again", *run(server, "take", count, people, workers))
        row("a tick with nothing to do", *run(server, "tick", count, people, workers))


def main() -> None:
    """Read the arguments and print the tables."""
    parser = argparse.ArgumentParser(description="Measure a flood of notices.")
    parser.add_argument("--delay", type=float, default=0)
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument("--scenes", nargs="+", choices=SCENES, default=list(SCENES))
    parser.add_argument("--step", nargs=5, help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.step:
        server, stage, *numbers = said.step
        print("done", json.dumps(step(json.loads(server), stage, *map(int, numbers))))
        return
    for name in said.scenes:
        scene(*SCENES[name], said.delay, said.workers)


if __name__ == "__main__":
    main()
