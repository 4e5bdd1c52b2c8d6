"""Starts commands over and over, and counts those that a signal ended.

`python -m tests.bench.command_starts [1000]`. One local cloud with some jobs; every second eight commands run
with a tiny thread switch interval, so that threads meet where they seldom do. Goal: none ends negative.
`SPOTWARDEN_LONG=all` has a short one of them among the tests.
Printed besides: how long a start takes.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from statistics import median

JOBS = 12
TINY = 1e-6
COMMANDS = (
    ("jobs", "--exact", "--json"),
    ("show", "job-3"),
    ("jobs",),
    ("logs", "job-4"),
    ("cases", "list"),
    ("diff", "job-1", "job-2"),
    ("notices", "list"),
    ("quarantine", "list"),
)
MAIN = (
    "import sys; sys.setswitchinterval(float(sys.argv.pop(1))); from spotwarden.cli.main import main; main()"
)
SCRIPT = """\
#!/bin/bash
gcloud compute instances create {name} --zone=us-central1-a --machine-type=e2-small --scopes=cloud-platform \\
  --image-family=debian-12 --image-project=debian-cloud \\
  --provisioning-model=SPOT --instance-termination-action=DELETE --metadata=startup-script='true'
"""


@contextmanager
def cloud() -> Iterator[Mapping[str, str]]:
    """A local cloud with some jobs; gives what commands find it by."""
    with tempfile.TemporaryDirectory() as folder:
        base = {name: value for name, value in os.environ.items() if not name.startswith("SPOTWARDEN")}
        base |= {"XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder, "SPOTWARDEN_OWNER": "ada@example.com"}
        spotwarden = str(Path(sys.executable).with_name("spotwarden"))
        words = [spotwarden, "local", "serve", "--functions", "--project", "demo"]
        serving = subprocess.Popen(
            words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=base
        )
        try:
            assert serving.stdout is not None
            json.loads(serving.stdout.readline())
            exports = f'eval "$({spotwarden} local env)" && env -0'
            said = subprocess.run(
                ["bash", "-c", exports], capture_output=True, text=True, env=base, check=True
            )
            env = dict(line.split("=", 1) for line in said.stdout.split("\0") if "=" in line)
            for number in range(1, JOBS + 1):
                file = Path(folder, "create.sh")
                file.write_text(SCRIPT.format(name=f"job-{number}"), encoding="utf-8")
                subprocess.run(
                    [spotwarden, "submit", str(file)], stdout=subprocess.DEVNULL, env=env, check=True
                )
            yield env
        finally:
            serving.terminate()
            serving.communicate(timeout=60)


def start(words: tuple[str, ...], environment: Mapping[str, str], interval: float) -> tuple[int, float, str]:
    """One command: its status, its seconds, and what it complained about."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", MAIN, str(interval), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**environment, "PYTHONFAULTHANDLER": "1"},
        check=False,
        timeout=300,
    )
    return done.returncode, time.perf_counter() - began, done.stderr


def soak(times: int) -> tuple[Counter[tuple[str, int]], list[float], list[str]]:
    """So many starts: each status by command, seconds of those with the usual interval, what went wrong."""
    statuses: Counter[tuple[str, int]] = Counter()
    seconds: list[float] = []
    ended: list[str] = []
    with cloud() as environment:
        for number, words in enumerate(islice(cycle(COMMANDS), times)):
            tiny = number // len(COMMANDS) % 2
            status, took, said = start(words, environment, TINY if tiny else sys.getswitchinterval())
            statuses[words[0], status] += 1
            if status:
                ended.append(f"{' '.join(words)}: {status}\n{said[-3000:]}")
            if not tiny:
                seconds.append(took)
    return statuses, seconds, ended


def main(times: int) -> None:
    """The table."""
    statuses, seconds, ended = soak(times)
    print(f"{times:,} starts, every second eight of them with a switch interval of {TINY:g} s")
    for (command, status), count in sorted(statuses.items()):
        print(f"  {command:12} status {status:4} {count:6}")
    signals = sum(count for (_, status), count in statuses.items() if status < 0)
    print(f"  median start {median(seconds):.3f} s; ended by a signal: {signals} (goal: 0)")
    for said in ended[:5]:
        print(said)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
