"""Managed instance groups: they make their VMs, and make anew what is deleted, stopped or preempted."""

import re
from collections.abc import Callable

import pytest

from tests.localcloud.compute.world import IMAGE, ZONE, World, spot

MANAGERS = f"zones/{ZONE}/instanceGroupManagers"
WEB = f"{MANAGERS}/web"
TEMPLATES = "global/instanceTemplates"
HERE = "http://127.0.0.1:1/compute/v1/projects/project"
AGENT = "@cloudservices.gserviceaccount.com"
REPAIR = "compute.instances.repair.recreateInstance"


def template(world: World, name: str = "t", **properties: object) -> None:
    """An instance template."""
    boot = {"boot": True, "autoDelete": True, "initializeParams": {"sourceImage": IMAGE}}
    whole = {
        "machineType": "n1-standard-1",
        "disks": [boot],
        "networkInterfaces": [{"network": "global/networks/default"}],
        "metadata": {"items": [{"key": "startup-script", "value": "true"}]},
        **properties,
    }
    world.post(TEMPLATES, {"name": name, "properties": whole})


def wanted(size: int = 2, **fields: object) -> dict[str, object]:
    """The request for a group."""
    return {"name": "web", "instanceTemplate": f"{TEMPLATES}/t", "targetSize": size, **fields}


@pytest.fixture
def group(world: World) -> Callable[..., list[str]]:
    """Make a group and wait until it is stable; give the names of its VMs."""

    def make(size: int = 2, properties: dict[str, object] | None = None, **fields: object) -> list[str]:
        template(world, **(properties or {}))
        world.post(MANAGERS, wanted(size, **fields))
        world.advance(2)
        return names(world)

    return make


def names(world: World) -> list[str]:
    """The names of all VMs of the zone."""
    return [vm["name"] for vm in world.get(f"zones/{ZONE}/instances").get("items", [])]


def members(world: World) -> dict[str, tuple[str, str]]:
    """What the group does about each member, and its status."""
    found = world.post(f"{WEB}/listManagedInstances").get("managedInstances", [])
    return {
        item["instance"].rpartition("/")[2]: (item["currentAction"], item.get("instanceStatus", ""))
        for item in found
    }


def test_a_group_makes_as_many_vms_as_it_is_to_have(world: World):
    """Named after it; the metadata of each says who made it, beside that of the template."""
    template(world)
    operation = world.post(MANAGERS, wanted(3))
    assert [action for action, _ in members(world).values()] == ["CREATING"] * 3
    assert not world.get(WEB)["status"]["isStable"]
    world.advance(2)
    assert world.operation(operation)["status"] == "DONE"
    found = names(world)
    assert all(re.fullmatch("web-[a-z0-9]{4}", name) for name in found)
    metadata = {item["key"]: item["value"] for item in world.instance(found[0])["metadata"]["items"]}
    assert metadata["startup-script"] == "true"
    assert re.fullmatch(rf"projects/\d+/{WEB}", metadata["created-by"])
    assert re.fullmatch(rf"projects/\d+/{TEMPLATES}/t", metadata["instance-template"])
    inserts = [item for item in world.operations("insert") if "/instances/" in item["targetLink"]]
    assert {item["user"].endswith(AGENT) for item in inserts} == {True}


def test_a_group_shows_itself(world: World, group):
    """Got and listed, in its zone and over all; with the group of instances that it fills."""
    group(2)
    found = world.get(WEB)
    assert (found["targetSize"], found["status"]["isStable"], found["baseInstanceName"]) == (2, True, "web")
    assert found["currentActions"]["none"] == 2
    assert found["instanceGroup"] == f"{HERE}/zones/{ZONE}/instanceGroups/web"
    assert world.get(MANAGERS)["items"] == [found]
    assert world.get("aggregated/instanceGroupManagers")["items"][f"zones/{ZONE}"] == {
        "instanceGroupManagers": [found]
    }
    assert world.get(MANAGERS, filter="name=nothing").get("items") is None
    assert world.get(f"zones/{ZONE}/instanceGroups/web")["size"] == 2
    assert world.get(f"zones/{ZONE}/instanceGroups")["items"][0]["network"].endswith("/default")
    assert world.get(f"{MANAGERS}/{found['id']}") == found
    assert "items" not in world.get(f"zones/{ZONE}/autoscalers")


def test_its_instances_are_listed(world: World, group):
    """Of the group of instances all, or those that run."""
    first, second = group(2)
    path = f"zones/{ZONE}/instanceGroups/web/listInstances"
    found = {item["instance"].rpartition("/")[2]: item["status"] for item in world.post(path, {})["items"]}
    assert found == {first: "RUNNING", second: "RUNNING"}
    world.post(f"zones/{ZONE}/instances/{first}/stop")
    world.advance(0.1)
    running = world.post(path, {"instanceState": "RUNNING"})["items"]
    assert [item["instance"].rpartition("/")[2] for item in running] == [second]
    assert len(world.post(path, {"instanceState": "ALL"})["items"]) == 2


class TestRepair:
    """A VM that is lost without the group's doing is made anew, under its name."""

    @pytest.mark.parametrize("how", ["delete", "stop", "suspend", "preempted", "preempted and deleted"])
    def test_what_is_lost_is_made_anew_under_its_name(self, world: World, group, how):
        """Another VM by its id; the system writes down that it was repaired, and why."""
        kind = "DELETE" if "deleted" in how else "STOP"
        [name] = group(1, {"scheduling": spot(kind)})
        before = world.instance(name)["id"]
        if "preempted" in how:
            world.post("/local/preempt", {"node": name})
        elif how == "delete":
            world.delete(f"zones/{ZONE}/instances/{name}")
        else:
            world.post(f"zones/{ZONE}/instances/{name}/{how}")
        world.advance(5)
        after = world.instance(name)
        assert (after["status"], after["id"] != before, names(world)) == ("RUNNING", True, [name])
        [repair] = world.operations(REPAIR)
        assert (repair["user"], repair["targetId"]) == ("system", before)
        assert "Reason: Instance's intent is RUNNING but instance " in repair["statusMessage"]
        assert members(world) == {name: ("NONE", "RUNNING")}
        assert world.get(WEB)["targetSize"] == 1
        assert REPAIR in [entry["protoPayload"]["methodName"] for entry in world.log]

    def test_until_there_are_resources_it_is_tried_again(self, world: World, group):
        """The list says why it does not come about."""
        [name] = group(1, {"scheduling": spot()})
        world.post("/local/stockout", {"zone": ZONE})
        world.post("/local/preempt", {"node": name})
        world.advance(5)
        [member] = world.post(f"{WEB}/listManagedInstances")["managedInstances"]
        assert (member["currentAction"], "instanceStatus" in member) == ("RECREATING", False)
        [error] = member["lastAttempt"]["errors"]["errors"]
        assert error["code"] == "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS"
        world.delete("/local/stockout", {"zone": ZONE})
        world.advance(5)
        assert members(world) == {name: ("NONE", "RUNNING")}
        assert len(world.operations(REPAIR)) == 1

    def test_a_vm_of_the_same_name_that_is_not_the_groups_is_let_be(self, world: World, group):
        """The group waits for its name."""
        [name] = group(1)
        world.delete(f"zones/{ZONE}/instances/{name}")
        world.advance(0.15)
        stranger = world.create(name)
        world.advance(3)
        assert world.instance(name)["id"] == stranger["id"]
        [member] = world.post(f"{WEB}/listManagedInstances")["managedInstances"]
        assert "already exists" in member["lastAttempt"]["errors"]["errors"][0]["message"]
        world.delete(f"zones/{ZONE}/instances/{name}")
        world.advance(3)
        assert members(world) == {name: ("NONE", "RUNNING")}

    def test_what_is_not_wanted_any_more_is_not_repaired(self, world: World, group):
        """The group was made smaller before it did anything about its loss."""
        [name] = group(1)
        world.delete(f"zones/{ZONE}/instances/{name}")
        world.advance(0.1)
        world.post(f"{WEB}/resize", size=0)
        world.advance(2)
        assert (names(world), members(world), world.operations(REPAIR)) == ([], {}, [])

    def test_a_repair_uses_the_template_by_which_it_was_made(self, world: World, group):
        """The group's new one is for new VMs."""
        [name] = group(1)
        template(world, "u", machineType="n1-standard-2")
        world.post(f"{WEB}/setInstanceTemplate", {"instanceTemplate": f"{TEMPLATES}/u"})
        world.delete(f"zones/{ZONE}/instances/{name}")
        world.advance(3)
        assert world.instance(name)["machineType"].endswith("/n1-standard-1")
        assert not world.get(WEB)["status"]["versionTarget"]["isReached"]

    def test_or_the_newest_where_the_group_says_so(self, world: World, group):
        """`forceUpdateOnRepair`."""
        [name] = group(1, instanceLifecyclePolicy={"forceUpdateOnRepair": "YES"})
        template(world, "u", machineType="n1-standard-2")
        world.post(f"{WEB}/setInstanceTemplate", {"instanceTemplate": f"{TEMPLATES}/u"})
        world.delete(f"zones/{ZONE}/instances/{name}")
        world.advance(3)
        assert world.instance(name)["machineType"].endswith("/n1-standard-2")


class TestChanges:
    """What is asked of a group."""

    def test_it_grows_and_shrinks(self, world: World, group):
        """To the size that is asked for; nothing is repaired of what it deletes itself."""
        first = group(1)
        world.post(f"{WEB}/resize", size=3)
        world.advance(2)
        assert set(first) < set(names(world))
        assert len(names(world)) == 3
        operation = world.post(f"{WEB}/resize", size=1)
        assert sorted(action for action, _ in members(world).values()) == ["DELETING", "DELETING", "NONE"]
        world.advance(2)
        assert (world.operation(operation)["status"], names(world)) == ("DONE", first)
        assert world.operations(REPAIR) == []

    def test_a_vm_that_is_still_being_made_goes_first(self, world: World, group):
        """What runs is worth more, though it is newer in no case."""
        first = group(1)
        world.post(f"{WEB}/resize", size=2)
        world.advance(0.1)
        world.post(f"{WEB}/resize", size=1)
        world.advance(2)
        assert names(world) == first

    def test_recreated_vms_keep_their_names_and_take_the_newest_template(self, world: World, group):
        """No repair: somebody asked."""
        first, second = group(2)
        before = world.instance(first)["id"]
        template(world, "u", machineType="n1-standard-2")
        world.post(f"{WEB}/setInstanceTemplate", {"instanceTemplate": f"{TEMPLATES}/u"})
        world.post(f"{WEB}/recreateInstances", {"instances": [f"zones/{ZONE}/instances/{first}"]})
        world.advance(3)
        after = world.instance(first)
        assert (after["id"] != before, after["machineType"].rpartition("/")[2]) == (True, "n1-standard-2")
        assert world.instance(second)["machineType"].endswith("/n1-standard-1")
        assert world.operations(REPAIR) == []

    def test_a_deleted_vm_is_one_fewer(self, world: World, group):
        """The size goes down with it."""
        first, second = group(2)
        world.post(f"{WEB}/deleteInstances", {"instances": [f"{HERE}/zones/{ZONE}/instances/{first}"]})
        world.advance(2)
        assert (names(world), world.get(WEB)["targetSize"]) == ([second], 1)

    def test_an_abandoned_vm_runs_on_and_is_nobodys(self, world: World, group):
        """Deleted, it is not made anew."""
        first, second = group(2)
        world.post(f"{WEB}/abandonInstances", {"instances": [f"zones/{ZONE}/instances/{first}"]})
        world.advance(1)
        assert (set(names(world)), [*members(world)]) == ({first, second}, [second])
        assert world.get(WEB)["targetSize"] == 1
        world.delete(f"zones/{ZONE}/instances/{first}")
        world.advance(3)
        assert names(world) == [second]

    @pytest.mark.parametrize("method", ["deleteInstances", "abandonInstances", "recreateInstances"])
    def test_of_another_vm_nothing_is_done(self, world: World, group, method):
        """Nor of those that are named beside it."""
        first, second = group(2)
        world.create("other")
        texts = [f"zones/{ZONE}/instances/{name}" for name in (first, "other")]
        status, _, message = world.refused("POST", f"{WEB}/{method}", {"instances": texts})
        assert (status, "instances[1]" in message) == (400, True)
        world.advance(2)
        assert set(names(world)) == {"other", first, second}
        assert world.get(WEB)["targetSize"] == 2

    def test_unless_the_call_skips_what_is_none_of_the_groups(self, world: World, group):
        """`skipInstancesOnValidationError`."""
        first, second = group(2)
        world.create("other")
        texts = [f"zones/{ZONE}/instances/{name}" for name in (first, "other")]
        body = {"instances": texts, "skipInstancesOnValidationError": True}
        world.post(f"{WEB}/deleteInstances", body)
        world.advance(2)
        assert set(names(world)) == {"other", second}

    def test_a_deleted_group_takes_its_vms_with_it(self, world: World, group):
        """The operation ends when the last of them is gone; meanwhile nothing else is asked of it."""
        group(2)
        operation = world.delete(WEB)
        assert world.refused("POST", f"{WEB}/resize", size=3)[1] == "resourceNotReady"
        world.advance(0.01)
        assert world.operation(operation)["status"] == "RUNNING"
        world.advance(2)
        assert (world.operation(operation)["status"], names(world)) == ("DONE", [])
        assert world.refused("GET", WEB)[0] == 404
        assert world.refused("GET", f"zones/{ZONE}/instanceGroups/web")[0] == 404
        world.post(MANAGERS, wanted(0))

    def test_an_empty_group_is_deleted(self, world: World, group):
        """There is nothing to wait for."""
        group(0)
        operation = world.delete(WEB)
        world.advance(1)
        assert world.operation(operation)["status"] == "DONE"

    def test_members_are_filtered(self, world: World, group):
        """By a field of a member."""
        first, _ = group(2)
        path = f"{WEB}/listManagedInstances"
        link = f"{HERE}/zones/{ZONE}/instances/{first}"
        [member] = world.post(path, filter=f'instance="{link}"')["managedInstances"]
        assert member["instance"].endswith(first)
        assert world.post(path, filter="currentAction=DELETING") == {}
        assert world.refused("POST", path, orderBy="name")[0] == 501


class TestNames:
    """VMs whose names somebody chose: `createInstances`."""

    def test_they_join_the_others(self, world: World, group):
        """And are kept as these are."""
        first = group(1)
        world.post(f"{WEB}/createInstances", {"instances": [{"name": "chosen"}]})
        world.advance(2)
        assert (set(names(world)), world.get(WEB)["targetSize"]) == ({*first, "chosen"}, 2)
        world.delete(f"zones/{ZONE}/instances/chosen")
        world.advance(5)
        assert "chosen" in names(world)

    def test_a_name_that_is_taken_is_refused(self, world: World, group):
        """By a VM of the group or by another."""
        [first] = group(1)
        world.create("other")
        for name in (first, "other"):
            body = {"instances": [{"name": "chosen"}, {"name": name}]}
            assert world.refused("POST", f"{WEB}/createInstances", body)[0] == 409
        assert world.get(WEB)["targetSize"] == 1

    def test_more_than_a_group_holds_are_refused_before_their_names_are_read(self, world: World, group):
        """Their number is told, and not the first name that is none."""
        group(0)
        body = {"instances": [{"name": "Chosen"}] * 1001}
        code, *said = world.refused("POST", f"{WEB}/createInstances", body)
        assert code == 400
        assert "less than or equal to 1000" in str(said)

    def test_what_an_instance_keeps_of_its_own_is_not_done(self, world: World, group):
        """Stateful instances."""
        group(0)
        body = {"instances": [{"name": "chosen", "preservedState": {"metadata": {"a": "b"}}}]}
        assert world.refused("POST", f"{WEB}/createInstances", body)[0] == 501


class TestRefusals:
    """What cannot be, and what is not done."""

    @pytest.mark.parametrize(
        ("fields", "code", "said"),
        [
            ({"instanceTemplate": f"{TEMPLATES}/none"}, 404, f"{TEMPLATES}/none"),
            ({"instanceTemplate": None}, 400, "An instance template is required."),
            ({"targetSize": 1001}, 400, "less than or equal to 1000"),
            ({"targetSize": -1}, 400, "resource.targetSize"),
            ({"baseInstanceName": "a" * 59}, 400, "resource.baseInstanceName"),
            ({"name": "Web"}, 400, "resource.name"),
            ({"autoHealingPolicies": [{"initialDelaySec": 60}]}, 501, "autoHealingPolicies"),
            ({"statefulPolicy": {"preservedState": {}}}, 501, "statefulPolicy"),
            ({"updatePolicy": {"type": "PROACTIVE"}}, 501, "updatePolicy.type"),
            ({"versions": [{"instanceTemplate": "t"}, {"instanceTemplate": "u"}]}, 501, "versions"),
        ],
    )
    def test_what_is_not_done_is_refused(self, world: World, fields, code, said):
        """By its name, and no group is made."""
        template(world)
        status, _, message = world.refused("POST", MANAGERS, wanted(**fields))
        assert (status, said in message) == (code, True), message
        assert "items" not in world.get(MANAGERS)

    def test_a_template_of_which_no_vm_can_be_made_here_makes_no_group(self, world: World):
        """It is refused at once, as an insert of such a VM would be."""
        template(world, machineType="n9-none-1")
        assert world.refused("POST", MANAGERS, wanted())[0] in (400, 404)

    def test_one_version_is_the_template(self, world: World):
        """As clients say it that know of versions."""
        template(world)
        body = wanted(0, instanceTemplate=None, versions=[{"instanceTemplate": f"{TEMPLATES}/t"}])
        world.post(MANAGERS, body)
        assert world.get(WEB)["instanceTemplate"] == f"{HERE}/{TEMPLATES}/t"

    def test_a_name_is_taken_once(self, world: World, group):
        """409."""
        group(0)
        assert world.refused("POST", MANAGERS, wanted())[:2] == (409, "alreadyExists")

    def test_a_template_that_a_group_uses_is_not_deleted(self, world: World, group):
        """The refusal names the group."""
        group(0)
        status, reason, message = world.refused("DELETE", f"{TEMPLATES}/t")
        assert (status, reason) == (400, "resourceInUseByAnotherResource")
        assert message.endswith(f"projects/project/{WEB}'")
        world.delete(WEB)
        world.advance(1)
        world.delete(f"{TEMPLATES}/t")

    @pytest.mark.parametrize("size", ["", "many", "1001"])
    def test_a_size_that_is_none_is_refused(self, world: World, group, size):
        """400, and nothing is changed."""
        group(0)
        assert world.refused("POST", f"{WEB}/resize", size=size)[0] == 400
        assert world.get(WEB)["targetSize"] == 0

    @pytest.mark.parametrize("method", ["setInstanceTemplate", "listManagedInstances", "recreateInstances"])
    def test_a_group_that_there_is_not_is_not_found(self, world: World, method):
        """404 with its path."""
        status, _, message = world.refused("POST", f"{WEB}/{method}")
        assert (status, f"projects/project/{WEB}" in message) == (404, True)


def test_the_same_request_grows_it_once(world: World, group):
    """Said again with its request id it gives the operation of the first time."""
    group(0)
    asked = {"requestId": "11111111-1111-1111-1111-111111111111", "size": 1}
    assert world.post(f"{WEB}/resize", **asked)["name"] == world.post(f"{WEB}/resize", **asked)["name"]
