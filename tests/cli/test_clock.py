"""Commands that write, at a machine whose clock is off."""

from datetime import timedelta

import pytest

from spotwarden.gcp import tally
from tests.contract.local_world import LocalWorld
from tests.fakes.world import SCRIPT

MINUTE = timedelta(minutes=1)
WRITING = [
    ("stop", "my-job", "--yes"),
    ("restart", "my-job"),
    ("keep", "my-job", "--for", "1h"),
    ("extend", "my-job", "--by", "1h"),
]


@pytest.fixture
def shell(workstation, served):
    """A shell with Compute Engine."""
    world = LocalWorld(served)
    workstation._environment["SPOTWARDEN_COMPUTE_ENDPOINT"] = world.url
    yield workstation
    world.close()


@pytest.fixture
def off(monkeypatch):
    """Let Google's answers say that our clock is so far ahead."""

    def by(ahead):
        monkeypatch.setattr(tally, "clock_ahead", lambda: ahead)

    return by


@pytest.mark.parametrize("words", WRITING, ids=[words[0] for words in WRITING])
@pytest.mark.parametrize(("ahead", "told"), [(30 * MINUTE, "30m00s ahead of"), (-3 * MINUTE, "3m00s behind")])
def test_nothing_is_written_by_a_clock_that_is_off(shell, off, words, ahead, told):
    """A stop from the future would outlast a start that comes later."""
    off(ahead)
    assert f"this machine's clock is {told} Google's" in shell.refused(*words)


@pytest.mark.parametrize("words", WRITING, ids=[words[0] for words in WRITING])
@pytest.mark.parametrize("ahead", [None, 2 * MINUTE, -2 * MINUTE])
def test_a_clock_that_is_hardly_off_is_no_reason_to_refuse(shell, off, words, ahead):
    """Nor is one of which nobody knows."""
    off(ahead)
    assert "clock" not in shell.refused(*words)


RUN = (
    "run",
    "--job",
    "my-job",
    "--machine",
    "e2-small",
    "--zone",
    "us-central1-a",
    "--no-code",
    "--no-follow",
)
LAUNCHING = [("submit", "create-instance.sh"), (*RUN, "--", "true")]


@pytest.mark.parametrize("words", LAUNCHING, ids=[words[0] for words in LAUNCHING])
def test_nothing_is_launched_by_a_clock_that_is_off(shell, off, tmp_path, monkeypatch, words):
    """Nor stored."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "create-instance.sh").write_bytes(SCRIPT)
    off(30 * MINUTE)
    assert "this machine's clock is 30m00s ahead of" in shell.refused(*words)
    assert shell.store.entries("") == []


def test_who_only_looks_needs_no_clock(shell, off):
    """Nothing is dated by it."""
    off(30 * MINUTE)
    assert "clock" not in shell.ok("jobs")
