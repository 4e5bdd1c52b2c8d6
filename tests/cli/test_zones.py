"""`spotwarden zones`: which zones no job is launched in, written for the functions to read."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from spotwarden import clock
from spotwarden.layout import AvoidedZones
from spotwarden.ports import UnansweredError
from spotwarden.recovery.places.memory import read_avoided

ZONE, OTHER = "us-central1-a", "europe-west4"
NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)


@pytest.fixture
def shell(workstation, monkeypatch, world):
    """A shell at noon."""
    workstation._environment["SPOTWARDEN_COMPUTE_ENDPOINT"] = world.url
    monkeypatch.setattr(clock, "now", lambda: NOW)
    monkeypatch.setattr("spotwarden.cli.context.Context.check_clock", lambda _context: None)
    return workstation


def kept(shell) -> list[tuple[str, datetime | None, str, str]]:
    """What the functions read."""
    places = read_avoided(shell.store, shell.layout).places
    return [(entry.zone, entry.until, entry.reason, entry.by) for entry in places]


def test_a_zone_is_avoided_until_its_time_is_over(shell, monkeypatch):
    """By whom and why is written beside it; a second word about it replaces the first."""
    until = NOW + timedelta(hours=6)
    assert "until 2026-11-23 18:00 UTC" in shell.ok("zones", "avoid", ZONE, "--for", "6h", "--why", "errors")
    assert kept(shell) == [(ZONE, until, "errors", "ada@example.com")]
    shell.ok("zones", "avoid", ZONE, OTHER, "--until", "2026-11-24")
    assert [zone for zone, *_ in kept(shell)] == [ZONE, OTHER]
    assert {end for _, end, *_ in kept(shell)} == {datetime(2026, 11, 25, tzinfo=UTC)}
    monkeypatch.setattr(clock, "now", lambda: NOW + timedelta(days=2))
    assert "no zone is avoided" in shell.ok("zones", "list")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("us-centrl1-a", "Did you mean us-central1-a?"), ("europ-west4", "Did you mean europe-west4?"),
     ("qq-77", "gcloud compute zones list")],
)  # fmt: skip
def test_a_mistyped_zone_is_told_which_was_meant(shell, typed, meant):
    """It would keep no job away from anywhere, and nobody would see that."""
    said = shell.refused("zones", "avoid", typed, "--for", "6h")
    assert f"unknown zone or region '{typed}'. " in said
    assert meant in said
    assert kept(shell) == []


def test_a_zone_is_believed_where_compute_engine_does_not_answer(shell, monkeypatch):
    """During an outage a person wants jobs away from there all the more."""
    monkeypatch.setattr("spotwarden.gcp.compute.ComputeEngine.offers", _unanswered)
    shell.ok("zones", "avoid", "us-new1-a", "--for", "6h")
    assert [zone for zone, *_ in kept(shell)] == ["us-new1-a"]


def _unanswered(*_):
    raise UnansweredError("no answer")


def test_a_zone_that_is_allowed_again_is_off_the_list(shell):
    """The others stay."""
    shell.ok("zones", "avoid", ZONE, OTHER, "--for", "6h")
    shell.ok("zones", "allow", ZONE)
    assert [entry["zone"] for entry in json.loads(shell.ok("zones", "list", "--json"))] == [OTHER]
    assert "it is not avoided" in shell.refused("zones", "allow", ZONE)


def test_the_policys_zones_are_listed_and_not_allowed_by_a_command(shell):
    """They have no end here, and who changes the policy changes them."""
    text = '[placement]\navoid = [{ zone = "us-east1-b", reason = "far away" }]\n'
    Path(shell.policy).write_text(f'version = "7"\n{text}', encoding="utf-8")
    line = next(line for line in shell.ok("zones", "list").splitlines() if "us-east1-b" in line)
    assert ("for good" in line, "the policy" in line, "far away" in line) == (True, True, True)
    assert "change [placement] avoid" in shell.refused("zones", "allow", "us-east1-b")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("avoid", ZONE), "one of --for and --until"),
        (("avoid", ZONE, "--for", "1h", "--until", "2026-12-01"), "one of --for and --until"),
        (("avoid", ZONE, "--until", "2026-11-01"), "in the past"),
        (("avoid", "us", "--for", "1h"), "not a zone or a region"),
    ],
)
def test_what_is_not_meant_is_refused(shell, words, says):
    """Nothing is written."""
    assert says in shell.refused("zones", *words)
    assert kept(shell) == []


def test_a_policy_with_a_zone_that_is_none_is_refused(shell, tmp_path):
    """It would keep nobody away from anything."""
    policy = tmp_path / "wrong.toml"
    policy.write_text('version = "7"\n[placement]\navoid = [{ zone = "us" }]\n', encoding="utf-8")
    assert "'us' is not a zone or a region" in shell.refused("policy", "check", str(policy))


@pytest.mark.parametrize(
    ("ladder", "says"),
    [
        ('[{ model = "spot", up_to = "2h" }, { model = "flex", up_to = "1d" }, { model = "standard" }]', ""),
        ('[{ model = "spot" }, { model = "standard" }]', "'spot' has no up_to"),
        ('[{ model = "cheap" }]', "cheap"),
    ],
)
def test_a_policys_ladder_is_checked(shell, tmp_path, ladder, says):
    """A kind of VM that is none, or one after which no other is ever asked for."""
    policy = tmp_path / "ladder.toml"
    policy.write_text(f'version = "7"\n[placement]\nladder = {ladder}\n', encoding="utf-8")
    if says:
        assert says in shell.refused("policy", "check", str(policy))
    else:
        shell.ok("policy", "check", str(policy))


def test_a_list_that_cannot_be_read_is_told_and_written_anew(shell):
    """Nobody may take it for an empty one."""
    name = shell.layout.build(AvoidedZones())
    shell.store.write(name, b"{", generation=0)
    for words in (("list",), ("allow", ZONE)):
        assert f"{name}: " in shell.refused("zones", *words)
    shell.ok("zones", "avoid", ZONE, "--for", "6h")
    assert [zone for zone, *_ in kept(shell)] == [ZONE]
