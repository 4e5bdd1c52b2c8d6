"""A VM that stood still when its delete was decided is deleted only while it does so."""

import pytest

from spotwarden.engine.executor import Executor
from spotwarden.model.action import DeleteInstance
from spotwarden.model.instance import Status
from spotwarden.model.outcome import Done, Lost
from spotwarden.model.policy import Mode, Policy


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
