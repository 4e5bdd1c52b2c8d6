"""A person's answer to a case, and the sweeps that are under way meanwhile."""

from datetime import timedelta
from functools import partial

import msgspec
import pytest

from spotwarden.engine.context import SweepContext
from spotwarden.engine.executor import Executor
from spotwarden.engine.fan_out import Swept
from spotwarden.engine.log import silent
from spotwarden.governance.answering import answered
from spotwarden.layout import CaseRecord
from spotwarden.model.answer import Accepted, AnswerRefused, Extend, Keep
from spotwarden.model.case import CaseState
from spotwarden.model.finding import Subject
from spotwarden.model.governance import Limits, Remedy
from spotwarden.model.rule_limits import JobCap
from spotwarden.model.tick import Tick
from spotwarden.notify.links.writing import TRIES, write_answer
from tests.fakes.trouble import conflict, unanswered
from tests.governance.made_up import RULE, MadeUp

HOUR = timedelta(hours=1)
GRACE = timedelta(minutes=30)


@pytest.fixture
def world():
    """A VM that a rule has warned of; half an hour later it would be stopped."""
    world = MadeUp(Limits(remedy=Remedy.STOP, grace=GRACE), job_cap=JobCap())
    world.vm("vm")
    world.sweep()
    return world


def vm(world):
    """The id of the VM, which is also its case's key."""
    return next(iter(world.said))


def say(world, answer, rule=RULE):
    """Answer the case of the VM, as a command does."""
    tick = Tick(function="cli_cases", sweep="answer", now=world.now)
    executor = Executor(world.cloud.ports(), world.layout, world.policy, tick, write_line=silent)
    decide = partial(answered, answer=answer, policy=world.policy, now=world.now)
    record = CaseRecord(rule=rule, key=vm(world))
    return write_answer(world.cloud.store, world.layout, executor, record, decide)


def keep(world):
    """A veto for eight hours."""
    return say(world, Keep(by="ada", until=world.now + 8 * HOUR))


def ripen(world):
    """Let the rule call for the remedy, with the grace just over."""
    world.say(vm(world), ripe=True)
    world.wait(minutes=30)


def test_a_vm_that_nobody_keeps_is_stopped(world):
    """What the other tests of this file prevent."""
    ripen(world)
    world.sweep()
    assert world.asked() == [("stop", vm(world))]


def test_a_veto_is_heeded_by_the_next_sweep(world):
    """And by every one until it is over."""
    assert isinstance(keep(world), Accepted)
    ripen(world)
    world.sweep_for(hours=7)
    assert world.asked() == []


def test_a_veto_wins_over_a_sweep_that_has_read_the_case(world, monkeypatch):
    """Written between a sweep's look and its remedy: the sweep loses the case and does nothing."""
    ripen(world)
    look = world._look
    looks = []

    def look_and_be_answered(context: SweepContext, only):
        facts = look(context, only)
        looks.append(only)
        if only:
            assert isinstance(keep(world), Accepted)
        return facts

    monkeypatch.setattr(world, "_look", look_and_be_answered)
    swept = world.sweep()
    assert len(looks) == 2
    assert isinstance(swept, Swept)
    assert world.asked() == []
    kept = world.case(RULE, vm(world))
    assert kept is not None
    assert kept.kept_by == "ada"


def test_an_answer_is_written_anew_where_a_sweep_was_first(world):
    """The case is read again, and what the sweep wrote is kept."""
    world.cloud.store.trouble.order("write", conflict(), about="cases/", times=TRIES - 1)
    assert isinstance(keep(world), Accepted)
    kept = world.case(RULE, vm(world))
    assert kept is not None
    assert (kept.kept_by, len(kept.warnings)) == ("ada", 1)


def test_an_answer_that_cannot_be_written_says_so(world):
    """It does not go on for ever, and nobody is told that a VM is safe that is not."""
    world.cloud.store.trouble.order("write", conflict(), about="cases/", times=TRIES)
    said = keep(world)
    assert isinstance(said, AnswerRefused)
    assert "could not be written" in said.why
    case = world.case(RULE, vm(world))
    assert case is not None
    assert case.keep_until is None


@pytest.mark.parametrize("after_work", [False, True])
def test_a_lost_answer_of_the_bucket_extends_once(world, after_work):
    """Whether it was written or not before the line broke: four hours are four hours."""
    case = world.case(RULE, vm(world))
    assert case is not None
    name = world.layout.build(CaseRecord(rule="job_cap", key=vm(world)))
    world.cloud.store.write(
        name, msgspec.json.encode(msgspec.structs.replace(case, rule="job_cap")), generation=0
    )
    world.cloud.store.trouble.order("write", unanswered(after_work=after_work), about="cases/job_cap/")
    assert isinstance(say(world, Extend(by="ada", hours=4), "job_cap"), Accepted)
    extended = world.case("job_cap", vm(world))
    assert extended is not None
    assert extended.extended == 4


def test_a_case_that_was_cleared_meanwhile_cannot_be_answered(world):
    """There is nothing left to keep it from."""
    world.said.clear()
    key = Subject(key="gone").key
    tick = Tick(function="cli_cases", sweep="answer", now=world.now)
    executor = Executor(world.cloud.ports(), world.layout, world.policy, tick, write_line=silent)
    said = write_answer(
        world.cloud.store,
        world.layout,
        executor,
        CaseRecord(rule=RULE, key=key),
        lambda _: pytest.fail("asked"),
    )
    assert isinstance(said, AnswerRefused)
    assert "no such open case" in said.why


def test_after_a_veto_the_owner_is_warned_anew(world):
    """And has the whole grace once more, before anything is done."""
    keep(world)
    world.say(vm(world), ripe=True)
    world.sweep_for(hours=8, minutes=10)
    assert world.kinds().count("idle_warning") == 2
    assert world.asked() == []
    world.sweep_for(minutes=40)
    assert world.asked() == [("stop", vm(world))]


def test_a_veto_is_written_down_where_the_policy_only_observes(world):
    """It is a person's word, not an action of ours; and it is in the audit."""
    ripen(world)
    observing = msgspec.structs.replace(world.policy, mode=type(world.policy.mode)("observe"))
    world.policy = observing
    assert isinstance(keep(world), Accepted)
    case = world.case(RULE, vm(world))
    assert case is not None
    assert case.state is CaseState.SUSPECTED
    assert case.keep_until is not None
