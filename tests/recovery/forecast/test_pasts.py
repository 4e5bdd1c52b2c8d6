"""What jobs went through, added up: by age, by place, and without one of them again."""

import math

import pytest

from spotwarden.recovery.forecast.hazards import AGES, risk
from spotwarden.recovery.forecast.pasts import ELSEWHERE, REGION, past_of, together, told_of

RATES = (3.0, 1.5, 1.0, 0.5, 0.1)
PAST = past_of((0.5, 4.0), (10.0,), (0.4, 9.9))


def test_lives_are_hours_at_each_age():
    """All VMs were up for ten minutes, all for half an hour, two for ten hours and for four."""
    assert PAST.hours == pytest.approx((0.5, 1.0, 1.0, 4.0, 8.0))
    assert (PAST.lost, PAST.waits) == (2.0, 2.0)
    assert PAST.logs == pytest.approx(math.log(0.5) + math.log(10.0))


@pytest.mark.parametrize("life", [0.05, *AGES[1:], 2.0, 50.0])
def test_the_losses_to_expect_of_hours_are_those_of_lives(life):
    """However they are added up."""
    assert past_of((life,), (), ()).risk(RATES) == pytest.approx(risk(RATES, 0.0, life))


def test_what_is_added_can_be_taken_away():
    """So a job does not tell itself what it knows already."""
    more = past_of((1.0,), (7.0, 0.1), (2.0,))
    left = together(((1.0, together(((1.0, PAST), (1.0, more)))), (-1.0, more)))
    assert left.hours == pytest.approx(PAST.hours)
    assert (left.lost, left.waits, left.logs) == pytest.approx((PAST.lost, PAST.waits, PAST.logs))


@pytest.mark.parametrize(
    ("place", "weight"), [("us-east4-a", 1.0), ("us-east4-b", REGION), ("us-west1-a", ELSEWHERE)]
)
def test_the_nearer_a_place_the_more_it_tells(place, weight):
    """Of each loss there."""
    assert told_of(place, {"us-east4-a": PAST}).lost == pytest.approx(2.0 * weight)


def test_nobodys_past_tells_nothing():
    """No hours, no losses, no waits."""
    assert told_of("us-east4-a", {}) == past_of((), (), ())
