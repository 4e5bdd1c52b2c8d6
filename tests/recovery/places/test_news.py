"""What an attempt's record tells about places, for those who ask next."""

from datetime import timedelta

import pytest

from spotwarden.model.attempt import AttemptState
from spotwarden.model.placement import PlaceEvent
from spotwarden.recovery.observed.fates import Fate
from spotwarden.recovery.places.news import news

A = "us-central1-a"


@pytest.fixture
def told(tick):
    """What a record tells, as place and event."""
    return lambda recorded: [(one.place, one.event) for one in news(recorded.attempt, tick)]


def test_a_stockout_is_news_and_other_refusals_are_not(some, asked, told):
    """A quota or a faulty request says nothing about the place's room."""
    none = asked(error="ZONE_RESOURCE_POOL_EXHAUSTED: no")
    assert told(some.attempt(2, AttemptState.BACKING_OFF, tries=(none,))) == [(A, PlaceEvent.STOCKOUT)]
    for error in ("quotaExceeded: no", "invalid: no", "alreadyExists: no", ""):
        assert told(some.attempt(2, AttemptState.BACKING_OFF, tries=(asked(error=error),))) == []


def test_a_place_that_gave_is_news(some, asked, told):
    """Once the attempt runs."""
    assert told(some.attempt(2, AttemptState.PLACING, tries=(asked(),))) == []
    assert told(some.attempt(2, AttemptState.RUNNING, tries=(asked(),))) == [(A, PlaceEvent.GAVE)]


def test_on_demand_tries_say_nothing_about_spot(some, asked, told):
    """Neither what they gave nor what they refused."""
    assert told(some.attempt(2, AttemptState.RUNNING, tries=(asked(spot=False),))) == []
    none = asked(spot=False, error="ZONE_RESOURCE_POOL_EXHAUSTED: no")
    assert told(some.attempt(2, AttemptState.BACKING_OFF, tries=(none,))) == []


def test_a_preemption_is_news_of_the_place_and_moment_of_the_loss(some, asked, told, tick):
    """Told with the claim, and only then; a failed host says nothing about the spot market."""
    lost = {"lost_in": A, "lost": tick.now - timedelta(minutes=1), "fate": Fate.PREEMPTED.value}
    claim = some.attempt(2, AttemptState.CLAIMED, **lost)
    assert told(claim) == [(A, PlaceEvent.PREEMPTED)]
    assert next(news(claim.attempt, tick)).at == lost["lost"]
    tried = some.attempt(2, AttemptState.PLACING, tries=(asked(),), **lost)
    assert told(tried) == [(A, PlaceEvent.PREEMPTED)]
    accepted = some.attempt(2, AttemptState.PLACING, tries=(asked(operation="op-2"),), **lost)
    assert told(accepted) == []
    assert told(some.attempt(2, AttemptState.PLACING, tries=(asked(), asked()), **lost)) == []
    assert told(some.attempt(2, AttemptState.BACKING_OFF, **lost)) == []
    assert told(some.attempt(2, AttemptState.CLAIMED, **{**lost, "fate": Fate.HOST_ERROR.value})) == []
    assert told(some.attempt(2, AttemptState.CLAIMED, **{**lost, "lost_in": ""})) == []
