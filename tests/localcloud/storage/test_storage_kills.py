"""`kill -9` of a local cloud with `--state`, at any moment: nothing confirmed is lost, nothing comes back."""

import random
from pathlib import Path

import pytest

from tests.localcloud.storage.killing import (
    PLAIN,
    Calls,
    Server,
    Trying,
    Version,
    Versions,
    Writer,
    begin_parts,
    complete_parts,
    crc_of,
    everything,
    ordeal,
    prepare,
    send_part,
)
from tests.long import longest


def _ordeal(state: Path, writes: int, kills: int) -> None:
    found = ordeal(state, writes=writes, kills=kills)
    assert not found.wrong, "\n".join(found.wrong[:10])
    assert found.writes >= writes
    assert found.cut >= kills, "hardly a kill met a call"


def test_kills_lose_and_revive_nothing(tmp_path: Path):
    """Overwrites, deletions, old generations, metadata, copies, resumable uploads: wholly or not at all."""
    _ordeal(tmp_path, writes=600, kills=3)


@longest
@pytest.mark.timeout(3600)
def test_kills_during_100_000_writes_lose_and_revive_nothing(tmp_path: Path):
    """The same, for a quarter of an hour."""
    _ordeal(tmp_path, writes=100_000, kills=40)


def test_a_part_that_was_acknowledged_outlasts_a_kill(tmp_path: Path):
    """The upload goes on after the next start, and the part counts."""
    key, first = (PLAIN, "parts"), bytes(5 << 20)
    server = Server(tmp_path)
    prepare(server.address)
    calls = Calls(server.address)
    upload = begin_parts(calls, key)
    tags = {1: send_part(calls, key, upload, 1, first)}
    calls.close()
    server.kill()
    server = Server(tmp_path)
    calls = Calls(server.address)
    complete_parts(calls, key, upload, {2: b"end"}, tags)
    [version] = everything(server.address)[key].values()
    calls.close()
    server.kill()
    assert version.crc == crc_of(first + b"end")


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
