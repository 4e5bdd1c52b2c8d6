"""How failures are ordered from the fakes: decisions and simulations lean on it."""

from datetime import timedelta

import pytest

from spotwarden.ports import ConflictError, RejectedError, UnansweredError
from tests.contract.worlds import spot
from tests.fakes.clock import VirtualClock
from tests.fakes.cloud import memory_cloud
from tests.fakes.trouble import conflict, rejected, unanswered


def test_an_answer_lost_before_the_work_leaves_nothing():
    """The caller does not know, and nothing was written."""
    store = memory_cloud().store
    store.trouble.order("write", unanswered(after_work=False))
    with pytest.raises(UnansweredError):
        store.write("x", b"", generation=0)
    assert store.read("x") is None


def test_an_answer_lost_after_the_work_leaves_the_work():
    """The caller does not know, and the object is there."""
    store = memory_cloud().store
    store.trouble.order("write", unanswered(after_work=True))
    with pytest.raises(UnansweredError):
        store.write("x", b"", generation=0)
    assert store.read("x") is not None


def test_trouble_comes_as_often_as_ordered_and_then_no_more():
    """Twice, not once, not thrice."""
    store = memory_cloud().store
    store.trouble.order("write", conflict(), times=2)
    for _ in range(2):
        with pytest.raises(ConflictError):
            store.write("x", b"", generation=0)
    assert store.write("x", b"", generation=0)


def test_trouble_is_about_what_it_was_ordered_for():
    """Another method and another name go through."""
    store = memory_cloud().store
    store.trouble.order("write", conflict(), about=r"attempts/\d+")
    store.write("job/metadata/status-code", b"0", generation=0)
    assert store.read("job/metadata/attempts/1.json") is None
    with pytest.raises(ConflictError):
        store.write("job/metadata/attempts/1.json", b"", generation=0)


def test_a_launch_whose_answer_was_lost_can_be_asked_for_again():
    """The same request id finds the VM that is already there."""
    compute = memory_cloud().compute
    compute.trouble.order("launch", unanswered(after_work=True))
    with pytest.raises(UnansweredError):
        compute.launch(spot("node"), "r")
    compute.launch(spot("node"), "r")
    assert len(compute.instances().items) == 1


def test_a_launch_can_be_refused():
    """With any reason word; nothing is created."""
    compute = memory_cloud().compute
    compute.trouble.order("launch", rejected("quotaExceeded", "CPUS"))
    with pytest.raises(RejectedError, match="quotaExceeded: CPUS"):
        compute.launch(spot("node"), "r")
    assert compute.instances().items == ()


def test_a_zone_has_room_again_once_it_is_restocked():
    """A stockout ends."""
    cloud = memory_cloud()
    cloud.compute.stock_out("us-central1-a")
    cloud.compute.launch(spot("node"), "first")
    cloud.clock.advance(timedelta(minutes=1))
    assert cloud.compute.instances().items == ()
    cloud.compute.restock("us-central1-a")
    cloud.compute.launch(spot("node"), "second")
    assert [one.name for one in cloud.compute.instances().items] == ["node"]


def test_a_hidden_zone_can_be_shown_again():
    """The VM was there all the time."""
    compute = memory_cloud().compute
    compute.launch(spot("node"), "r")
    compute.hide("us-central1-a")
    compute.show("us-central1-a")
    assert [one.name for one in compute.instances().items] == ["node"]


@pytest.mark.parametrize("action", ["DELETE", "STOP"])
def test_a_host_error_is_told_apart_from_a_preemption(action: str):
    """The log names it, and nobody asked for it."""
    cloud = memory_cloud()
    cloud.compute.launch(spot("node", action=action), "r")
    cloud.clock.advance(timedelta(minutes=1))
    cloud.compute.fail_host("node")
    kinds = [(one.kind, one.user) for one in cloud.compute.operations(cloud.clock.now()).items]
    assert kinds == [("compute.instances.hostError", "system")]


def test_a_vm_that_is_stopped_stays():
    """Its owner may start it again."""
    cloud = memory_cloud()
    cloud.compute.launch(spot("node"), "r")
    cloud.compute.owner_stops("node")
    cloud.clock.advance(timedelta(minutes=1))
    assert [one.status.value for one in cloud.compute.instances().items] == ["TERMINATED"]


def test_time_passes_only_when_told_and_never_back():
    """A simulation owns its clock."""
    clock = VirtualClock()
    before = clock.now()
    clock.advance(timedelta(hours=1))
    assert clock.now() - before == timedelta(hours=1)
    with pytest.raises(ValueError, match="backwards"):
        clock.advance(timedelta(seconds=-1))


def test_generations_rise_while_the_clock_stands_still():
    """Two writes at one virtual moment are still two."""
    store = memory_cloud().store
    assert store.write("x", b"", generation=None) < store.write("x", b"", generation=None)
