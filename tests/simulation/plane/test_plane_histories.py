"""Histories of the whole plane, and what they must be like to be worth anything."""

import os
from collections import Counter

import pytest

from tests.simulation import commands as c
from tests.simulation.mutants import MUTANTS
from tests.simulation.plane import commands as p
from tests.simulation.plane.draw import BLOWS, STORIES, WAITING
from tests.simulation.plane.run import PlaneSetting, replay, story
from tests.simulation.run import play_all, run

HISTORIES = int(
    os.environ.get("SPOTWARDEN_PLANE_HISTORIES") or os.environ.get("SPOTWARDEN_HISTORIES") or "300"
)
"""A share that fits a run of the tests; continuous integration plays more (`.ci/run`)."""
HUNTS = HISTORIES // 5
"""Besides, so many in which people act while sweeps sleep."""
FLEX = int(os.environ.get("SPOTWARDEN_FLEX_HISTORIES") or str(max(HISTORIES // 10, 10)))
"""And so many with a job whose VM waits for room, which take four times as long."""
FLEX_PART = 250
RERUNS = min(max(HISTORIES // 10, 10), 250)
"""And so many in which somebody runs a job's script again: one in 400 after them fails as yet."""
WAITS = ("is PENDING", "its request has expired", "it has come to its time limit", "deletes it in line")
PART = 1_000
"""Histories of one test, so that each has the time limit of a test for itself."""


@pytest.mark.parametrize("first", range(0, HISTORIES, PART))
def test_the_plane_keeps_its_word_in_every_history(first):
    """Nobody else's VM, no VM without a warning, nothing back that a person ended, no mail untrue."""
    setting, count = PlaneSetting(), min(PART, HISTORIES - first)
    whole = run(setting, count, first=first)
    assert whole.failed is None, story(setting, whole.failed)
    assert whole.played == count


@pytest.mark.parametrize("first", range(0, HUNTS, PART))
def test_the_plane_keeps_its_word_while_sweeps_sleep_and_people_act(first):
    """What a sweep has decided upon may no longer be so when it goes on."""
    setting, count = PlaneSetting(hunts=True), min(PART, HUNTS - first)
    whole = run(setting, count, first=first)
    assert whole.failed is None, story(setting, whole.failed)
    assert whole.played == count


@pytest.mark.parametrize("first", range(0, FLEX, FLEX_PART))
def test_the_plane_keeps_its_word_while_vms_wait_for_room(first):
    """No rule counts the wait, nothing is made beside it, and a person's delete of it is heard."""
    setting, count = PlaneSetting(story="flex"), min(FLEX_PART, FLEX - first)
    whole = run(setting, count, first=first)
    assert whole.failed is None, story(setting, whole.failed)
    assert whole.played == count


@pytest.mark.parametrize("first", range(0, RERUNS, PART))
def test_the_plane_keeps_its_word_while_people_run_scripts_again(first):
    """The job goes on with their VM, and no second one is made beside it by whoever can see it."""
    setting, count = PlaneSetting(story="rerun"), min(PART, RERUNS - first)
    whole = run(setting, count, first=first)
    assert whole.failed is None, story(setting, whole.failed)
    assert whole.played == count


def test_scripts_are_run_again_in_the_histories_of_that():
    """In several of thirty while recovery is at work: a notice says that the job goes on with that VM."""
    worlds = []
    for number in range(30):
        setting = PlaneSetting(story="rerun")
        worlds.append(setting.world())
        setting.faults(setting.history(number), worlds[-1])
    assert sum(any(job.launches > 1 for job in world.jobs) for world in worlds) > 5
    told = [notice.what for world in worlds for _, notice in world.oracle.notices.values()]
    assert sum("on a VM started by hand" in what for what in told) > 1, told


def test_vms_wait_for_room_expire_and_end_at_their_limit_in_the_histories_of_flex_start():
    """Of thirty histories several have each, and a person deletes one that waits."""
    seen = Counter[str]()
    for number in range(30):
        setting = PlaneSetting(story="flex")
        world = setting.world(verbose=True)
        setting.faults(setting.history(number), world)
        seen += Counter({what: sum(what in line for line in world.log) for what in WAITS})
    assert min(seen[what] for what in WAITS) > 3, seen


def test_sweeps_sleep_in_most_hunts_and_a_seed_gives_the_same_again():
    """A hunt without a sweep that goes on shows little."""
    setting = PlaneSetting(hunts=True)
    drawn = [setting.history(number) for number in range(200)]
    asleep = [any(getattr(command, "then", None) is c.Then.PAUSE for command in each) for each in drawn]
    assert sum(asleep) > 150
    assert all(any(isinstance(command, c.Run) for command in each) for each in drawn)
    assert drawn[7] == setting.history(7) != PlaneSetting(hunts=True, seed="2").history(7)


def test_histories_of_the_plane_are_rich():
    """Sixty of them kill and go on with runs, bring jobs back, send mails, and stop and delete VMs."""
    count = play_all(range(60), PlaneSetting()).count
    assert count.sweeps > 3_000
    assert min(count.kills, count.faults, count.switches, count.recoveries) > 4
    assert min(count.mails, count.removed) > 20


def test_a_seed_gives_the_same_history_of_the_plane_again():
    """To the last call; another seed gives another."""
    setting = PlaneSetting()
    first, again = (setting.faults(setting.history(7))[1] for _ in range(2))
    assert first == again
    assert setting.history(7) != PlaneSetting(seed="2").history(7)


def test_every_blow_is_drawn():
    """None of what may happen is left out by mistake."""
    setting = PlaneSetting(without=())
    drawn = [command for number in range(600) for command in setting.history(number)]
    mine = {c.Preempt, c.FailHost, c.Reboot, c.Stray, c.Stock, c.Hide, c.Forget, c.Forbid, c.Pass, c.Run}
    theirs = {kind for kind in vars(p).values() if isinstance(kind, type) and issubclass(kind, c.Command)}
    drawn += [command for number in range(9) for command in PlaneSetting(story="rerun").history(number)]
    assert {type(command) for command in drawn} == (theirs | mine) - {c.Command}
    assert {command.function for command in drawn if isinstance(command, p.Sweep)} == set(p.Function)
    assert {command.lie for command in drawn if isinstance(command, p.Deceive)} == set(p.Lie)
    assert {command.change for command in drawn if isinstance(command, p.SetPolicy)} == set(p.PolicyChange)
    assert {(command.port, command.fault) for command in drawn if isinstance(command, p.Outage)} == {
        (port, fault) for port in p.Port for fault in p.Fault
    }


def test_what_is_switched_off_is_a_blow_that_there_is():
    """A blow that nobody draws any more could not be switched on again."""
    assert set(WAITING) <= {*BLOWS, *STORIES}


def test_a_story_of_the_plane_can_be_played_again():
    """From the JSON at its end, with the same fault: here of a product that clears no marker."""
    setting = PlaneSetting()
    with MUTANTS["markers are never cleared"].applied():
        failed = play_all(range(40), setting).failed
        assert failed is not None
        told = story(setting, failed)
        faults, _ = replay(told.partition("As JSON: ")[2], setting)
    assert faults
    assert faults[0] in told


def test_blows_are_drawn_as_often_as_they_say():
    """A history without a preemption tells little of recovery."""
    drawn = [type(command) for number in range(200) for command in PlaneSetting().history(number)]
    counts = Counter(drawn)
    assert counts[c.Preempt] > counts[p.Collapse] > 0
