"""What Compute Engine promises: in memory, and over REST."""

from datetime import timedelta

import pytest

from spotwarden.model.instance import Status
from spotwarden.ports import RejectedError
from tests.contract.worlds import (
    OTHER_ZONE,
    ZONE,
    World,
    delete,
    finished,
    new_id,
    running,
    seen,
    spot,
    status,
)


def test_a_launch_answers_before_it_is_done(world: World):
    """Where, what and at what it was aimed is known at once."""
    operation = world.compute.launch(spot("node"), new_id())
    assert (operation.zone, operation.kind, operation.target_name) == (ZONE, "insert", "node")
    assert operation.target_id
    assert operation.at is not None
    assert not operation.done


def test_a_launched_vm_is_listed_with_its_job_and_attempt(world: World):
    """The id of the operation's target is that of the VM."""
    vm_id = running(world, "node", job="my-job", attempt=7)
    found = seen(world, "node")
    assert found is not None
    assert (found.id, found.zone, found.job, found.attempt) == (vm_id, ZONE, "my-job", 7)
    assert found.created is not None
    assert found.started is not None
    assert found.created <= found.started


def test_the_same_request_id_never_creates_twice(world: World):
    """The second answer is the first operation, however often one asks."""
    request_id = new_id()
    first = world.compute.launch(spot("node"), request_id)
    again = world.compute.launch(spot("node"), request_id)
    assert again.name == first.name
    finished(world, first)
    assert world.compute.launch(spot("node"), request_id).name == first.name
    assert [one.name for one in world.compute.instances().items] == ["node"]


def test_a_name_that_is_taken_is_refused(world: World):
    """By its reason word, so that nobody retries for ever."""
    running(world, "node")
    with pytest.raises(RejectedError) as refused:
        world.compute.launch(spot("node"), new_id())
    assert refused.value.code == "alreadyExists"
    assert "node" in refused.value.message


def test_a_name_is_free_in_another_zone(world: World):
    """Nobody refuses a name that lives in another zone: it is unique per zone only."""
    running(world, "node")
    operation = world.compute.launch(spot("node", zone=OTHER_ZONE), new_id())
    assert finished(world, operation).error == ""


def test_a_name_is_taken_until_the_delete_is_done(world: World):
    """Then it is free, and its next bearer has another id."""
    old = running(world, "node")
    delete(world, "node")
    with pytest.raises(RejectedError, match="alreadyExists"):
        world.compute.launch(spot("node"), new_id())
    world.until(lambda: seen(world, "node") is None)
    assert running(world, "node") != old


def test_a_stockout_is_an_error_of_the_operation(world: World):
    """The launch itself is accepted; the code comes first, the reason with it, and no VM remains."""
    world.stock_out(ZONE)
    operation = finished(world, world.compute.launch(spot("node"), new_id()))
    assert operation.error.startswith("ZONE_RESOURCE_POOL_EXHAUSTED")
    assert "resource_availability" in operation.error
    world.until(lambda: seen(world, "node") is None)


def test_a_stockout_is_of_one_zone(world: World):
    """Next door there is room."""
    world.stock_out(ZONE)
    assert finished(world, world.compute.launch(spot("node", zone=OTHER_ZONE), new_id())).error == ""


def test_an_operation_that_is_not_there_is_refused(world: World):
    """Not found is an answer."""
    with pytest.raises(RejectedError, match="notFound"):
        world.compute.operation(ZONE, "operation-nobody-made")


def test_a_preemption_is_in_the_log(world: World):
    """As a system operation on the id that was taken, by the system."""
    since = world.now()
    vm_id = running(world, "node")
    world.preempt("node")
    world.until(lambda: seen(world, "node") is None)
    told = [one for one in world.compute.operations(since).items if one.target_id == vm_id]
    assert "insert" in [one.kind for one in told]
    [preempted] = [one for one in told if one.kind == "compute.instances.preempted"]
    assert (preempted.target_name, preempted.zone, preempted.user) == ("node", ZONE, "system")


def test_a_preempted_vm_is_stopping_before_it_is_gone(world: World):
    """For as long as it stops, its name is not free."""
    running(world, "node")
    world.preempt("node")
    assert status(world, "node") is Status.STOPPING


def test_a_preempted_vm_that_is_to_stop_stays(world: World):
    """With the termination action STOP the VM remains, TERMINATED, under its name."""
    vm_id = running(world, "node", action="STOP")
    world.preempt("node")
    world.until(lambda: status(world, "node") is Status.TERMINATED)
    found = seen(world, "node")
    assert found is not None
    assert found.id == vm_id


def test_an_owners_delete_is_in_the_log_and_no_preemption(world: World):
    """It tells a preempted VM from one that somebody took down."""
    since = world.now()
    vm_id = running(world, "node")
    delete(world, "node")
    world.until(lambda: seen(world, "node") is None)
    told = [one for one in world.compute.operations(since).items if one.target_id == vm_id]
    assert [one.kind for one in told] == ["insert", "delete"]
    assert told[-1].user not in {"", "system"}


def test_the_log_begins_where_it_was_asked_to(world: World):
    """What was asked for before that moment is left out."""
    running(world, "early")
    world.until(lambda: True)
    since = max(one.at for one in world.compute.operations(world.now() - timedelta(hours=1)).items if one.at)
    after = since + timedelta(milliseconds=1)
    world.until(lambda: world.now() > after)
    world.compute.launch(spot("late"), new_id())
    assert [one.target_name for one in world.compute.operations(after).items] == ["late"]
    assert "early" in [one.target_name for one in world.compute.operations(since).items]


def test_a_zone_that_is_hidden_is_said_to_be(world: World):
    """Its VMs are missing, not gone; the others are there."""
    running(world, "here")
    running(world, "there", zone=OTHER_ZONE)
    world.hide(OTHER_ZONE)
    listed = world.compute.instances()
    assert [one.name for one in listed.items] == ["here"]
    assert listed.unreachable == (OTHER_ZONE,)


def test_a_whole_list_hides_nothing(world: World):
    """Then what is missing is gone."""
    running(world, "here")
    assert world.compute.instances().unreachable == ()
