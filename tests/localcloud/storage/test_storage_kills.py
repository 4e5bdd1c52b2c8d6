"""`kill -9` of a local cloud with `--state`, at any moment: nothing confirmed is lost, nothing comes back."""

import random
from pathlib import Path

import pytest

from tests.localcloud.storage.killing import PLAIN, Trying, Version, Versions, Writer, ordeal
from tests.long import long


def _ordeal(state: Path, writes: int, kills: int) -> None:
    found = ordeal(state, writes=writes, kills=kills)
    assert not found.wrong, "\n".join(found.wrong[:10])
    assert found.writes >= writes
    assert found.cut >= kills, "hardly a kill met a call"


def test_kills_lose_and_revive_nothing(tmp_path: Path):
    """Overwrites, deletions, old generations, metadata, copies, resumable uploads: wholly or not at all."""
    _ordeal(tmp_path, writes=1500, kills=5)


@long
def test_kills_during_100_000_writes_lose_and_revive_nothing(tmp_path: Path):
    """The same, sixty times as long."""
    _ordeal(tmp_path, writes=100_000, kills=40)


KEY = (PLAIN, "w0/1")
OLD, NEW = Version("old"), Version("new")


@pytest.mark.parametrize(
    ("there", "fine"),
    [
        ({5: OLD}, True),
        ({6: NEW}, True),
        ({}, False),
        ({5: NEW}, False),
        ({4: NEW}, False),
        ({5: OLD, 6: NEW}, False),
        ({6: Version("new", note="torn")}, False),
    ],
)
def test_the_judge_knows_what_may_be_there(there: Versions, fine: bool):
    """An overwrite that was cut off happened or did not; nothing is lost, mixed, or of an old generation."""
    writer = Writer(0, random.Random(7), known={KEY: {5: OLD}}, newest=5)
    writer.trying = Trying(KEY, lambda generation: {generation: NEW}, makes=True)
    assert (writer.settle({KEY: there}) == []) is fine


def test_the_judge_knows_what_came_back():
    """A deleted generation; what another writer has is that one's to judge."""
    writer = Writer(0, random.Random(7), known={KEY: {}}, newest=5)
    assert writer.settle({}) == []
    assert len(writer.settle({KEY: {5: OLD}, ("bucket", "w1/1"): {5: OLD}})) == 1
