"""Bulk requests: many instances in one group, or none."""

import pytest

from tests.localcloud.compute.world import REGION, ZONE, World, request, spot

BULK = f"zones/{ZONE}/instances/bulkInsert"
REGIONAL = f"regions/{REGION}/instances/bulkInsert"


def bulk(count: int, /, **fields) -> dict:
    """A bulk request by a pattern of names."""
    properties = {key: value for key, value in request(machineType="n1-standard-1").items() if key != "name"}
    properties |= fields.pop("properties", {})
    return {"count": str(count), "namePattern": "w-#", "instanceProperties": properties} | fields


def places(world: World) -> dict[str, str]:
    """The zone of every instance, by name."""
    return {one["name"]: one["zone"] for one in world.get("/local/instances")["instances"]}


def inserts(world: World, zone: str = ZONE) -> list[dict]:
    """The insert operations of a zone."""
    return world.operations("insert", zone)


def test_a_zonal_request_creates_its_instances(world: World):
    """Numbered by the pattern, each with an insert operation; the whole is done when all of them are."""
    operation = world.post(BULK, bulk(3))
    assert (operation["operationType"], operation["status"]) == ("bulkInsert", "PENDING")
    assert operation["selfLink"].endswith(f"/zones/{ZONE}/operations/{operation['name']}")
    world.advance(0.1)
    assert world.operation(operation)["status"] == "RUNNING"
    world.advance(1)
    assert world.operation(operation)["status"] == "DONE"
    assert sorted(places(world)) == ["w-1", "w-2", "w-3"]
    assert {world.status(name) for name in places(world)} == {"RUNNING"}


def test_all_operations_of_a_request_are_of_one_group(world: World):
    """And found by the filter that gcloud sends."""
    group = world.post(BULK, bulk(2))["operationGroupId"]
    world.post(BULK, bulk(1, namePattern="other-#"))
    world.advance(1)
    escaped = group.replace("-", r"\-")
    found = world.get(f"zones/{ZONE}/operations", filter=rf'operationGroupId eq ".*\b{escaped}\b.*"')["items"]
    assert sorted(one["operationType"] for one in found) == ["bulkInsert", "insert", "insert"]
    assert {one["operationGroupId"] for one in found} == {group}


def test_numbers_go_on_after_the_greatest_there_is(world: World):
    """In the zone of the request, with as many digits as there are hashes."""
    world.create("w-07")
    world.post(BULK, bulk(2, namePattern="w-##"))
    world.advance(1)
    assert sorted(places(world)) == ["w-07", "w-08", "w-09"]


def test_names_can_be_given_one_by_one(world: World):
    """With a host name of their own; the count need not be said."""
    each = {"a": {}, "b": {"hostname": "b.example.com"}}
    world.post(BULK, bulk(2, namePattern=None, perInstanceProperties=each) | {"namePattern": ""})
    world.advance(1)
    assert sorted(places(world)) == ["a", "b"]
    assert world.instance("b")["hostname"] == "b.example.com"


def test_a_template_can_be_the_base(world: World):
    """What the request says counts where both say something."""
    properties = bulk(1)["instanceProperties"] | {"labels": {"from": "template"}}
    world.post("global/instanceTemplates", {"name": "t", "properties": properties})
    body = {
        "count": "1",
        "namePattern": "w-#",
        "sourceInstanceTemplate": "global/instanceTemplates/t",
        "instanceProperties": {"machineType": "e2-small"},
    }
    world.post(BULK, body)
    world.advance(1)
    vm = world.instance("w-1")
    assert (vm["labels"], vm["machineType"].rpartition("/")[2]) == ({"from": "template"}, "e2-small")


def test_too_few_instances_are_deleted_again(world: World):
    """With the count as the least number, two of three are none."""
    world.post("/local/stockout", {"zone": ZONE, "left": 2})
    operation = world.post(BULK, bulk(3))
    world.advance(2)
    done = world.operation(operation)
    assert done["error"]["errors"][0] == {
        "code": "VM_MIN_COUNT_NOT_REACHED",
        "message": "Requested minimum count of 3 VMs could not be created.",
    }
    assert places(world) == {}
    status = done["instancesBulkInsertOperationMetadata"]["perLocationStatus"][f"zones/{ZONE}"]
    assert status == {
        "status": "DONE",
        "targetVmCount": 3,
        "createdVmCount": 2,
        "failedToCreateVmCount": 1,
        "deletedVmCount": 2,
    }
    assert {one["operationGroupId"] for one in world.operations("delete")} == {done["operationGroupId"]}


def test_enough_instances_are_kept_though_not_all_came_about(world: World):
    """The failed insert tells why; the whole succeeded."""
    world.post("/local/stockout", {"zone": ZONE, "left": 2})
    operation = world.post(BULK, bulk(3, minCount="2"))
    world.advance(2)
    assert "error" not in world.operation(operation)
    assert len(places(world)) == 2
    assert sorted("error" in one for one in inserts(world)) == [False, False, True]


def test_a_region_takes_the_first_zone_that_has_room_for_all(world: World):
    """ANY_SINGLE_ZONE is the default; a zone without stock or denied is passed over."""
    world.post("/local/stockout", {"zone": "us-central1-a", "left": 2})
    policy = {"locations": {"zones/us-central1-b": {"preference": "DENY"}}}
    operation = world.post(REGIONAL, bulk(3, locationPolicy=policy))
    world.advance(1)
    assert operation["region"].endswith(f"/regions/{REGION}")
    assert set(places(world).values()) == {"us-central1-c"}
    (first, *_) = inserts(world, "us-central1-c")
    assert first["operationGroupId"] == operation["operationGroupId"]


def test_a_region_can_balance(world: World):
    """One after the other over all zones, at most as many in one as it may have."""
    policy = {
        "targetShape": "BALANCED",
        "locations": {"zones/us-central1-a": {"preference": "ALLOW", "constraints": {"maxCount": 1}}},
    }
    world.post(REGIONAL, bulk(7, locationPolicy=policy))
    world.advance(1)
    zones = list(places(world).values())
    counts = {zone: zones.count(zone) for zone in sorted(zones)}
    assert counts == {"us-central1-a": 1, "us-central1-b": 2, "us-central1-c": 2, "us-central1-f": 2}


def test_a_region_uses_only_zones_that_offer_the_machine(world: World):
    """There are no H100 in us-central1-f."""
    properties = {"machineType": "a3-highgpu-8g", "scheduling": spot()}
    world.post(REGIONAL, bulk(4, properties=properties, locationPolicy={"targetShape": "BALANCED"}))
    world.advance(1)
    assert "us-central1-f" not in places(world).values()
    body = bulk(1, properties={"machineType": "n1-standard-3"})
    assert "No zone of region 'us-central1'" in world.refused("POST", REGIONAL, body)[2]


def test_names_of_a_regional_request_do_not_meet_those_of_its_zones(world: World):
    """The numbers go on after the greatest of the whole region."""
    world.post("zones/us-central1-b/instances", request("w-4", zone="us-central1-b"))
    world.post(REGIONAL, bulk(1))
    world.advance(1)
    assert sorted(places(world)) == ["w-4", "w-5"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"count": "0"}, "'bulkInsertInstanceResource.count': '0'. Must be from 1 to 5000."),
        ({"count": "5001"}, "Must be from 1 to 5000."),
        ({"minCount": "4"}, "Must be from 1 to the count, 3."),
        ({"minCount": "0"}, "Must be from 1 to the count, 3."),
        ({"namePattern": "w"}, "one continuous sequence of 1 to 18 placeholder hash characters"),
        ({"namePattern": "w#-#"}, "one continuous sequence"),
        ({"namePattern": ""}, "Exactly one of namePattern and perInstanceProperties"),
        ({"perInstanceProperties": {"a": {}}}, "Exactly one of namePattern and perInstanceProperties"),
        (
            {"namePattern": "", "perInstanceProperties": {"a": {}}},
            "It must be the number of perInstanceProperties, 1.",
        ),
        ({"namePattern": "W-#"}, "Must be a match of regex"),
        ({"properties": {"machineType": "n1-standard-3"}}, "does not exist in zone"),
        (
            {"sourceInstanceTemplate": "global/instanceTemplates/none"},
            "instanceTemplates/none' was not found",
        ),
        ({"number": 1}, 'Unknown name "number": Cannot find field.'),
    ],
)
def test_a_request_that_can_never_work_is_refused_at_once(world: World, fields, message):
    """Nothing is created, no operation is begun, no address stays taken."""
    assert message in world.refused("POST", BULK, bulk(3, **fields))[2]
    assert (world.operations(), places(world)) == ([], {})
    assert world.service._site.pools.of("10.128.0.0/20")._used == set()


def test_a_name_that_is_taken_refuses_the_request(world: World):
    """Given names can be taken; numbers never are."""
    world.create("a")
    body = bulk(2, namePattern="", perInstanceProperties={"a": {}, "b": {}})
    assert world.refused("POST", BULK, body)[:2] == (409, "alreadyExists")


def test_a_name_taken_in_the_meantime_counts_as_not_created(world: World):
    """Between the request and its first insert somebody else was faster."""
    operation = world.post(BULK, bulk(2))
    world.post(f"zones/{ZONE}/instances", request("w-2"))
    world.advance(2)
    assert world.operation(operation)["error"]["errors"][0]["code"] == "VM_MIN_COUNT_NOT_REACHED"
    assert list(places(world)) == ["w-2"]


def test_a_request_id_makes_it_one_request(world: World):
    """As for a single insert."""
    key = "6f3c1a5e-0b7e-4c55-9d0e-6a5a3c1e9f10"
    first, second = (world.post(BULK, bulk(2), requestId=key) for _ in range(2))
    world.advance(1)
    assert first["name"] == second["name"]
    assert len(places(world)) == 2
