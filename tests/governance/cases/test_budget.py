"""Budgets throttle and do not block: the most certain first, the rest next sweep, large gangs by approval."""

from datetime import timedelta

import pytest

from spotwarden.model.governance import GovernanceLimits, Remedy
from spotwarden.model.rule_limits import IdleLimits, OrphanLimits
from tests.fakes.world import load
from tests.governance.made_up import MadeUp, Said
from tests.governance.reap.reap_world import ReapWorld

GRACE = timedelta(minutes=15)
STOP = IdleLimits(remedy=Remedy.STOP, grace=GRACE)
RIPE = Said(ripe=True)
TEN = GovernanceLimits(blast_count=10, blast_share=1.0, ops="ops@x.org")


@pytest.fixture
def world():
    """A rule that stops VMs, a quarter of an hour after its warning; ten in a sweep at most."""
    return MadeUp(STOP, governance=TEN)


def sweeps(world, minutes):
    """How many VMs each sweep acted upon, where it acted upon any."""
    done = []
    for _ in range(minutes // 5):
        before = len(world.asked())
        world.wait(minutes=5)
        world.sweep()
        done.append(len(world.asked()) - before)
    return [count for count in done if count]


# --- what is more than the budget waits for the next sweep ---


def test_twelve_finished_vms_are_gone_after_a_few_sweeps():
    """In a small project three at a time, and ops are told once, with how many wait."""
    world = ReapWorld(load("reap_vms"))
    for number in range(12):
        world.job(f"job-{number:02}")
        world.end(f"job-{number:02}")
    world.sweep()
    assert sweeps(world, 90) == [3, 3, 3, 3]
    told = [one for one in world.notices() if one.kind == "blast_radius"]
    assert len(told) == 1
    assert "9 VMs wait" in told[0].what
    assert told[0].owner == "ops@x.org"


def test_more_than_the_budget_goes_in_two_sweeps(world):
    """Twelve of twelve, where ten are allowed: the last two wait for five minutes."""
    for number in range(12):
        world.vm(f"vm-{number:02}", said=RIPE)
    world.sweep()
    assert sweeps(world, 60) == [10, 2]


@pytest.mark.parametrize(("later", "done"), [(0, 10), (59, 10), (60, 12)])
def test_a_doubled_tick_has_no_budget_of_its_own(world, later, done):
    """Scheduler delivers at least once: two ticks within a minute act on as many VMs as one."""
    for number in range(12):
        world.vm(f"vm-{number:02}", said=RIPE)
    world.sweep()
    world.wait(minutes=15)
    world.sweep()
    world.wait(seconds=later)
    world.sweep()
    assert len(world.asked()) == done


def test_ticks_that_come_often_are_not_held_up_for_ever(world):
    """Each twenty seconds: there is a new budget each minute."""
    for number in range(30):
        world.vm(f"vm-{number:02}", said=RIPE)
    world.sweep()
    world.wait(minutes=15)
    for _ in range(7):
        world.sweep()
        world.wait(seconds=20)
    assert len(world.asked()) == 30


def test_who_waits_is_told_of_once_and_again_only_when_it_happens_again(world):
    """Not each sweep, not each hour; a month later it is news again."""
    world.set_policy(governance=GovernanceLimits(blast_count=1, blast_share=1.0, ops="ops@x.org"))
    for number in range(20):
        world.vm(f"vm-{number:02}", said=RIPE)
    world.sweep()
    world.sweep_for(hours=3)
    assert len(world.asked()) == 20
    assert world.kinds().count("blast_radius") == 1
    world.said.clear()
    world.wait(days=30)
    for number in range(2):
        world.vm(f"later-{number}", said=RIPE)
    world.sweep()
    world.sweep_for(hours=1)
    assert len(world.asked()) == 22
    assert world.kinds().count("blast_radius") == 2


def test_the_most_harmless_goes_first(world):
    """Of three in one sweep for two: a stop that discards the data on local SSDs comes last."""
    world.set_policy(governance=GovernanceLimits(blast_count=2, blast_share=1.0, ops="ops@x.org"))
    costly = world.vm("costly", said=RIPE, local_ssds=1)
    plain = [world.vm(f"plain-{number}", said=RIPE) for number in range(2)]
    world.sweep()
    world.sweep_for(minutes=15)
    assert {target for _, target in world.asked()} == set(plain)
    world.sweep_for(minutes=5)
    assert world.asked()[-1] == ("stop", costly)


def test_the_oldest_case_goes_first(world):
    """So that nothing waits for ever, however much comes after it."""
    world.set_policy(governance=GovernanceLimits(blast_count=1, blast_share=1.0, ops="ops@x.org"))
    old = world.vm("z-old", said=RIPE)
    world.sweep()
    for number in range(6):
        world.wait(minutes=2)
        world.vm(f"a-{number}", said=RIPE)
        world.sweep()
    world.wait(minutes=3)
    world.sweep()
    assert world.asked() == [("stop", old)]


def test_the_most_certain_rule_goes_first():
    """A VM whose job has ended before a VM of a job that is silent, whichever was found first."""
    world = ReapWorld(load("reap_vms"), governance=GovernanceLimits(blast_count=1, ops="ops@x.org"))
    hung = world.job("hung")["hung"]
    world.beat("hung", job="hung")
    done = world.job("done")["done"]
    world.set_policy(orphan=OrphanLimits(grace=timedelta(minutes=30)))
    world.sweep()
    world.sweep_for(hours=1, minutes=45)
    world.end("done")
    world.sweep_for(hours=2)
    assert world.asked() == [("delete", done), ("stop", hung)]
