"""Operations: how they are shown, waited for, found, and done once only."""

import asyncio
import uuid
from datetime import timedelta

import pytest

from tests.localcloud.compute.world import REGION, ZONE, World, request, spot

INSTANCES = f"zones/{ZONE}/instances"


def test_an_operation_tells_what_is_done_to_whom_by_whom(world: World):
    """With links to its target and itself, and the id of this very instance."""
    headers = {"Authorization": "Bearer local-ann@project.iam.gserviceaccount.com"}
    operation = world.post(INSTANCES, request(), headers=headers)
    vm = world.instance()
    assert operation["kind"] == "compute#operation"
    assert (operation["operationType"], operation["status"], operation["progress"]) == (
        "insert",
        "PENDING",
        0,
    )
    assert (operation["targetLink"], operation["targetId"]) == (vm["selfLink"], vm["id"])
    assert operation["user"] == "ann@project.iam.gserviceaccount.com"
    assert operation["zone"].endswith(f"/zones/{ZONE}")
    assert operation["selfLink"].endswith(f"/zones/{ZONE}/operations/{operation['name']}")
    world.advance(1)
    done = world.operation(operation)
    assert (done["status"], done["progress"]) == ("DONE", 100)
    assert done["insertTime"] < done["startTime"] < done["endTime"]


def test_a_caller_whose_token_says_nothing_is_a_developer(world: World):
    """The token file of gcloud holds any text."""
    operation = world.post(INSTANCES, request(), headers={"Authorization": "Bearer local-cloud"})
    assert operation["user"] == "developer@example.com"


def test_wait_answers_when_the_operation_is_done(world: World):
    """And not before."""
    operation = world.post(INSTANCES, request())
    path = f"/compute/v1/projects/project/zones/{ZONE}/operations/{operation['name']}/wait"
    waiting = world._loop.create_task(world._http.post(path))
    world.advance(0.1)
    assert not waiting.done()
    world.advance(0.5)
    assert waiting.result().json()["status"] == "DONE"


def test_several_callers_can_wait_for_one_operation(world: World):
    """Each gets its answer."""
    operation = world.post(INSTANCES, request())
    path = f"/compute/v1/projects/project/zones/{ZONE}/operations/{operation['name']}/wait"
    waiting = [world._loop.create_task(world._http.post(path)) for _ in range(3)]
    world.advance(1)
    assert [task.result().json()["status"] for task in waiting] == ["DONE"] * 3


def test_wait_gives_up_at_its_deadline_with_the_operation_as_it_is(world: World):
    """Two minutes at the API; the limit is an argument below it."""
    operation = world.post(INSTANCES, request())
    operations = world.service._site.operations
    scope = f"zones/{ZONE}"

    async def wait():
        return await operations.wait(scope, operation["name"], timedelta(0))

    assert world.finish(asyncio.wait_for(wait(), 5))["status"] == "PENDING"


def test_wait_for_a_finished_operation_answers_at_once(world: World):
    """There is nothing to wait for."""
    operation = world.post(INSTANCES, request())
    world.advance(1)
    assert world.post(f"zones/{ZONE}/operations/{operation['name']}/wait")["status"] == "DONE"


@pytest.mark.parametrize("scope", [f"zones/{ZONE}", f"regions/{REGION}", "global"])
def test_an_operation_that_is_not_there_is_not_found(world: World, scope):
    """In every scope, for every method."""
    path = f"{scope}/operations/none"
    for method, at in (("GET", path), ("DELETE", path), ("POST", f"{path}/wait")):
        assert world.refused(method, at) == (
            404,
            "notFound",
            f"The resource 'projects/project/{path}' was not found",
        )


def test_an_operation_can_be_deleted_from_the_list(world: World):
    """What it did stays."""
    operation = world.post(INSTANCES, request())
    world.advance(1)
    world.delete(f"zones/{ZONE}/operations/{operation['name']}")
    assert world.operations() == []
    assert world.status() == "RUNNING"


def test_operations_are_listed_in_the_order_in_which_they_were_asked_for(world: World):
    """Their names begin with the time."""
    world.create(scheduling=spot("STOP"))
    world.post("/local/preempt", {"node": "vm"})
    world.advance(1)
    world.post(f"{INSTANCES}/vm/start")
    world.advance(1)
    world.delete(f"{INSTANCES}/vm")
    asked = [one for one in world.operations() if one["name"].startswith("operation-")]
    assert [one["operationType"] for one in asked] == ["insert", "start", "delete"]


def test_operations_of_all_scopes_are_in_the_aggregated_list(world: World):
    """Zones, regions and global ones."""
    world.post(INSTANCES, request())
    world.post(f"regions/{REGION}/addresses", {"name": "ip"})
    world.post("global/networks", {"name": "net"})
    items = world.get("aggregated/operations")["items"]
    found = {scope: scoped["operations"] for scope, scoped in items.items() if "operations" in scoped}
    assert set(found) == {f"zones/{ZONE}", f"regions/{REGION}", "global"}


def test_operations_are_found_by_filter(world: World):
    """The way in which preemptions are looked for."""
    world.create(scheduling=spot())
    world.post("/local/preempt", {"node": "vm"})
    world.advance(1)
    for text in (
        'operationType = "compute.instances.preempted"',
        "operationType eq compute.instances.preempted",
    ):
        items = world.get("aggregated/operations", filter=text)["items"]
        assert [one["operationType"] for one in items[f"zones/{ZONE}"]["operations"]] == [
            "compute.instances.preempted"
        ]
    recent = world.get(f"zones/{ZONE}/operations", filter='insertTime > "2026-11-21T08:00:00.5Z"')
    assert [one["operationType"] for one in recent["items"]] == ["compute.instances.preempted"]


class TestRequestId:
    """The same request sent twice is carried out once."""

    def test_the_same_request_gets_the_same_operation(self, world: World):
        """While it runs and after it is done; the instance is created once."""
        key = str(uuid.uuid4())
        first = world.post(INSTANCES, request(), requestId=key)
        second = world.post(INSTANCES, request(), requestId=key.upper())
        world.advance(1)
        third = world.post(INSTANCES, request(), requestId=key)
        assert first["name"] == second["name"] == third["name"]
        assert (first["status"], third["status"]) == ("PENDING", "DONE")
        assert first["clientOperationId"] == key
        assert len(world.operations("insert")) == 1

    def test_it_stays_so_after_the_instance_is_deleted(self, world: World):
        """A retry that comes late creates nothing."""
        key = str(uuid.uuid4())
        world.post(INSTANCES, request(), requestId=key)
        world.advance(1)
        world.delete(f"{INSTANCES}/vm")
        world.advance(1)
        world.post(INSTANCES, request(), requestId=key)
        world.advance(1)
        assert world.status() == "GONE"

    def test_another_request_with_the_same_id_is_refused(self, world: World):
        """Another body, another zone or another method."""
        key = str(uuid.uuid4())
        world.post(INSTANCES, request(), requestId=key)
        others = [
            ("POST", INSTANCES, request(labels={"a": "b"})),
            ("POST", "zones/us-east1-b/instances", request(zone="us-east1-b")),
            ("DELETE", f"{INSTANCES}/vm", None),
        ]
        for method, path, body in others:
            status, reason, message = world.refused(method, path, body, requestId=key)
            assert (status, reason) == (400, "invalid")
            assert "for a different request" in message

    def test_a_refused_request_leaves_its_id_free(self, world: World):
        """The name was taken then and is free now."""
        key = str(uuid.uuid4())
        world.create()
        assert world.refused("POST", INSTANCES, request(), requestId=key)[0] == 409
        world.delete(f"{INSTANCES}/vm")
        world.advance(1)
        world.post(INSTANCES, request(), requestId=key)
        world.advance(1)
        assert world.status() == "RUNNING"

    def test_a_failed_operation_stays_the_answer(self, world: World):
        """A stockout is an outcome: asking again needs another id."""
        key = str(uuid.uuid4())
        world.post("/local/stockout", {"zone": ZONE})
        world.post(INSTANCES, request(), requestId=key)
        world.advance(1)
        world.delete("/local/stockout", {"zone": ZONE})
        again = world.post(INSTANCES, request(), requestId=key)
        assert again["error"]["errors"][0]["code"] == "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"
        assert world.status() == "GONE"

    @pytest.mark.parametrize(
        "key", ["1", "00000000-0000-0000-0000-000000000000", "{12345678-1234-1234-1234-123456789abc}"]
    )
    def test_it_is_a_uuid_and_not_zero(self, world: World, key):
        """As the reference says."""
        status, reason, message = world.refused("POST", INSTANCES, request(), requestId=key)
        assert (status, reason) == (400, "invalid")
        assert message.startswith(f"Invalid value for field 'requestId': '{key}'.")
        assert world.status() == "GONE"

    @pytest.mark.parametrize(
        ("method", "path"),
        [("DELETE", f"{INSTANCES}/vm"), ("POST", f"{INSTANCES}/vm/stop"), ("POST", f"{INSTANCES}/vm/reset")],
    )
    def test_commands_have_it_too(self, world: World, method, path):
        """Not only inserts."""
        world.create()
        key = str(uuid.uuid4())
        first = world.call(method, path, requestId=key).json()
        world.advance(1)
        second = world.call(method, path, requestId=key).json()
        assert (first["name"], second["status"]) == (second["name"], "DONE")
