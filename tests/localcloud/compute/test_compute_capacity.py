"""Stockouts and quotas: what an operation says, how long it lasts, whom it hits."""

import pytest

from tests.localcloud.compute.world import ZONE, World, request, spot

INSTANCES = f"zones/{ZONE}/instances"


def outcome(world: World, body=None, zone: str = ZONE) -> str:
    """The error code of an insert; "" when it succeeds, and then the instance is deleted again."""
    operation = world.post(f"zones/{zone}/instances", body or request(zone=zone))
    world.advance(1)
    done = world.operation(operation)
    if "error" in done:
        return done["error"]["errors"][0]["code"]
    world.delete(f"zones/{zone}/instances/{done['targetLink'].rpartition('/')[2]}")
    world.advance(1)
    return ""


SHORT = "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"


def test_a_stockout_is_an_error_of_the_operation(world: World):
    """The request is accepted; the instance is seen PROVISIONING, then gone; so is its disk."""
    world.post("/local/stockout", {"zone": ZONE})
    operation = world.post(INSTANCES, request())
    assert world.status() == "PROVISIONING"
    world.advance(1)
    done = world.operation(operation)
    assert (done["status"], done["httpErrorStatusCode"]) == ("DONE", 503)
    assert done["httpErrorMessage"] == "SERVICE UNAVAILABLE"
    assert world.status() == "GONE"
    assert "items" not in world.get(f"zones/{ZONE}/disks")
    assert world.machines.did == []


def test_the_details_of_a_stockout_are_those_of_the_real_api(world: World):
    """Help, a sentence for people, and facts for programs."""
    world.post("/local/stockout", {"zone": ZONE, "machine": "g2-standard-4"})
    body = request(machineType="g2-standard-4", scheduling=spot())
    operation = world.post(INSTANCES, body)
    world.advance(1)
    (error,) = world.operation(operation)["error"]["errors"]
    assert error["code"] == SHORT
    start = f"The zone 'projects/project/zones/{ZONE}' does not have enough resources available"
    assert error["message"].startswith(f"{start} to fulfill the request.")
    links, sentence, facts = error["errorDetails"]
    assert links["help"]["links"][0]["url"] == "https://cloud.google.com/compute/docs/resource-error"
    assert (
        "A g2-standard-4 VM instance with 1 nvidia-l4 accelerator(s)"
        in sentence["localizedMessage"]["message"]
    )
    assert facts["errorInfo"] == {
        "domain": "compute.googleapis.com",
        "reason": "resource_availability",
        "metadatas": {
            "vmType": "g2-standard-4",
            "attachment": "nvidia-l4:1",
            "zone": ZONE,
            "zonesAvailable": "us-central1-b,us-central1-c",
        },
    }


def test_a_configuration_that_is_not_offered_has_its_own_reason(world: World):
    """Whoever reads the reason does not ask there again."""
    world.post("/local/stockout", {"zone": ZONE, "reason": "configuration_availability"})
    operation = world.post(INSTANCES, request())
    world.advance(1)
    info = world.operation(operation)["error"]["errors"][0]["errorDetails"][2]["errorInfo"]
    assert info["reason"] == "configuration_availability"


def test_a_stockout_hits_its_zone_and_machine_only(world: World):
    """One fact apart: another zone, another machine."""
    world.post("/local/stockout", {"zone": ZONE, "machine": "n1-standard-1"})
    assert outcome(world) == SHORT
    assert outcome(world, request(machineType="n1-standard-2")) == ""
    assert outcome(world, zone="us-central1-b") == ""


def test_a_stockout_of_spot_vms_leaves_room_for_the_others(world: World):
    """Most that a zone refuses it would give at the full price; a preemptible VM is a spot VM."""
    world.post("/local/stockout", {"zone": ZONE, "model": "SPOT"})
    for hit in (spot(), {"preemptible": True}):
        assert outcome(world, request(scheduling=hit)) == SHORT
    assert outcome(world, request()) == ""
    world.delete("/local/stockout", {"zone": ZONE, "model": "SPOT"})
    assert outcome(world, request(scheduling=spot())) == ""


def test_a_stockout_of_no_known_model_is_refused(world: World):
    """The models are named."""
    refused = world.refused("POST", "/local/stockout", {"zone": ZONE, "model": "spot"})
    assert refused == (400, "invalid", "There is no model 'spot'; there are STANDARD, SPOT, FLEX_START.")


def test_a_stockout_ends_after_its_time(world: World):
    """Or when it is told to, or never."""
    world.post("/local/stockout", {"zone": ZONE, "for_seconds": 60})
    world.advance(58)
    assert outcome(world) == SHORT
    world.advance(2)
    assert outcome(world) == ""
    world.post("/local/stockout", {"zone": ZONE})
    world.advance(10**6)
    assert outcome(world) == SHORT
    world.delete("/local/stockout", {"zone": ZONE})
    assert outcome(world) == ""
    assert world.get("/local/stockout") == {"stockouts": []}


def test_a_stockout_can_leave_a_few(world: World):
    """Each that is taken is one less; what is given back does not come back to us."""
    world.post("/local/stockout", {"zone": ZONE, "left": 2})
    assert [outcome(world) for _ in range(3)] == ["", "", SHORT]


def test_a_started_instance_needs_room_like_a_new_one(world: World):
    """The start fails, the instance stays TERMINATED, and can be started later."""
    world.create(networkInterfaces=[{"accessConfigs": [{}]}])
    world.post(f"{INSTANCES}/vm/stop")
    world.advance(1)
    world.post("/local/stockout", {"zone": ZONE})
    operation = world.post(f"{INSTANCES}/vm/start")
    world.advance(1)
    assert world.operation(operation)["error"]["errors"][0]["code"] == SHORT
    assert world.status() == "TERMINATED"
    assert "natIP" not in world.instance()["networkInterfaces"][0]["accessConfigs"][0]
    world.delete("/local/stockout", {"zone": ZONE})
    world.post(f"{INSTANCES}/vm/start")
    world.advance(1)
    assert world.status() == "RUNNING"


def test_running_instances_are_not_hit(world: World):
    """A stockout takes nothing away."""
    world.create()
    world.post("/local/stockout", {"zone": ZONE})
    world.advance(60)
    assert world.status() == "RUNNING"


T4 = f"zones/{ZONE}/acceleratorTypes/nvidia-tesla-t4"


def with_gpus(name: str, count: int, **fields) -> dict:
    """An instance with T4s."""
    gpus = [{"acceleratorType": T4, "acceleratorCount": count}]
    return request(
        name, guestAccelerators=gpus, **({"scheduling": {"onHostMaintenance": "TERMINATE"}} | fields)
    )


@pytest.mark.parametrize(
    ("quota", "first", "second"),
    [
        (
            {"metric": "CPUS", "limit": 3, "region": "us-central1"},
            {"machineType": "n1-standard-2"},
            {"machineType": "n1-standard-2"},
        ),
        ({"metric": "CPUS_ALL_REGIONS", "limit": 1}, {}, {}),
        ({"metric": "INSTANCES", "limit": 1, "region": "us-central1"}, {}, {}),
        (
            {"metric": "IN_USE_ADDRESSES", "limit": 1, "region": "us-central1"},
            {"networkInterfaces": [{"accessConfigs": [{}]}]},
            {"networkInterfaces": [{"accessConfigs": [{}]}]},
        ),
    ],
)
def test_a_quota_is_a_limit_on_what_there_is_at_once(world: World, quota, first, second):
    """The first is within, the second is over; when the first is gone, there is room again."""
    world.post("/local/quota", quota)
    world.create("a", **first)
    operation = world.post(INSTANCES, request("b", **second))
    world.advance(1)
    assert world.operation(operation)["error"]["errors"][0]["code"] == "QUOTA_EXCEEDED"
    world.delete(f"{INSTANCES}/a")
    world.advance(1)
    world.create("b", **second)


def test_an_exceeded_quota_is_told_with_its_details(world: World):
    """Metric, limit and place."""
    world.post("/local/quota", {"metric": "GPUS_ALL_REGIONS", "limit": 1})
    world.post("/local/quota", {"metric": "NVIDIA_T4_GPUS", "limit": 9, "region": "us-central1"})
    operation = world.post(INSTANCES, with_gpus("vm", 2))
    world.advance(1)
    done = world.operation(operation)
    assert (done["httpErrorStatusCode"], done["httpErrorMessage"]) == (403, "FORBIDDEN")
    assert done["error"]["errors"] == [
        {
            "code": "QUOTA_EXCEEDED",
            "message": "Quota 'GPUS_ALL_REGIONS' exceeded.  Limit: 1.0 globally.",
            "errorDetails": [
                {
                    "quotaInfo": {
                        "metricName": "compute.googleapis.com/gpus_all_regions",
                        "limitName": "GPUS-ALL-REGIONS-per-project",
                        "dimensions": {"global": "global"},
                        "limit": 1.0,
                    }
                }
            ],
        }
    ]


def test_spot_gpus_have_a_quota_of_their_own(world: World):
    """A limit on preemptible T4s does not hit others, nor the reverse."""
    world.post("/local/quota", {"metric": "PREEMPTIBLE_NVIDIA_T4_GPUS", "limit": 0, "region": "us-central1"})
    assert outcome(world, with_gpus("standard", 1)) == ""
    operation = world.post(INSTANCES, with_gpus("cheap", 1, scheduling=spot()))
    world.advance(1)
    message = world.operation(operation)["error"]["errors"][0]["message"]
    assert message == "Quota 'PREEMPTIBLE_NVIDIA_T4_GPUS' exceeded.  Limit: 0.0 in region us-central1."


def test_a_stopped_instance_uses_no_quota(world: World):
    """TERMINATED instances keep their disks only."""
    world.post("/local/quota", {"metric": "CPUS", "limit": 1, "region": "us-central1"})
    world.create("a")
    world.post(f"{INSTANCES}/a/stop")
    world.advance(1)
    world.create("b")
    assert (world.status("a"), world.status("b")) == ("TERMINATED", "RUNNING")


def quotas(world: World, path: str) -> dict[str, tuple[float, float]]:
    """The limit and the usage of each metric that a place shows."""
    return {quota["metric"]: (quota["limit"], quota["usage"]) for quota in world.get(path)["quotas"]}


def test_limits_are_shown_where_the_api_shows_them(world: World):
    """Those of a region there, global ones at the project; lifted ones are gone."""
    world.post("/local/quota", {"metric": "CPUS", "limit": 8, "region": "us-central1"})
    world.post("/local/quota", {"metric": "GPUS_ALL_REGIONS", "limit": 4})
    world.create()
    assert quotas(world, "regions/us-central1")["CPUS"] == (8, 1)
    assert quotas(world, "/compute/v1/projects/project")["GPUS_ALL_REGIONS"] == (4, 0)
    world.post("/local/quota", {"metric": "CPUS", "region": "us-central1"})
    assert world.get("/local/quota")["quotas"] == [{"metric": "GPUS_ALL_REGIONS", "region": "", "limit": 4.0}]


def test_what_is_not_limited_is_shown_with_a_limit_that_nobody_reaches(world: World):
    """Tools take a metric that a region does not show for one of which they may have nothing."""
    world.create()
    here, there = quotas(world, "regions/us-central1"), quotas(world, "regions/europe-west4")
    assert (here["CPUS"], here["INSTANCES"], there["CPUS"]) == ((1e6, 1), (1e6, 1), (1e6, 0))
    assert "NVIDIA_H100_GPUS" not in here  # Compute Engine's API has no word for it
    assert here["PREEMPTIBLE_NVIDIA_L4_GPUS"] == here["NVIDIA_L4_GPUS"] == (1e6, 0)
    whole = quotas(world, "/compute/v1/projects/project")
    assert whole == {"CPUS_ALL_REGIONS": (1e6, 1), "GPUS_ALL_REGIONS": (1e6, 0)}
    assert whole.keys().isdisjoint(here)
