"""TPU slices: a managed instance group with a workload policy, whose VMs come all or none and are let be."""

from typing import Any

import pytest

from tests.localcloud.compute.world import IMAGE, World, request, spot

ZONE = "us-east5-b"
MANAGERS = f"zones/{ZONE}/instanceGroupManagers"
SLICE = f"{MANAGERS}/slice"
POLICIES = "regions/us-east5/resourcePolicies"
TEMPLATES = "global/instanceTemplates"
FLEX = {
    "provisioningModel": "FLEX_START",
    "maxRunDuration": {"seconds": "3600"},
    "instanceTerminationAction": "DELETE",
}
DO_NOTHING = {"defaultActionOnFailure": "DO_NOTHING"}


def prepare(world: World, topology: str = "4x4", **properties: object) -> None:
    """A workload policy, and an instance template of Flex-start VMs with four chips each."""
    policy = {"type": "HIGH_THROUGHPUT", "acceleratorTopology": topology}
    world.post(POLICIES, {"name": "topology", "workloadPolicy": policy})
    boot = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": IMAGE}}
    whole = {
        "machineType": "ct6e-standard-4t",
        "disks": [boot],
        "networkInterfaces": [{"network": "global/networks/default"}],
        "scheduling": FLEX,
        **properties,
    }
    world.post(TEMPLATES, {"name": "t", "properties": whole})


def wanted(size: int = 4, **fields: Any) -> dict[str, Any]:
    """The request for a slice."""
    return {
        "name": "slice",
        "instanceTemplate": f"{TEMPLATES}/t",
        "targetSize": size,
        "targetSizePolicy": {"mode": "BULK"},
        "resourcePolicies": {"workloadPolicy": f"{POLICIES}/topology"},
        "instanceLifecyclePolicy": DO_NOTHING,
        **fields,
    }


def make(world: World, size: int = 4, **fields: Any) -> list[str]:
    """Make a slice, and give the names of its VMs."""
    prepare(world)
    world.post(MANAGERS, wanted(size, **fields))
    world.advance(3)
    return names(world)


def names(world: World) -> list[str]:
    """The names of all VMs of the zone."""
    return [vm["name"] for vm in world.get(f"zones/{ZONE}/instances").get("items", [])]


def members(world: World) -> list[tuple[str, str]]:
    """What the group does about each member, and its status."""
    found = world.post(f"{SLICE}/listManagedInstances").get("managedInstances", [])
    return sorted((item["currentAction"], item.get("instanceStatus", "")) for item in found)


def status(world: World) -> dict[str, Any]:
    """The group's status."""
    found: dict[str, Any] = world.get(SLICE)["status"]
    return found


class TestAllOrNone:
    """Bulk mode."""

    def test_all_vms_come_at_once_where_there_is_room(self, world: World):
        """With whom they are by, and the topology active."""
        found = make(world)
        assert (len(found), members(world)) == (4, [("NONE", "RUNNING")] * 4)
        vm = world.get(f"zones/{ZONE}/instances/{found[0]}")
        metadata = {item["key"]: item["value"] for item in vm["metadata"]["items"]}
        assert metadata["created-by"].endswith(SLICE)
        assert status(world)["currentInstanceStatuses"] == {"running": 4}
        assert status(world)["appliedAcceleratorTopologies"] == [
            {"acceleratorTopology": "4x4", "state": "ACTIVE"}
        ]
        assert (status(world)["isStable"], status(world)["bulkInstanceOperation"]["inProgress"]) == (
            True,
            False,
        )

    def test_while_one_is_short_there_is_none(self, world: World):
        """The managed instances are CREATING, Flex-start VMs count as pending, and the group says why."""
        world.post("/local/stockout", {"zone": ZONE, "left": 3})
        assert make(world) == []
        assert members(world) == [("CREATING", "")] * 4
        operation = status(world)["bulkInstanceOperation"]
        [error] = operation["lastProgressCheck"]["error"]["errors"]
        assert (operation["inProgress"], error["code"]) == (True, "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS")
        assert (status(world)["isStable"], status(world)["currentInstanceStatuses"]) == (
            False,
            {"pending": 4},
        )
        world.delete("/local/stockout", {"zone": ZONE})
        world.advance(3)
        assert (len(names(world)), status(world)["isStable"]) == (4, True)
        assert "error" not in status(world)["bulkInstanceOperation"]["lastProgressCheck"]

    def test_room_for_exactly_all_is_enough_and_is_taken(self, world: World):
        """Nothing is left for another VM."""
        world.post("/local/stockout", {"zone": ZONE, "left": 4})
        assert len(make(world)) == 4
        kind = f"zones/{ZONE}/machineTypes/ct6e-standard-4t"
        operation = world.post(f"zones/{ZONE}/instances", request(machineType=kind, scheduling=spot()))
        world.advance(2)
        assert world.operation(operation)["error"]["errors"][0]["code"].startswith("ZONE_RESOURCE_POOL")

    def test_a_quota_counts_for_all_of_them(self, world: World):
        """One below what four take is too low."""
        world.post("/local/quota", {"metric": "CPUS", "region": "us-east5", "limit": 4 * 180 - 1})
        assert make(world) == []
        [error] = status(world)["bulkInstanceOperation"]["lastProgressCheck"]["error"]["errors"]
        assert error["code"] == "QUOTA_EXCEEDED"
        world.post("/local/quota", {"metric": "CPUS", "region": "us-east5", "limit": 4 * 180})
        world.advance(3)
        assert len(names(world)) == 4

    def test_a_group_that_waits_is_deleted_at_once(self, world: World):
        """And makes nothing when there is room later."""
        world.post("/local/stockout", {"zone": ZONE})
        make(world)
        operation = world.delete(SLICE)
        world.advance(1)
        assert world.operation(operation)["status"] == "DONE"
        world.delete("/local/stockout", {"zone": ZONE})
        world.advance(3)
        assert names(world) == []

    def test_it_shrinks_to_nothing_and_grows_again_as_a_whole(self, world: World):
        """Of VMs that there are it takes no more beside them."""
        first = make(world)
        assert world.refused("POST", f"{SLICE}/resize", size=5)[0] == 400
        world.post(f"{SLICE}/resize", size=0)
        world.advance(2)
        assert names(world) == []
        world.post(f"{SLICE}/resize", size=4)
        world.advance(3)
        assert (len(names(world)), set(first) & set(names(world))) == (4, set())

    def test_an_empty_group_is_filled_under_names_that_somebody_chose(self, world: World):
        """`createInstances`, as one: nothing is made while one is short."""
        prepare(world)
        world.post(MANAGERS, wanted(0))
        world.post("/local/stockout", {"zone": ZONE, "left": 3})
        chosen = [{"name": f"train-{number}"} for number in range(4)]
        world.post(f"{SLICE}/createInstances", {"instances": chosen})
        world.advance(3)
        assert (names(world), world.get(SLICE)["targetSize"]) == ([], 4)
        world.delete("/local/stockout", {"zone": ZONE})
        world.advance(3)
        assert sorted(names(world)) == [item["name"] for item in chosen]

    def test_names_that_form_no_slice_make_nothing(self, world: World):
        """Too few, or twice the same."""
        prepare(world)
        world.post(MANAGERS, wanted(0))
        for chosen in (["a"], ["a", "b", "c", "a"], ["a", "b", "c", "A"]):
            body = {"instances": [{"name": name} for name in chosen]}
            assert world.refused("POST", f"{SLICE}/createInstances", body)[0] in (400, 409)
        world.advance(3)
        assert (names(world), world.get(SLICE)["targetSize"]) == ([], 0)

    def test_one_that_makes_its_vms_is_not_made_smaller_but_to_nothing(self, world: World):
        """While the bulk operation is in progress."""
        prepare(world)
        world.post("/local/stockout", {"zone": ZONE})
        world.post(MANAGERS, wanted(resourcePolicies={}))
        assert "in progress" in world.refused("POST", f"{SLICE}/resize", size=2)[2]
        world.post(f"{SLICE}/resize", size=0)
        world.advance(1)
        assert (members(world), status(world)["bulkInstanceOperation"]["inProgress"]) == ([], False)

    def test_a_request_that_is_sent_twice_makes_one_group(self, world: World):
        """By its request ID."""
        prepare(world)
        key = "0e5f3a1c-6f6e-4d43-9b6c-0d9c0a8a9b11"
        operations = [world.post(MANAGERS, wanted(), requestId=key) for _ in range(2)]
        world.advance(3)
        assert operations[0]["name"] == operations[1]["name"]
        assert len(names(world)) == 4


class TestLoss:
    """A group that does nothing about a lost VM."""

    @pytest.mark.parametrize("how", ["host_error", "delete", "stop"])
    def test_what_is_lost_stays_lost(self, world: World, how):
        """The others run on, the size stays, and the topology is incomplete."""
        first = make(world, resourcePolicies={"workloadPolicy": f"{POLICIES}/topology"})[0]
        if how == "delete":
            world.delete(f"zones/{ZONE}/instances/{first}")
        elif how == "stop":
            world.post(f"zones/{ZONE}/instances/{first}/stop")
        else:
            world.post("/local/host-error", {"node": first})
        world.advance(5)
        gone = "" if how == "delete" else "TERMINATED"
        assert members(world) == sorted([("NONE", gone), *[("NONE", "RUNNING")] * 3])
        assert (world.get(SLICE)["targetSize"], status(world)["isStable"]) == (4, True)
        assert status(world)["appliedAcceleratorTopologies"][0]["state"] == "INCOMPLETE"
        assert world.operations("compute.instances.repair.recreateInstance") == []

    def test_a_preempted_spot_vm_stays_lost(self, world: World):
        """A spot slice is made VM by VM, not in bulk."""
        prepare(world, scheduling=spot("STOP"))
        world.post(MANAGERS, wanted(targetSizePolicy={"mode": "INDIVIDUAL"}))
        world.advance(3)
        world.post("/local/preempt", {"node": names(world)[0]})
        world.advance(5)
        assert members(world) == [*[("NONE", "RUNNING")] * 3, ("NONE", "TERMINATED")]

    def test_flex_start_vms_end_with_their_time(self, world: World):
        """All of them, and none is made anew."""
        make(world)
        world.advance(3610)
        assert (names(world), members(world)) == ([], [("NONE", "")] * 4)
        assert status(world)["currentInstanceStatuses"] == {"nonExistent": 4}

    def test_a_lost_vm_is_made_anew_when_somebody_asks(self, world: World):
        """`recreateInstances`."""
        first = make(world)[0]
        world.delete(f"zones/{ZONE}/instances/{first}")
        world.advance(2)
        world.post(f"{SLICE}/recreateInstances", {"instances": [f"zones/{ZONE}/instances/{first}"]})
        world.advance(3)
        assert members(world) == [("NONE", "RUNNING")] * 4

    def test_a_deleted_group_takes_the_rest_with_it(self, world: World):
        """What is lost is waited for by nobody."""
        first = make(world)[0]
        world.delete(f"zones/{ZONE}/instances/{first}")
        world.advance(2)
        operation = world.delete(SLICE)
        world.advance(2)
        assert (world.operation(operation)["status"], names(world)) == ("DONE", [])


class TestRefusals:
    """What forms no slice."""

    @pytest.mark.parametrize(
        ("topology", "fields", "code", "said"),
        [
            ("4x4", {"targetSize": 3}, 400, "takes 4 machines of type ct6e-standard-4t"),
            ("2x2x4", {}, 400, "cannot form it"),
            ("1x2", {}, 400, "cannot form it"),
            ("4x4", {"resourcePolicies": {"workloadPolicy": f"{POLICIES}/none"}}, 404, f"{POLICIES}/none"),
            ("4x4", {"instanceLifecyclePolicy": {}}, 400, "must have DO_NOTHING"),
        ],
    )
    def test_it_is_refused_and_there_is_no_group(self, world: World, topology, fields, code, said):
        """With the field and the value."""
        prepare(world, topology)
        status, _, message = world.refused("POST", MANAGERS, wanted(**fields))
        assert (status, said in message) == (code, True), message
        assert "items" not in world.get(MANAGERS)

    @pytest.mark.parametrize("model", ["SPOT", "STANDARD"])
    def test_spot_and_on_demand_vms_do_not_come_in_bulk(self, world: World, model):
        """Reservation-bound ones do."""
        options = {"provisioningModel": model, "onHostMaintenance": "TERMINATE", "automaticRestart": False}
        prepare(world, scheduling=options)
        assert "RESERVATION_BOUND or FLEX_START" in world.refused("POST", MANAGERS, wanted())[2]

    def test_reservation_bound_ones_do(self, world: World):
        """And they may be repaired."""
        options = {"provisioningModel": "RESERVATION_BOUND", "onHostMaintenance": "TERMINATE"}
        prepare(world, scheduling=options)
        world.post(MANAGERS, wanted(instanceLifecyclePolicy={}))
        world.advance(3)
        world.delete(f"zones/{ZONE}/instances/{names(world)[0]}")
        world.advance(5)
        assert members(world) == [("NONE", "RUNNING")] * 4

    def test_a_policy_of_another_region_or_kind_is_none(self, world: World):
        """It places VMs where it is."""
        prepare(world)
        elsewhere = "regions/us-central1/resourcePolicies"
        world.post(elsewhere, {"name": "far", "workloadPolicy": {"type": "HIGH_THROUGHPUT"}})
        world.post(POLICIES, {"name": "nightly", "snapshotSchedulePolicy": {}})
        for policy in (f"{elsewhere}/far", f"{POLICIES}/nightly"):
            body = wanted(resourcePolicies={"workloadPolicy": policy})
            assert "a workload policy of us-east5" in world.refused("POST", MANAGERS, body)[2]

    @pytest.mark.parametrize(
        ("policy", "said"),
        [
            ({"type": "HIGH_AVAILABILITY", "acceleratorTopology": "4x4"}, "Only a policy of type"),
            ({"type": "HIGH_THROUGHPUT", "acceleratorTopology": "4"}, "of the form 4x4"),
        ],
    )
    def test_a_policy_that_says_nothing_of_use_is_refused(self, world: World, policy, said):
        """As gcloud would not send it, too."""
        body = {"name": "topology", "workloadPolicy": policy}
        status, _, message = world.refused("POST", POLICIES, body)
        assert (status, said in message) == (400, True), message

    def test_a_policy_that_a_group_has_is_not_deleted(self, world: World):
        """Until the group is gone."""
        make(world)
        assert world.refused("DELETE", f"{POLICIES}/topology")[1] == "resourceInUseByAnotherResource"
        world.delete(SLICE)
        world.advance(2)
        world.delete(f"{POLICIES}/topology")
        assert "items" not in world.get(POLICIES)
