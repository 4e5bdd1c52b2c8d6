"""`spotwarden policy`: faults by name, and which limits hold for a job and why."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from spotwarden.layout import AttemptRecord, JobFileName
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.policy import RULES

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime.now(UTC)
TODAY = NOW.date()
POLICY = """
version = "7"
mode = "enforce"
[idle]
grace = "20m"
[teams.eyes]
owners = ["*@example.com"]
[teams.eyes.rules.idle]
act = "3h"
[ceilings.idle]
act = "4h"
"""
UNREADABLE = (
    "its label spotwarden-keep is 'please', which is not a valid date such as 2026-12-31, so it is kept"
    " (from every rule)"
)
IMAGE = "projects/debian-cloud/global/images/family/debian-12"


@pytest.fixture
def shop(workstation, world):
    """A workstation with a policy of a team, a job of hers, and Compute Engine."""
    workstation._environment["SPOTWARDEN_COMPUTE_ENDPOINT"] = world.url
    Path(workstation._environment["SPOTWARDEN_POLICY"]).write_text(POLICY)
    attempt = Attempt(
        job="test-vm", number=1, state=AttemptState.RUNNING, created=NOW, updated=NOW, owner="ada@example.com"
    )
    record = AttemptRecord(job="test-vm", attempt=1)
    workstation.store.write(workstation.layout.build(record), msgspec.json.encode(attempt), generation=None)
    return workstation


def job_toml(workstation, text):
    """Write what the job says for itself."""
    name = workstation.layout.build(JobFileName(job="test-vm"))
    workstation.store.write(name, text.encode(), generation=None)


def create(world, name, labels):
    """A VM with these labels."""
    body = {
        "name": name,
        "machineType": "zones/us-central1-a/machineTypes/e2-small",
        "labels": labels,
        "disks": [{"boot": True, "initializeParams": {"sourceImage": IMAGE}}],
        "networkInterfaces": [{"network": "global/networks/default"}],
    }
    world._post("zones/us-central1-a/instances", body)


def test_a_good_policy_is_said_to_be_good(workstation, tmp_path):
    """With what a reader wants to know of it."""
    file = tmp_path / "good.toml"
    file.write_text(POLICY)
    assert workstation.ok("policy", "check", str(file)) == (
        f"{file}: no fault; version 7, enforce\nteams: eyes; ceilings: idle.act\n"
    )


def test_the_policy_of_this_repository_is_good(workstation):
    """The one that a first deployment takes."""
    assert "no fault; version 1, observe" in workstation.ok(
        "policy", "check", str(ROOT / "infra/policy.toml")
    )


def test_a_bad_policy_is_refused_with_every_fault(workstation, tmp_path):
    """And an exit status that stops a deployment."""
    file = tmp_path / "bad.toml"
    file.write_text('mode = "act"\n[idle]\nact = 2\nthresold = 3\n')
    done = workstation.run("policy", "check", str(file))
    assert done.exit_code == 1
    assert done.stderr.splitlines() == [
        f"Error: {file}: 4 faults; nothing is done until it is fixed",
        '  mode: it is \'act\'; it must be "observe" or "enforce"',
        "  idle.act: it is the bare number 2; write a time such as 90s, 5m, 1h30m or 2d, with its unit",
        "  idle.thresold: unknown value; did you mean `threshold`?",
        '  version: it is missing; write a text in quotes, such as "1"',
    ]


def test_without_a_name_it_is_the_file_of_the_functions(shop):
    """SPOTWARDEN_POLICY, as they read it."""
    assert "version 7, enforce" in shop.ok("policy", "check")
    Path(shop._environment["SPOTWARDEN_POLICY"]).unlink()
    assert "no such file; a policy is expected there" in shop.refused("policy", "check")


def test_the_limits_of_a_job_are_explained(shop):
    """Each value with whose word it is, how far it could go, and what was said in vain."""
    job_toml(shop, '[rules.idle]\nact = "5h"\nthreshold = 6\nmode = "observe"\n')
    lines = shop.ok("policy", "explain", "test-vm", "--rule", "idle").splitlines()
    assert lines[0] == "test-vm: owner ada@example.com, of the team eyes"
    assert [re.split(" {2,}", line) for line in lines[1:-3]] == [
        ["RULE", "VALUE", "HOLDS", "FROM", "CEILING", "NOTE"],
        ["idle", "mode", "enforce", "default", "-", "job.toml says observe, but no job can change it"],
        ["idle", "remedy", "none", "default", "-", "-"],
        ["idle", "grace", "20m", "policy", "-", "-"],
        ["idle", "looks", "1", "default", "-", "-"],
        ["idle", "threshold", "6", "job", "-", "-"],
        ["idle", "warn", "1h, 1h45m", "default", "-", "-"],
        ["idle", "act", "4h", "ceiling", "4h", "job.toml says 5h"],
        ["idle", "lag", "7m", "default", "-", "-"],
        ["idle", "coverage", "0.8", "default", "-", "-"],
    ]
    assert lines[-3:-1] == ["", "exempt: nothing"]
    assert lines[-1].startswith("remedies: may be applied now, ")


def test_all_rules_are_explained_unless_one_is_named(shop):
    """As a table for people, as JSON for programs."""
    said = json.loads(shop.ok("policy", "explain", "test-vm", "--json"))
    assert (said["job"], said["owner"], said["team"]) == ("test-vm", "ada@example.com", "eyes")
    rules = list(dict.fromkeys(row[0] for row in said["limits"]))
    assert rules == list(RULES)
    assert ["idle", "act", "3h", "team", "4h", ""] in said["limits"]
    assert said["exempt"] == []


OWN = 'max_runtime = "20h"\nbudget = 10\n'
BOTH = POLICY + '[job_cap]\nmax_runtime = "9h"\nbudget = 99.0\n'


@pytest.mark.parametrize(
    ("policy", "own", "time", "money"),
    [
        (POLICY, "", ["no bound", "default", ""], ["no bound", "default", ""]),
        (POLICY, OWN, ["20h", "job", ""], ["10", "job", ""]),
        (BOTH, OWN, ["9h", "policy", "job.toml says 20h"], ["10", "job", ""]),
        (
            POLICY,
            OWN + "price_per_hour = 2.5\n",
            ["20h", "job", ""],
            ["10", "job", "at its price_per_hour of 2.5"],
        ),
        (
            BOTH,
            OWN + "price_per_hour = 2.5\n",
            ["9h", "policy", "job.toml says 20h"],
            ["99", "policy", "job.toml says 10 at its price_per_hour of 2.5; both hold"],
        ),
    ],
    ids=["nobody", "the job", "the lower one", "its own price", "both"],
)
def test_the_time_and_the_budget_of_a_job_are_explained(shop, policy, own, time, money):
    """They stand outside of its rules, and hold beside those of the policy."""
    Path(shop._environment["SPOTWARDEN_POLICY"]).write_text(policy)
    job_toml(shop, own)
    said = json.loads(shop.ok("policy", "explain", "test-vm", "--rule", "job_cap", "--json"))
    rows = {name: [holds, source, note] for _, name, holds, source, _, note in said["limits"]}
    assert (rows["max_runtime"], rows["budget"]) == (time, money)


def test_what_a_policy_does_not_bound_comes_from_the_defaults(shop):
    """Also where that is an empty table."""
    said = json.loads(shop.ok("policy", "explain", "test-vm", "--rule", "early_stop", "--json"))
    assert {source for _, _, _, source, _, _ in said["limits"]} == {"default"}


def test_who_keeps_it_is_said(shop, world):
    """The job's file, once for all rules; a label, by VM."""
    day = TODAY + timedelta(days=2)
    job_toml(shop, f"keep_until = {day}\n")
    create(world, "test-vm", {"spotwarden-job": "test-vm", "spotwarden-keep": "please"})
    create(world, "other", {"spotwarden-job": "other", "spotwarden-keep": "please"})
    shown = shop.ok("policy", "explain", "test-vm")
    assert [line for line in shown.splitlines() if line.startswith("exempt: ")] == [
        f"exempt: its job.toml keeps it until {day} (from every rule)",
        "exempt: test-vm in us-central1-a: " + UNREADABLE,
    ]


def test_what_a_job_says_of_one_rule_in_vain_keeps_it_from_that_rule(shop):
    """And is said with the rule."""
    job_toml(shop, "[rules.stall]\nafter = 3\n")
    shown = shop.ok("policy", "explain", "test-vm")
    (line,) = [line for line in shown.splitlines() if line.startswith("exempt: ")]
    assert line.startswith("exempt: its job.toml has an invalid value, so it is kept: rules.stall.after: ")
    assert line.endswith("(from stall)")


def test_a_closed_calendar_and_a_policy_that_observes_are_said(shop, tmp_path):
    """Nothing would be done now, whatever the limits."""
    file = tmp_path / "closed.toml"
    tomorrow = TODAY + timedelta(days=1)
    file.write_text(f'version = "1"\n[governance.calendar]\nholidays = [{TODAY}, {tomorrow}]\n')
    *_, remedies, mode = shop.ok("policy", "explain", "test-vm", "--policy", str(file)).splitlines()
    assert "is a holiday; remedies are applied every day (UTC); the next time is" in remedies
    assert mode == "mode: the policy only observes: Spotwarden decides and notifies, and changes nothing"


def test_a_job_that_is_not_there_is_refused(shop):
    """As in every command; nothing is made up."""
    assert "unknown job 'nobody'" in shop.refused("policy", "explain", "nobody")
    assert "is not a valid name" in shop.refused("policy", "explain", "No_Job")


def test_a_job_whose_ledger_is_broken_is_explained_by_what_is_broken(shop):
    """The object is named, without a traceback."""
    shop.store.write("test-vm/metadata/attempts/1.json", b"{", generation=None)
    assert "test-vm/metadata/attempts/1.json: " in shop.refused("policy", "explain", "test-vm")
