"""Capacity advice: what the local cloud answers, and what it refuses."""

import pytest

from tests.localcloud.compute.world import REGION, ZONE, World

CAPACITY = f"regions/{REGION}/advice/capacity"
HISTORY = f"regions/{REGION}/advice/capacityHistory"
OTHER, THIRD = "us-central1-b", "us-central1-c"
ALL = ("us-central1-a", "us-central1-b", "us-central1-c", "us-central1-f")


def wish(*machines, zones=(), shape="ANY", size=1, model="SPOT", **more):
    """A request as the page of the method has it."""
    return {
        "instanceProperties": {"scheduling": {"provisioningModel": model}},
        "instanceFlexibilityPolicy": {
            "instanceSelections": {"one": {"machineTypes": list(machines or ("n2-standard-4",)), **more}}
        },
        "distributionPolicy": {"targetShape": shape, "zones": [{"zone": f"zones/{zone}"} for zone in zones]},
        "size": size,
    }


def past(machine="n2-standard-4", *, types=("PREEMPTION",), zone="", **more):
    """A request for the history."""
    where = {"locationPolicy": {"location": f"zones/{zone}"}} if zone else {}
    properties = {"machineType": machine, "scheduling": {"provisioningModel": "SPOT"}, **more}
    return {"types": list(types), "instanceProperties": properties, **where}


def only(world, body):
    """The one recommendation."""
    [found] = world.post(CAPACITY, body)["recommendations"]
    return found


def counts(recommendation):
    """How many VMs each zone would get."""
    return {shard["zone"]: shard["instanceCount"] for shard in recommendation["shards"]}


def run_out(world, zone, left=0, machine=""):
    """Let a zone have so many machines left."""
    world.post("/local/stockout", {"zone": zone, "left": left, "machine": machine})


class TestCapacity:
    """`advice.capacity`."""

    def test_an_answer_has_scores_and_shards(self, world: World):
        """As the API words them."""
        found = only(world, wish(zones=[ZONE], shape="ANY_SINGLE_ZONE", size=3))
        assert found == {
            "scores": {"obtainability": 0.9, "estimatedUptime": "3600s"},
            "shards": [
                {
                    "zone": ZONE,
                    "machineType": "n2-standard-4",
                    "instanceCount": 3,
                    "provisioningModel": "SPOT",
                }
            ],
        }

    def test_a_single_zone_is_the_one_with_most_room(self, world: World):
        """The others do not help."""
        for zone, left in zip(ALL, (1, 2, 0, 0), strict=True):
            run_out(world, zone, left)
        found = only(world, wish(shape="ANY_SINGLE_ZONE", size=3))
        assert (found["scores"]["obtainability"], counts(found)) == (0.5, {OTHER: 3})
        assert only(world, wish(shape="ANY", size=3))["scores"]["obtainability"] == 0.9

    def test_balanced_vms_are_spread(self, world: World):
        """As evenly as can be; others fill one zone after the other."""
        wanted = {"zones": [ZONE, OTHER, THIRD], "size": 6}
        assert counts(only(world, wish(shape="BALANCED", **wanted))) == {ZONE: 2, OTHER: 2, THIRD: 2}
        assert counts(only(world, wish(shape="ANY", **wanted))) == {ZONE: 6}

    def test_of_several_machine_types_the_first_that_can_be_had_is_recommended(self, world: World):
        """One recommendation for all of them."""
        for zone in ALL:
            run_out(world, zone, machine="n2-standard-4")
        found = only(world, wish("n2-standard-4", "n2d-standard-4", "e2-standard-4"))
        assert [shard["machineType"] for shard in found["shards"]] == ["n2d-standard-4"]

    @pytest.mark.parametrize(
        "body",
        [
            wish("n2-custom-4-16384"),
            wish("ct6e-standard-4t"),
            wish("n1-standard-4", guestAccelerators=[{"acceleratorType": "nvidia-tesla-t4"}]),
            wish("x9-standard-4"),
            wish(size=0),
            wish(size=1001),
            wish(model="STANDARD"),
            wish(shape="TARGET_SHAPE_UNSPECIFIED"),
            wish(zones=["europe-west4-a"]),
            {**wish(), "instanceFlexibilityPolicy": {}},
        ],
    )
    def test_what_is_not_advised_on_is_refused(self, world: World, body):
        """By a 400 that names the field."""
        status, reason, message = world.refused("POST", CAPACITY, body)
        assert (status, reason) == (400, "invalid")
        assert message.startswith("Invalid value for field '")


class TestHistory:
    """`advice.capacityHistory`."""

    def test_thirty_days_end_today(self, world: World):
        """Days begin at midnight on the Pacific coast; where nothing stopped the rate is zero."""
        found = world.post(HISTORY, past(zone=ZONE))
        assert found["machineType"] == "n2-standard-4"
        assert found["location"].endswith(f"/zones/{ZONE}")
        days = found["preemptionHistory"]
        assert len(days) == 30
        last = {"startTime": "2026-11-21T08:00:00.000Z", "endTime": "2026-11-22T08:00:00.000Z"}
        assert days[-1] == {"interval": last, "preemptionRate": 0.0}
        assert days[0]["interval"]["startTime"] == "2026-10-23T08:00:00.000Z"

    def test_a_rate_is_preempted_by_all_that_stopped(self, world: World):
        """One of two, in the zone and in its region, and in no other zone."""
        spot = {"provisioningModel": "SPOT", "instanceTerminationAction": "DELETE"}
        world.create("taken", scheduling=spot)
        world.create("ended")
        world.post("/local/preempt", {"node": "taken"})
        world.delete(f"zones/{ZONE}/instances/ended")
        world.advance(180)
        rates = [
            world.post(HISTORY, past(zone=zone))["preemptionHistory"][-1]["preemptionRate"]
            for zone in (ZONE, "", OTHER)
        ]
        assert rates == [0.5, 0.5, 0.0]

    @pytest.mark.parametrize(
        "body",
        [
            past("custom-4-8192"),
            past("n1-standard-4", guestAccelerators=[{"acceleratorType": "nvidia-tesla-t4"}]),
            past(types=()),
            past(types=("HISTORY_TYPE_UNSPECIFIED",)),
            past(types=("PRICE",), zone=ZONE),
            past(scheduling={"provisioningModel": "FLEX_START"}),
            past(zone="europe-west4-a"),
        ],
    )
    def test_what_has_no_history_is_refused(self, world: World, body):
        """Prices are a region's, and only Spot VMs have either."""
        assert world.refused("POST", HISTORY, body)[:2] == (400, "invalid")

    def test_a_region_has_prices_that_are_unknown(self, world: World):
        """A gap, as the real history has where there is no data."""
        found = world.post(HISTORY, past(types=("PRICE",)))
        assert "priceHistory" not in found
        assert found["location"].endswith(f"/regions/{REGION}")
