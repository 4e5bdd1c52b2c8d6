"""What a cold start of each function costs: from its process's start to its first answer, and its memory.

    python tests/bench/cold_start.py [--rounds N] [--folder DIR] [FUNCTION…]

With a folder what was installed is kept there for the next time.

Each function is staged, its archive built as Google's builder does, its requirements installed by pip with
the hashes required and compiled, as the builder does as well. Then it is started under functions-framework
and pushed a tick: the answer comes after a whole sweep of an empty project of the local cloud. *bare* is
functions-framework with a function that does nothing. Rounds go through all rows in turn, so that a busy
moment of the machine hits all alike; the least of each row is given, for nothing makes a start faster than
it is.

*CPU* is the processor's time of the server and its worker. *Memory* is the proportional set size of both
after the answer. *of bare* is the ratio of the seconds; it carries over to other machines better than they.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.infra.clean_room import Running, build, clean_environment, local_cloud, packages, pushed

ROWS = yaml.safe_load((ROOT / "infra/functions.yaml").read_text())["functions"]
PAGES = {row["name"] for row in ROWS if "http" in row}
BARE = "import functions_framework\n\n\n@functions_framework.cloud_event\ndef bare(event):\n    pass\n"


class Taken(NamedTuple):
    """What one start took."""

    seconds: float
    cpu: float
    megabytes: float


class Row(NamedTuple):
    """A function to be started: the folder that the builder made, and what is installed for it."""

    name: str
    folder: Path
    site: Path


def main() -> None:
    """Read the command line, and see to a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("function", nargs="*")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--folder", type=Path)
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        measure(said.folder or Path(own), said.rounds, said.function)


def measure(folder: Path, rounds: int, only: list[str]) -> None:
    """Stage, build, install, measure, print."""
    rows = list(prepare(folder, only))
    with local_cloud(folder / "state") as environment:
        tries: dict[str, list[Taken]] = {row.name: [] for row in rows}
        for _ in range(rounds):
            for row in rows:
                tries[row.name].append(take(row, environment))
    show(tries, rows)


def prepare(folder: Path, only: list[str]) -> Iterator[Row]:
    """Each row, ready to be started."""
    stage = [sys.executable, str(ROOT / "infra/staging/stage.py"), "--out", str(folder / "build"), *only]
    subprocess.run(stage, check=True)
    staged: dict[str, Any] = json.loads((folder / "build/staged.json").read_text())
    rows = []
    for name in staged:
        site = install(folder / "build" / name / "requirements.txt", folder)
        shutil.rmtree(folder / "built" / name, ignore_errors=True)
        build(folder / "build" / f"{name}.zip", folder / "built" / name)
        rows.append(Row(name, folder / "built" / name, site))
    yield bare(folder, rows[0].site)
    yield from rows


def bare(folder: Path, site: Path) -> Row:
    """The function that does nothing."""
    (folder / "bare").mkdir(exist_ok=True)
    (folder / "bare/main.py").write_text(BARE)
    return Row("bare", folder / "bare", site)


def install(requirements: Path, folder: Path) -> Path:
    """Install these requirements, once for all functions that have the same, and compile them."""
    site = folder / f"site-{hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]}"
    if not site.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-compile"]
        pip += ["--target", str(site), "-r", str(requirements)]
        began = time.perf_counter()
        subprocess.run(pip, check=True, stderr=subprocess.DEVNULL)
        compiling = ["-m", "compileall", "--invalidation-mode", "unchecked-hash", "-qq", str(site)]
        subprocess.run([sys.executable, *compiling], check=False, env=clean_environment({}))
        size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file()) / 1e6
        took = time.perf_counter() - began
        print(f"{len(packages(requirements))} packages, {size:.0f} MB, in {took:.1f} s")
    return site


def take(row: Row, environment: Mapping[str, str]) -> Taken:
    """Start it, push a tick, look at what it took."""
    with Running(row.folder, row.name, row.site, environment) as running:
        status = first(running, row.name)
        seconds = time.perf_counter() - running.begun
        processes = [psutil.Process(running.pid), *psutil.Process(running.pid).children(recursive=True)]
        cpu = sum(sum(one.cpu_times()[:2]) for one in processes)
        megabytes = sum(one.memory_full_info().pss for one in processes) / 1e6
    assert status < 500, f"{row.name} answered {status}: {running.said}"
    return Taken(seconds, cpu, megabytes)


def first(running: Running, name: str) -> int:
    """The first thing that anybody wants of it: a tick's sweep, or a page."""
    return running.ask() if name in PAGES else running.push(pushed("tick", name))


def show(tries: Mapping[str, list[Taken]], rows: list[Row]) -> None:
    """Print the least of each."""
    floor = min(one.seconds for one in tries["bare"])
    print(f"\n{'function':20}{'first answer':>14}{'of bare':>9}{'CPU':>9}{'memory':>10}")
    for row in rows:
        seconds, cpu, megabytes = (min(column) for column in zip(*tries[row.name], strict=True))
        print(f"{row.name:20}{seconds:12.3f} s{seconds / floor:9.2f}{cpu:7.2f} s{megabytes:7.1f} MB")


if __name__ == "__main__":
    main()
