"""A launch that is not asked for in the zone of its script, for what other jobs went through there."""

from datetime import UTC, datetime, timedelta

import httpx
import msgspec
import pytest

from spotwarden.cli.launching import starting
from spotwarden.layout import AvoidedZones, PlacementMemory
from spotwarden.model.attempt import Try
from spotwarden.model.ladder import VmModel
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.placement import AvoidedPlace, AvoidedPlaces, PlacementRecord, ZoneAvailability
from spotwarden.recovery.places.passed_over import why_not_home
from tests.cli.test_acting import ZONE, Shop
from tests.recovery import facts as some

NOW = datetime.now(UTC)
HOUR = timedelta(hours=1)
A, B = "us-central1-a", "us-central1-b"
SCRIPT = """#!/bin/bash
gcloud compute instances create my-job --zone=us-central1-a --machine-type=e2-small \\
  --provisioning-model=SPOT --image-family=debian-12 --image-project=debian-cloud --no-scopes
"""


@pytest.fixture
def shop(served, workstation, world, monkeypatch):
    """A workstation with Compute Engine and a topic of notices; nobody waits long."""
    monkeypatch.setattr(starting, "TIMEOUT_SECONDS", 1)
    topic = f"{served.url}/v1/projects/demo/topics/notices"
    httpx.put(topic, json={}, trust_env=False, timeout=60)
    return Shop(workstation, world)


@pytest.fixture
def submit(shop, tmp_path):
    """What `submit` says."""
    file = tmp_path / "create-instance.sh"
    file.write_text(SCRIPT)
    return lambda: shop.workstation.run("submit", str(file), "--owner", "ada@example.com").output


def remember(shop, **availability):
    """What jobs on this machine type have left in the bucket about the zone of the script."""
    zones = [f"us-central1-{letter}" for letter in "abcf"]
    known = {ZONE: ZoneAvailability(at=NOW, **availability)}
    record = PlacementRecord(machine="e2-small", offered=zones, offered_at=NOW, availability=known)
    shop.put(PlacementMemory(machine="e2-small"), msgspec.json.encode(record))


@pytest.mark.parametrize(
    ("availability", "why"),
    [
        ({"out": NOW, "trouble": 1.0}, f": a job found no capacity there at {NOW:%Y-%m-%d %H:%M} UTC\n"),
        ({"taken": NOW, "trouble": 3.0}, ": it had more stockouts and preemptions of late, counted over all"),
    ],
)
def test_a_zone_that_other_jobs_had_trouble_in_is_not_asked_and_it_is_said_why(
    shop, submit, availability, why
):
    """Whoever has written the zone would look for the VM there."""
    remember(shop, **availability)
    said = submit()
    assert f"is asked before {ZONE}{why}" in said
    assert shop.named("my-job")[0].zone != ZONE


def test_a_zone_that_is_avoided_is_said_to_be(shop, submit):
    """With why."""
    avoided = AvoidedPlaces(places=(AvoidedPlace(zone=ZONE, reason="broken racks"),))
    shop.put(AvoidedZones(), msgspec.json.encode(avoided))
    assert f"is asked before {ZONE}: it is avoided: {ZONE} (broken racks)\n" in submit()


def test_of_a_job_that_is_launched_where_its_script_says_nothing_is_said(shop, submit):
    """Nor of a preemption that is long forgotten."""
    remember(shop, taken=NOW, trouble=0.4)
    assert "is asked before" not in submit()
    assert shop.named("my-job")[0].zone == ZONE


def reason(first, **facts):
    """Why such a try is the first of a job that was asked for in B, or in A."""
    tried = Try(**{"place": B, "request_id": "r", "at": some.NOW, **first})
    known = some.job(launch=some.launch(B), **facts)
    return why_not_home(known, tried, PlacementLimits(), some.NOW)


def priced(home, there):
    """What an hour costs in each."""
    return {"prices": {A: {VmModel.SPOT: home}, B: {VmModel.SPOT: there}}}


@pytest.mark.parametrize(
    ("first", "facts", "says"),
    [
        ({}, priced(2.0, 1.0), "it costs more"),
        ({}, priced(1.0, 1.0), ""),
        ({}, {}, ""),
        ({"place": A}, priced(2.0, 1.0), ""),
        ({"why": "Google expects room"}, priced(2.0, 1.0), "Google expects room"),
        ({"machine": "a2-highgpu-1g"}, priced(2.0, 1.0), ""),
        ({"spot": False}, priced(2.0, 1.0), ""),
    ],
)
def test_advice_and_prices_are_reasons_too(first, facts, says):
    """Another machine type than the script's is told by the place that is."""
    assert reason(first, **facts) == says


@pytest.mark.parametrize(("spot", "says"), [(True, True), (False, False)])
def test_what_a_place_did_to_spot_vms_is_no_reason_for_an_on_demand_one(spot, says):
    """Nor does it count for its order."""
    known = {A: ZoneAvailability(out=some.NOW - HOUR / 2)}
    places = PlacementRecord(machine="", availability=known)
    assert bool(reason({"spot": spot}, places=places)) is says
