"""What Compute Engine promises of managed instance groups: in memory, and over REST."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest

from spotwarden.model.instance import Operation, Status
from spotwarden.model.request import Request
from spotwarden.model.slices import SeenGroup
from spotwarden.ports import RejectedError
from tests.contract.worlds import World, delete, finished, new_id, spot, status

ZONE = "us-central1-a"
NAMES = ("job-1", "job-2")


def part(place: str, body: Mapping[str, Any]) -> Request:
    """A request for something in this place of the project."""
    path = f"/compute/v1/projects/demo/{place}"
    return Request(method="POST", path=path, query={"alt": "json"}, body=body)


def policy() -> Request:
    """A request for a workload policy."""
    body = {"name": "pod", "workloadPolicy": {"type": "HIGH_THROUGHPUT"}}
    return part("regions/us-central1/resourcePolicies", body)


def template(name: str = "job-1-1-abcd") -> Request:
    """A request for the template of spot VMs."""
    inner = {key: value for key, value in spot("x").body.items() if key != "name"}
    return part(
        "global/instanceTemplates", {"name": name, "properties": {**inner, "machineType": "e2-medium"}}
    )


def manager(name: str = "job-1-1-abcd") -> Request:
    """A request for a group without VMs that lets those be that it loses."""
    body = {
        "name": name,
        "instanceTemplate": f"global/instanceTemplates/{name}",
        "targetSize": 0,
        "instanceLifecyclePolicy": {"defaultActionOnFailure": "DO_NOTHING"},
    }
    return part(f"zones/{ZONE}/instanceGroupManagers", body)


def made(world: World, name: str = "job-1-1-abcd") -> SeenGroup:
    """A group without VMs."""
    for request in (template(name), manager(name)):
        assert finished(world, world.compute.launch(request, new_id())).error == ""
    found = world.compute.group(ZONE, name)
    assert found is not None
    return found


def filled(world: World) -> SeenGroup:
    """A group whose two VMs run."""
    group = made(world)
    world.compute.fill_group(ZONE, group.name, group.id, NAMES, new_id())
    world.until(lambda: all(status(world, name) is Status.RUNNING for name in NAMES))
    found = world.compute.group(ZONE, group.name)
    assert found is not None
    return found


@pytest.mark.parametrize("request_of", [policy, template])
def test_a_part_is_made_once_by_its_request(world: World, request_of: Any) -> None:
    """Asked again it is the same operation, which can be looked at where it is said to be."""
    request_id = new_id()
    first = world.compute.launch(request_of(), request_id)
    assert finished(world, first).error == ""
    assert world.compute.launch(request_of(), request_id).name == first.name
    with pytest.raises(RejectedError, match="alreadyExists"):
        world.compute.launch(request_of(), new_id())


def test_a_group_of_none_is_there_with_its_id(world: World) -> None:
    """The operation says it, and so does the group; a second of its name is refused."""
    assert finished(world, world.compute.launch(template(), new_id())).error == ""
    request_id = new_id()
    operation = world.compute.launch(manager(), request_id)
    found = world.compute.group(ZONE, "job-1-1-abcd")
    assert found is not None
    assert found.created is not None
    assert operation.at is not None
    assert abs(found.created - operation.at) < timedelta(seconds=30)
    assert (found.id, found.zone, found.size, found.members) == (operation.target_id, ZONE, 0, ())
    assert world.compute.launch(manager(), request_id).name == operation.name
    with pytest.raises(RejectedError, match="alreadyExists"):
        world.compute.launch(manager(), new_id())


def test_a_group_needs_its_template(world: World) -> None:
    """Who has deleted it meanwhile makes it again."""
    with pytest.raises(RejectedError, match="notFound"):
        world.compute.launch(manager(), new_id())


def test_a_group_that_is_not_there_is_none(world: World) -> None:
    """Nor is one that has another id by now."""
    group = made(world)
    assert world.compute.group(ZONE, "another") is None
    assert world.compute.group(ZONE, group.name, group.id) == group
    assert world.compute.group(ZONE, group.name, "1") is None


def test_a_group_is_filled_with_vms_of_these_names(world: World) -> None:
    """Its members are theirs, by id; the same request fills it once."""
    group = made(world)
    request_id = new_id()
    first = world.compute.fill_group(ZONE, group.name, group.id, NAMES, request_id)
    assert world.compute.fill_group(ZONE, group.name, group.id, NAMES, request_id).name == first.name
    world.until(lambda: all(status(world, name) is Status.RUNNING for name in NAMES))
    found = world.compute.group(ZONE, group.name)
    assert found is not None
    listed = {vm.name: vm.id for vm in world.compute.instances().items}
    assert (found.size, found.ids) == (2, listed)
    assert {vm.name: vm.job for vm in world.compute.instances().items} == dict.fromkeys(NAMES, "job")
    assert {vm.manager for vm in world.compute.fleet().items} == {"a managed instance group"}


def test_a_name_is_in_a_group_once(world: World) -> None:
    """A second request under another id is refused as a whole."""
    group = filled(world)
    with pytest.raises(RejectedError, match="alreadyExists"):
        world.compute.fill_group(ZONE, group.name, group.id, ("job-2", "job-3"), new_id())
    assert world.compute.group(ZONE, group.name) == group


def test_another_group_of_the_name_is_left_alone(world: World) -> None:
    """Neither filled nor deleted."""
    group = made(world)
    acts: tuple[Callable[[], Operation], ...] = (
        lambda: world.compute.fill_group(ZONE, group.name, "1", NAMES, new_id()),
        lambda: world.compute.delete_group(ZONE, group.name, "1", new_id()),
    )
    for act in acts:
        with pytest.raises(RejectedError, match="notFound"):
            act()
    assert world.compute.group(ZONE, group.name) == group


def test_a_member_that_somebody_deletes_stays_one(world: World) -> None:
    """Without an id: the group knows that it lacks it."""
    group = filled(world)
    delete(world, "job-2")
    world.until(lambda: status(world, "job-2") is None)
    found = world.compute.group(ZONE, group.name)
    assert found is not None
    assert {member.name: (member.id, member.status) for member in found.members} == {
        "job-1": (group.ids["job-1"], Status.RUNNING),
        "job-2": ("", None),
    }


def test_a_group_says_why_it_is_not_full(world: World) -> None:
    """In the words of Compute Engine's error."""
    group = made(world)
    world.stock_out(ZONE)
    world.compute.fill_group(ZONE, group.name, group.id, NAMES, new_id())
    world.until(lambda: "ZONE_RESOURCE_POOL_EXHAUSTED" in error_of(world, group))
    assert world.compute.group(ZONE, group.name, group.id)


def error_of(world: World, group: SeenGroup) -> str:
    """What the group says by now."""
    found = world.compute.group(ZONE, group.name)
    assert found is not None
    return found.error


def test_a_group_goes_with_its_vms_and_then_its_template(world: World) -> None:
    """Its operation is done when the last one is gone; the template is in use until then."""
    group = filled(world)
    with pytest.raises(RejectedError, match="resourceInUseByAnotherResource"):
        world.compute.delete_template(group.name, new_id())
    request_id = new_id()
    operation = world.compute.delete_group(ZONE, group.name, group.id, request_id)
    leaving = world.compute.group(ZONE, group.name)
    assert leaving is not None
    assert all(member.leaving for member in leaving.members)
    assert finished(world, operation).error == ""
    assert world.compute.group(ZONE, group.name) is None
    assert world.compute.instances().items == ()
    gone: Operation = world.compute.delete_template(group.name, new_id())
    assert finished(world, gone).error == ""
    with pytest.raises(RejectedError, match="notFound"):
        world.compute.delete_template(group.name, new_id())


def test_who_has_deleted_a_group_is_in_the_log(world: World) -> None:
    """Its VMs are the group's to delete; the group is a person's."""
    since = world.now()
    group = filled(world)
    finished(world, world.compute.delete_group(ZONE, group.name, group.id, new_id()))
    told = [one for one in world.compute.operations(since).items if one.target_id == group.id]
    assert [one.kind for one in told if one.kind != "createInstances"] == ["delete"]
    [gone] = [one for one in told if one.kind == "delete"]
    vms = [one for one in world.compute.operations(since).items if one.target_id in group.ids.values()]
    removals = [one for one in vms if one.kind == "delete"]
    assert len(removals) == 2
    assert all(one.user.endswith("@cloudservices.gserviceaccount.com") for one in removals)
    assert gone.user not in {"", "system", removals[0].user}
