"""Histories of the plane that failed once, each at its shortest: they hold now, and are to hold for ever."""

from pathlib import Path

import msgspec
import pytest

from tests.simulation.plane.commands import AnyCommand
from tests.simulation.plane.run import PlaneSetting


class PlaneFound(msgspec.Struct, frozen=True):
    """A history, what is special about it, and what is still to mend it; "" where it holds."""

    what: str
    commands: list[AnyCommand]
    until: str = ""


FOUND = [
    msgspec.json.decode(line, type=PlaneFound)
    for line in Path(__file__).with_name("found.jsonl").read_bytes().splitlines()
]


def _param(found: PlaneFound) -> object:
    waits = [pytest.mark.xfail(strict=True, reason=found.until)] if found.until else []
    return pytest.param(found, id=found.what, marks=waits)


@pytest.mark.parametrize("found", [_param(found) for found in FOUND])
def test_a_history_of_the_plane_that_failed_once_holds(found):
    """What it is about stands in its name; `python -m tests.simulation.plane --replay` tells it in full."""
    faults, _ = PlaneSetting(strict=True).faults(found.commands)
    assert faults == []
