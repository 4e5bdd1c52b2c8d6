"""A marker of an instance that nobody has seen, of a job whose script is stored: it launches nothing."""

import msgspec
import pytest

from spotwarden.layout import CreateScript, InstanceId, MarkerName, OpenJob, StatusCode
from spotwarden.model.attempt import AttemptState
from spotwarden.model.instance import Operations
from spotwarden.model.watch import Watch
from tests.fakes.world import GANG, SCRIPT
from tests.recovery.job_vm import JobVm

OTHER = SCRIPT.replace(b"test-vm", b"other")


@pytest.fixture
def stored(world):
    """Beside a job that runs there is one whose script is stored, and whose VM nobody has made."""
    world.settle()
    world.store(CreateScript(job="other"), OTHER)
    return world


def swept(world, minutes=15):
    """Go on for so long; gives the names of the VMs that there are."""
    for _ in range(2 * minutes):
        world.sweep()
        world.wait(seconds=30)
    return [vm.name for vm in world.instances()]


@pytest.mark.parametrize("body", [b"", b"{}", b'{"job": "other", "instance_id": "77"}'])
def test_a_marker_does_not_launch_a_job_that_nobody_has_launched(stored, body):
    """It is put aside, and ops are told; whoever stored the script launches it when they want to."""
    JobVm(stored).write(MarkerName(node="other"), body)
    assert swept(stored) == ["test-vm"]
    reason = stored.quarantined()["other"]
    assert (
        "no instance was ever seen as other of other" in reason or "the instance 77 is not other's" in reason
    )
    assert stored.names("other/metadata/attempts/") == []


def test_a_marker_does_not_end_the_wait_for_a_launch_that_was_begun(stored):
    """Its entry says that a launch was begun: what is not on record in time is closed, and not launched."""
    stored.store(OpenJob(job="other"), msgspec.json.encode(Watch(job="other", attempt=1)))
    JobVm(stored).write(MarkerName(node="other"), b"{}")
    assert swept(stored) == ["test-vm"]
    assert "other" in stored.quarantined()
    assert stored.names("other/metadata/attempts/") == ["other/metadata/attempts/1.json"]


def test_a_job_that_ended_before_any_sweep_saw_it_has_its_vm_on_record(world):
    """Else no rule would know whose the VM is, and it would run for ever."""
    JobVm(world).write(StatusCode(job=world.job), b"1")
    world.settle()
    [only] = world.attempts()
    assert only.instances == world.ids


def test_a_marker_does_not_launch_a_gang_that_nobody_has_launched(world):
    """However many of its nodes are named."""
    world.settle()
    world.store(CreateScript(job="gang"), GANG)
    for node in ("gang-1", "gang-2"):
        JobVm(world).write(MarkerName(node=node), b'{"job": "gang"}')
    assert swept(world) == ["test-vm"]
    assert sorted(world.quarantined()) == ["gang-1", "gang-2"]


def test_a_vm_whose_id_is_registered_is_brought_back_although_the_log_is_silent(stored):
    """Nobody else could have written the id."""
    stored.store(InstanceId(job="other", node="other"), b"77")
    JobVm(stored).write(MarkerName(node="other"), b'{"instance_id": "77"}')
    assert sorted(swept(stored)) == ["other", "test-vm"]


def test_another_id_than_the_registered_one_is_nobodys(stored):
    """A forged id beside a registered one: the registered VM is judged by itself."""
    stored.store(InstanceId(job="other", node="other"), b"76")
    JobVm(stored).write(MarkerName(node="other"), b'{"instance_id": "77"}')
    stored.sweep()
    stored.wait(minutes=13)
    stored.sweep()
    assert "other" in stored.quarantined()


def test_a_vm_that_was_taken_before_anybody_saw_it_is_brought_back(stored):
    """Launched by hand, and gone before the first sweep: only the operation log tells of it."""
    stored.launch_by_hand(OTHER)
    stored.preempt(node="other")
    stored.wait(minutes=5)
    assert "other" not in [vm.name for vm in stored.instances()]
    assert sorted(swept(stored)) == ["other", "test-vm"]
    assert stored.quarantined() == {}


def test_a_marker_of_an_id_that_is_nowhere_does_not_launch_a_job_whose_vm_shut_itself_down(world):
    """The job is closed, as without the marker."""
    world.settle()
    world.cloud.compute.power_off("test-vm")
    JobVm(world).write(MarkerName(node="test-vm"), b'{"instance_id": "77"}')
    assert swept(world) == ["test-vm"]
    assert [attempt.state for attempt in world.attempts()] == [AttemptState.STOPPED]
    assert world.names("preempted-jobs/") == []


def test_a_marker_of_an_id_that_is_nowhere_does_not_keep_a_job_from_coming_back(world):
    """Its VM was taken, and somebody has replaced its own marker."""
    world.settle()
    world.preempt()
    JobVm(world).write(MarkerName(node="test-vm"), b'{"instance_id": "77"}')
    swept(world, minutes=5)
    assert [attempt.number for attempt in world.attempts()] == [1, 2]


def test_a_vm_that_is_on_record_is_brought_back_although_the_log_is_silent(world):
    """Its record is the job's own, and its marker names it; the id that was registered is of another one."""
    world.settle()
    world.store(InstanceId(job="test-vm", node="test-vm"), b"76")
    world.preempt(f'{{"instance_id": "{world.ids["test-vm"]}"}}'.encode())
    world.cloud.compute.operations = lambda _since: Operations(items=())
    swept(world, minutes=20)
    assert [attempt.number for attempt in world.attempts()] == [1, 2]
    assert world.quarantined() == {}
