"""A job whose attempts repeat the same work: when that is seen, and who is told."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.action import Tell
from spotwarden.model.attempt import AttemptState, StepRange
from spotwarden.model.jobfile import SavedProgress
from spotwarden.recovery.attempts import next_step
from spotwarden.recovery.telling.treadmill import Treadmill, is_told, treadmill, work_of

HOUR = timedelta(hours=1)


@pytest.fixture
def lived(some, tick):
    """What the lives of a job come to; each is an hour with these steps, None for one that told nothing."""

    def build(*works, by_hand=()):
        def lost(number):
            work = works[number - 2] if number > 1 else None
            known = StepRange(first=work[0], last=work[1]) if work else None
            begun = tick.now - (len(works) - number + 1) * HOUR
            ours = number > 1 and number not in by_hand
            return some.attempt(
                number, started=begun, lost=begun if ours else None, lost_work=known if ours else None
            )

        *ledger, claimed = (lost(number) for number in range(1, len(works) + 2))
        return treadmill(some.job(ledger=tuple(ledger)), claimed.attempt)

    return build


@pytest.mark.parametrize(
    ("works", "attempts"),
    [
        ([(0, 400), (0, 380), (0, 410)], (1, 2, 3)),
        ([(0, 400), (390, 800), (780, 1200)], ()),
        ([(None, 400), (None, 400), (None, 120)], (1, 2, 3)),
        ([(None, 400), (None, 800), (None, 1200)], ()),
        ([(0, 400), (400, 700), (410, 650), (400, 690)], (2, 3, 4)),
        ([(0, 400), (0, 380), (370, 900), (880, 1100)], ()),
        ([(0, 400), None, (0, 390)], (1, 3)),
        ([(0, 400)], ()),
        ([None, None, None], ()),
        ([(0, 0), (0, 0), (0, 0)], (1, 2, 3)),
    ],
    ids=[
        "from the start again and again",
        "each goes on",
        "no further, without first steps",
        "further, without first steps",
        "from an old checkpoint",
        "it goes on again",
        "one told nothing",
        "one life",
        "nobody knows",
        "no step was made",
    ],
)
def test_attempts_that_repeat_the_same_work_are_a_treadmill(lived, works, attempts):
    """By where each began and how far it got, against the furthest step before it."""
    found = lived(*works)
    assert (found.attempts if found else ()) == attempts
    if found:
        assert found.up == len(attempts) * HOUR


def test_it_begins_anew_when_a_person_launches_the_job(lived):
    """Who submits again may have mended it."""
    assert lived((0, 400), (0, 380), (0, 390), by_hand=(3,)) is None


@pytest.mark.parametrize(("lives", "told"), [(3, True), (4, False), (6, True), (9, False), (12, True)])
def test_it_is_told_at_the_limit_and_at_each_doubling(limits, lives, told):
    """Not at each restart: a job may be preempted fifty times."""
    found = Treadmill(attempts=tuple(range(1, lives + 1)), last_steps=(1.0,) * lives, up=HOUR)
    assert is_told(found, limits) is told


def test_the_steps_of_another_attempt_are_not_those_of_the_one_that_was_lost(some):
    """A heartbeat of attempt 1 says nothing about attempt 2, which never sent one."""
    ledger = (some.attempt(1), some.attempt(2))
    said = SavedProgress(attempt=1, step=400, first_step=0)
    assert work_of(some.job(ledger=ledger, progress=said)) is None
    assert work_of(some.job(ledger=ledger[:1], progress=said)) == StepRange(first=0, last=400)


@pytest.fixture
def third(some, tick):
    """A job that is preempted for the third time, and began at 0 each time."""
    work = StepRange(first=0, last=400)
    ledger = tuple(
        some.attempt(
            number,
            AttemptState.RUNNING,
            instances={"test-vm": f"100{4 - number}"},
            started=tick.now - hours * HOUR,
            lost=tick.now - hours * HOUR if number > 1 else None,
            lost_work=work if number > 1 else None,
        )
        for number, hours in ((1, 6), (2, 4), (3, 2))
    )
    node = some.node(history=(some.operation("compute.instances.preempted"),))
    return some.job(ledger=ledger, nodes=(node,), progress=SavedProgress(attempt=3, step=390, first_step=0))


def test_its_owner_is_told_and_it_is_restarted(third, walk):
    """With the run time that was paid for nothing; the next attempt keeps how far the last one came."""
    steps, known = walk(third)
    [notice] = [step.notice for step in steps if isinstance(step, Tell) and step.notice.kind == "treadmill"]
    assert notice.why.startswith("attempts 1 to 3 repeated the same work: 5 h")
    assert notice.why.endswith("They ended at steps 400, 400, 390")
    assert (known.newest.number, known.newest.lost_work) == (4, StepRange(first=0, last=390))


def test_it_is_given_up_where_the_policy_says_so(third, policy, tick):
    """Nothing is launched any more, and its owner learns why."""
    limits = replace(policy.recovery, treadmill_stops=True)
    step = next_step(third, replace(policy, recovery=limits), tick)
    assert isinstance(step, Tell)
    assert (step.notice.kind, step.notice.why) == (
        "gave_up",
        "attempts 1 to 3 repeated the same work (treadmill_stops)",
    )
