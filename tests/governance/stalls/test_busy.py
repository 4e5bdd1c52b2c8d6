"""Jobs at work of which nothing moves: told of, and stopped only where their own steps stand still."""

from datetime import timedelta

import pytest

from spotwarden.governance.stalls.rule import judge
from spotwarden.model.finding import Reading
from spotwarden.model.policy import Policy
from spotwarden.model.rule_limits import StallLimits
from tests.governance.reap.reapable import BEGAN, SECOND, ago, brief, on_record, seen, signs, vm
from tests.recovery.facts import NOW

AFTER = StallLimits().after
IDLE = Policy(version="test").idle.threshold
LONG_AGO = NOW - AFTER
BAD, UNKNOWN = Reading.BAD, Reading.UNKNOWN
BUSY = {"1001": 100.0}
TOLD = {"beats": {"test-vm": NOW}, "progress": {"test-vm": LONG_AGO}, "periodic": frozenset({"test-vm"})}
"""The kit on its VM has just said that its program last moved two hours ago."""
LOOP = {"beats": {"test-vm": LONG_AGO}}
"""Its training loop wrote its last heartbeat two hours ago."""
STEPS = {"steps": {"test-vm": 12.0}}
NODES = {"gang-1": "1", "gang-2": "2"}


def verdict(machine=None, **given):
    """The finding about the job of the VM 1001, of which this was heard."""
    found = list(judge(seen(on_record(signs=signs(**given)), machine or vm()), brief()))
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(
    ("given", "reads"),
    [
        (TOLD, BAD),
        ({**TOLD, "cpus": BUSY}, UNKNOWN),
        ({**TOLD, "cpus": BUSY, **STEPS}, BAD),
        (LOOP, BAD),
        ({**LOOP, "cpus": BUSY}, UNKNOWN),
        ({**LOOP, "cpus": BUSY, **STEPS}, BAD),
        ({**TOLD, "gpus": {"1001": IDLE}}, UNKNOWN),
        ({**TOLD, "gpus": {"1001": IDLE - 0.1}}, BAD),
        ({**TOLD, "gpus": {"1001": 100.0}, **STEPS}, BAD),
        ({**TOLD, "cpus": {}}, UNKNOWN),
        ({**TOLD, "cpus": {}, **STEPS}, BAD),
        ({**TOLD, "cpus": {}, "gpus": {"1001": 0.0}}, BAD),
        ({**TOLD, "cpus": BUSY, **STEPS, "problem": "no answer"}, UNKNOWN),
    ],
)
def test_the_table_of_busy_jobs(given, reads):
    """A collective operation without its partner spins; so does an epoch that takes three hours."""
    assert verdict(**given).reading is reads


@pytest.mark.parametrize(
    ("came", "reads"),
    [(NOW, BAD), (NOW - SECOND, UNKNOWN), (LONG_AGO, UNKNOWN)],
)
def test_steps_stand_still_as_long_as_somebody_has_watched_them(came, reads):
    """A kit that is gone says nothing of its program: that it was still until then is all that is known."""
    assert verdict(**{**TOLD, "beats": {"test-vm": came}, "cpus": BUSY, **STEPS}).reading is reads


def test_steps_of_an_attempt_before_say_nothing():
    """Its VM writes none, and is at work."""
    left = {"beats": {"test-vm": BEGAN - SECOND}, "progress": {"test-vm": BEGAN - SECOND}}
    assert verdict(**left, cpus=BUSY, **STEPS).reading is UNKNOWN
    began = {"beats": {"test-vm": BEGAN}, "progress": {"test-vm": BEGAN}}
    assert verdict(**began, cpus=BUSY, **STEPS).reading is BAD


@pytest.mark.parametrize(
    ("machine_type", "cpu", "reads"),
    [
        ("n2-standard-96", 0.53, UNKNOWN),
        ("n2-standard-96", 0.52, BAD),
        ("e2-standard-4", 2.99, BAD),
        ("e2-standard-4", 3.0, UNKNOWN),
        ("a3-highgpu-8g", 2.99, BAD),
    ],
)
def test_one_busy_core_of_many_is_work(machine_type, cpu, reads):
    """A program with one thread takes a hundredth of a large machine: half a core counts."""
    assert verdict(vm(machine_type=machine_type), **TOLD, cpus={"1001": cpu}).reading is reads


def test_a_busy_job_is_told_how_to_let_a_hang_be_found():
    """Nothing is done to it."""
    found = verdict(**TOLD, cpus=BUSY)
    assert not found.ripe
    assert "are busy" in found.reason
    assert "SPOTWARDEN_PROGRESS" in found.todo
    assert found.evidence["busiest CPU in the last hour"] == "100.0%"
    assert "no measurements" in verdict(**{**TOLD, "cpus": {}}).reason


def gang(**given):
    """What is found about a gang of two."""
    machines = [vm(id=instance, name=node) for node, instance in NODES.items()]
    record = on_record(instances=NODES, signs=signs(**given))
    found = list(judge(seen(record, *machines), brief()))
    return found[0] if found else None


def test_a_gang_at_work_is_stopped_where_the_steps_of_any_node_stand_still():
    """Only the first node reports them; the other one spins in a collective operation that does not end."""
    still = {
        "beats": dict.fromkeys(NODES, NOW),
        "progress": dict.fromkeys(NODES, ago(hours=3)),
        "periodic": frozenset(NODES),
        "cpus": {"1": 0.1, "2": 100.0},
    }
    told, acted = gang(**still), gang(**still, steps={"gang-1": 7.0})
    assert told is not None
    assert acted is not None
    assert (told.reading, acted.reading) == (UNKNOWN, BAD)
    assert acted.since == ago(hours=3)
    assert gang(**{**still, "progress": {"gang-1": ago(hours=3), "gang-2": ago(minutes=1)}}) is None


def test_a_job_that_moves_is_not_asked_about():
    """Neither told nor stopped."""
    moved = {**TOLD, "progress": {"test-vm": LONG_AGO + timedelta(seconds=1)}, "cpus": BUSY, **STEPS}
    assert list(judge(seen(on_record(signs=signs(**moved)), vm()), brief())) == []
