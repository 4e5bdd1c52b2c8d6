"""Which warning a remedy may follow: one about this very trouble, these VMs, this remedy, in good time."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.case import CaseState
from spotwarden.model.finding import Reading
from spotwarden.model.governance import Mode, Remedy
from spotwarden.model.instance import Status
from spotwarden.model.rule_limits import IdleLimits
from tests.fakes.trouble import unanswered
from tests.governance.made_up import RULE, MadeUp, Said

GRACE = timedelta(minutes=15)
STOP = IdleLimits(remedy=Remedy.STOP, grace=GRACE)
RIPE = Said(ripe=True)


@pytest.fixture
def world() -> MadeUp:
    """A rule that stops VMs, a quarter of an hour after its warning."""
    return MadeUp(STOP)


def done_after_a_new_grace(world: MadeUp) -> list[tuple[str, str]]:
    """What is done once the next sweep has warned again; a second short of the new grace nothing is."""
    world.sweep()
    assert world.asked() == []
    assert world.kinds() == ["idle_warning"] * 2
    world.wait(seconds=GRACE.total_seconds() - 1)
    world.sweep()
    assert world.asked() == []
    world.wait(seconds=1)
    world.sweep()
    assert world.kinds() == ["idle_warning"] * 2 + ["idle_acted"]
    return world.asked()


def test_who_was_told_that_nothing_will_be_done_is_warned_before_something_is(world: MadeUp):
    """A policy that begins to stop VMs stops none on the word that they are only told about."""
    world.limits = IdleLimits(grace=GRACE)
    vm = world.vm(said=RIPE)
    world.sweep_for(hours=1)
    world.limits = STOP
    assert done_after_a_new_grace(world) == [("stop", vm)]
    assert "it will be stopped" in world.notices()[1].then


def test_who_was_warned_of_a_stop_is_warned_anew_of_a_deletion(world: MadeUp):
    """Whoever knows that the disks stay has no reason to save them."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.wait(minutes=10)
    world.limits = IdleLimits(remedy=Remedy.DELETE, grace=GRACE)
    world.wait(minutes=10)
    assert done_after_a_new_grace(world) == [("delete", vm)]
    assert "it will be deleted" in world.notices()[1].then


def test_a_warning_about_an_earlier_trouble_does_not_count(world: MadeUp):
    """It moved while nobody saw it, and stands still again since."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.wait(minutes=30)
    world.say(vm, since=world.now - timedelta(minutes=20))
    assert done_after_a_new_grace(world) == [("stop", vm)]


def test_a_warning_that_came_after_the_trouble_began_counts(world: MadeUp):
    """However long after, and to the minute: not every rule can date it to the second."""
    vm = world.vm(said=Said(ripe=True, since=world.now + timedelta(seconds=59)))
    world.sweep()
    world.wait(minutes=15)
    world.sweep()
    assert world.asked() == [("stop", vm)]


def test_a_vm_that_came_later_is_not_stopped_on_the_word_about_another(world: MadeUp):
    """The case is the same, as that of a job is, and the VM is not."""
    first = world.vm("first", said=RIPE)
    world.sweep()
    second = world.vm("second", said=None)
    world.say(first, beside=(second,))
    world.wait(minutes=20)
    assert done_after_a_new_grace(world) == [("stop", first), ("stop", second)]


def test_what_was_warned_of_together_may_be_done_to_what_is_left_of_it(world: MadeUp):
    """One of two VMs is gone by itself: the other's warning still counts."""
    first, second = world.vm("first", said=None), world.vm("second", said=None)
    world.said[first] = Said(ripe=True, beside=(second,))
    world.sweep()
    world.say(first, beside=())
    world.wait(minutes=15)
    world.sweep()
    assert world.asked() == [("stop", first)]
    assert world.kinds() == ["idle_warning", "idle_acted"]


def test_vms_that_come_and_go_are_not_told_of_each_time(world: MadeUp):
    """As long as nothing is to be done about them."""
    first = world.vm("first", said=Said())
    world.sweep()
    for number in range(5):
        world.say(first, beside=(world.vm(f"other-{number}", said=None),))
        world.wait(minutes=5)
        world.sweep()
    assert world.kinds() == ["idle_warning"]


def test_nothing_is_done_before_the_moment_that_the_owner_was_told(world: MadeUp):
    """A grace that was made shorter meanwhile holds for the next warning."""
    world.limits = IdleLimits(remedy=Remedy.STOP, grace=timedelta(hours=1))
    vm = world.vm(said=RIPE)
    world.sweep()
    world.limits = STOP
    world.sweep_for(minutes=59)
    assert world.asked() == []
    world.wait(minutes=1)
    world.sweep()
    assert world.asked() == [("stop", vm)]


def test_a_grace_that_was_made_longer_holds_at_once(world: MadeUp):
    """Whoever was warned before has it, too."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.limits = IdleLimits(remedy=Remedy.STOP, grace=timedelta(hours=1))
    world.sweep_for(minutes=59)
    assert world.asked() == []
    world.wait(minutes=1)
    world.sweep()
    assert world.asked() == [("stop", vm)]


def test_a_later_warning_may_name_an_earlier_moment(world: MadeUp):
    """What comes faster than was foretold is told so, and that moment holds from its own grace on."""
    vm = world.vm(said=Said(due=world.now + timedelta(hours=5)))
    world.sweep()
    world.wait(minutes=30)
    world.say(vm, level=2, ripe=True, due=world.now)
    world.sweep()
    assert world.asked() == []
    world.wait(minutes=15)
    world.sweep()
    assert world.asked() == [("stop", vm)]
    assert world.kinds() == ["idle_warning", "idle_warning", "idle_acted"]
    first, second = world.notices()[:2]
    assert (first.grace, first.latest) == (GRACE, None)
    assert (second.grace, second.latest) == (GRACE, first.due)


@pytest.mark.parametrize(
    ("early", "acted"),
    [(timedelta(0), True), (timedelta(milliseconds=1), False), (timedelta(minutes=2), False)],
)
def test_who_was_warned_in_time_is_not_warned_of_a_moment_that_is_over(world: MadeUp, early, acted):
    """Level 2 is reached with the moment that the first warning named, or a hair before: that one holds."""
    at = (world.now + timedelta(minutes=25)).replace(second=0, microsecond=0)
    vm = world.vm(said=Said(due=at))
    world.sweep()
    world.cloud.clock.advance(at - world.now - early)
    world.say(vm, level=2, ripe=True, due=at)
    world.sweep()
    assert world.asked() == ([("stop", vm)] if acted else [])
    assert world.kinds().count("idle_warning") == (2 if early >= timedelta(minutes=1) else 1)
    world.wait(minutes=5)
    world.sweep()
    assert world.asked() == [("stop", vm)]
    assert all(told.due and told.due > told.at for told in world.notices() if told.kind == "idle_warning")


def test_who_was_warned_of_a_stop_that_is_off_is_told_so_and_warned_anew(world: MadeUp):
    """Once each: nobody waits for a stop that does not come, nor is anything stopped on a word taken back."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.limits = IdleLimits(grace=GRACE)
    for _ in range(3):
        world.wait(minutes=5)
        world.sweep()
    assert world.kinds() == ["idle_warning"] * 2
    off = world.notices()[1]
    assert (off.due, "takes no action" in off.then) == (None, True)
    world.limits = STOP
    for _ in range(3):
        world.sweep()
        assert world.asked() == []
        world.wait(minutes=5)
    world.sweep()
    assert world.asked() == [("stop", vm)]
    assert world.kinds() == [*["idle_warning"] * 3, "idle_acted"]


def test_who_is_only_told_hears_of_each_level(world: MadeUp):
    """Nothing was promised that a later warning could come too late for."""
    world.limits = IdleLimits(grace=GRACE)
    vm = world.vm(said=Said(due=world.now))
    world.sweep()
    world.wait(minutes=25)
    world.say(vm, level=2, ripe=True)
    world.sweep()
    assert world.kinds() == ["idle_warning"] * 2


def test_a_new_warning_about_a_remedy_that_was_planned_leaves_it_due(world: MadeUp):
    """A case that is due is warned about like any other."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.change_case(RULE, vm, state=CaseState.DUE)
    world.limits = IdleLimits(remedy=Remedy.DELETE, grace=GRACE)
    world.wait(minutes=20)
    assert done_after_a_new_grace(world) == [("delete", vm)]


def _told_but_not_filed(world: MadeUp, **said: object) -> str:
    """A VM whose owner got a warning of which the case does not know: its sweep was killed in between."""
    vm = world.vm(said=Said(level=0))
    world.sweep()
    world.say(vm, level=1, ripe=True, **said)
    world.cloud.notices.trouble.order("publish", unanswered(after_work=True))
    world.sweep()
    assert world.kinds() == ["idle_warning"]
    return vm


def test_whoever_may_have_been_warned_hears_of_the_end(world: MadeUp):
    """The problem is gone before another sweep could warn again."""
    vm = _told_but_not_filed(world)
    del world.said[vm]
    world.sweep()
    assert world.kinds() == ["idle_warning", "idle_cleared"]
    assert world.case(RULE, vm) is None


def test_what_was_taken_back_is_warned_of_anew_though_neither_is_in_its_case(world: MadeUp):
    """Two sweeps in a row are cut off: the new warning passes for neither, and arrives as another one."""
    vm = _told_but_not_filed(world)
    said = world.said.pop(vm)
    world.cloud.notices.trouble.order("publish", unanswered(after_work=True))
    world.sweep()
    world.said[vm] = said
    world.wait(minutes=1)
    world.sweep()
    assert world.kinds() == ["idle_warning", "idle_cleared", "idle_warning"]
    assert len({one.id for one in world.notices()}) == 3


def test_a_second_stop_of_what_was_started_again_is_told_as_well(world: MadeUp):
    """In the same case, after a warning of its own: its owner hears of each remedy."""
    vm = world.vm(said=RIPE)
    for _ in range(2):
        world.sweep()
        world.wait(minutes=20)
        world.sweep()
        world.wait(minutes=1)
        world.cloud.compute.owner_starts(vm)
        world.say(vm, since=world.now)
        world.wait(minutes=6)
    assert world.kinds() == ["idle_warning", "idle_acted"] * 2


def test_a_warning_that_is_not_in_its_case_is_told_again_as_the_same(world: MadeUp):
    """Who has it already is not told twice."""
    _told_but_not_filed(world)
    world.wait(minutes=1)
    world.sweep()
    assert len({one.id for one in world.notices()}) == 1


def test_after_a_veto_a_warning_that_is_not_in_its_case_is_another_one(world: MadeUp):
    """Under its old name it would pass for delivered, and nobody would hear of it."""
    vm = _told_but_not_filed(world)
    case = world.case(RULE, vm)
    assert case is not None
    world.change_case(RULE, vm, keep_until=world.now + timedelta(hours=8), kept_by="ada")
    world.wait(hours=8)
    world.sweep()
    assert len({one.id for one in world.notices()}) == 2


@pytest.mark.parametrize(
    ("before", "after"),
    [(IdleLimits(grace=GRACE), STOP), (STOP, IdleLimits(remedy=Remedy.DELETE, grace=GRACE))],
    ids=["nothing, then a stop", "a stop, then a deletion"],
)
def test_a_warning_of_another_remedy_is_another_one(world: MadeUp, before: IdleLimits, after: IdleLimits):
    """Though the first is not in the case: whoever read it knows nothing of what will be done now."""
    world.limits = before
    _told_but_not_filed(world)
    world.limits = after
    world.wait(minutes=1)
    world.sweep()
    assert len({one.id for one in world.notices()}) == 2


def test_a_warning_in_earnest_is_another_one_than_what_was_only_observed(world: MadeUp):
    """A policy that begins to act while a warning is not in its case: it said that nothing would be done."""
    world.set_policy(mode=Mode.OBSERVE)
    _told_but_not_filed(world)
    world.set_policy(mode=Mode.ENFORCE)
    world.wait(minutes=1)
    world.sweep()
    assert len({one.id for one in world.notices()}) == 2


def test_a_warning_about_more_vms_is_another_one(world: MadeUp):
    """Of the one that has come since nobody has read."""
    vm = _told_but_not_filed(world)
    other = world.vm("vm-2", said=None)
    world.say(vm, beside=(other,))
    world.wait(minutes=1)
    world.sweep()
    assert len({one.id for one in world.notices()}) == 2


def test_what_is_only_suspected_and_then_unknown_is_told_after_as_many_looks(world: MadeUp):
    """Nobody was warned: its owner hears that nobody knows, once each look of the rule has found that."""
    world.limits = IdleLimits(remedy=Remedy.STOP, looks=2)
    vm = world.vm(said=RIPE)
    world.sweep()
    assert world.case(RULE, vm).state is CaseState.SUSPECTED
    world.say(vm, reading=Reading.UNKNOWN)
    world.wait(minutes=5)
    world.sweep()
    assert world.case(RULE, vm).state is CaseState.UNKNOWN
    assert world.kinds() == []
    world.wait(minutes=5)
    world.sweep()
    assert world.kinds() == ["idle_unknown"]


def test_what_was_warned_about_and_then_is_unknown_stays_as_it_is(world: MadeUp):
    """Neither cleared nor acted upon, until somebody knows."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.say(vm, reading=Reading.UNKNOWN)
    world.sweep_for(hours=1)
    assert world.case(RULE, vm).state is CaseState.WARNED
    assert (world.kinds(), world.asked()) == (["idle_warning"], [])


def test_what_somebody_keeps_does_not_become_unknown(world: MadeUp):
    """A veto holds, whatever is found meanwhile."""
    world.limits = IdleLimits(remedy=Remedy.STOP, looks=2)
    vm = world.vm(said=RIPE)
    world.sweep()
    world.change_case(RULE, vm, keep_until=world.now + timedelta(hours=2))
    world.say(vm, reading=Reading.UNKNOWN)
    world.sweep_for(hours=1)
    assert world.case(RULE, vm).state is CaseState.SUSPECTED
    assert world.kinds() == []


@pytest.mark.parametrize("published", [True, False])
def test_after_a_warning_was_taken_back_the_remedy_waits_for_a_new_one(world: MadeUp, published: bool):
    """Whether publishing that was answered or not, its owner may have read that nothing will be done."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.wait(minutes=5)
    world.said[vm] = Said(ripe=True, exempt="kept by its label")
    trouble = unanswered(after_work=published)
    world.cloud.notices.trouble.order("publish", trouble)
    world.sweep()
    world.said[vm] = RIPE
    world.wait(minutes=20)
    world.sweep()
    assert world.asked() == []
    assert world.kinds().count("idle_warning") == 2
    world.wait(minutes=15)
    world.sweep()
    assert world.asked() == [("stop", vm)]


def test_each_warning_that_is_taken_back_is_told_to_be(world: MadeUp):
    """A case may outlive the first of them, where nobody knows whether it was published."""
    vm = world.vm(said=RIPE)
    for again in (True, False):
        world.said[vm] = RIPE
        world.sweep()
        world.wait(minutes=5)
        world.said[vm] = Said(exempt="kept by its label")
        if again:
            world.cloud.notices.trouble.order("publish", unanswered(after_work=True))
        world.sweep()
        world.wait(minutes=5)
    told = [notice.id for notice in world.notices() if notice.kind == "idle_cleared"]
    assert len(set(told)) == 2
    assert world.case(RULE, vm) is None


def test_a_warning_by_a_clock_ahead_of_ours_is_taken_back(world: MadeUp):
    """Two sweeps at once, twenty seconds apart: the later one's clock is behind."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.said[vm] = Said(exempt="kept by its label")
    warned = world.case(RULE, vm).warnings[0]
    ahead = replace(warned, at=world.now + timedelta(seconds=20))
    world.change_case(RULE, vm, warnings=(ahead,))
    world.sweep()
    assert world.case(RULE, vm) is None
    assert world.kinds() == ["idle_warning", "idle_cleared"]


def test_a_vm_that_is_kept_is_kept_through_a_stop_and_a_start(world: MadeUp):
    """Its page said until when nothing will be done."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.change_case(RULE, vm, keep_until=world.now + timedelta(hours=8), kept_by="ada")
    world.cloud.compute.vms.become(vm, Status.TERMINATED)
    world.wait(minutes=5)
    world.sweep()
    world.cloud.compute.vms.become(vm, Status.RUNNING)
    world.sweep_for(hours=7)
    assert world.asked() == []
    world.cloud.compute.vms.become(vm, Status.TERMINATED)
    world.sweep_for(hours=2)
    assert world.case(RULE, vm) is None
