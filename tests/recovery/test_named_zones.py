"""What a stockout says of other zones: those that have room now are asked first."""

from datetime import timedelta

import pytest

from spotwarden.model.attempt import AttemptState, Try
from spotwarden.model.placement import PlacementRecord, ZoneAvailability
from spotwarden.recovery.places import choosing
from spotwarden.recovery.requests.refusals import elsewhere
from tests.recovery.facts import HOME, NOW

B, C, ABROAD = "us-central1-b", "us-central1-c", "us-east4-a"
SHORT = "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS: no room [reason=resource_availability{}]"
SECOND = timedelta(seconds=1)


@pytest.fixture
def chosen(some, policy, tick):
    """Where an attempt is asked for next that home has refused so, so long ago."""

    def choose(zones="", ago=SECOND, **facts):
        error = SHORT.format(f" zone={HOME} zonesAvailable={zones}" if zones else "")
        refused = Try(
            place=HOME, request_id="r", at=NOW - ago - timedelta(hours=2), error=error, refused=NOW - ago
        )
        attempt = some.attempt(2, AttemptState.PLACING, tries=(refused,)).attempt
        job = some.job(launch=some.launch(B, C, ABROAD), **facts)
        return choosing.choose(job, attempt, policy, tick, waited=False).place

    return choose


@pytest.mark.parametrize(
    ("zones", "place"), [("", B), (C, C), (f"{B},{C}", B), (ABROAD, ABROAD), ("europe-west4-a", B)]
)
def test_a_zone_that_compute_engine_names_is_asked_first(chosen, zones, place):
    """In the usual order where it names several; one that the job may not go to changes nothing."""
    assert chosen(zones) == place


def test_what_it_said_is_news_for_as_long_as_a_place_is_blocked(chosen, policy):
    """To the second; then home comes first again."""
    assert chosen(C, policy.placement.block - SECOND) == C
    assert chosen(C, policy.placement.block) == HOME


def test_a_zone_that_had_none_a_moment_ago_is_not_asked_for_being_named(chosen):
    """What another job has just been told there is as new."""
    record = PlacementRecord(machine="g2", availability={C: ZoneAvailability(out=NOW - SECOND)})
    assert chosen(C, places=record) == B


@pytest.mark.parametrize("text", ["", "QUOTA_EXCEEDED: no", "zonesAvailable: words", SHORT.format("")])
def test_an_error_without_zones_names_none(text):
    """Nor is anything raised."""
    assert elsewhere(text) == frozenset()
