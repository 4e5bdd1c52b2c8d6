"""VMs of somebody else's that have the name of a job: whole sweeps, and whole commands."""

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.layout import AttemptRecord, JobFileName, MarkerName
from spotwarden.model.attempt import AttemptState
from spotwarden.model.instance import Status
from spotwarden.model.request import Request
from tests.fakes.fate import ZONES
from tests.fakes.world import GANG, KEPT, SCRIPT
from tests.recovery.job_vm import JobVm

HOME, F = "us-central1-a", "us-central1-f"


def colleague(world, name="test-vm", zone=F, **more):
    """Somebody runs `gcloud compute instances create`; gives the VM's id."""
    body = {"name": name, "machineType": f"zones/{zone}/machineTypes/e2-small", **more}
    path = f"/compute/v1/projects/p/zones/{zone}/instances"
    request = Request(method="POST", path=path, query={}, body=body)
    made = world.cloud.compute.launch(request, f"{name}-{zone}-by-hand")
    world.wait(seconds=30)
    return made.target_id


def preempted(world, vm_id, node="test-vm"):
    """Compute Engine takes this very VM; its shutdown script writes the marker."""
    world.cloud.compute.preempt(vm_id)
    JobVm(world).write(MarkerName(node=node), b"")


def living(world, but=""):
    """The VMs that run, but for one."""
    return {vm.id: vm for vm in world.instances() if vm.status is Status.RUNNING and vm.id != but}


def waiting(world):
    """Until the job is in a back-off."""
    for _ in range(60):
        world.sweep()
        if world.attempts()[-1].state is AttemptState.BACKING_OFF:
            return
        world.wait(seconds=10)
    raise AssertionError("it never backs off")


@pytest.mark.parametrize(
    ("when", "zone"),
    [("before", "us-central1-b"), ("before", F), ("after", HOME), ("after", "us-central1-b"), ("after", F)],
)
def test_a_colleagues_vm_is_no_attempt_of_a_job_that_is_preempted(world, zone, when):
    """The job comes back, elsewhere where the name is taken, and the colleague's VM is let be."""
    world.settle(2)
    theirs = colleague(world, zone=zone) if when == "before" else ""
    preempted(world, world.first)
    if when == "after":
        world.wait(seconds=40)
        theirs = colleague(world, zone=zone)
    world.settle(8)
    newest = world.attempts()[-1]
    assert (newest.number, newest.state) == (2, AttemptState.RUNNING)
    [vm] = living(world, theirs).values()
    assert newest.instances == {"test-vm": vm.id}
    assert vm.zone != zone
    assert theirs in world.vms()
    assert theirs not in {one for record in world.records() for one in record.replaces.values()}


def test_a_colleagues_vm_is_not_told_as_the_jobs_recovery(world):
    """In a back-off the job goes on waiting."""
    world.settle(2)
    for zone in ZONES:
        world.cloud.compute.stock_out(zone)
    world.preempt()
    waiting(world)
    world.cloud.compute.restock(HOME)
    theirs = colleague(world, zone=HOME)
    world.cloud.compute.stock_out(HOME)
    world.settle(4)
    assert world.attempts()[-1].instances == {}
    assert "recovered" not in world.notices()
    assert "name_taken" in world.notices()
    assert theirs in world.vms()


def test_a_vm_like_the_jobs_with_its_labels_copied_is_not_the_jobs(world):
    """The console's "create similar" copies them."""
    world.settle(2)
    world.preempt()
    world.settle(6)
    second = world.attempts()[-1]
    preempted(world, second.instances["test-vm"])
    labels = {"spotwarden-job": "test-vm", "spotwarden-attempt": "2", "spotwarden-try": "1"}
    theirs = colleague(world, zone=F, labels=labels)
    world.settle(8)
    newest = world.attempts()[-1]
    assert (newest.number, newest.state) == (3, AttemptState.RUNNING)
    assert theirs not in newest.instances.values()
    assert theirs in living(world)


def test_a_gang_with_a_namesake_of_a_node_comes_back(gang):
    """In another zone where the name is taken; nothing of the colleague's is deleted."""
    gang.settle(2)
    theirs = colleague(gang, name="gang-2", zone="us-central1-b")
    gang.preempt(node="gang-1")
    gang.settle(10)
    newest = gang.attempts()[-1]
    assert (newest.number, newest.state) == (2, AttemptState.RUNNING)
    assert set(living(gang, theirs)) == set(newest.instances.values())
    assert theirs in gang.vms()


def test_a_gang_is_not_kept_waiting_by_a_namesake_in_the_place_of_its_script(gang):
    """The name is free there for a moment, and a colleague takes it."""
    gang.settle(2)
    gang.preempt(node="gang-1")
    gang.preempt(node="gang-2")
    gang.wait(seconds=40)
    theirs = colleague(gang, name="gang-2", zone=HOME)
    gang.settle(10)
    newest = gang.attempts()[-1]
    assert (newest.state, newest.tries[-1].place != HOME) == (AttemptState.RUNNING, True)
    assert "name_taken" in gang.notices()
    assert theirs in gang.vms()


def test_a_marker_that_names_a_colleagues_vm_makes_it_nobodys(gang):
    """Neither is it deleted as a survivor, nor is the gang launched for its end."""
    gang.settle(2)
    theirs = colleague(gang, name="gang-2", zone=F)
    body = msgspec.json.encode({"job": "gang", "instance_id": theirs})
    JobVm(gang).write(MarkerName(node="gang-2"), body)
    gang.wait(minutes=3)
    gang.settle(4)
    assert len(gang.attempts()) == 1
    gang.cloud.compute.preempt(theirs)
    JobVm(gang).write(MarkerName(node="gang-2"), body)
    gang.settle(8)
    gang.wait(minutes=13)
    gang.settle(2)
    assert [one.state for one in gang.attempts()] == [AttemptState.RUNNING]
    assert set(gang.ids.values()) <= set(gang.vms())
    assert "gang-2" in gang.quarantined()


def test_a_colleagues_vm_that_is_preempted_launches_no_job(world):
    """Nor does one that its owner deletes close it: the log is read by the id, not by the name."""
    world.settle(2)
    for end in (world.cloud.compute.preempt, world.cloud.compute.owner_deletes):
        end(colleague(world, zone=F))
        JobVm(world).write(MarkerName(node="test-vm"), b"")
        world.wait(minutes=1)
        world.settle(6)
    assert [one.state for one in world.attempts()] == [AttemptState.RUNNING]
    assert world.first in world.vms()


def test_a_job_that_was_launched_by_hand_is_known_whatever_a_namesake_does(new_world):
    """Nobody registered its id: the stored script tells which one is the job's."""
    world = new_world()
    world.cloud.store.delete(
        (name := "test-vm/metadata/test-vm-instance-id"),
        generation=world.cloud.store.read(name).generation,
    )
    theirs = colleague(world, zone="us-central1-b")
    world.settle(2)
    [first] = world.attempts()
    assert first.instances == {"test-vm": world.first}
    preempted(world, world.first)
    world.settle(8)
    assert len(living(world, theirs)) == 1
    assert theirs not in world.attempts()[-1].instances.values()


def test_a_job_that_a_preemption_stops_is_started_in_its_place_beside_a_namesake(new_world):
    """By its id."""
    world = new_world("test-vm", KEPT)
    world.settle(2)
    theirs = colleague(world, zone="us-central1-b")
    world.cloud.compute.preempt(world.first)
    world.settle(8)
    assert set(living(world)) == {world.first, theirs}


def test_relaunched_by_hand_as_the_script_says_a_job_goes_on(world):
    """What its developer launches is no namesake, while it was on its way back as well."""
    world.settle(2)
    for zone in ZONES:
        world.cloud.compute.stock_out(zone)
    world.preempt()
    world.settle(4)
    world.cloud.compute.restock(HOME)
    [again] = world.launch_by_hand().values()
    world.settle(4)
    newest = world.attempts()[-1]
    assert (newest.state, newest.instances) == (AttemptState.RUNNING, {"test-vm": again})


def test_a_gang_of_the_same_names_elsewhere_is_nobodys(new_world):
    """Half of one, and all of one."""
    world = new_world("gang", GANG)
    world.settle(2)
    theirs = {colleague(world, name=name, zone=F) for name in ("gang-1", "gang-2")}
    for vm_id in world.ids.values():
        world.cloud.compute.preempt(vm_id)
    world.settle(10)
    newest = world.attempts()[-1]
    assert newest.state is AttemptState.RUNNING
    assert not theirs & set(newest.instances.values())
    assert theirs <= set(world.vms())
    assert len(world.vms()) == 4


def test_a_vm_of_any_name_with_the_labels_of_a_job_is_a_colleagues_by_its_insert(gang):
    """Who copies a request copies them, too; it is no survivor that goes before the gang is made anew."""
    gang.settle(2)
    gang.preempt(node="gang-1")
    gang.sweep_until_quiet()
    labels = {"spotwarden-job": "gang", "spotwarden-attempt": "2", "spotwarden-try": "1"}
    zone = gang.attempts()[-1].tries[-1].place
    theirs = colleague(gang, "notebook", zone, labels=labels)
    gang.preempt(node="gang-1")
    gang.sweep_until_quiet()
    assert gang.attempts()[-1].number == 3
    assert theirs in gang.vms()


def told_of_names(world):
    """How often the topic heard that a name is taken."""
    return world.notices().count("name_taken")


@pytest.mark.parametrize("script", [SCRIPT, GANG], ids=["one VM", "gang"])
@pytest.mark.parametrize("stocked_out", [False, True])
def test_a_name_that_is_taken_for_an_hour_is_told_once(new_world, script, stocked_out):
    """However often the place is asked again: by the first sweep that sees it, and by none after it."""
    node = "gang-2" if script is GANG else "test-vm"
    world = new_world("gang" if script is GANG else "test-vm", script)
    world.store(JobFileName(job=world.job), b"places = []\n")
    world.settle(2)
    for vm in world.instances():
        world.preempt(node=vm.name)
    world.wait(seconds=40)
    if stocked_out:
        world.cloud.compute.stock_out(HOME)
        waiting(world)
        world.cloud.compute.restock(HOME)
    theirs = colleague(world, name=node, zone=HOME)
    if stocked_out:
        world.cloud.compute.stock_out(HOME)
    world.settle(60)
    assert world.attempts()[-1].instances == {}
    assert told_of_names(world) == 1
    second = colleague(world, name=node, zone="us-central1-b")
    world.store(JobFileName(job=world.job), b"places = ['us-central1-b']\n")
    world.settle(30)
    assert told_of_names(world) == 2
    world.cloud.compute.owner_deletes(theirs)
    world.cloud.compute.owner_deletes(second)
    world.cloud.compute.restock(HOME)
    world.settle(40)
    assert world.attempts()[-1].state is AttemptState.RUNNING
    assert told_of_names(world) == 2


def test_a_sweep_that_dies_after_it_told_of_a_name_tells_it_once_more(world):
    """Under the same id, so that people read it once; the note of the next sweep stands."""
    world.store(JobFileName(job="test-vm"), b"places = []\n")
    world.settle(2)
    world.preempt()
    world.wait(seconds=40)
    colleague(world, zone=HOME)
    world.settle(5)
    record = world.records()[-1]
    world.store(AttemptRecord(job="test-vm", attempt=2), msgspec.json.encode(replace(record, told=())))
    world.settle(60)
    ids = [msgspec.json.decode(one.data)["id"] for one in world.cloud.notices.messages]
    taken = [one for one in ids if one.startswith("name-taken/")]
    assert len(taken) == 2
    assert len({*taken}) == 1


@pytest.mark.parametrize("gone", ["gang-2", "gang-1"])
def test_an_end_that_is_doubted_is_told_once_while_another_node_runs_on(gang, gone):
    """A node is taken long after a status was written, and the others run for an hour more."""
    gang.settle(2)
    gang.ended()
    gang.wait(minutes=20)
    gang.preempt(node=gone)
    gang.settle(60)
    assert gang.notices().count("end_doubted") <= 1
