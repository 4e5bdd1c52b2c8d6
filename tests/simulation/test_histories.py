"""Histories of recovery, and what a history itself must be like to be worth anything."""

import os
from collections import Counter
from typing import get_args

import pytest

from tests.simulation import commands as c
from tests.simulation.history import shorten
from tests.simulation.run import Setting, play_all, replay, run, story

HISTORIES = int(os.environ.get("SPOTWARDEN_HISTORIES") or "300")
"""A share that fits a run of the tests; continuous integration plays ten thousand (`.ci/run`)."""
FLEX_HISTORIES = 150
BENT_HISTORIES = 150
WIDE_HISTORIES = 150
"""Of their own: with gangs that bend among them all other histories would be other ones."""


def test_the_protocol_holds_in_every_history():
    """No second attempt, no start after the end, nobody else's VM, nothing lost, nobody forgotten."""
    setting = Setting()
    whole = run(setting, HISTORIES)
    assert whole.failed is None, story(setting, whole.failed)
    assert whole.played == HISTORIES


def test_a_gang_that_bends_holds_in_its_histories():
    """Nothing of it is made beside a VM of the same name, nor made again that its owner has removed."""
    setting = Setting(kinds=(c.Kind.BENT,), without=("start_again",))
    whole = run(setting, BENT_HISTORIES)
    assert whole.failed is None, story(setting, whole.failed)


def test_a_job_that_hands_over_in_any_zone_of_a_region_holds_in_its_histories():
    """Its successor is made beside it, never in its zone; no request that may be repeated is forgotten."""
    setting = Setting(kinds=(c.Kind.WIDE,), without=("forget",))
    whole = run(setting, WIDE_HISTORIES)
    assert whole.failed is None, story(setting, whole.failed)


def test_a_flex_start_job_holds_in_its_histories():
    """It waits for room, expires unserved, runs to its time limit, and comes back each time."""
    setting = Setting(kinds=(c.Kind.FLEX,))
    whole = run(setting, FLEX_HISTORIES)
    assert whole.failed is None, story(setting, whole.failed)


def test_histories_are_rich():
    """A hundred of them kill sweeps, lose answers, interleave sweeps and bring jobs back."""
    count = play_all(range(100), Setting()).count
    assert count.sweeps > 500
    assert min(count.kills, count.faults, count.switches, count.recoveries) > 20
    assert count.moves > 3


def test_a_seed_gives_the_same_history_again():
    """To the last call; another seed gives another."""
    setting = Setting()
    first, again = (setting.faults(setting.history(7))[1] for _ in range(2))
    assert first == again
    assert setting.history(7) != Setting(seed="2").history(7)


def test_every_blow_and_every_fate_is_drawn():
    """None of what may happen is left out by mistake."""
    drawn = [command for number in range(400) for command in Setting().history(number)]
    kinds = Counter(type(command) for command in drawn)
    assert set(kinds) == set(get_args(c.AnyCommand))
    fates = {command.then for command in drawn if isinstance(command, c.Sweep | c.Run)}
    assert fates == set(c.Then)
    assert {command.word for command in drawn if isinstance(command, c.Preempt)} == set(c.Word)
    apart = {c.Kind.BENT, c.Kind.WIDE, c.Kind.FLEX}
    assert {command.kind for command in drawn if isinstance(command, c.Submit)} == {*c.Kind} - apart


def test_a_failing_history_is_cut_down_to_what_matters():
    """What is left fails, and nothing of it can be left out."""
    commands = [c.Pass(seconds=number) for number in range(40)]

    def fails(some):
        return {c.Pass(seconds=3), c.Pass(seconds=31)} <= set(some)

    assert shorten(commands, fails) == [c.Pass(seconds=3), c.Pass(seconds=31)]


def test_a_story_can_be_played_again():
    """From the JSON at its end, with the same fault."""
    setting = Setting(mutation="what is stopping counts as gone")
    failed = play_all(range(50), setting).failed
    assert failed is not None
    told = story(setting, failed)
    faults, _ = replay(told.partition("As JSON: ")[2], setting)
    assert faults
    assert faults[0] in told


@pytest.mark.parametrize("then", list(c.Then))
def test_any_single_fate_of_any_call_is_survived(then):
    """At every call of the first sweep that finds the VM gone."""
    start = [c.Submit(kind=c.Kind.SOLO), c.Preempt(), c.Pass(seconds=60)]
    for calls in range(1, 60):
        faults, _ = Setting().faults([*start, c.Sweep(calls=calls, then=then), c.Pass(seconds=5)])
        assert not faults, calls
