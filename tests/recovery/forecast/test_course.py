"""What a job's records say of its work, its pace and its saves; and what no record can say."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.attempt import AttemptState, StepRange, Try
from spotwarden.model.jobfile import JobFile
from spotwarden.model.ladder import VmModel
from spotwarden.recovery.forecast.course import JobPast, Stretch, course
from spotwarden.recovery.kinds.bounds import MOVED
from spotwarden.recovery.observed.fates import Fate

HOUR = timedelta(hours=1)


@pytest.fixture
def past(some, tick):
    """A job in its third life of two hours, after half an hour without VMs each; it told steps 0 to 500."""

    def build(lives=3, **facts):
        attempts = []
        for number in range(1, lives + 1):
            started = tick.now - 2 * HOUR - (lives - number) * 2.5 * HOUR
            lost = {"lost": started - 0.5 * HOUR, "fate": Fate.PREEMPTED.value} if number > 1 else {}
            asked = Try(place="us-east4-a", request_id="r", at=started)
            record = some.attempt(
                number, started=started, tries=(asked,), machine="a3-highgpu-8g-nvidia-h100-80gb",
                instances={"test-vm": str(number)}, **lost,
            )  # fmt: skip
            attempts.append(record.attempt)
        told = Stretch(attempt=lives, since=tick.now - 1.8 * HOUR, until=tick.now, first=320.0, last=500.0)
        ordinary = JobPast(now=tick.now, attempts=attempts, step=500.0, steps=1000.0, stretches=(told,))
        return replace(ordinary, **facts)

    return build


def test_the_work_left_is_the_steps_left_at_the_jobs_own_pace(past):
    """180 steps in 1.8 hours: 500 more take five, of ten in all."""
    seen = course(past())
    assert (seen.left, seen.whole) == (pytest.approx(5.0), pytest.approx(10.0))
    assert seen.unknown == ""


def test_what_happened_to_it_is_told_in_hours(past, tick):
    """Two lives of two hours were lost, and twice it waited for half an hour."""
    seen = course(past())
    assert (seen.lives, seen.waits) == ((2.0, 2.0), (0.5, 0.5))
    assert seen.since == tick.now - 2 * HOUR
    assert seen.setup == pytest.approx(0.2)
    assert (seen.place, seen.machine, seen.vms) == ("us-east4-a", "a3-highgpu-8g-nvidia-h100-80gb", 1)


def test_a_job_that_waits_has_no_vms(past):
    """Its last life is over."""
    attempts = past().attempts
    waiting = replace(attempts[-1], state=AttemptState.PLACING, started=None)
    seen = course(past(attempts=[*attempts[:-1], waiting]))
    assert seen.since is None
    assert seen.lives == (2.0, 2.0)


def test_an_end_of_its_own_is_no_loss_of_its_place(past):
    """A crash says nothing about the zone."""
    attempts = past().attempts
    crashed = replace(attempts[-1], fate=Fate.STOPPED.value)
    assert course(past(attempts=[*attempts[:-1], crashed])).lives == (2.0,)


def test_declared_work_needs_no_steps(past):
    """Of ten hours two were worked in each of three lives, but for the starts."""
    seen = course(past(file=JobFile(work=10 * HOUR), step=None, steps=None))
    assert (seen.whole, seen.left) == (10.0, pytest.approx(10.0 - 3 * 1.8))


def test_declared_work_is_done_as_far_as_the_steps_say(past):
    """Half of the steps is half of the work."""
    assert course(past(file=JobFile(work=30 * HOUR))).left == pytest.approx(15.0)


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"step": None, "steps": None}, "reports no progress"),
        ({"steps": None}, "reports its step, and not of how many"),
        ({"stretches": ()}, "less than ten minutes"),
        ({"step": -1.0}, "are invalid"),
        ({"step": 2000.0}, "are invalid"),
        ({"steps": 0.0}, "are invalid"),
        ({"steps": 1e300}, "are invalid"),
        ({"step": 1e300, "steps": 1e301}, "are invalid"),
        ({"step": float("nan")}, "are invalid"),
        ({"steps": float("inf")}, "are invalid"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_cannot_be_is_unknown_and_says_why(past, facts, why):
    """Neither an exception nor a number."""
    assert why in course(past(**facts)).unknown


@pytest.mark.parametrize("steps", [(500.0, 320.0), (0.0, 0.0), (-1e308, 1e308), (0.0, 1e-300)])
def test_a_pace_that_cannot_be_is_none(past, tick, steps):
    """Backwards, standing still, beyond all numbers, next to nothing."""
    told = Stretch(attempt=3, since=tick.now - HOUR, until=tick.now, first=steps[0], last=steps[1])
    assert course(past(stretches=(told,))).unknown


def test_a_stretch_of_minutes_tells_no_pace(past, tick):
    """The first steps are slow ones; and clocks may run backwards."""
    for span in (timedelta(minutes=9), timedelta(0), -HOUR):
        told = Stretch(attempt=3, since=tick.now - span, until=tick.now, first=0.0, last=500.0)
        assert "ten minutes" in course(past(stretches=(told,))).unknown


def test_a_job_without_metrics_has_the_pace_of_its_heartbeats(past, tick):
    """From the start of its VMs: 300 steps in two hours."""
    seen = course(past(stretches=(), first_step=200.0, moved=tick.now))
    assert seen.whole == pytest.approx(1000 / 150)


def test_lives_that_are_over_told_a_pace_as_well(past):
    """What they had done when they were lost stands on record."""
    attempts = [replace(item, lost_work=StepRange(first=0.0, last=400.0)) for item in past().attempts]
    assert course(past(stretches=(), attempts=attempts)).whole == pytest.approx(1000 / 200)


def test_paces_apart_make_the_work_less_sure(past, tick):
    """Another machine may be twice as fast."""

    def told(attempt, steps):
        return Stretch(attempt=attempt, since=tick.now - HOUR, until=tick.now, first=0.0, last=steps)

    same, apart = (course(past(stretches=(told(2, 100.0), told(3, pace)))) for pace in (100.0, 300.0))
    assert apart.spread > 5 * same.spread > 0


def test_the_interval_of_saves_is_that_within_one_attempt(past, tick):
    """Half an hour; what lies between the last of one life and the first of the next is none."""
    saves = [[tick.now - 9 * HOUR, tick.now - 8.5 * HOUR], [tick.now - HOUR, tick.now - 0.5 * HOUR, tick.now]]
    assert course(past(saves=saves)).interval == pytest.approx(0.5)
    assert course(past(saves=[[tick.now]])).interval is None
    assert course(past(saves=[[tick.now, tick.now]])).interval is None


@pytest.mark.parametrize(
    ("works", "now", "nothing"),
    [
        ([(0.0, 400.0)], 0.0, False),
        ([(0.0, 400.0), (0.0, 380.0)], 0.0, True),
        ([(0.0, 400.0), (0.0, 380.0)], 350.0, False),
        ([(0.0, 400.0), (390.0, 800.0)], 780.0, False),
        ([(0.0, 400.0), (0.0, 380.0), (0.0, 390.0)], None, True),
        ([(None, 400.0), (None, 380.0), (None, 390.0)], None, True),
    ],
    ids=["once", "third life", "goes on", "kept", "three lives", "no further"],
)
def test_two_starts_from_the_beginning_say_that_it_saves_nothing(past, works, now, nothing):
    """In its third life that is known; one loss may have come before the first save."""
    first, *others = past(lives=len(works) + 1).attempts
    told = [
        replace(item, lost_work=StepRange(first=begin, last=end))
        for item, (begin, end) in zip(others, works, strict=True)
    ]
    assert course(past(attempts=[first, *told], first_step=now)).restarts is nothing


@pytest.mark.parametrize(
    ("spot", "model", "said"),
    [(True, None, True), (False, None, False), (True, VmModel.SPOT, True), (True, VmModel.FLEX, False)],
)
def test_only_spot_vms_are_taken(past, tick, spot, model, said):
    """A ladder's kind counts more than the script's."""
    asked = Try(place="us-east4-a", request_id="r", at=tick.now, spot=spot, model=model)
    attempts = past().attempts
    assert course(past(attempts=[*attempts[:-1], replace(attempts[-1], tries=(asked,))])).spot is said


def test_a_job_that_nobody_has_launched_is_unknown(tick):
    """There is nothing to go by."""
    seen = course(JobPast(now=tick.now, attempts=()))
    assert seen.unknown
    assert seen.since is None


def test_lives_and_waits_are_those_of_spot_vms(past):
    """A move is no loss; what it ran on meanwhile neither ends a wait nor counts as a spot VM that lives."""
    first, second, third = past().attempts
    moved = replace(second, lost=second.started - 0.5 * HOUR, fate=MOVED)
    seen = course(past(attempts=[first, moved, third]))
    assert (seen.lives, seen.survived, seen.waits) == ((2.0,), (2.0,), (0.5,))
    on_demand = replace(second, tries=(replace(second.tries[0], spot=False),))
    back = replace(third, fate=MOVED)
    seen = course(past(attempts=[first, on_demand, back]))
    assert (seen.lives, seen.survived, seen.waits) == ((2.0,), (), (3.0,))


def test_it_has_been_without_spot_since_it_lost_its_last_or_was_launched(past, tick):
    """Not while it has a spot VM; an on-demand VM is none."""
    first, second, third = past().attempts
    first, lost = replace(first, created=first.started), second.started + 2 * HOUR
    on_demand = replace(third, tries=(replace(third.tries[0], spot=False),))
    waiting = replace(third, state=AttemptState.PLACING, started=None)
    assert course(past(attempts=[first, second, third])).without is None
    assert course(past(attempts=[first, second, on_demand])).without == lost == third.lost
    assert course(past(attempts=[first, second, waiting])).without == lost
    launched = replace(first, state=AttemptState.PLACING, started=None, created=tick.now - HOUR)
    assert course(past(attempts=[launched])).without == tick.now - HOUR


def test_a_line_begins_when_a_person_launched_the_job(past):
    """Of a job that follows none nothing is kept."""
    assert course(past(returns=True)).began == past().attempts[0].created
    assert course(past()).began is None
