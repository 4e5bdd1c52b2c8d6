"""Histories that failed once, each at its shortest: they hold now, and are to hold for ever."""

from pathlib import Path

import msgspec
import pytest

from tests.simulation.commands import AnyCommand
from tests.simulation.run import Setting


class Found(msgspec.Struct, frozen=True):
    """A history, and what is special about it."""

    what: str
    commands: list[AnyCommand]


FOUND = [
    msgspec.json.decode(line, type=Found)
    for line in Path(__file__).with_name("found.jsonl").read_bytes().splitlines()
]


@pytest.mark.parametrize("found", FOUND, ids=lambda found: found.what)
def test_a_history_that_failed_once_holds(found):
    """What it is about stands in its name; `python -m tests.simulation --replay` tells it in full."""
    faults, _ = Setting().faults(found.commands)
    assert faults == []
