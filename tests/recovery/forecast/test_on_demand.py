"""When a job with a deadline takes on-demand VMs and goes back, beside what recovery decides then."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from spotwarden.model.ladder import Rung, VmModel
from spotwarden.model.limits import PlacementLimits
from spotwarden.recovery.forecast.course import Course
from spotwarden.recovery.forecast.on_demand import ROUND, plan_of
from spotwarden.recovery.places.deadline_line import BEHIND, behind
from spotwarden.recovery.places.moving import has_time
from spotwarden.recovery.places.placement import why_on_demand

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
LIMITS = PlacementLimits()
JOB = Course(whole=100.0, left=60.0, began=NOW - 40 * HOUR, deadline=NOW + 80 * HOUR, returns=True)
LONG_AGO = -1000.0


def plan(**facts):
    """That of the job, with these facts changed."""
    return plan_of(replace(JOB, **facts), LIMITS, NOW)


@given(left=st.floats(1.0, 100.0), late=st.sampled_from([-0.01, 0.01]))
def test_it_turns_to_on_demand_vms_when_recovery_does(left, late):
    """Whatever it has left then: a minute before it waits, a minute after it does not."""
    now = NOW + (plan().turn(left, LONG_AGO) + late) * HOUR
    behind_by = behind(whole=100 * HOUR, left=left * HOUR, began=JOB.began, deadline=JOB.deadline, now=now)
    at_last = why_on_demand(
        preemptions=1, remaining=left * HOUR, deadline=JOB.deadline, now=now, limits=LIMITS
    )
    assert (behind_by > BEHIND * LIMITS.restart_cost or bool(at_last)) is (late > 0)


@given(left=st.floats(1.0, 60.0), late=st.sampled_from([-0.01, 0.01]))
def test_it_goes_back_to_spot_as_long_as_recovery_moves_it(left, late):
    """Which is until another loss would make it late."""
    last = plan().line.back - left + late
    back = plan().back(left, last - 0.2, last)
    assert math.isfinite(back) is has_time(left * HOUR, JOB.deadline, NOW + last * HOUR, LIMITS)
    assert math.isfinite(back) is (late < 0)


def test_all_places_are_asked_for_spot_before_and_none_again_within_an_hour_of_its_refusal():
    """A job that is behind when it loses its VM takes what spot VM there is."""
    behind_already = plan()
    assert behind_already.turn(70.0, 0.0) == ROUND
    assert behind_already.back(50.0, ROUND, ROUND + 0.2) == ROUND + 1.0
    assert behind_already.back(50.0, ROUND, 3.0) == 3.0


@pytest.mark.parametrize(
    ("facts", "limits"),
    [
        ({"returns": False}, LIMITS),
        ({"began": None}, LIMITS),
        ({"whole": 0.0}, LIMITS),
        ({}, replace(LIMITS, move=False)),
        ({}, replace(LIMITS, ladder=(Rung(model=VmModel.SPOT),))),
    ],
    ids=["never comes back", "began nobody knows when", "no work", "no moves", "a ladder"],
)
def test_without_a_line_it_waits_until_the_last_moment_and_stays(facts, limits):
    """60 h of work and two and a half restarts before the deadline."""
    found = plan_of(replace(JOB, **facts), limits, NOW)
    assert found.turn(60.0, LONG_AGO) == pytest.approx(80 - 60 - 2.5 * 0.2)
    assert found.back(1.0, 0.0, 0.2) == math.inf


def test_without_a_deadline_there_is_no_plan():
    """Nobody hurries."""
    assert plan(deadline=None) is None
