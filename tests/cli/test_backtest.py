"""`spotwarden backtest`: sweeps of a small project, replayed under policies that a user writes."""

import json
from datetime import timedelta

import pytest

from spotwarden.layout import StatusCode, SweepRecord
from spotwarden.model.governance import Remedy
from spotwarden.model.rule_limits import IdleLimits
from tests.fakes.world import load
from tests.governance.idle.idle_world import BUSY, IdleWorld

EVER = ("--since", "36500d", "--function", "flag_idle_gpus")
MINUTE = timedelta(minutes=1)
STOPS = (
    'version = "{version}"\n[governance]\nops = "ops@x.org"\n'
    '[idle]\nremedy = "stop"\nwarn = ["60m"]\nact = "{act}"\ngrace = "10m"\n'
)


@pytest.fixture(scope="module")
def recorded():
    """Eight hours of three VMs under a policy that only tells: one sleeps, one takes a nap, one works."""
    world = IdleWorld(load("flag_idle_gpus"), idle=IdleLimits(remedy=Remedy.NONE))
    napper = world.vm(0.0, name="napper", job="napping")
    world.vm(0.0, 0.0, name="sleeper", job="sleeping")
    world.vm(BUSY, name="worker", job="working")
    world.ticks(minutes=150)
    world.gauges.work(napper, BUSY)
    world.ticks(minutes=330)
    return world


@pytest.fixture
def project(workstation, recorded):
    """A bucket with what was recorded."""
    for row in recorded.cloud.store.entries("spotwarden/sweeps/"):
        workstation.store.write(row.name, recorded.cloud.store.read(row.name).data, generation=0)
    return workstation


@pytest.fixture
def policy(tmp_path):
    """Write a policy; gives its file."""

    def write(act, name="new.toml", version="new"):
        file = tmp_path / name
        file.write_text(STOPS.format(act=act, version=version))
        return str(file)

    return write


def test_wrong_kills_come_first(project, policy):
    """Stopping after 90 minutes would have stopped the napper an hour before it woke up."""
    first, wrong, one, *_ = project.ok("backtest", "--policy", policy("90m"), *EVER).splitlines()
    assert first.startswith("flag_idle_gpus: 48 sweeps from 2026-01-05 09:10 to 2026-01-05 17:00 UTC")
    assert first.endswith("recorded under policy test")
    assert wrong.strip() == "WRONG KILLS: 1 of 2"
    assert "stop napper" in one
    assert "a GPU was busy again" in one


def test_a_later_remedy_spares_the_napper(project, policy):
    """Nobody was hit; the sleeper's two GPUs are what is saved."""
    told = project.ok("backtest", "--policy", policy("4h"), *EVER)
    assert "WRONG KILLS: none seen among 1" in told
    assert "unknown: no price" in told
    assert "stop sleeper" in told
    (row,) = json.loads(project.ok("backtest", "--policy", policy("4h"), *EVER, "--json"))[0]["new"]["sums"]
    assert row["vm_hours"] == pytest.approx(3.8, abs=0.2)
    assert row["gpu_hours"] == 2 * row["vm_hours"]


def test_it_is_set_beside_the_present_policy(project, policy):
    """Where there is a policy file; each with what it would have done."""
    policy("90m", "policy.toml", "old")
    compared = json.loads(project.ok("backtest", "--policy", policy("4h"), *EVER, "--json"))[0]
    new, now = compared["new"], compared["now"]
    assert (new["replayed"]["policy"], now["replayed"]["policy"]) == ("new", "old")
    assert [(one["remedies"], one["wrong"]) for one in (new["sums"][0], now["sums"][0])] == [(1, 0), (2, 1)]
    told = project.ok("backtest", "--policy", policy("4h"), *EVER)
    assert "present (old)" in told


def test_a_job_that_ended_well_meanwhile_is_a_wrong_kill(project, policy):
    """Its status was written after the remedy would have come, while the VM was there."""
    project.store.write(project.layout.build(StatusCode(job="sleeping")), b"0\n", generation=0)
    told = project.ok("backtest", "--policy", policy("4h"), *EVER)
    assert "WRONG KILLS: 1 of 1" in told
    assert "its job ended with status 0" in told


def test_a_job_that_failed_is_no_objection(project, policy):
    """Status 1 is no useful work."""
    project.store.write(project.layout.build(StatusCode(job="sleeping")), b"1\n", generation=0)
    assert "WRONG KILLS: none" in project.ok("backtest", "--policy", policy("4h"), *EVER)


def test_nothing_recorded_is_said_so(workstation, policy):
    """For every function, where none is named."""
    told = workstation.ok("backtest", "--policy", policy("4h"))
    assert told.count("no recorded sweeps in this time") == 4


def test_only_the_time_that_is_asked_for_is_replayed(project, policy):
    """What was recorded before is left alone."""
    told = project.ok("backtest", "--policy", policy("4h"), "--since", "1s", "--function", "flag_idle_gpus")
    assert "no recorded sweeps in this time" in told


def test_a_record_that_cannot_be_read_is_told(project, policy):
    """By name; the others are replayed."""
    day = next(iter(project.store.entries("spotwarden/sweeps/"))).name.split("/")[-2]
    broken = f"spotwarden/sweeps/flag_idle_gpus/{day}/000000-broken.json.gz"
    assert isinstance(project.layout.parse(broken), SweepRecord)
    project.store.write(broken, b"?", generation=0)
    told = project.ok("backtest", "--policy", policy("4h"), *EVER)
    assert "1 records cannot be read" in told
    assert broken in told
    assert "48 sweeps" in told


def test_a_policy_with_a_fault_is_refused(project, tmp_path):
    """With its place; nothing is replayed under half of it."""
    bad = tmp_path / "bad.toml"
    bad.write_text('version = "1"\n[idle]\nact = "soon"\n')
    assert "idle.act" in project.refused("backtest", "--policy", str(bad), *EVER)


def test_a_back_test_changes_nothing(project, policy):
    """It reads, and writes not a single object."""
    before = [(row.name, row.generation) for row in project.store.entries("")]
    project.ok("backtest", "--policy", policy("90m"), *EVER)
    assert [(row.name, row.generation) for row in project.store.entries("")] == before
