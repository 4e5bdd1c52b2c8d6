"""What Google expects of spot capacity."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from spotwarden.gcp.compute import ComputeEngine
from spotwarden.model.advice import CapacityAdvice, SpotPrice
from spotwarden.ports import RejectedError, UnansweredError
from tests.contract.local_world import LocalWorld
from tests.contract.scripted import Scripted
from tests.contract.worlds import OTHER_ZONE, ZONE, World, running

MACHINE = "g2-standard-4"
REGION = "us-central1"
REGIONAL = f"/compute/v1/projects/demo/regions/{REGION}/advice"
HOUR = timedelta(hours=1)


def recommended(**scores: object) -> dict[str, object]:
    """An answer of `advice.capacity`, as the API words it."""
    shard = {"zone": ZONE, "machineType": MACHINE, "instanceCount": 1, "provisioningModel": "SPOT"}
    return {"recommendations": [{"scores": scores, "shards": [shard]}]}


def test_a_zone_with_room_is_likely_to_serve_and_to_keep(world: World):
    """In the documented bands: 0.7 to 1.0 is likely, an hour the most that is said."""
    advice = world.compute.advice(MACHINE, ZONE, 1)
    assert (advice.obtainability or 0) >= 0.7
    assert advice.uptime == HOUR


def test_a_zone_without_room_is_not(world: World):
    """The region has others."""
    world.stock_out(ZONE)
    advice = world.compute.advice(MACHINE, ZONE, 1)
    assert (advice.obtainability or 0) <= 0.3
    assert advice.uptime == timedelta(minutes=1)
    assert world.compute.advice(MACHINE, OTHER_ZONE, 1) == world.compute.advice(MACHINE, REGION, 1)


@pytest.mark.parametrize("machine", ["n2-custom-4-16384", "custom-4-8192", "ct5lp-hightpu-4t"])
def test_there_is_no_advice_on_custom_types_and_tpus(world: World, machine: str):
    """A refusal, not an answer of zero."""
    with pytest.raises(RejectedError) as refused:
        world.compute.advice(machine, ZONE, 1)
    assert refused.value.code == "invalid"
    with pytest.raises(RejectedError):
        world.compute.capacity_history(machine, ZONE)


def test_a_zone_that_preempts_shows_it_today(world: World):
    """Of all VMs that stopped, one of one was preempted; the days before, nothing stopped."""
    running(world, "node")
    world.preempt("node")
    history = world.compute.capacity_history("e2-medium", ZONE)
    assert history.preemption[-1] == 1.0
    assert history.preemption[:-1] == (0.0,) * 29
    assert world.compute.capacity_history("e2-medium", OTHER_ZONE).preemption[-1] == 0.0


def test_more_than_there_is_room_for_is_served_in_part(local_world: LocalWorld):
    """A medium score: 0.4 to 0.6."""
    local_world.leave_room(ZONE, 2)
    assert local_world.compute.advice(MACHINE, ZONE, 2).obtainability == 0.9
    assert local_world.compute.advice(MACHINE, ZONE, 3).obtainability == 0.5


def test_a_zone_is_asked_about_alone(google: Scripted, compute: ComputeEngine):
    """Scores are those of a whole request, so each zone has its own."""
    google.say(recommended(obtainability=0.7, estimatedUptime="600s"))
    advice = compute.advice(MACHINE, ZONE, 16)
    assert advice == CapacityAdvice(obtainability=0.7, uptime=timedelta(minutes=10))
    [asked] = google.asked
    assert (asked.method, asked.path) == ("POST", f"{REGIONAL}/capacity")
    assert json.loads(asked.body) == {
        "instanceProperties": {"scheduling": {"provisioningModel": "SPOT"}},
        "instanceFlexibilityPolicy": {"instanceSelections": {"machine": {"machineTypes": [MACHINE]}}},
        "distributionPolicy": {"zones": [{"zone": f"zones/{ZONE}"}], "targetShape": "ANY_SINGLE_ZONE"},
        "size": 16,
    }


def test_a_region_is_asked_about_without_zones(google: Scripted, compute: ComputeEngine):
    """As for a bulk request, which chooses one itself; more VMs than are advised on count as 1,000."""
    google.say(recommended(obtainability=0.1))
    assert compute.advice(MACHINE, REGION, 5000) == CapacityAdvice(obtainability=0.1)
    body = json.loads(google.asked[0].body)
    assert body["distributionPolicy"] == {"targetShape": "ANY_SINGLE_ZONE"}
    assert body["size"] == 1000


@pytest.mark.parametrize("answer", [{}, {"recommendations": []}, {"recommendations": [{"shards": []}]}])
def test_an_answer_without_scores_says_nothing(google: Scripted, compute: ComputeEngine, answer: object):
    """It is neither a refusal nor a zero."""
    google.say(answer)
    assert compute.advice(MACHINE, ZONE, 1) == CapacityAdvice()


def test_an_answer_of_another_shape_is_none(google: Scripted, compute: ComputeEngine):
    """The API is in preview."""
    google.say(recommended(obtainability="high"))
    with pytest.raises(UnansweredError, match="unknown shape"):
        compute.advice(MACHINE, ZONE, 1)


def test_nobody_waits_for_advice(google: Scripted, compute: ComputeEngine):
    """Where a list would be asked for again, this is not."""
    google.say(b"", status=503)
    google.say(recommended(obtainability=0.9))
    with pytest.raises(UnansweredError):
        compute.advice(MACHINE, ZONE, 1)
    assert len(google.asked) == 1


@pytest.mark.parametrize(("status", "reason"), [(403, "forbidden"), (404, "notFound"), (400, "invalid")])
def test_a_refusal_is_told(google: Scripted, compute: ComputeEngine, status: int, reason: str):
    """Of a right that is missing, a method that is not there, a machine that is not advised on."""
    google.refuse(status, reason, "Required 'compute.advice.capacity' permission for 'projects/demo'")
    with pytest.raises(RejectedError) as refused:
        compute.advice(MACHINE, ZONE, 1)
    assert refused.value.code == reason


DAY = {"startTime": "2026-09-29T07:00:00Z", "endTime": "2026-09-30T07:00:00Z"}
NEXT_DAY = {"startTime": "2026-09-30T07:00:00Z", "endTime": "2026-10-01T07:00:00Z"}


def test_the_history_of_a_zone_has_no_prices(google: Scripted, compute: ComputeEngine):
    """Its days come in order; a rate of zero is left out of JSON."""
    google.say(
        {
            "location": f"zones/{ZONE}",
            "preemptionHistory": [{"interval": NEXT_DAY}, {"interval": DAY, "preemptionRate": 0.25}],
        }
    )
    history = compute.capacity_history(MACHINE, ZONE)
    assert (history.preemption, history.prices) == ((0.25, 0.0), ())
    [asked] = google.asked
    assert asked.path == f"{REGIONAL}/capacityHistory"
    assert json.loads(asked.body) == {
        "types": ["PREEMPTION"],
        "instanceProperties": {"machineType": MACHINE, "scheduling": {"provisioningModel": "SPOT"}},
        "locationPolicy": {"location": f"zones/{ZONE}"},
    }


def test_the_history_of_a_region_has_prices(google: Scripted, compute: ComputeEngine):
    """Money is units as text, and billionths; what holds has no end. Other currencies are left out."""
    euro = {"interval": DAY, "listPrice": {"currencyCode": "EUR", "units": "9"}}
    before = {"interval": DAY, "listPrice": {"currencyCode": "USD", "nanos": 478720000}}
    after = {
        "interval": {"startTime": NEXT_DAY["startTime"]},
        "listPrice": {"currencyCode": "USD", "units": "1", "nanos": 500000000},
    }
    google.say({"location": f"regions/{REGION}", "priceHistory": [after, euro, before]})
    history = compute.capacity_history(MACHINE, REGION)
    first, second = datetime(2026, 9, 29, 7, tzinfo=UTC), datetime(2026, 9, 30, 7, tzinfo=UTC)
    assert history.prices == (
        SpotPrice(since=first, until=second, per_hour=0.47872),
        SpotPrice(since=second, per_hour=1.5),
    )
    assert json.loads(google.asked[0].body)["types"] == ["PREEMPTION", "PRICE"]


@pytest.mark.parametrize(("machine", "place"), [("../x", ZONE), (MACHINE, "us-central1/../x"), ("", ZONE)])
def test_what_can_be_no_machine_and_no_place_is_not_asked(
    google: Scripted, compute: ComputeEngine, machine: str, place: str
):
    """A path is made of them."""
    with pytest.raises(ValueError, match="No machine type in a zone or region"):
        compute.advice(machine, place, 1)
    assert google.asked == []
