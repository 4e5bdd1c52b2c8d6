"""What was decided about a VM that stood still is done only while it does so."""

import pytest
from msgspec.structs import replace

from spotwarden.engine.executor import Executor
from spotwarden.model.action import DeleteInstance, LaunchInstances
from spotwarden.model.instance import Status
from spotwarden.model.outcome import Done, Lost
from spotwarden.model.policy import Mode, Policy
from tests.recovery.facts import REQUEST


@pytest.fixture
def delete(kept, tick):
    """Deletes the VM of a job, which was seen at rest or not."""

    def carry_out(*, at_rest):
        policy = Policy(version="test", mode=Mode.ENFORCE)
        executor = Executor(kept.cloud.ports(), kept.layout, policy, tick, write_line=lambda *_, **__: None)
        [vm] = kept.instances()
        action = DeleteInstance(
            reason="a test",
            job=kept.job,
            attempt=2,
            node=vm.name,
            zone=vm.zone,
            instance_id=vm.id,
            request_id="r",
            at_rest=at_rest,
        )
        return type(executor.apply(action)), [left.status for left in kept.instances()]

    return carry_out


def test_a_vm_that_somebody_has_started_since_is_let_be(kept, delete):
    """A start by its owner between the list and the delete is the newer word."""
    kept.settle()
    assert delete(at_rest=True) == (Lost, [Status.RUNNING])
    assert delete(at_rest=False)[0] is Done


def test_a_vm_that_still_stands_still_is_deleted(kept, delete):
    """As it was seen."""
    kept.settle()
    kept.cloud.compute.owner_stops("test-vm")
    kept.wait(minutes=2)
    assert delete(at_rest=True) == (Done, [Status.STOPPING])


@pytest.mark.parametrize(("stopped", "outcome"), [(True, Done), (False, Lost)])
def test_nothing_is_made_beside_a_vm_that_somebody_has_started_since(kept, tick, stopped, outcome):
    """Two VMs would do the same work; while it stands still the request is sent."""
    kept.settle()
    [vm] = kept.instances()
    if stopped:
        kept.cloud.compute.owner_stops(vm.name)
        kept.wait(minutes=2)
    policy = Policy(version="test", mode=Mode.ENFORCE)
    executor = Executor(kept.cloud.ports(), kept.layout, policy, tick, write_line=lambda *_, **__: None)
    action = LaunchInstances(
        reason="a test",
        job=kept.job,
        attempt=2,
        generation=0,
        request=replace(REQUEST, path=REQUEST.path.replace("-a/", "-b/")),
        request_id="r",
        fresh=True,
        at_rest=((vm.zone, vm.id),),
    )
    assert type(executor.apply(action)) is outcome
