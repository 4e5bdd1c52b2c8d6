"""Escalation as users live it: nothing without a warning, nothing unknown, nothing exempt, never too much."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec
import pytest

from spotwarden.governance.signals.steady import ClockError
from spotwarden.model.case import CaseState, Remediation
from spotwarden.model.finding import Reading
from spotwarden.model.governance import Calendar, GovernanceLimits, Mode, Remedy
from spotwarden.model.instance import Operation, Status
from spotwarden.model.rule_limits import IdleLimits
from tests.fakes.trouble import rejected, unanswered
from tests.governance.governed import GovernedWorld
from tests.governance.made_up import RULE, MadeUp, Said

GRACE = timedelta(minutes=15)
STOP = IdleLimits(remedy=Remedy.STOP, grace=GRACE)
RIPE = Said(ripe=True)
ALMOST = (GRACE - timedelta(seconds=1)).total_seconds()


@pytest.fixture
def world() -> MadeUp:
    """A rule that stops VMs, a quarter of an hour after its warning."""
    return MadeUp(STOP)


def state(world: GovernedWorld, key: str) -> CaseState | None:
    """Where the case stands."""
    case = world.case(RULE, key)
    return case.state if case else None


def test_a_first_look_warns_and_does_nothing_else(world: MadeUp):
    """However ripe it is."""
    vm = world.vm(said=RIPE)
    world.sweep()
    assert world.kinds() == ["idle_warning"]
    assert state(world, vm) is CaseState.WARNED
    assert world.asked() == []


def test_a_second_short_of_the_grace_nothing_is_done(world: MadeUp):
    """The grace counts in full."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.wait(seconds=ALMOST)
    world.sweep()
    assert world.asked() == []
    assert world.status(vm) == "RUNNING"


def test_after_the_grace_it_is_stopped_and_told(world: MadeUp):
    """By its id, once, with the warning's time in the notice."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.wait(seconds=GRACE.total_seconds())
    world.sweep()
    assert world.asked() == [("stop", vm)]
    assert world.kinds() == ["idle_warning", "idle_acted"]
    assert "UTC" in world.notices()[-1].evidence["warned"]


def test_all_that_is_due_is_stopped_before_anybody_is_told(world: MadeUp):
    """What is told can wait; a VM costs."""
    for number in range(3):
        world.vm(f"vm-{number}", said=RIPE)
    world.sweep()
    stopped: list[int] = []
    publish = world.cloud.notices.publish

    def count(data: bytes, attributes: Mapping[str, str], **until: datetime | None) -> str:
        stopped.append(len(world.asked()))
        return publish(data, attributes, **until)

    world.cloud.notices.publish = count
    world.wait(seconds=GRACE.total_seconds())
    world.sweep()
    assert stopped == [3, 3, 3]


def test_a_case_is_closed_once_the_vm_has_stopped(world: MadeUp):
    """And told no second time."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.sweep_for(minutes=40)
    assert world.case(RULE, vm) is None
    assert world.kinds() == ["idle_warning", "idle_acted"]
    assert world.asked() == [("stop", vm)]


def test_what_is_not_ripe_is_only_told(world: MadeUp):
    """For however long."""
    vm = world.vm(said=Said())
    world.sweep_for(hours=5)
    assert world.asked() == []
    assert world.kinds() == ["idle_warning"]
    assert state(world, vm) is CaseState.WARNED


def test_each_level_is_told_once(world: MadeUp):
    """The first warning at level 1, the next at level 2."""
    vm = world.vm(said=Said(level=1))
    world.sweep_for(minutes=30)
    world.say(vm, level=2)
    world.sweep_for(minutes=30)
    assert world.kinds() == ["idle_warning", "idle_warning"]
    case = world.case(RULE, vm)
    assert case is not None
    assert [one.level for one in case.warnings] == [1, 2]


def test_a_warning_that_was_not_accepted_does_not_count(world: MadeUp):
    """It is told again, and the grace runs from the one that was."""
    vm = world.vm(said=RIPE)
    world.cloud.notices.trouble.order("publish", unanswered(after_work=False), times=3)
    world.sweep()
    assert state(world, vm) is CaseState.SUSPECTED
    world.sweep_for(minutes=15)
    assert world.kinds() == ["idle_warning"]
    assert world.asked() == []
    world.sweep_for(minutes=10)
    assert world.asked() == []
    world.sweep_for(minutes=5)
    assert world.asked() == [("stop", vm)]


def test_a_warning_whose_record_was_lost_is_told_again_under_the_same_id(world: MadeUp):
    """Published, then the case could not be written: whoever reads can tell that the two are one."""
    world.vm(said=RIPE)
    world.cloud.store.trouble.order("write", unanswered(after_work=False), about="cases/.*", times=0)
    world.cloud.notices.trouble.order("publish", unanswered(after_work=True))
    world.sweep()
    world.wait(minutes=5)
    world.sweep()
    told = world.cloud.notices.messages
    assert len(told) == 2
    assert len(world.notices()) == 1


def test_one_that_wakes_up_is_cleared_and_told(world: MadeUp):
    """Its owner was warned, so its owner hears that it is over."""
    vm = world.vm(said=Said())
    world.sweep()
    del world.said[vm]
    world.wait(minutes=5)
    world.sweep()
    assert world.case(RULE, vm) is None
    assert world.kinds() == ["idle_warning", "idle_cleared"]


def test_one_that_turns_out_to_be_a_node_of_a_gang_is_not_told_to_be_well(world: MadeUp):
    """Its gang's case goes on about it, with a warning of its own."""
    node, other = world.vm("gang-1"), world.vm("gang-2", said=None)
    world.sweep()
    del world.said[node]
    world.said[other] = Said(beside=(node,))
    world.wait(minutes=5)
    world.sweep()
    assert world.case(RULE, node) is None
    assert world.kinds() == ["idle_warning", "idle_warning"]


def test_one_that_wakes_up_and_sleeps_again_begins_anew(world: MadeUp):
    """The old warning does not count for the new case."""
    vm = world.vm(said=RIPE)
    world.sweep()
    del world.said[vm]
    world.wait(minutes=10)
    world.sweep()
    world.said[vm] = RIPE
    world.wait(minutes=10)
    world.sweep()
    assert world.asked() == []
    assert world.kinds() == ["idle_warning", "idle_cleared", "idle_warning"]


def test_what_is_unknown_is_told_once_and_never_acted_upon(world: MadeUp):
    """For however long nobody knows."""
    vm = world.vm(said=Said(reading=Reading.UNKNOWN, ripe=True))
    world.sweep_for(hours=6)
    assert world.kinds() == ["idle_unknown"]
    assert state(world, vm) is CaseState.UNKNOWN
    assert world.asked() == []


def test_one_that_becomes_unknown_after_its_warning_is_not_acted_upon(world: MadeUp):
    """The case stays open as it was."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.say(vm, reading=Reading.UNKNOWN)
    world.sweep_for(hours=3)
    assert world.asked() == []
    assert state(world, vm) is CaseState.WARNED


def test_one_that_becomes_known_is_suspected_from_then(world: MadeUp):
    """And warned like any other."""
    vm = world.vm(said=Said(reading=Reading.UNKNOWN))
    world.sweep_for(minutes=60)
    world.say(vm, reading=Reading.BAD, ripe=True)
    world.wait(minutes=5)
    world.sweep()
    assert world.kinds() == ["idle_unknown", "idle_warning"]
    assert world.asked() == []


def test_what_a_person_answered_outlives_the_unknown(world: MadeUp):
    """A veto, and hours that were granted."""
    vm = world.vm(said=Said(reading=Reading.UNKNOWN))
    world.sweep()
    until = world.now + timedelta(hours=4)
    world.change_case(RULE, vm, keep_until=until, kept_by="ada", extended=2.0)
    world.say(vm, reading=Reading.BAD, ripe=True)
    world.sweep_for(minutes=60)
    case = world.case(RULE, vm)
    assert case is not None
    assert (case.state, case.keep_until, case.extended) == (CaseState.SUSPECTED, until, 2.0)
    assert world.asked() == []


def test_an_exempt_one_is_neither_warned_nor_stopped(world: MadeUp):
    """On the acting path as well."""
    vm = world.vm(said=Said(ripe=True, exempt="its label says so"))
    world.sweep_for(hours=3)
    assert world.kinds() == []
    assert world.case(RULE, vm) is None
    assert world.asked() == []


def test_one_that_is_exempted_after_the_warning_is_left_alone(world: MadeUp):
    """Also where only the second look sees it."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.then[vm] = Said(ripe=True, exempt="a label put on just now")
    world.sweep_for(minutes=20)
    assert world.asked() == []


def test_one_that_woke_up_between_the_two_looks_is_left_alone(world: MadeUp):
    """The evidence is read again right before anything is destroyed."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.then[vm] = None
    world.sweep_for(minutes=20)
    assert world.asked() == []
    assert frozenset({vm}) in world.looks


def test_a_veto_keeps_the_vm(world: MadeUp):
    """Until it is over."""
    vm = world.vm(said=RIPE)
    world.sweep()
    until = world.now + timedelta(hours=8)
    world.change_case(RULE, vm, keep_until=until, state=CaseState.SUSPECTED)
    world.sweep_for(minutes=479)
    assert world.asked() == []
    assert world.kinds() == ["idle_warning"]


def test_after_a_veto_a_new_warning_and_its_whole_grace_come_first(world: MadeUp):
    """What was said before the veto no longer counts."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.change_case(RULE, vm, keep_until=world.now + timedelta(hours=1), state=CaseState.SUSPECTED)
    world.sweep_for(minutes=60)
    assert world.kinds() == ["idle_warning", "idle_warning"]
    world.sweep_for(minutes=10)
    assert world.asked() == []
    world.sweep_for(minutes=5)
    assert world.asked() == [("stop", vm)]


def test_a_veto_wins_over_a_sweep_that_is_under_way(world: MadeUp):
    """It was written after the sweep had read the case: the sweep loses the generation."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.wait(minutes=20)
    looked = world._look

    def look_and_be_vetoed(context, only):
        if only:
            until = world.now + timedelta(hours=1)
            world.change_case(RULE, vm, keep_until=until, state=CaseState.SUSPECTED)
        return looked(context, only)

    world._look = look_and_be_vetoed
    world.sweep()
    assert world.asked() == []


def test_a_stop_that_fails_stays_open_and_is_tried_again(world: MadeUp):
    """It is never marked as done."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.cloud.compute.trouble.order("stop", rejected("forbidden"), times=2)
    world.sweep_for(minutes=15)
    case = world.case(RULE, vm)
    assert case is not None
    assert (case.state, case.failures) == (CaseState.DUE, 1)
    assert "forbidden" in case.remediations[0].error
    world.sweep_for(minutes=10)
    assert world.asked() == [("stop", vm)]


def test_ops_hear_of_a_stop_that_goes_on_failing(world: MadeUp):
    """After three tries, not after each."""
    world.vm(said=RIPE)
    world.cloud.compute.trouble.order("stop", rejected("forbidden"), times=99)
    world.sweep_for(minutes=30)
    told = [one for one in world.notices() if one.kind == "idle_failing"]
    assert [one.owner for one in told] == ["ops@x.org"]
    assert "forbidden" in told[0].why


def test_ops_hear_of_it_less_and_less_often(world: MadeUp):
    """A day of failures each five minutes is told seven times, the last after half of it and more."""
    world.vm(said=RIPE)
    world.cloud.compute.trouble.order("stop", rejected("forbidden"), times=999)
    world.sweep_for(hours=24)
    told = [one.what.partition("but ")[2] for one in world.notices() if one.kind == "idle_failing"]
    assert told == [f"{3 * 2**times} tries failed" for times in range(7)]


def test_an_answer_that_was_lost_is_asked_for_under_the_same_request_id(world: MadeUp):
    """So that nothing is done twice."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.cloud.compute.trouble.order("stop", unanswered(after_work=False))
    world.sweep_for(minutes=15)
    first = world.case(RULE, vm)
    world.sweep_for(minutes=5)
    second = world.case(RULE, vm)
    assert first is not None
    assert second is not None
    assert first.remediations[0].request_id == second.remediations[0].request_id
    assert world.asked() == [("stop", vm)]


def test_a_remedy_that_was_planned_and_never_sent_is_not_told_as_done(world: MadeUp):
    """The sweep died between the two, a person kept the VM, and it went back to work."""
    vm = world.vm(said=RIPE)
    world.sweep()
    planned = Remediation(target=vm, request_id="planned", at=world.now)
    world.change_case(RULE, vm, state=CaseState.DUE, remediations=(planned,))
    del world.said[vm]
    world.wait(minutes=5)
    world.sweep()
    assert world.kinds() == ["idle_warning", "idle_cleared"]


def test_a_remedy_whose_sweep_died_is_told_once_its_vm_is_gone(world: MadeUp):
    """It was sent, and nobody wrote down that it was."""
    vm = world.vm(said=RIPE)
    world.sweep()
    planned = Remediation(target=vm, request_id="planned", at=world.now)
    world.change_case(RULE, vm, state=CaseState.DUE, remediations=(planned,))
    world.cloud.compute.stop("us-central1-a", vm, "planned")
    world.wait(minutes=5)
    world.sweep()
    assert world.kinds() == ["idle_warning", "idle_acted"]
    assert world.case(RULE, vm) is None


def test_a_vm_that_does_not_go_is_acted_upon_again(world: MadeUp):
    """Compute Engine took the request, and the VM runs on all the same: the next request is another one."""
    vm = world.vm(said=RIPE)
    world.sweep()
    asked: list[str] = []

    def stop(zone: str, instance_id: str, request_id: str, **_said: object) -> Operation:
        asked.append(request_id)
        return Operation(
            name="taken", zone=zone, kind="stop", target_id=instance_id, target_name="vm", done=True
        )

    world.cloud.compute.stop = stop
    world.sweep_for(minutes=15)
    assert state(world, vm) is CaseState.ACTED
    world.sweep_for(minutes=15)
    assert len(asked) > 1
    assert len(set(asked)) == len(asked)
    world.sweep_for(minutes=60)
    assert "idle_failing" in world.kinds()


def test_in_observe_mode_it_is_told_what_would_be_done(world: MadeUp):
    """Once for each level, and nothing is done, nor labelled."""
    vm = world.vm(said=Said(ripe=True, labels={"spotwarden-idle": "yes"}))
    world.set_policy(mode=Mode.OBSERVE)
    world.sweep_for(hours=3)
    assert world.asked(("stop", "delete", "setLabels")) == []
    assert world.kinds() == ["idle_warning"]
    assert "would be stopped" in world.notices()[0].then
    assert state(world, vm) is CaseState.WARNED


def test_one_rule_can_observe_while_others_enforce(world: MadeUp):
    """The rule's own mode is enough."""
    world.vm(said=RIPE)
    world.limits = IdleLimits(remedy=Remedy.STOP, grace=GRACE, mode=Mode.OBSERVE)
    world.sweep_for(hours=1)
    assert world.asked() == []


def test_a_warning_given_while_observing_does_not_count(world: MadeUp):
    """When the rule is enforced later it warns in earnest first."""
    vm = world.vm(said=RIPE)
    world.set_policy(mode=Mode.OBSERVE)
    world.sweep_for(hours=2)
    world.set_policy(mode=Mode.ENFORCE)
    world.sweep_for(minutes=15)
    assert world.asked() == []
    assert world.kinds() == ["idle_warning", "idle_warning"]
    world.sweep_for(minutes=5)
    world.sweep_for(minutes=5)
    world.sweep_for(minutes=5)
    assert world.asked() == [("stop", vm)]


def test_a_warning_that_reaches_nobody_does_not_count(world: MadeUp):
    """No owner is known and the policy names no ops: nothing is done, and the notice says why."""
    world.owner = ""
    world.set_policy(governance=GovernanceLimits())
    vm = world.vm(said=RIPE)
    world.sweep_for(hours=2)
    assert world.asked() == []
    assert world.kinds() == ["idle_warning"]
    assert "names no governance.ops to notify" in world.notices()[0].then
    world.set_policy(governance=GovernanceLimits(ops="ops@x.org"))
    world.sweep_for(minutes=25)
    assert world.asked() == [("stop", vm)]


def test_without_a_remedy_nothing_is_ever_done(world: MadeUp):
    """It says so, too."""
    world.limits = IdleLimits(grace=GRACE)
    world.vm(said=RIPE)
    world.sweep_for(hours=3)
    assert world.asked() == []
    assert world.notices()[0].then == "Spotwarden takes no action."


def test_a_vm_that_is_not_ours_is_told_to_ops_and_never_touched(world: MadeUp):
    """Whatever the rule's remedy."""
    world.vm(said=Said(ripe=True, ours=False, labels={"spotwarden-idle": "yes"}))
    world.sweep_for(hours=3)
    assert world.asked(("stop", "delete", "setLabels")) == []
    assert [one.owner for one in world.notices()] == ["ops@x.org"]


def test_outside_the_calendar_nothing_is_done(world: MadeUp):
    """It is done once the calendar allows it, without another warning."""
    hour = world.now.hour
    closed = GovernanceLimits(calendar=Calendar(hours=f"{(hour + 2) % 24:02}-{(hour + 3) % 24:02}"))
    world.set_policy(governance=closed)
    vm = world.vm(said=RIPE)
    world.sweep_for(minutes=110)
    assert world.asked() == []
    world.sweep_for(minutes=15)
    assert world.asked() == [("stop", vm)]


def test_of_too_much_one_sweep_does_what_it_may_and_ops_are_told(world: MadeUp):
    """Eleven of eleven, where ten at most are allowed."""
    for number in range(11):
        world.vm(f"vm-{number}", said=RIPE)
    world.set_policy(governance=GovernanceLimits(blast_count=10, blast_share=1.0, ops="ops@x.org"))
    world.sweep_for(minutes=20)
    assert len(world.asked()) == 10
    assert "blast_radius" in world.kinds()


def test_as_much_as_is_allowed_is_done(world: MadeUp):
    """Ten of ten, where ten are allowed."""
    for number in range(10):
        world.vm(f"vm-{number}", said=RIPE)
    world.set_policy(governance=GovernanceLimits(blast_count=10, blast_share=1.0))
    world.sweep_for(hours=1)
    assert len(world.asked()) == 10


@pytest.mark.parametrize(("ripe", "stopped"), [(4, 4), (5, 4)])
def test_the_share_of_the_fleet_counts_as_well(world: MadeUp, ripe: int, stopped: int):
    """Four of forty are a tenth; a fifth one waits."""
    for number in range(40):
        world.vm(f"vm-{number}", said=RIPE if number < ripe else None)
    world.sweep_for(minutes=20)
    assert len(world.asked()) == stopped


@pytest.mark.parametrize(("ripe", "stopped"), [(3, 3), (4, 3)])
def test_in_a_small_project_a_few_are_always_allowed(world: MadeUp, ripe: int, stopped: int):
    """A tenth of five would be none."""
    for number in range(5):
        world.vm(f"vm-{number}", said=RIPE if number < ripe else None)
    world.sweep_for(minutes=20)
    assert len(world.asked()) == stopped


def test_a_hidden_zone_neither_clears_nor_acts(world: MadeUp):
    """What is not seen may be there."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.cloud.compute.hide("us-central1-a")
    world.sweep_for(hours=2)
    assert state(world, vm) is CaseState.WARNED
    assert world.asked() == []


def test_a_label_is_put_on_after_the_warning_and_taken_off_again(world: MadeUp):
    """The owner's own labels stay."""
    vm = world.vm(said=Said(labels={"spotwarden-idle": "yes"}))
    world.cloud.compute.relabel("vm", {"team": "vision"})
    world.sweep()
    (machine,) = world.cloud.compute.fleet(ids=[vm]).items
    assert machine.labels["spotwarden-idle"] == "yes"
    del world.said[vm]
    world.wait(minutes=5)
    world.sweep()
    (machine,) = world.cloud.compute.fleet(ids=[vm]).items
    assert "spotwarden-idle" not in machine.labels
    assert machine.labels["team"] == "vision"


def test_two_looks_a_moment_apart_are_one(world: MadeUp):
    """A doubled tick makes no second look."""
    vm = world.vm(said=RIPE)
    world.limits = IdleLimits(remedy=Remedy.STOP, grace=GRACE, looks=2)
    world.sweep()
    world.wait(seconds=59)
    world.sweep()
    assert state(world, vm) is CaseState.SUSPECTED
    world.wait(seconds=1)
    world.sweep()
    assert state(world, vm) is CaseState.WARNED


@pytest.mark.parametrize("minutes", [-3, 3])
def test_a_clock_that_is_off_judges_nothing(world: MadeUp, minutes: int):
    """The sweep fails, so that somebody hears of it."""
    world.vm(said=RIPE)
    world.skew = timedelta(minutes=minutes)
    with pytest.raises(ClockError, match="nothing is judged"):
        world.sweep()
    assert world.kinds() == []


def test_a_clock_that_is_a_little_off_does_not_matter(world: MadeUp):
    """A minute, either way."""
    world.vm(said=RIPE)
    world.skew = timedelta(minutes=1)
    world.sweep()
    assert world.kinds() == ["idle_warning"]


def test_an_event_warns_and_never_acts(world: MadeUp):
    """The next tick does, with everything in view."""
    vm = world.vm(said=RIPE)
    world.sweep()
    world.wait(minutes=30)
    world.sweep(about="vm")
    assert world.asked() == []
    world.sweep()
    assert world.asked() == [("stop", vm)]


def test_one_bad_case_does_not_stop_the_others(world: MadeUp):
    """Its failure rises at the end."""
    bad, good = world.vm("bad", said=RIPE), world.vm("good", said=RIPE)
    world.cloud.store.trouble.order("write", unanswered(after_work=False), about=f"cases/idle/{bad}", times=9)
    world.sweep()
    assert state(world, bad) is None
    assert state(world, good) is CaseState.WARNED


def test_a_second_look_that_finds_more_vms_does_not_widen_the_radius(world: MadeUp):
    """One was counted; what is called for at the second look is left to the next sweep."""
    world.wide = True
    first, *others = [world.vm(f"vm-{number}", said=None) for number in range(5)]
    world.said[first] = Said(ripe=True, beside=tuple(others))
    world.sweep()
    world.say(first, beside=())
    world.then[first] = Said(ripe=True, beside=tuple(others))
    world.sweep_for(minutes=30)
    assert world.asked() == []
    del world.then[first]
    world.sweep_for(minutes=5)
    assert world.asked() == [("stop", first)]


def test_the_radius_counts_what_is_found_now(world: MadeUp):
    """Not what the case's record says of an earlier look."""
    first, *others = [world.vm(f"vm-{number}", said=None) for number in range(5)]
    world.set_policy(governance=GovernanceLimits(blast_count=3, ops="ops@x.org"))
    world.said[first] = Said(ripe=True, beside=tuple(others))
    world.job = ""
    world.sweep()
    case = world.case(RULE, first)
    assert case is not None
    few = msgspec.structs.replace(case.subject, targets=case.subject.targets[:1])
    world.change_case(RULE, first, subject=few)
    world.wait(minutes=15)
    world.sweep()
    assert world.asked() == []
    assert "approval_needed" in world.kinds()


@pytest.mark.parametrize("minutes", [-3, 3])
def test_an_event_with_a_wrong_clock_warns_nobody(world: MadeUp, minutes: int):
    """A warning dated an hour back would count as one an hour ago."""
    vm = world.vm(said=RIPE)
    world.skew = timedelta(minutes=minutes)
    with pytest.raises(ClockError, match="nothing is judged"):
        world.sweep(about="vm")
    assert world.kinds() == []
    world.skew = timedelta(minutes=minutes / 3)
    world.sweep(about="vm")
    assert world.kinds() == ["idle_warning"]
    assert state(world, vm) is CaseState.WARNED


def test_a_veto_outlives_an_exemption(world: MadeUp):
    """Eight hours are eight hours, whatever label comes and goes meanwhile."""
    vm = world.vm(said=RIPE)
    world.sweep()
    until = world.now + timedelta(hours=8)
    world.change_case(RULE, vm, keep_until=until, state=CaseState.SUSPECTED)
    world.say(vm, exempt="a label that keeps it for today")
    world.sweep_for(minutes=30)
    world.say(vm, exempt="")
    world.sweep_for(hours=7)
    assert world.asked() == []
    world.sweep_for(hours=1)
    assert world.asked() == [("stop", vm)]


def test_an_exemption_closes_a_case_whose_veto_is_over(world: MadeUp):
    """Nothing lingers."""
    vm = world.vm(said=RIPE)
    world.sweep()
    until = world.now + timedelta(hours=8)
    world.change_case(RULE, vm, keep_until=until, state=CaseState.SUSPECTED)
    world.say(vm, exempt="a label that keeps it for good")
    world.sweep_for(hours=9)
    assert world.case(RULE, vm) is None


def test_a_veto_on_a_job_outlives_its_vms(world: MadeUp):
    """Taken and brought back as another VM, the job is kept all the same; then the case is closed."""
    world.job = world.key = "train"
    first = world.vm("first", said=RIPE)
    world.sweep()
    until = world.now + timedelta(hours=8)
    world.change_case(RULE, "train", keep_until=until, state=CaseState.SUSPECTED)
    world.cloud.compute.vms.become(first, Status.TERMINATED)
    world.sweep_for(minutes=30)
    second = world.vm("second", said=RIPE)
    world.sweep_for(hours=7)
    assert world.asked() == []
    del world.said[second]
    world.sweep_for(hours=1)
    assert world.case(RULE, "train") is None
