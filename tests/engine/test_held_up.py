"""A function that was held up between two lines: a laptop that slept, a CPU that was taken away."""

from collections.abc import Collection
from datetime import timedelta

import pytest

from spotwarden.engine.context import SweepContext
from spotwarden.model.case import CaseState
from spotwarden.model.governance import Remedy
from spotwarden.model.rule_limits import IdleLimits
from tests.governance.made_up import RULE, Facts, MadeUp, Said

GRACE = timedelta(minutes=15)
RIPE = Said(ripe=True)
IN_TIME = timedelta(minutes=5)


class HeldUp(MadeUp):
    """Each look takes as long as a test says, once everything has been seen: the first, or the second."""

    first = second = timedelta(0)

    def _look(self, context: SweepContext, only: Collection[str]) -> Facts:
        facts = super()._look(context, only)
        self.cloud.clock.advance(self.second if only else self.first)
        return facts


@pytest.fixture
def world() -> HeldUp:
    """A rule that stops VMs, a quarter of an hour after its warning."""
    return HeldUp(IdleLimits(remedy=Remedy.STOP, grace=GRACE))


@pytest.mark.parametrize("remedy", [Remedy.STOP, Remedy.DELETE])
def test_who_wakes_up_too_late_sends_nothing(world: HeldUp, remedy: Remedy):
    """What the second look saw was long ago; the next sweep looks for itself."""
    world.limits = IdleLimits(remedy=remedy, grace=GRACE)
    vm = world.vm(said=RIPE)
    world.sweep()
    world.wait(minutes=15)
    world.second = IN_TIME
    world.sweep()
    assert world.asked() == []
    world.second = timedelta(0)
    world.wait(minutes=5)
    world.sweep()
    assert world.asked() == [(remedy.value, vm)]


def test_who_is_a_little_late_acts_all_the_same(world: HeldUp):
    """A large project takes its time."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.wait(minutes=15)
    world.second = IN_TIME - timedelta(seconds=1)
    world.sweep()
    assert world.asked() == [("stop", vm)]


def test_the_grace_begins_when_the_warning_was_accepted(world: HeldUp):
    """Not when the sweep began that gave it: it slept for nine minutes in between."""
    vm = world.vm(said=RIPE)
    world.first = timedelta(minutes=9)
    world.sweep()
    world.first = timedelta(0)
    world.wait(seconds=GRACE.total_seconds() - 1)
    world.sweep()
    assert world.asked() == []
    case = world.case(RULE, vm)
    assert case is not None
    assert case.state is CaseState.WARNED
    world.wait(seconds=1)
    world.sweep()
    assert world.asked() == [("stop", vm)]
