"""What the judge of the plane sees: for each thing that it holds us to, a product that no longer does it."""

from datetime import timedelta

import pytest

from spotwarden.model.notice import Notice, Severity
from tests.simulation.commands import Command, FailHost, Kind, Pass, Preempt, Stock, Then, Word
from tests.simulation.mutants import MUTANTS
from tests.simulation.plane import commands as p
from tests.simulation.plane.run import PlaneSetting
from tests.simulation.plane.waits import not_waiting
from tests.simulation.plane.world import PlaneWorld
from tests.simulation.process import silenced

SETTING = PlaneSetting()
LOST = (Preempt(vm=0, word=Word.JSON), Pass(seconds=60))
NO_ROOM = tuple(Stock(zone=zone, left=0) for zone in range(3))
ROOM = Stock(zone=0, left=None)
ROOM_AGAIN = tuple(Stock(zone=zone, left=None) for zone in range(3))


def _launched(kind: Kind = Kind.SOLO, **more: bool) -> tuple[Command, ...]:
    return p.Launch(kind=kind, **more), p.Tick(minutes=20)


def _typed(spell: p.Spell) -> tuple[Command, ...]:
    return p.Type(spell=spell, then=Then.GO_ON), p.Tick(minutes=10)


SEEN: dict[str, tuple[tuple[Command, ...], str]] = {
    "a job that was stopped once is stopped when it is lost": (
        (
            *_launched(),
            *_typed(p.Spell.STOP),
            *_typed(p.Spell.RESTART),
            p.Tick(minutes=15),
            *NO_ROOM,
            *LOST,
            p.Tick(minutes=8),
        ),
        "nobody has stopped solo-0",
    ),
    "a gang's removed node is told as the others": (
        (
            *_launched(Kind.GANG),
            p.Gcloud(verb=p.Verb.DELETE),
            p.Tick(minutes=20),
        ),
        "runs on",
    ),
    "who runs is told without its VM": ((*_launched(), *LOST, p.Tick(minutes=5)), "it names no VM"),
    "markers are cleared before they are answered": (
        (*_launched(), *LOST, p.Tick(minutes=5)),
        "is cleared without an answer",
    ),
    "a remedy that was refused counts as applied": (
        (
            *_launched(odd=True),
            p.Outage(port=p.Port.COMPUTE, fault=p.Fault.DENIED, seconds=2400),
            p.Tick(minutes=60),
        ),
        "solo-0 0003 runs on",
    ),
    "half of a cap counts as all of it": (
        (*_launched(capped=True), p.Tick(minutes=80)),
        "its job has been up",
    ),
    "a VM is taken to be up for twice as long": (
        (*_launched(), p.SetPolicy(change=p.PolicyChange.TIGHT), p.Tick(minutes=90)),
        "it has been up for",
    ),
    "an extension is only thanked for": (
        (
            *_launched(capped=True),
            p.Tick(minutes=80),
            p.Click(answer=p.Answer.EXTEND, then=Then.GO_ON),
            p.Tick(minutes=60),
        ),
        "of 3:00:00",
    ),
    "each end is doubted": (
        (*_launched(), p.End(leave=True), p.Tick(minutes=10)),
        "Compute Engine has taken nothing",
    ),
    "the end of a warning is not told": (
        (*_launched(odd=True), p.Gcloud(verb=p.Verb.STOP, whole=True), p.Tick(minutes=30)),
        "was never told to have ended",
    ),
    "the remedy may never be applied": (
        (*_launched(capped=True), p.Tick(minutes=130)),
        "and nothing followed",
    ),
    "an owner's delete is not seen": (
        (
            *_launched(Kind.KEPT),
            p.Gcloud(verb=p.Verb.STOP),
            p.Tick(minutes=10),
            p.Type(spell=p.Spell.RESTART, then=Then.GO_ON),
            # Of a VM that the restart stands in for, this is a word about the restart.
            p.Gcloud(verb=p.Verb.START),
            p.Gcloud(verb=p.Verb.STOP),
            p.Tick(minutes=5),
        ),
        "kept-0 is started again, though its owner has stopped it",
    ),
    "what a person started again is not seen": (
        # Whoever runs the script again has no second VM made beside his own.
        (*_launched(), *NO_ROOM, *LOST, p.Tick(minutes=8), *ROOM_AGAIN, p.Rerun(), p.Tick(minutes=20)),
        "a launch of solo-0 was asked for while it lives",
    ),
    "a stop is no word of a person": (
        # Nobody has asked for the gang since: nothing of it goes.
        (*_launched(Kind.GANG), p.Gcloud(verb=p.Verb.STOP), p.Tick(minutes=20)),
        "nothing that Compute Engine did made it go",
    ),
    "a delete is no word of a person": (
        # What has run is no request that found no room.
        (*_launched(), p.Gcloud(verb=p.Verb.DELETE), p.Lag(seconds=240), p.Tick(minutes=20)),
        "solo-0 is started again, though its owner has stopped it",
    ),
    "a gang that bends is made anew at each loss": (
        (
            p.Launch(kind=Kind.BENT, told=True),
            p.Tick(minutes=5),
            p.Announce(vm=0, times=2),
            Pass(seconds=170),
            Preempt(vm=1, word=Word.NONE),
            p.Tick(minutes=5),
        ),
        "enough of a gang that bends runs",
    ),
    "each warning is taken back": ((*_launched(odd=True), p.Tick(minutes=40)), "still violates the policy"),
}
"""By the mutant's name: a history in which it shows, and what the judge says of it."""


@pytest.mark.parametrize("name", SEEN)
def test_the_judge_sees_it(name):
    """As the product is the history holds; with this in it the judge says what is wrong."""
    commands, fault = SEEN[name]
    assert SETTING.faults(commands)[0] == []
    with MUTANTS[name].applied():
        said = SETTING.faults(commands, PlaneWorld(wrap=MUTANTS[name].wrap))[0]
    assert fault in "; ".join(said)


def test_a_remedy_is_overdue_only_since_ops_let_the_functions_act():
    """What is due while they only observe follows later; it is missed where it does not."""
    commands = (
        *_launched(Kind.GANG, mute=True),
        p.Behave(mood=p.Mood.HANG, whole=True),
        p.Tick(minutes=55),
        p.SetPolicy(change=p.PolicyChange.OBSERVE),
        p.Tick(minutes=40),
        p.SetPolicy(change=p.PolicyChange.ENFORCE),
        p.Tick(minutes=45),
    )
    assert SETTING.faults(commands)[0] == []
    with MUTANTS["the remedy may never be applied"].applied():
        assert "and nothing followed" in "; ".join(SETTING.faults(commands)[0])


def test_a_removal_that_was_refused_is_judged_anew_when_it_is_asked_for_again():
    """It may have become wrong meanwhile; what was carried out is not asked for a second time."""
    world = PlaneWorld()
    with silenced():
        for command in _launched():
            world.do(command)
    [vm] = world.vms_of(world.jobs[0])
    process, request = world.sweep_process(p.Function.COMPLY), (vm.seen.zone, vm.seen.id, "r-1")
    for _ in range(2):
        world.oracle.asking(process, "stop", request, {})
    assert len(world.oracle.broken) == 2
    world.compute.stop(*request)
    world.oracle.asking(process, "stop", request, {})
    assert len(world.oracle.broken) == 2


@pytest.mark.parametrize(("seconds", "false"), [(10, False), (60, True)])
def test_a_wait_for_room_ends_once_a_program_has_run(seconds, false):
    """A VM that is lost before that has changed nothing for its owner."""
    world = PlaneWorld()
    with silenced():
        for command in (*NO_ROOM, p.Launch(kind=Kind.FLEX, valid=7200), Pass(seconds=3600), ROOM):
            world.do(command)
        [vm] = world.vms_of(world.jobs[0])
        world.pass_time(timedelta(seconds=50))
        assert vm.seen.started is not None
        world.pass_time(vm.seen.started + timedelta(seconds=seconds) - world.now())
        world.do(FailHost())
    said = Notice(
        id="waits-for-room/flex-0/1/1800",
        kind="waits_for_room",
        severity=Severity.WARNING,
        job="flex-0",
        at=world.now(),
        what="flex-0 has waited 30 min for a VM",
        why="",
    )
    assert bool(not_waiting(said, world.jobs[0], world)) is false
