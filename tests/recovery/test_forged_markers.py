"""recover_spot over the ports: markers that somebody wrote who has no business with the VM."""

import pytest

from spotwarden.layout import JobFileName
from tests.recovery.job_vm import JobVm

FORGED = '{{"job": "{job}", "instance_id": "1"}}'


def forge(world, node, body):
    """Another job's VM writes a marker, and ten minutes pass."""
    JobVm(world).write(f"preempted-jobs/{node}", body.encode())
    world.settle(10)


def attempts_of_ours(world):
    """The attempts that were made by us."""
    return [attempt for attempt in world.attempts() if not attempt.seen]


@pytest.mark.parametrize("node", ["test-vm", "test-vm-7", "nobody"])
@pytest.mark.parametrize("body", [FORGED.format(job="test-vm"), "", '{"early": true}'])
def test_a_forged_marker_makes_no_second_vm(world, node, body):
    """Whatever node it names: the job's VM runs, and goes on running alone."""
    world.settle()
    forge(world, node, body)
    world.wait(minutes=13)
    world.settle(2)
    assert attempts_of_ours(world) == []
    assert world.vms() == [world.first]
    assert world.names("preempted-jobs/") == []


def test_a_marker_of_a_node_that_the_job_has_not_is_put_aside_and_told(world):
    """With the reason."""
    world.settle()
    forge(world, "test-vm-7", FORGED.format(job="test-vm"))
    assert "isn't a node of test-vm" in world.quarantined()["test-vm-7"]
    assert "quarantined" in world.notices()


def test_a_forged_node_beside_a_real_preemption_changes_nothing(gang):
    """The gang comes back with the nodes that it has."""
    gang.settle()
    gang.preempt(node="gang-2")
    gang.store("preempted-jobs/gang-9", FORGED.format(job="gang").encode())
    gang.wait(minutes=1)
    gang.sweep_until_quiet()
    assert sorted(attempts_of_ours(gang)[-1].instances) == ["gang-1", "gang-2"]
    assert sorted(attempts_of_ours(gang)[-1].markers) == ["gang-2"]


def test_a_job_that_nobody_has_seen_is_brought_back_by_the_marker_of_a_node_of_its_script(world):
    """Neither seen nor registered: the stored script says which nodes it has."""
    name = "test-vm/metadata/test-vm-instance-id"
    world.cloud.store.delete(name, generation=world.cloud.store.read(name).generation)
    world.preempt()
    world.sweep_until_quiet()
    assert len(attempts_of_ours(world)) == 1


def test_a_forged_marker_cannot_call_another_jobs_preemption_its_own(world):
    """The VM of the marker's name was taken, but it is not the job's."""
    world.settle()
    world.store(JobFileName(job="other"), b"")
    world.cloud.compute.preempt("test-vm")
    forge(world, "test-vm", '{"job": "other"}')
    assert world.names("other/metadata/attempts/") == []
    assert len(attempts_of_ours(world)) == 1
