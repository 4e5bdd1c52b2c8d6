"""recover_spot over the ports: what is launched by hand and lost before any sweep has seen it."""

import pytest

from spotwarden.layout import CreateScript, InstanceId, MarkerName, StatusCode
from spotwarden.model.attempt import AttemptState
from spotwarden.model.instance import Status
from tests.fakes.world import GANG
from tests.recovery.job_vm import JobVm

ZONE = "us-central1-a"


@pytest.fixture
def unseen(world):
    """A gang whose nodes register nothing, launched by hand in a zone that no list shows."""
    world.settle()
    world.cloud.compute.hide(ZONE)
    world.job = "gang"
    world.store(CreateScript(job="gang"), GANG)
    world.launch_by_hand(GANG)
    world.wait(minutes=1)
    return world


def shown_again(world):
    """The zone is shown again, and the sweeps go on."""
    world.cloud.compute.show(ZONE)
    world.settle(16)
    return sorted(vm.name for vm in world.instances() if vm.status is Status.RUNNING)


@pytest.mark.parametrize("marked", [True, False])
def test_a_gang_of_which_a_person_removed_a_node_unseen_is_closed(unseen, marked):
    """The other one was preempted just before: the person's word holds for the gang."""
    compute, vm = unseen.cloud.compute, JobVm(unseen)
    compute.preempt("gang-1")
    unseen.wait(seconds=35)
    compute.owner_deletes("gang-2")
    for node in ("gang-1", "gang-2") if marked else ():
        vm.write(MarkerName(node=node), b"")
    unseen.settle()
    assert shown_again(unseen) == ["test-vm"]
    assert [attempt.state for attempt in unseen.attempts()] == [AttemptState.STOPPED]
    assert unseen.names("preempted-jobs/") == []
    assert unseen.quarantined() == {}


@pytest.mark.parametrize("marked", [True, False])
def test_a_gang_that_was_preempted_unseen_comes_back(unseen, marked):
    """Both nodes of it, and nobody has removed one."""
    for node in ("gang-1", "gang-2"):
        unseen.cloud.compute.preempt(node)
        if marked:
            JobVm(unseen).write(MarkerName(node=node), b"")
    unseen.settle()
    assert shown_again(unseen) == ["gang-1", "gang-2", "test-vm"]
    assert unseen.quarantined() == {}


@pytest.mark.parametrize("body", [b"", b'{"instance_id": "77"}'])
def test_a_marker_is_put_aside_only_when_all_zones_are_shown(world, body):
    """Until then its VM may be where nobody can look."""
    world.settle()
    world.cloud.compute.hide(ZONE)
    world.store(CreateScript(job="other"), GANG)
    for node in ("nobody", "other"):
        JobVm(world).write(MarkerName(node=node), body)
    world.settle(16)
    assert "nobody" not in world.quarantined()
    world.cloud.compute.show(ZONE)
    world.settle(16)
    assert sorted(world.quarantined()) == ["nobody", "other"]
    assert world.names("preempted-jobs/") == []


@pytest.mark.parametrize("hidden", [True, False])
def test_a_marker_that_names_the_vm_of_a_hidden_log_is_not_taken_for_a_strangers(world, hidden):
    """Its insert, which tells whose the VM was, is in the log that cannot be read."""
    world.settle()
    world.job = "gang"
    world.store(CreateScript(job="gang"), GANG)
    compute = world.cloud.compute
    if hidden:
        compute.hide(ZONE)
    JobVm(world).write(MarkerName(node="gang-1"), b'{"instance_id": "77", "job": "gang"}')
    world.settle(16)
    assert bool(world.quarantined()) is not hidden


@pytest.mark.parametrize("minutes", [5, 60])
def test_what_is_lost_in_a_zone_that_no_sweep_has_ever_seen_comes_back(new_world, minutes):
    """Hidden from the first sweep on, and without a marker: the log is read from that sweep on."""
    world = new_world()
    world.cloud.compute.hide(ZONE)
    world.sweep()
    world.wait(minutes=1)
    world.cloud.compute.preempt("test-vm")
    world.settle(minutes)
    assert shown_again(world) == ["test-vm"]
    assert world.attempts()[-1].instances != world.ids


@pytest.mark.parametrize("registers", [True, False])
@pytest.mark.parametrize("user", ["ada@x.org", "system"])
def test_what_was_launched_by_hand_after_a_loss_and_deleted_unseen_ends_the_job(world, registers, user):
    """Once it has registered it is the job's, and a person's delete the newest word; a name is no proof."""
    world.settle(2)
    world.preempt()
    world.wait(seconds=40)
    [vm_id] = world.launch_by_hand().values()
    world.wait(seconds=30)
    if registers:
        world.store(InstanceId(job="test-vm", node="test-vm"), vm_id.encode())
    world.cloud.compute.owner_deletes(vm_id, user=user)
    world.wait(minutes=1)
    world.settle(8)
    ends = registers and user != "system"
    assert world.attempts()[-1].state is (AttemptState.STOPPED if ends else AttemptState.RUNNING)


def test_it_opens_the_job_again_where_it_was_stopped_and_is_started(world):
    """The record of the end names it."""
    world.settle(2)
    world.preempt()
    world.wait(seconds=40)
    [vm_id] = world.launch_by_hand().values()
    world.wait(seconds=30)
    world.store(InstanceId(job="test-vm", node="test-vm"), vm_id.encode())
    world.cloud.compute.owner_stops(vm_id, user="ada@x.org")
    world.wait(minutes=1)
    world.settle(8)
    assert world.attempts()[-1].state is AttemptState.STOPPED
    world.cloud.compute.owner_starts(vm_id, user="ada@x.org")
    world.wait(minutes=1)
    world.settle(2)
    newest = world.attempts()[-1]
    assert (newest.state, newest.instances) == (AttemptState.RUNNING, {"test-vm": vm_id})


def test_a_gang_that_is_launched_anew_beside_all_of_its_stopped_nodes_goes_on_with_the_new_ones(gang):
    """No node is missed that its owner has stopped, and the loss of a new one is a loss of the gang."""
    gang.settle(2)
    gang.cloud.compute.stock_out(ZONE)
    gang.preempt(node="gang-1")
    gang.settle(12)
    stopped = gang.attempts()[-1].instances
    assert len(stopped) == 2
    for vm_id in stopped.values():
        gang.cloud.compute.owner_stops(vm_id, user="ada@x.org")
    gang.cloud.compute.restock(ZONE)
    gang.wait(minutes=1)
    again = gang.launch_by_hand(GANG)
    gang.wait(minutes=1)
    gang.settle(2)
    newest = gang.attempts()[-1]
    assert (newest.state, newest.instances) == (AttemptState.RUNNING, again)
    gang.cloud.compute.preempt(again["gang-1"])
    gang.store(MarkerName(node="gang-1"), b"")
    gang.settle(12)
    newest = gang.attempts()[-1]
    assert newest.state is AttemptState.RUNNING
    assert not set(newest.instances.values()) & {*again.values(), *stopped.values()}
    assert not {"stopped", "node_removed"} & set(gang.notices())


def test_the_vm_of_a_job_that_was_launched_anew_and_ended_unseen_is_on_record(world):
    """The rule for orphans knows by that whose it is, and stops it; the job stays ended."""
    world.settle(2)
    world.preempt()
    world.wait(minutes=1)
    [vm_id] = world.launch_by_hand().values()
    world.wait(minutes=10)
    world.store(StatusCode(job="test-vm"), b"0")
    world.wait(minutes=1)
    world.settle(4)
    assert world.attempts()[-1].instances == {"test-vm": vm_id}
    world.cloud.compute.owner_deletes(vm_id)
    world.wait(minutes=1)
    world.settle(4)
    assert world.attempts()[-1].state is AttemptState.ENDED
    assert not world.instances()
