"""What is done to the group of a slice goes through the executor, under the attempt's record."""

import pytest
from msgspec.structs import replace

from spotwarden.engine.executor import Executor
from spotwarden.layout import AttemptRecord
from spotwarden.model.outcome import Done, Lost, Rejected
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.slice_action import DeleteGroup, DeleteTemplate, FillGroup, LookAtGroup, MakePart
from tests.contract.test_compute_groups import NAMES, ZONE, manager, template

GROUP = "job-1-1-abcd"


@pytest.fixture
def executor(kept, tick):
    """Carries out what the policy allows."""
    kept.settle()
    policy = Policy(version="test", mode=Mode.ENFORCE)
    return Executor(kept.cloud.ports(), kept.layout, policy, tick, write_line=lambda *_, **__: None)


def newest(kept):
    """The generation of the job's one record."""
    return kept.cloud.store.entry(kept.layout.build(AttemptRecord(job=kept.job, attempt=1))).generation


def part(kept, request, request_id):
    """Makes a part for the newest attempt of the job."""
    return MakePart(
        reason="a test",
        job=kept.job,
        attempt=1,
        generation=newest(kept),
        part="template",
        request=request,
        request_id=request_id,
    )


def test_a_slice_is_made_filled_and_deleted(kept, executor):
    """Its group is looked at by its id in between."""
    for number, request in enumerate((template(), manager())):
        assert isinstance(executor.apply(part(kept, request, f"r{number}")), Done)
    made = executor.apply(LookAtGroup(zone=ZONE, group=GROUP)).group
    fill = FillGroup(
        reason="a test",
        job=kept.job,
        attempt=1,
        generation=newest(kept),
        zone=ZONE,
        group=GROUP,
        group_id=made.id,
        nodes=NAMES,
        request_id="fill",
    )
    assert isinstance(executor.apply(fill), Done)
    kept.wait(minutes=1)
    assert [*executor.apply(LookAtGroup(zone=ZONE, group=GROUP, group_id=made.id)).group.ids] == [*NAMES]
    gone = DeleteGroup(
        reason="a test", job=kept.job, zone=ZONE, group=GROUP, group_id=made.id, request_id="gone"
    )
    without = DeleteTemplate(reason="a test", job=kept.job, template=GROUP, request_id="without")
    assert isinstance(executor.apply(gone), Done)
    assert isinstance(executor.apply(without), Rejected)
    kept.wait(minutes=1)
    assert isinstance(executor.apply(replace(without, request_id="again")), Done)
    assert executor.apply(LookAtGroup(zone=ZONE, group=GROUP, group_id=made.id)).group is None


def test_nothing_is_made_for_an_attempt_that_is_not_as_it_was_read(kept, executor):
    """Somebody may have stopped the job since."""
    stale = replace(part(kept, template(), "r"), generation=1)
    assert isinstance(executor.apply(stale), Lost)
    assert kept.cloud.compute.templates == {}
