"""How long it takes from `spotwarden run` to the program's first line on the developer's terminal.

    python tests/bench/run_to_first_line.py [--rounds 5]

Prints a table: medians over the rounds, each a job of its own on one local cloud with VMs, with a little
code. The floor is the command line alone (`spotwarden run --dry-run`). On Google Cloud a VM takes 10 to 100
times as long to come as the 0.2 s that it takes here; the rest is ours, and the same.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import httpx

SPOTWARDEN = Path(sys.executable).with_name("spotwarden")
NAMES = ("PROJECT=demo", "BUCKET=jobs", "NOTICES=notices", "OWNER=bench")
AT = ("--machine", "e2-small", "--zone", "us-central1-a")
COMMAND = ("--", "python3", "train.py")


@contextmanager
def local_cloud(home: Path) -> Iterator[dict[str, str]]:
    """Serve one; yields the environment of its clients."""
    environment = {**os.environ, "XDG_STATE_HOME": str(home)}
    words = [str(SPOTWARDEN), "local", "serve", "--project", "demo"]
    serving = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert serving.stdout is not None
        url = json.loads(serving.stdout.readline())["http"]
        with httpx.Client(base_url=url, trust_env=False) as client:
            client.post("/storage/v1/b?project=demo", json={"name": "jobs"}).raise_for_status()
            client.put("/v1/projects/demo/topics/notices", json={}).raise_for_status()
            told = client.get("/local/env").json()
        ours = dict(f"SPOTWARDEN_{one}".split("=", 1) for one in NAMES)
        yield {**environment, **told, **ours}
    finally:
        serving.terminate()
        serving.wait()


def measured(job: str, work: Path, environment: dict[str, str]) -> tuple[float, float, float]:
    """Seconds from the start to *it runs*, to the program's first line, and to the end."""
    start = time.perf_counter()
    words = [str(SPOTWARDEN), "run", "--job", job, *AT, *COMMAND]
    process = subprocess.Popen(
        words, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    runs = first = 0.0
    for line in process.stdout:
        now = time.perf_counter() - start
        runs = runs or (now if "attempt 1 runs in" in line else 0)
        first = first or (now if line.strip() == "here I am" else 0)
    if process.wait() or not first:
        sys.exit(f"{job} ended with status {process.returncode}, and without its line")
    return runs, first, time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder, local_cloud(Path(folder) / "home") as environment:
        work = Path(folder) / "work"
        work.mkdir()
        (work / "train.py").write_text('print("here I am", flush=True)\n')
        start = time.perf_counter()
        dry = [str(SPOTWARDEN), "run", "--job", "dry", *AT, "--dry-run", *COMMAND]
        subprocess.run(dry, cwd=work, env=environment, stdout=subprocess.DEVNULL, check=True)
        floor = time.perf_counter() - start
        rows = [measured(f"job-{number}", work, environment) for number in range(rounds)]
    runs, first, over = (median(column) for column in zip(*rows, strict=True))
    print(f"{'spotwarden run --dry-run':42} {floor:6.2f} s")
    print(f"{'spotwarden run → the VM runs':42} {runs:6.2f} s")
    print(f"{'spotwarden run → the first line':42} {first:6.2f} s")
    print(f"{'spotwarden run → the job has ended':42} {over:6.2f} s")


if __name__ == "__main__":
    main()
