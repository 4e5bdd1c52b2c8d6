"""Instances addressed by their id: started again, deleted, looked at; and found by name or job."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from spotwarden.gcp.compute import ComputeEngine
from spotwarden.model.instance import Status
from spotwarden.model.request import Request
from spotwarden.ports import RejectedError
from tests.contract.scripted import Scripted
from tests.contract.worlds import (
    OTHER_ZONE,
    ZONE,
    World,
    bulk,
    delete,
    finished,
    new_id,
    running,
    seen,
    spot,
    status,
)

NOBODY = "4444444444444444444"


def stopped(world: World, name: str) -> str:
    """A VM that was preempted and stays, TERMINATED; gives its id."""
    vm_id = running(world, name, action="STOP")
    world.preempt(name)
    world.until(lambda: status(world, name) is Status.TERMINATED)
    return vm_id


def names(world: World, **which: Any) -> list[str]:
    """The names that such a list holds."""
    return sorted(one.name for one in world.compute.instances(**which).items)


def test_a_stopped_vm_is_started_again(world: World):
    """The same id runs again, and began to run later than it was made."""
    vm_id = stopped(world, "node")
    operation = world.compute.start(ZONE, vm_id, new_id())
    assert (operation.kind, operation.target_id, operation.zone) == ("start", vm_id, ZONE)
    assert finished(world, operation).error == ""
    world.until(lambda: status(world, "node") is Status.RUNNING)
    again = seen(world, "node")
    assert again is not None
    assert again.id == vm_id
    assert again.started > again.created


def test_a_start_with_the_same_request_id_is_one_start(world: World):
    """The second answer is the first operation."""
    vm_id, request_id = stopped(world, "node"), new_id()
    first = world.compute.start(ZONE, vm_id, request_id)
    assert world.compute.start(ZONE, vm_id, request_id).name == first.name


def test_a_start_where_there_is_no_room_fails_in_its_operation(world: World):
    """It was accepted; the VM stays as it was."""
    vm_id = stopped(world, "node")
    world.stock_out(ZONE)
    operation = finished(world, world.compute.start(ZONE, vm_id, new_id()))
    assert operation.error.startswith("ZONE_RESOURCE_POOL_EXHAUSTED")
    world.until(lambda: status(world, "node") is Status.TERMINATED)


def test_a_vm_that_is_deleted_is_gone_in_the_end(world: World):
    """The operation ends without an error, and the id is in no list."""
    vm_id = running(world, "node")
    operation = world.compute.delete(ZONE, vm_id, new_id())
    assert (operation.kind, operation.target_id) == ("delete", vm_id)
    assert finished(world, operation).error == ""
    assert seen(world, "node") is None


def test_a_delete_can_be_asked_for_again(world: World):
    """With the same request id the first operation is told, though the VM is gone by then."""
    vm_id, request_id = running(world, "node"), new_id()
    first = finished(world, world.compute.delete(ZONE, vm_id, request_id))
    assert world.compute.delete(ZONE, vm_id, request_id).name == first.name


def test_an_id_never_means_the_next_bearer_of_its_name(world: World):
    """What is asked of the old id is refused; the new VM goes on."""
    old = running(world, "node")
    finished(world, delete(world, "node"))
    new = running(world, "node")
    calls: list[Callable[[], object]] = [
        lambda: world.compute.delete(ZONE, old, new_id()),
        lambda: world.compute.start(ZONE, old, new_id()),
    ]
    for call in calls:
        with pytest.raises(RejectedError) as refused:
            call()
        assert refused.value.code == "notFound"
    assert status(world, "node") is Status.RUNNING
    assert seen(world, "node").id == new


def test_an_id_is_looked_for_in_its_zone_only(world: World):
    """Next door nobody has it."""
    vm_id = running(world, "node")
    with pytest.raises(RejectedError, match="notFound"):
        world.compute.delete(OTHER_ZONE, vm_id, new_id())
    assert world.compute.resource(OTHER_ZONE, vm_id) is None


def test_a_resource_holds_what_the_vm_was_made_of(world: World):
    """Metadata values, labels and scheduling, as Compute Engine's JSON names them."""
    request = spot("node", job="my-job")
    body = {**request.body, "metadata": {"items": [{"key": "startup-script", "value": "train --epochs=3"}]}}
    made = Request(method="POST", path=request.path, query=request.query, body=body)
    vm_id = finished(world, world.compute.launch(made, new_id())).target_id
    found = world.compute.resource(ZONE, vm_id)
    assert found is not None
    assert (found["id"], found["name"], found["labels"]["spotwarden-job"]) == (vm_id, "node", "my-job")
    assert found["metadata"]["items"] == [{"key": "startup-script", "value": "train --epochs=3"}]
    assert found["scheduling"]["provisioningModel"] == "SPOT"
    assert found["machineType"].endswith("/e2-medium")


def test_a_resource_that_is_gone_is_none(world: World):
    """Also one that never was."""
    vm_id = running(world, "node")
    finished(world, delete(world, "node"))
    assert world.compute.resource(ZONE, vm_id) is None
    assert world.compute.resource(ZONE, NOBODY) is None


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        ({"names": ["one"]}, ["one"]),
        ({"names": ["one", "two", "nobody"]}, ["one", "two"]),
        ({"job": "b"}, ["three", "two"]),
        ({"names": ["one"], "job": "b"}, ["one", "three", "two"]),
        ({"names": ["nobody"]}, []),
        ({"names": ["No Name"]}, []),
        ({"names": [f"node-{number}" for number in range(200)] + ["two"]}, ["two"]),
        ({}, ["one", "three", "two"]),
    ],
)
def test_instances_are_found_by_name_or_job(world: World, which: dict[str, Any], expected: list[str]):
    """Either is enough; more names than a filter holds are found too; without both, all are listed."""
    for name, job in (("one", "a"), ("two", "b"), ("three", "b")):
        world.compute.launch(spot(name, job=job), new_id())
    assert names(world, **which) == expected


def test_a_zone_that_is_hidden_is_said_to_be_though_only_some_are_wanted(world: World):
    """What is wanted might be there."""
    running(world, "here")
    world.hide(OTHER_ZONE)
    listed = world.compute.instances(names=["here"])
    assert ([one.name for one in listed.items], listed.unreachable) == (["here"], (OTHER_ZONE,))


def test_a_gang_is_one_request(world: World):
    """All its nodes run, each with its own id, and carry job and attempt."""
    operation = finished(world, world.compute.launch(bulk("gang", 3), new_id()))
    assert operation.error == ""
    found = world.compute.instances(job="gang").items
    assert sorted(one.name for one in found) == ["gang-1", "gang-2", "gang-3"]
    assert len({one.id for one in found}) == 3
    assert {one.attempt for one in found} == {2}


def test_a_gang_that_is_not_whole_is_none(world: World):
    """Without room the operation fails, and in the end none of its nodes is left."""
    world.stock_out(ZONE)
    assert finished(world, world.compute.launch(bulk("gang", 3), new_id())).error != ""
    world.until(lambda: names(world, job="gang") == [])


@pytest.mark.parametrize("bad", [("us-central1-a", "node"), ("us-central1-a", "1/../2"), ("a/b", "17")])
def test_only_an_id_is_ever_acted_on(google: Scripted, compute: ComputeEngine, bad: tuple[str, str]):
    """A name is refused before anything is sent."""
    google.say({})
    calls: list[Callable[..., object]] = [compute.start, compute.delete]
    for call in calls:
        with pytest.raises(ValueError, match="Not an instance ID"):
            call(*bad, "r")
    with pytest.raises(ValueError, match="Not an instance ID"):
        compute.resource(*bad)
    assert google.asked == []


def test_a_refused_look_at_a_resource_is_no_absence(google: Scripted, compute: ComputeEngine):
    """Only *not found* says that it is gone."""
    google.refuse(403, "forbidden")
    with pytest.raises(RejectedError, match="forbidden"):
        compute.resource(ZONE, "17")


def test_the_filter_is_one_that_compute_engine_reads(google: Scripted, compute: ComputeEngine):
    """Each term in parentheses, joined by OR."""
    google.say({})
    compute.instances(names=["b", "a"], job="j")
    assert google.asked[0].query["filter"] == (
        '(name = "a") OR (name = "b") OR (labels.spotwarden-job = "j")'
    )


def test_nothing_is_asked_for_names_that_nobody_can_have(google: Scripted, compute: ComputeEngine):
    """Nor can such a name end the quotes of the filter."""
    google.say({})
    assert compute.instances(names=['x") OR (name = "y']).items == ()
    assert compute.instances(job='x") OR (name = "y').items == ()
    assert google.asked == []


def test_the_log_tells_which_request_made_an_instance(world: World):
    """By the request id of its insert; of a bulk insert by the id of the request whose group it shares."""
    since, one, many = world.now() - timedelta(hours=1), new_id(), new_id()
    finished(world, world.compute.launch(spot("solo"), one))
    finished(world, world.compute.launch(bulk("pair", 2), many))
    log = world.compute.operations(since).items
    solo = next(item for item in log if item.kind == "insert" and item.target_name == "solo")
    assert solo.request_id == one
    whole = next(item for item in log if item.kind == "bulkInsert")
    nodes = [item for item in log if item.kind == "insert" and item.target_name.startswith("pair-")]
    assert (whole.request_id, bool(whole.group)) == (many, True)
    assert [item.group for item in nodes] == [whole.group, whole.group]
