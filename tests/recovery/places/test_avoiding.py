"""Zones that no job is launched in: by the policy or by a command, until a moment or for good."""

from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.layout import AvoidedZones, PlacementMemory
from spotwarden.model.action import WriteAttempt
from spotwarden.model.attempt import AttemptState
from spotwarden.model.instance import Status
from spotwarden.model.placement import AvoidedPlace, AvoidedPlaces
from spotwarden.recovery.places import choosing
from spotwarden.recovery.places.memory import PlaceMemory
from tests.recovery.facts import HOME, NOW

NEXT, ABROAD = "us-central1-b", "us-east4-a"
SECOND = timedelta(seconds=1)


@pytest.fixture
def chosen(some, policy, tick):
    """Where the next attempt of a job that may go to three zones is asked for, None for nowhere."""

    def choose(*places, by="command", waited=False, instances=(), **facts):
        attempt = some.attempt(2, AttemptState.CLAIMED, replaces={"test-vm": "1001"}).attempt
        told = places if by == "command" else ()
        limits = replace(policy.placement, avoid=places if by == "policy" else ())
        job = some.job(launch=some.launch(NEXT, ABROAD), avoided=told, instances=instances, **facts)
        found = choosing.choose(job, attempt, replace(policy, placement=limits), tick, waited=waited)
        return found and (found.place, found.kind.value)

    return choose


@pytest.mark.parametrize("by", ["command", "policy"])
@pytest.mark.parametrize(
    ("places", "goes_to"),
    [
        ((), HOME),
        ((AvoidedPlace(zone=HOME),), NEXT),
        ((AvoidedPlace(zone="us-central1"),), ABROAD),
        ((AvoidedPlace(zone=HOME), AvoidedPlace(zone=ABROAD)), NEXT),
        ((AvoidedPlace(zone=HOME, until=NOW),), HOME),
        ((AvoidedPlace(zone=HOME, until=NOW + SECOND),), NEXT),
    ],
)
def test_no_attempt_is_asked_for_in_an_avoided_zone(chosen, by, places, goes_to):
    """Nor in any of an avoided region; to the second."""
    assert chosen(*places, by=by) == (goes_to, "create")


@pytest.mark.parametrize("waited", [True, False])
def test_where_all_are_avoided_nothing_is_asked(chosen, waited):
    """Not even after a back-off."""
    assert chosen(AvoidedPlace(zone="us-central1"), AvoidedPlace(zone=ABROAD), waited=waited) is None


def test_a_job_with_no_zone_left_waits_and_says_why(some, policy, step):
    """It is not given up: a zone that is avoided is not useless."""
    attempt = some.attempt(2, AttemptState.BACKING_OFF, not_before=NOW, created=NOW)
    avoided = (AvoidedPlace(zone=HOME, until=NOW + timedelta(hours=6), reason="many host errors"),)
    facts = some.job(
        ledger=(some.attempt(instances={"test-vm": "1001"}), attempt),
        nodes=(),
        avoided=avoided,
        surveyed=True,
    )
    written = step(facts)
    assert isinstance(written, WriteAttempt)
    assert written.record.state is AttemptState.BACKING_OFF
    assert f"avoided: {HOME} until 2026-11-21 18:00 UTC (many host errors)" in written.reason


def test_a_stopped_vm_in_an_avoided_zone_is_not_started_again(some, chosen):
    """The job is created in another zone; the same VM elsewhere is started."""
    kept = some.instance(status=Status.TERMINATED)
    assert chosen(instances=(kept,)) == (HOME, "start")
    assert chosen(AvoidedPlace(zone=HOME), instances=(kept,)) == (NEXT, "create")


def test_what_a_command_wrote_is_read_with_the_memory_of_places(world, some, policy, tick):
    """Once a sweep; without the object nothing is avoided."""
    job = some.job(launch=replace(some.launch(), machine="g2-standard-4"))
    assert PlaceMemory(world.cloud.ports(), world.layout, policy, tick).recall(job).avoided == ()
    said = AvoidedPlaces(places=(AvoidedPlace(zone=HOME, until=NOW, by="ada@example.com"),))
    world.cloud.store.write(world.layout.build(AvoidedZones()), msgspec.json.encode(said), generation=0)
    assert PlaceMemory(world.cloud.ports(), world.layout, policy, tick).recall(job).avoided == said.places


@pytest.mark.parametrize("kind", [AvoidedZones(), PlacementMemory(machine="g2-standard-4")], ids=str)
@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"places": 7, "machine": 7}'])
def test_what_is_remembered_of_places_and_cannot_be_read_stops_no_recovery(
    world, some, policy, tick, kind, data
):
    """Somebody may have edited it; it is advice, and a job must come back without it."""
    job = some.job(launch=replace(some.launch(), machine="g2-standard-4"))
    world.cloud.store.write(world.layout.build(kind), data, generation=None)
    recalled = PlaceMemory(world.cloud.ports(), world.layout, policy, tick).recall(job)
    assert (recalled.avoided, recalled.places.offered) == ((), tuple(sorted(world.cloud.compute.zones)))
