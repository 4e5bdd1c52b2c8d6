"""Google's advice as an order of places: within equal trouble, in coarse steps, as long as it is fresh."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.placement import MachineAdvice, PlaceAdvice, PlaceEvent, PlacementRecord
from spotwarden.recovery.places.expected import advised, expected, worded
from spotwarden.recovery.places.placement import learn, order, why_there
from tests.recovery.places.test_placement import FAR, HOME, LIMITS, MINUTE, NEXT, NOW, PLACES, SECOND, news

HOUR = 60 * MINUTE


def place(obtainability=None, up=None, preempted=None):
    """What was said of a place; `up` in minutes."""
    uptime = None if up is None else up * MINUTE
    return PlaceAdvice(obtainability=obtainability, uptime=uptime, preempted=preempted)


def record(ago=MINUTE, **places):
    """A record with this advice, from so long ago; `home`, `next` and `far` name the places."""
    names = {"home": HOME, "next": NEXT, "far": FAR}
    said = {names[name]: advice for name, advice in places.items()}
    advice = MachineAdvice(asked_at=NOW - ago, answered_at=NOW - ago, places=said)
    return PlacementRecord(machine="a3-highgpu-8g", advice=advice)


def first(known, limits=LIMITS):
    """The place that is asked first."""
    return order(PLACES, known, NOW, limits)[0]


@pytest.mark.parametrize(
    ("home", "elsewhere"),
    [
        (place(0.3), place(0.5)),
        (place(0.6), place(0.7)),
        (place(0.9, up=10), place(0.9, up=60)),
        (place(0.9, up=1), place(0.9, up=10)),
        (place(0.9, up=60, preempted=0.4), place(0.9, up=60, preempted=0.1)),
        (place(0.3), place()),
        (place(), place(0.9)),
    ],
)
def test_a_place_of_which_more_is_expected_comes_first(home, elsewhere):
    """By band, then by uptime, then by the share that was preempted; what is unknown is in the middle."""
    assert order(PLACES, record(home=home, next=home, far=elsewhere), NOW, LIMITS) == (FAR, HOME, NEXT)
    assert order(PLACES, record(home=elsewhere, next=home, far=home), NOW, LIMITS) == PLACES


@pytest.mark.parametrize(
    ("home", "elsewhere"),
    [
        (place(0.7), place(1.0)),
        (place(0.4), place(0.69)),
        (place(0.9, up=60), place(0.9, up=600)),
        (place(0.9, up=60, preempted=0.2), place(0.9, up=60, preempted=0.15)),
    ],
)
def test_a_small_difference_moves_nobody(home, elsewhere):
    """Home stays first within a band, an hour and a quarter."""
    assert order(PLACES, record(home=home, next=elsewhere, far=elsewhere), NOW, LIMITS) == PLACES


def test_what_we_saw_ourselves_counts_more():
    """A place with more trouble stays behind, whatever is expected of it."""
    known = learn(record(home=place(0.9), next=place(0.1)), [news(PlaceEvent.PREEMPTED, HOME)], LIMITS)
    assert (
        first(replace(known, advice=replace(known.advice, places={HOME: place(0.9), NEXT: place(0.1)})))
        == FAR
    )


def test_a_blocked_place_stays_out():
    """It had none a minute ago."""
    known = learn(record(home=place(0.9)), [news(PlaceEvent.STOCKOUT, HOME, ago=MINUTE)], LIMITS)
    assert HOME not in order(PLACES, known, NOW, LIMITS)


@pytest.mark.parametrize(
    ("ago", "then"), [(LIMITS.fragile - SECOND, FAR), (LIMITS.fragile, HOME), (-LIMITS.fragile, HOME)]
)
def test_advice_counts_as_long_as_a_stockout_that_we_saw(ago, then):
    """An older answer is none; nor is one from a clock that is an hour ahead."""
    assert first(record(ago, home=place(0.1), next=place(0.1), far=place(0.9))) == then


def test_a_policy_without_advice_uses_none():
    """Whatever is on record."""
    known = record(home=place(0.1), far=place(0.9))
    assert first(known, replace(LIMITS, advice=False)) == HOME


def test_a_question_without_an_answer_is_no_advice():
    """It says when it was asked, no more."""
    asked = MachineAdvice(asked_at=NOW, refused="forbidden: no")
    assert advised(PlacementRecord(machine="m", advice=asked), NOW, LIMITS) == {}


def test_a_choice_that_advice_made_says_why():
    """With what is expected of the place that would have been first."""
    known = record(home=place(0.1, up=1), next=place(0.9, up=60, preempted=0.25), far=place(0.9, up=60))
    assert why_there(PLACES, known, NOW, LIMITS) == (
        "Google expects obtainability 0.9, 60 min up, 25% preempted;"
        " of us-central1-a obtainability 0.1, 1 min up"
    )


def test_a_choice_that_advice_did_not_change_says_nothing():
    """Home would have been first anyway."""
    assert why_there(PLACES, record(home=place(0.9), next=place(0.9), far=place(0.9)), NOW, LIMITS) == ""


def test_where_every_place_is_blocked_nothing_is_said():
    """There is no first place."""
    known = learn(record(), [news(PlaceEvent.STOCKOUT, zone) for zone in PLACES], LIMITS)
    assert why_there(PLACES, known, NOW, LIMITS) == ""


def test_what_is_unknown_is_worded_as_nothing():
    """And stands in the middle: a medium band, ten minutes, a half."""
    assert worded(PlaceAdvice()) == "nothing"
    assert expected(PlaceAdvice()) == expected(place(0.5, up=10, preempted=0.5))
    assert expected(PlaceAdvice())[1] == HOUR - timedelta(minutes=10)
