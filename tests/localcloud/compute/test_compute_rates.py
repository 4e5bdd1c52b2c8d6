"""Rate quotas: which calls are counted together, and what happens when there are too many."""

import pytest

from localcloud.compute.rates import group_of
from tests.localcloud.compute.world import ZONE, World, request

ZONAL = "projects/{project}/zones/{zone}"


@pytest.mark.parametrize(
    ("method", "path", "metric"),
    [
        ("POST", f"{ZONAL}/instances", "default_per_region"),
        ("DELETE", f"{ZONAL}/instances/{{instance}}", "default_per_region"),
        ("POST", f"{ZONAL}/instances/{{instance}}/start", "default_per_region"),
        ("POST", "projects/{project}/regions/{region}/instances/bulkInsert", "default_per_region"),
        ("GET", f"{ZONAL}/instances", "list_requests_per_region"),
        ("GET", f"{ZONAL}/instances/{{instance}}", "read_requests_per_region"),
        ("GET", f"{ZONAL}/instances/{{instance}}/serialPort", "read_requests_per_region"),
        ("GET", f"{ZONAL}/operations/{{operation}}", "operation_read_requests_per_region"),
        ("POST", f"{ZONAL}/operations/{{operation}}/wait", "heavy_weight_read_requests_per_region"),
        ("GET", "projects/{project}/aggregated/operations", "heavy_weight_read_requests"),
        ("GET", "projects/{project}/global/operations/{operation}", "operation_read_requests"),
        ("GET", "projects/{project}/global/images", "list_requests"),
        ("GET", "projects/{project}/global/images/family/{family}", "read_requests"),
        ("POST", "projects/{project}/global/images", "default"),
    ],
)
def test_calls_are_counted_in_the_groups_that_google_names(method: str, path: str, metric: str):
    """Changes, reads, lists, looks at operations and heavy reads each have a quota of their own."""
    assert group_of(method, path).metric == metric


def counts(world: World) -> dict[tuple[str, str], tuple[int, int]]:
    """Calls let through and refused, by group and region."""
    shown = world.get("/local/rates")["counts"]
    return {(one["metric"], one["region"]): (one["calls"], one["refused"]) for one in shown}


def test_without_the_knob_calls_are_counted_and_none_is_refused(world: World):
    """By group and region."""
    world.create("one")
    for _ in range(3):
        world.get("aggregated/instances")
    seen = counts(world)
    assert seen["heavy_weight_read_requests", ""] == (3, 0)
    assert seen["default_per_region", "us-central1"] == (1, 0)


def test_over_the_limit_calls_are_refused_until_the_minute_is_over(world: World):
    """With 403 and `rateLimitExceeded`; the quota is full again on the full minute."""
    world.post("/local/rates", {"metric": "heavy_weight_read_requests", "limit": 2})
    world.advance(30)
    for _ in range(2):
        world.get("aggregated/instances")
    status, reason, message = world.refused("GET", "aggregated/instances")
    assert (status, reason) == (403, "rateLimitExceeded")
    assert "per minute" in message
    world.advance(29)
    world.refused("GET", "aggregated/instances")
    world.advance(2)
    world.get("aggregated/instances")
    assert counts(world)["heavy_weight_read_requests", ""] == (3, 2)


def test_a_refused_call_does_nothing(world: World):
    """The same request, asked again a minute later, is the first to be carried out."""
    world.post("/local/rates", {"metric": "default_per_region", "limit": 0})
    path, ident = f"zones/{ZONE}/instances", "6f2d7a52-3a1c-5c1e-9d0b-8f6f1b7b3f11"
    world.refused("POST", path, request(), requestId=ident)
    assert world.status() == "GONE"
    world.post("/local/rates", {"metric": "default_per_region"})
    world.post(path, request(), requestId=ident)
    world.advance(1)
    assert world.status() == "RUNNING"


def test_each_region_has_a_quota_of_its_own(world: World):
    """Next door there is some left."""
    world.post("/local/rates", {"metric": "list_requests_per_region", "limit": 1})
    world.get(f"zones/{ZONE}/instances")
    world.refused("GET", "zones/us-central1-b/instances")
    world.get("zones/us-east1-b/instances")


def test_all_groups_can_be_limited_as_published(world: World):
    """1,500 a minute, heavy reads 750; and everything can be as before."""
    world.post("/local/rates", {})
    limits = world.get("/local/rates")["limits"]
    assert (limits["default_per_region"], limits["heavy_weight_read_requests"]) == (1500, 750)
    world.delete("/local/rates")
    assert world.get("/local/rates") == {"limits": {}, "counts": []}


def test_a_group_that_there_is_not_cannot_be_limited(world: World):
    """The answer names those that there are."""
    status, _, message = world.refused("POST", "/local/rates", {"metric": "inserts", "limit": 1})
    assert status == 400
    assert "default_per_region" in message
