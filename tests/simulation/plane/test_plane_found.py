"""Histories of the plane that failed once, each at its shortest: they hold now, and are to hold for ever."""

from pathlib import Path

import msgspec
import pytest

from tests.simulation.plane.commands import AnyCommand
from tests.simulation.plane.run import PlaneSetting


class PlaneFound(msgspec.Struct, frozen=True):
    """A history, and what is special about it."""

    what: str
    commands: list[AnyCommand]


FOUND = [
    msgspec.json.decode(line, type=PlaneFound)
    for line in Path(__file__).with_name("found.jsonl").read_bytes().splitlines()
]


@pytest.mark.parametrize("found", FOUND, ids=lambda found: found.what)
def test_a_history_of_the_plane_that_failed_once_holds(found):
    """What it is about stands in its name; `python -m tests.simulation.plane --replay` tells it in full."""
    faults, _ = PlaneSetting().faults(found.commands)
    assert faults == []
