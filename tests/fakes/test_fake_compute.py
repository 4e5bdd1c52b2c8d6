"""What the Compute Engine in memory can be told to do, beyond what every Compute Engine promises."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.instance import Operation, Status
from spotwarden.model.request import Request
from spotwarden.ports import RejectedError
from tests.fakes.compute import MemoryCompute

A, B, C = "us-central1-a", "us-central1-b", "us-central1-c"


def one(name: str, zone: str = A, action: str = "DELETE") -> Request:
    """A request for one VM of the job `job`, attempt 2."""
    body = {
        "name": name,
        "machineType": f"zones/{zone}/machineTypes/e2-small",
        "labels": {"spotwarden-job": "job", "spotwarden-attempt": "2"},
        "metadata": {"items": [{"key": "k", "value": "v"}]},
        "scheduling": {"instanceTerminationAction": action},
    }
    return Request(method="POST", path=f"/compute/v1/projects/p/zones/{zone}/instances", query={}, body=body)


def many(place: str = f"zones/{A}", **fields: object) -> Request:
    """A bulk request, by default for three VMs by a pattern."""
    body = {"instanceProperties": {"machineType": "e2-small"}, "count": "3", "namePattern": "w-#", **fields}
    path = f"/compute/v1/projects/p/{place}/instances/bulkInsert"
    return Request(method="POST", path=path, query={}, body=body)


@pytest.fixture
def compute() -> MemoryCompute:
    """Three empty zones."""
    return MemoryCompute()


def after(compute: MemoryCompute, seconds: float = 60) -> dict[str, Status]:
    """The VMs that are listed some time later, by name."""
    compute.clock.advance(timedelta(seconds=seconds))
    return {vm.name: vm.status for vm in compute.instances().items}


def ended(compute: MemoryCompute, operation: Operation) -> str:
    """The error of an operation that is done."""
    now = compute.operation(operation.zone, operation.name)
    assert now.done
    return now.error


def test_a_bulk_request_makes_all(compute):
    """Numbered by the pattern; the operation is on no instance, each insert is."""
    whole = compute.launch(many(), "r")
    assert set(after(compute)) == {"w-1", "w-2", "w-3"}
    assert (whole.kind, whole.target_id, ended(compute, whole)) == ("bulkInsert", "", "")
    kinds = [told.kind for told in compute.operations(compute.clock.now() - timedelta(hours=1)).items]
    assert kinds == ["bulkInsert", "insert", "insert", "insert"]


def test_names_by_a_pattern_go_on_after_the_greatest(compute):
    """As Compute Engine numbers them."""
    compute.launch(one("w-2"), "first")
    compute.launch(many(count="1"), "second")
    assert set(after(compute)) == {"w-2", "w-3"}


def test_names_can_be_given(compute):
    """One by one."""
    compute.launch(many(namePattern="", count="2", perInstanceProperties={"x": {}, "y": {}}), "r")
    assert set(after(compute)) == {"x", "y"}


def test_too_few_are_deleted_again(compute):
    """They are seen meanwhile, and the operation fails once they are gone."""
    compute.stock_out(A, left=2)
    whole = compute.launch(many(), "r")
    assert set(after(compute, 1)) == {"w-1", "w-2", "w-3"}
    assert after(compute, 20) == {"w-1": Status.STOPPING, "w-2": Status.STOPPING}
    assert not compute.operation(A, whole.name).done
    assert after(compute, 31) == {}
    assert ended(compute, whole).startswith("VM_MIN_COUNT_NOT_REACHED")


def test_enough_are_kept(compute):
    """Two of three, where two are enough."""
    compute.stock_out(A, left=2)
    whole = compute.launch(many(minCount="2"), "r")
    assert len(after(compute)) == 2
    assert ended(compute, whole) == ""


def test_a_region_takes_a_zone_with_room_for_all(compute):
    """A zone that is denied is passed over."""
    compute.stock_out(A, left=1)
    policy = {"locations": {f"zones/{B}": {"preference": "DENY"}}}
    whole = compute.launch(many("regions/us-central1", locationPolicy=policy), "r")
    after(compute)
    assert {vm.zone for vm in compute.instances().items} == {C}
    assert ended(compute, whole) == ""


def test_a_stopped_vm_is_started_again(compute):
    """The same id, running, and once however often it is asked."""
    made = compute.launch(one("n", action="STOP"), "r")
    after(compute)
    compute.preempt("n")
    assert after(compute) == {"n": Status.TERMINATED}
    first = compute.start(A, made.target_id, "s")
    assert compute.start(A, made.target_id, "s").name == first.name
    assert after(compute) == {"n": Status.RUNNING}
    assert [vm.id for vm in compute.instances().items] == [made.target_id]


def test_a_start_where_there_is_no_room_fails(compute):
    """The VM stays TERMINATED."""
    made = compute.launch(one("n", action="STOP"), "r")
    after(compute)
    compute.preempt("n")
    after(compute)
    compute.stock_out(A)
    start = compute.start(A, made.target_id, "s")
    assert after(compute) == {"n": Status.TERMINATED}
    assert ended(compute, start).startswith("ZONE_RESOURCE_POOL_EXHAUSTED")


def test_a_start_while_it_stops_is_refused(compute):
    """It can be asked again later."""
    made = compute.launch(one("n", action="STOP"), "r")
    after(compute)
    compute.preempt("n")
    with pytest.raises(RejectedError, match="resourceNotReady"):
        compute.start(A, made.target_id, "s")


def test_a_delete_is_of_an_id(compute):
    """The name is taken until it is done; then there is no such id."""
    made = compute.launch(one("n"), "r")
    after(compute)
    operation = compute.delete(A, made.target_id, "d")
    with pytest.raises(RejectedError, match="alreadyExists"):
        compute.launch(one("n"), "other")
    assert after(compute) == {}
    assert ended(compute, operation) == ""
    with pytest.raises(RejectedError, match="notFound"):
        compute.delete(A, made.target_id, "e")


@pytest.mark.parametrize("action", ["DELETE", "STOP"])
def test_a_delete_of_a_vm_that_stops_ends_with_it(compute, action):
    """Also where the preemption alone would have kept it."""
    made = compute.launch(one("n", action=action), "r")
    after(compute)
    compute.preempt("n")
    operation = compute.delete(A, made.target_id, "d")
    assert after(compute) == {}
    assert ended(compute, operation) == ""


@pytest.mark.parametrize("stocked", [True, False])
def test_a_delete_of_a_vm_that_is_being_made_leaves_none(compute, stocked):
    """Whether there was room for it or not."""
    if not stocked:
        compute.stock_out(A)
    made = compute.launch(one("n"), "r")
    compute.delete(A, made.target_id, "d")
    assert after(compute) == {}


def test_a_resource_shows_what_was_asked_for(compute):
    """With id, zone, status and the values of the metadata; nothing for an id that is elsewhere."""
    made = compute.launch(one("n"), "r")
    after(compute)
    shown = compute.resource(A, made.target_id)
    assert shown is not None
    assert (shown["id"], shown["status"], shown["zone"].rpartition("/")[2]) == (made.target_id, "RUNNING", A)
    assert shown["metadata"]["items"] == [{"key": "k", "value": "v"}]
    assert compute.resource(B, made.target_id) is None


def test_a_disk_tells_what_it_was_made_from(compute):
    """As long as its VM is there."""
    asked = one("n")
    body = {**asked.body, "disks": [{"boot": True, "initializeParams": {"sourceImage": "i"}}]}
    asked = replace(asked, body=body)
    made = compute.launch(asked, "r")
    after(compute)
    link = compute.resource(A, made.target_id)["disks"][0]["source"]
    assert compute.disk(link)["sourceImage"] == "i"
    compute.delete(A, made.target_id, "d")
    after(compute)
    assert compute.disk(link) is None


def test_a_list_of_some(compute):
    """By name, by job, or either."""
    for name, zone in [("n", A), ("m", B)]:
        compute.launch(one(name, zone), name)
    compute.launch(many(), "r")
    assert [vm.name for vm in compute.instances(names=["n", "w-1"]).items] == ["n", "w-1"]
    assert [vm.name for vm in compute.instances(job="job").items] == ["n", "m"]
    assert [vm.name for vm in compute.instances(names=["w-2"], job="job").items] == ["n", "w-2", "m"]


def test_offers_are_of_machine_and_accelerators_together(compute):
    """Everywhere unless told otherwise; a zone that is hidden could not be asked."""
    assert compute.offers("e2-small", ()).zones == {A, B, C}
    compute.offer("g2", [A, B])
    compute.offer("l4", [B, C])
    assert compute.offers("g2", ["l4"]).zones == {B}
    compute.hide(B)
    assert compute.offers("g2", ["l4"]).zones == frozenset()


def test_who_powers_off_stays(compute):
    """The log says that the guest did it."""
    compute.launch(one("n"), "r")
    after(compute)
    compute.power_off("n")
    assert after(compute) == {"n": Status.TERMINATED}
    told = compute.operations(compute.clock.now() - timedelta(minutes=2)).items
    assert [operation.kind for operation in told][-1] == "compute.instances.guestTerminate"
