"""A gang idles as one, and is acted upon as one."""

import pytest
from msgspec.structs import replace

from spotwarden.governance.idle.rule import grid, judge
from spotwarden.governance.signals.text import target
from spotwarden.model.case import CaseState
from spotwarden.model.finding import Reading
from spotwarden.model.governance import GovernanceLimits, Remedy
from spotwarden.model.rule_limits import IdleLimits
from tests.fakes.world import load
from tests.governance.idle.idle_vms import IDLE, MINUTE, NOW, brief, case, facts, judged, row, vm, with_idle
from tests.governance.idle.idle_world import BUSY, IdleWorld

BUSY_ROW = (*IDLE[1:], 90.0)
FIRST, SECOND = vm(id="11", name="gang-1"), vm(id="12", name="gang-2")


def findings(*cases, machines=(FIRST, SECOND), **said):
    """The findings about these VMs."""
    return judge(facts(*machines, **said), brief(*cases)).findings


def gang(first=IDLE, second=IDLE, *cases, machines=(FIRST, SECOND)):
    """The findings about a gang of two with these buckets."""
    rows = {"11": row(first), "12": row(second)}
    jobs = {machine.id: "train" for machine in machines}
    return findings(*cases, machines=machines, rows=rows, jobs=jobs)


def test_a_gang_of_which_all_idle_is_one_finding_about_all_its_nodes():
    """One case, named by the job: one answer keeps them all, and the remedy takes them all."""
    (finding,) = gang()
    assert finding.subject.key == finding.subject.job == "train"
    assert [target.id for target in finding.subject.targets] == ["11", "12"]


@pytest.mark.parametrize("busy", [0, 1])
def test_a_gang_of_which_one_node_works_does_not_idle(busy):
    """Whichever it is: the others may wait for it."""
    rows = [IDLE, IDLE]
    rows[busy] = BUSY_ROW
    assert gang(*rows) == ()


def test_a_gang_of_which_one_node_is_unknown_is_unknown():
    """What nobody knows never leads to an action."""
    rows = {"11": row(IDLE), "12": row(IDLE, points=(1,) * 6)}
    (finding,) = findings(rows=rows, jobs={"11": "train", "12": "train"})
    assert finding.reading is Reading.UNKNOWN
    assert finding.subject.key == "train"


def test_a_gang_idles_since_its_last_node_worked():
    """So long as its case has been seen through, its idle time goes on from there."""
    since = NOW - 200 * MINUTE
    (finding,) = gang(IDLE, IDLE, case(since, key="train"))
    assert finding.since == since
    (other,) = gang()
    assert other.since > since


@pytest.mark.parametrize(("state", "key"), [(CaseState.DUE, "train"), (CaseState.WARNED, "12")])
def test_what_a_remedy_has_left_of_a_gang_is_the_gang_still(state, key):
    """A sweep may be cut off between two nodes: the case goes on, and nobody is told that it is over."""
    warned = case(NOW - 200 * MINUTE, key="train", state=state)
    whole = replace(warned, subject=replace(warned.subject, targets=(target(FIRST), target(SECOND))))
    (finding,) = gang(IDLE, IDLE, whole, machines=(SECOND,))
    assert finding.subject.key == key
    assert [left.id for left in finding.subject.targets] == ["12"]


@pytest.mark.parametrize(("ago", "idle"), [(5, True), (3, True), (2, False), (1, False)])
def test_a_gang_that_has_lost_its_busy_node_idles_only_since_then(ago, idle):
    """The others waited for it: that the one with load is gone makes nobody of them idle for longer."""
    policy = with_idle(warn=(30 * MINUTE, 45 * MINUTE), act=60 * MINUTE)
    wanted = grid(policy, NOW)
    per = 10 * MINUTE // wanted.step
    worked = [90.0 if index < wanted.count - ago * per else -1.0 for index in range(wanted.count)]
    still = row((1.0,) * wanted.count)
    rows = {"11": still, "12": still, "13": row(worked)}
    jobs = {"11": "train", "12": "train"}
    seen = judged(policy=policy, machines=(FIRST, SECOND), rows=rows, jobs=jobs, lost={"train": ("13",)})
    assert bool(seen.findings) is idle
    if idle and ago * per < wanted.count:
        assert seen.findings[0].since == NOW - ago * 10 * MINUTE


def test_nodes_of_another_attempt_and_of_another_job_are_no_gang():
    """The old VM of an attempt before is judged by itself."""
    old = vm(id="12", name="gang-2", labels={"spotwarden-job": "train", "spotwarden-attempt": "1"})
    new = vm(id="11", name="gang-1", labels={"spotwarden-job": "train", "spotwarden-attempt": "2"})
    assert {finding.subject.key for finding in gang(machines=(new, old))} == {"11", "12"}
    rows = {"11": row(IDLE), "12": row(IDLE)}
    apart = findings(rows=rows, jobs={"11": "train", "12": "other"})
    assert {finding.subject.key for finding in apart} == {"11", "12"}


@pytest.mark.parametrize(("busy", "keys"), [(False, {"train"}), (True, set())])
def test_the_record_says_what_a_gang_is_and_not_the_label(busy, keys):
    """A node that was refilled has another label, and is a node of the same attempt all the same."""
    old = vm(id="12", name="gang-2", labels={"spotwarden-job": "train", "spotwarden-attempt": "1"})
    new = vm(id="11", name="gang-1", labels={"spotwarden-job": "train", "spotwarden-attempt": "2"})
    rows = {"11": row(IDLE), "12": row(BUSY_ROW if busy else IDLE)}
    jobs, on_record = {"11": "train", "12": "train"}, {"11": 2, "12": 2}
    found = findings(machines=(new, old), rows=rows, jobs=jobs, attempts=on_record)
    assert {finding.subject.key for finding in found} == keys


def test_a_node_that_is_to_be_kept_keeps_its_gang():
    """Its label spares all of them."""
    kept = vm(id="12", name="gang-2", labels={"spotwarden-job": "train", "spotwarden-keep": "2026-12-31"})
    (finding,) = gang(machines=(FIRST, kept))
    assert finding.exempt


@pytest.fixture(scope="module")
def module():
    """functions/flag_idle_gpus/main.py."""
    return load("flag_idle_gpus")


@pytest.mark.parametrize("works", [True, False])
def test_the_idle_rule_stops_a_gang_as_one_or_not_at_all(module, works):
    """Three of its nodes idle all day; the fourth decides."""
    world = IdleWorld(
        module,
        idle=IdleLimits(remedy=Remedy.STOP),
        governance=GovernanceLimits(blast_least=4, ops="ops@x.org"),
    )
    nodes = [world.vm(0.0, name=f"gang-{number}", job="gang") for number in (1, 2, 3)]
    last = world.vm(BUSY if works else 0.0, name="gang-4", job="gang")
    world.ticks(hours=6)
    stopped = {target for _, target in world.asked()}
    assert stopped == (set() if works else {*nodes, last})
    assert world.kinds().count("idle_acted") == (0 if works else 1)


def test_the_load_of_a_node_that_is_lost_is_asked_for(module):
    """At both looks: three nodes wait for the one that works; it is taken, and they idle since then."""
    world = IdleWorld(
        module,
        idle=IdleLimits(remedy=Remedy.STOP),
        governance=GovernanceLimits(blast_least=4, ops="ops@x.org"),
    )
    nodes = {f"gang-{number}": world.vm(0.0, name=f"gang-{number}", job="gang") for number in (1, 2, 3)}
    busy = world.vm(BUSY, name="gang-4", job="gang")
    world.write_down("gang", **{**nodes, "gang-4": busy})
    world.ticks(hours=4)
    assert world.kinds() == []
    world.cloud.compute.preempt(busy)
    world.gauges.work(busy)
    world.ticks(minutes=30)
    assert world.kinds() == []
    world.ticks(hours=5)
    assert world.kinds()[0] == "idle_warning"
    assert {target for _, target in world.asked()} == {*nodes.values()}
