"""How fast `spotwarden run` sends a large folder of code and of input, beside `gcloud storage cp`.

    python tests/bench/submit_large.py [--megabytes 1024] [--code 256]

Prints a table. Both are whole commands, started as a person starts them, against one local cloud without VMs
on this machine; so the figures say what the clients cost, and the ratio is what counts. `gcloud` copies the
input folder and a tarball of the code that is there already; ours packs the code and launches the job, too.
Then nothing has changed and it is run again, and then one file has. Peak memory is that of our process.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

SPOTWARDEN = Path(sys.executable).with_name("spotwarden")
MEGABYTE = 1_000_000
SMALL_FILES, LARGE_FILES = 500, 8
NAMES = ("PROJECT=demo", "BUCKET=jobs", "NOTICES=notices", "OWNER=bench")
Row = tuple[str, float, float]


@contextmanager
def local_cloud(home: Path) -> Iterator[dict[str, str]]:
    """Serve one; yields the environment of its clients."""
    environment = {**os.environ, "XDG_STATE_HOME": str(home)}
    words = [
        str(SPOTWARDEN),
        "local",
        "serve",
        "--project",
        "demo",
        "--no-machines",
        "--state",
        str(home / "state"),
    ]
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


def fill(folder: Path, size: int, files: int) -> None:
    """So many files of random bytes."""
    folder.mkdir(parents=True)
    for number in range(files):
        (folder / f"{number}.bin").write_bytes(os.urandom(size // files))


def timed(words: list[str], folder: Path, environment: dict[str, str]) -> tuple[float, str]:
    """How long a command takes, and what it says."""
    start = time.perf_counter()
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return time.perf_counter() - start, done.stderr


def end(environment: dict[str, str]) -> None:
    """Let the job have ended, so that it can be run again."""
    url = f"{environment['STORAGE_EMULATOR_HOST']}/upload/storage/v1/b/jobs/o?uploadType=media"
    httpx.post(f"{url}&name=big/metadata/status-code", content=b"0", trust_env=False).raise_for_status()


def ours(work: Path, environment: dict[str, str], total: float) -> Iterator[Row]:
    """The first time, the second, and once more with one file changed."""
    words = [str(SPOTWARDEN), "run", "--job", "big", "--machine", "e2-small", "--zone", "us-central1-a",
             "--input", "./input", "--code", "code", "--no-follow", "--again", "--", "true"]  # fmt: skip
    for label in ("spotwarden run", "  again, nothing changed", "  again, one small file changed"):
        if "one" in label:
            (work / "input/small/0.bin").write_bytes(b"changed")
        seconds, said = timed(words, work, environment)
        sent = [line for line in said.splitlines() if line.startswith(("sending", "input", "code"))]
        print(f"  {label.strip()}: {'; '.join(sent)}", file=sys.stderr)
        yield label, seconds, total if label == "spotwarden run" else 0
        end(environment)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1000
    print(f"  peak memory of any of our processes: {peak:.0f} MB", file=sys.stderr)


def theirs(work: Path, environment: dict[str, str], total: float) -> Iterator[Row]:
    """The same bytes by gcloud, the code packed beforehand."""
    if not shutil.which("gcloud"):
        print("gcloud is not installed: there is nothing to compare with", file=sys.stderr)
        return
    with tarfile.open(work / "code.tar", "w") as tar:
        tar.add(work / "code", arcname=".")
    words = ["gcloud", "storage", "cp", "-r", "input", "code.tar", "gs://jobs/gcloud/"]
    yield "gcloud storage cp -r", timed(words, work, environment)[0], total
    words = ["gcloud", "storage", "rsync", "-r", "--checksums-only", "input", "gs://jobs/gcloud/input"]
    yield "  gcloud storage rsync, nothing changed", timed(words, work, environment)[0], 0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--code", type=int, default=256, help="how many of these are code")
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, local_cloud(Path(folder) / "home") as environment:
        work = Path(folder) / "work"
        fill(work / "code", said.code * MEGABYTE, LARGE_FILES)
        rest = (said.megabytes - said.code) * MEGABYTE
        fill(work / "input/large", rest * 9 // 10, LARGE_FILES)
        fill(work / "input/small", rest // 10, SMALL_FILES)
        total = said.megabytes * MEGABYTE
        rows = [*ours(work, environment, total)]
        rows += theirs(work, environment, total)
    for label, seconds, size in rows:
        print(f"{label:42} {seconds:7.2f} s {f'{size / seconds / MEGABYTE:8.0f} MB/s' if size else ''}")
    whole = {label: seconds for label, seconds, size in rows if size}
    if len(whole) == 2:
        print(f"our throughput is {whole['gcloud storage cp -r'] / whole['spotwarden run']:.2f} of gcloud's")


if __name__ == "__main__":
    main()
