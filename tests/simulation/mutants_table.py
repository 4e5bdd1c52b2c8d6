"""`python -m tests.simulation.mutants_table`: in how many histories each mutant is found, as a table.

A history of recovery, of the plane or of slices finds a mutant if it fails with it and holds without it.
Mutants that no history has found are held against the unit test that they name.
"""

import argparse
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

import msgspec

from tests.simulation.mutants import MUTANTS, Mutant
from tests.simulation.plane.run import PlaneSetting
from tests.simulation.plane.world import PlaneWorld
from tests.simulation.product import recover_spot
from tests.simulation.run import Histories, OfWorld, Setting
from tests.simulation.slices.play import play_seed
from tests.simulation.world import World

ENOUGH = 3
"""So many failing histories show how often a mutant is found; the rest is not played."""
SECONDS = 60
"""A history takes a tenth of a second; one with a mutant in it may never end."""
ROOT = Path(__file__).resolve().parents[2]
MUTANT = "SPOTWARDEN_MUTANT"


class Endless(BaseException):
    """A history does not come to its end: what the product must not take for an error, and go on after."""


class Found(msgspec.Struct, kw_only=True):
    """What came of one mutant in one simulation."""

    played: int = 0
    failed: int = 0
    fault: str = ""

    def __str__(self) -> str:
        return f"{self.failed} of {self.played}" if self.played else "-"


class Row(msgspec.Struct, kw_only=True):
    """One line of the table."""

    name: str
    recovery: Found
    plane: Found
    slices: Found
    test: str = ""

    @property
    def found(self) -> bool:
        """Whether anything finds it."""
        return bool(self.recovery.failed or self.plane.failed or self.slices.failed or self.test)


def main() -> int:
    """Write the table; 1 where a mutant is found by nothing."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.mutants_table", description=__doc__)
    parser.add_argument("--recovery", type=int, default=60, help="histories of recovery for each")
    parser.add_argument("--plane", type=int, default=40, help="histories of the plane for each")
    parser.add_argument("--slices", type=int, default=100, help="histories of slices for each")
    parser.add_argument("--only", default="", help="mutants whose name contains this")
    parser.add_argument("--processes", type=int, default=0, help="0: one for each core")
    parser.add_argument("--write", type=Path, help="where to write the table; else it is printed")
    arguments = parser.parse_args()
    names = [name for name in MUTANTS if arguments.only in name]
    judge = partial(row_of, recovery=arguments.recovery, plane=arguments.plane, slices=arguments.slices)
    with ProcessPoolExecutor(
        arguments.processes or os.cpu_count(), multiprocessing.get_context("spawn")
    ) as pool:
        rows = []
        for row in pool.map(judge, names):
            rows.append(row)
            sys.stderr.write(f"{row.name}: {row.recovery}, {row.plane}, {row.slices} {row.test}\n")
    text = "\n".join(table(rows))
    if arguments.write:
        arguments.write.write_text(f"{text}\n")
    else:
        sys.stdout.write(f"{text}\n")
    return 0 if all(row.found for row in rows) else 1


def row_of(name: str, recovery: int, plane: int, slices: int = 0) -> Row:
    """Hold one mutant against everything that may find it."""
    mutant = MUTANTS[name]
    row = Row(name=name, recovery=Found(), plane=Found(), slices=Found())
    with mutant.applied():
        if mutant.where == "both":
            row.recovery = _in_recovery(mutant, recovery)
        if mutant.where == "slices":
            row.slices = _of_slices(slices)
        else:
            row.plane = _in_the_plane(mutant, plane)
    if not row.found and mutant.test and _unit_test_fails(name, mutant.test):
        row.test = mutant.test
    return row


def _in_recovery(mutant: Mutant, histories: int) -> Found:
    setting = Setting()
    return _play(histories, lambda number: _faults_of(setting, number, World(wrap=mutant.wrap, blind=True)))


def _in_the_plane(mutant: Mutant, histories: int) -> Found:
    setting = PlaneSetting(story=mutant.story)
    return _play(histories, lambda number: _faults_of(setting, number, PlaneWorld(wrap=mutant.wrap)))


def _of_slices(histories: int) -> Found:
    def faults(number: int) -> list[str]:
        wrong = play_seed(recover_spot(), f"test/{number}")
        return [wrong] if wrong else []

    return _play(histories, faults)


def _faults_of(setting: Histories[OfWorld], number: int, world: OfWorld) -> list[str]:
    return setting.faults(setting.history(number), world)[0]


def _play(histories: int, faults: Callable[[int], list[str]]) -> Found:
    found = Found()
    for number in range(histories):
        try:
            with _in_time():
                wrong = faults(number)
        except (Exception, Endless) as error:  # noqa: BLE001 — a mutant may break anything
            wrong = [f"it raises {error!r}"]
        found.played += 1
        found.failed += bool(wrong)
        found.fault = found.fault or (wrong[0] if wrong else "")
        if found.failed == ENOUGH:
            break
    return found


@contextmanager
def _in_time() -> Iterator[None]:
    def late(_number: int, _frame: FrameType | None) -> None:
        raise Endless("the history never ends")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _unit_test_fails(name: str, test: str) -> bool:
    """Whether the unit test holds without the mutant and fails with it."""
    return _passes(test, "") and not _passes(test, name)


def _passes(test: str, mutant: str) -> bool:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", PLUGIN, test]
    paths = os.pathsep.join((str(ROOT), str(ROOT / "shared")))
    environment = {**os.environ, MUTANT: mutant, "PYTHONPATH": paths}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False)
    return done.returncode == 0


PLUGIN = "tests.simulation.mutated"


def table(rows: list[Row]) -> Iterator[str]:
    """The lines of the table."""
    yield "# Mutants: in how many histories each is found\n"
    yield "Written by `python -m tests.simulation.mutants_table`. The third failing history ends the play.\n"
    yield "| what is no longer so | recovery | plane | slices | what was wrong, or the unit test that fails |"
    yield "|---|---|---|---|---|"
    for row in rows:
        fault = (
            row.plane.fault or row.recovery.fault or row.slices.fault or row.test or "**nothing finds it**"
        )[:140]
        said = fault.replace("|", "/").replace("\n", " ")
        yield f"| {row.name} | {row.recovery} | {row.plane} | {row.slices} | {said} |"


if __name__ == "__main__":
    sys.exit(main())
