"""Two slices of one name, of two owners: neither is taken for the other, nor deleted for it."""

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.layout import AttemptRecord
from spotwarden.model.attempt import AttemptState
from spotwarden.model.slices import SliceGroup
from spotwarden.recovery.requests.launching import request_id
from spotwarden.recovery.requests.slice_groups import group_of
from tests.contract.test_compute_groups import ZONE, manager, template
from tests.recovery.slice_world import NODES, SliceWorld

FIRST = group_of("slice", 1, 1, request_id("slice", 1, ZONE, 1)).name
"""What the first try of a job of this name calls its group, in every deployment."""


@pytest.fixture
def submitted(recover, monkeypatch):
    """A spot slice of which nothing was asked yet."""
    return SliceWorld(recover, monkeypatch)


def theirs(world, name, *nodes):
    """Somebody else makes a slice of these VMs; gives its group."""
    for request in (template(name), manager(name)):
        world.cloud.compute.launch(request, f"theirs-{request.path}")
        world.wait(seconds=5)
    made = world.cloud.compute.group(ZONE, name)
    world.cloud.compute.fill_group(ZONE, name, made.id, nodes, "fill-theirs")
    world.wait(minutes=5)
    return world.cloud.compute.groups[ZONE, name]


@pytest.mark.parametrize("name", [FIRST, "bobs"])
def test_a_slice_whose_vms_have_the_same_names_is_waited_for(submitted, name):
    """Its owner's colleague is told of once, in an hour of sweeps; theirs runs on."""
    made = theirs(submitted, name, *NODES)
    submitted.settle(60)
    assert submitted.newest.state is AttemptState.BACKING_OFF
    assert submitted.notices() == ["name_taken"]
    assert submitted.cloud.compute.groups == {(ZONE, name): made}
    assert len(submitted.instances()) == len(NODES)


@pytest.mark.parametrize("nodes", [(), ("another-1", "another-2")])
def test_a_group_of_the_very_name_that_was_there_before_is_neither_filled_nor_deleted(submitted, nodes):
    """The job is launched as a group of another name beside it."""
    made = theirs(submitted, FIRST, *nodes)
    submitted.settle(30)
    newest = submitted.newest
    assert newest.state is AttemptState.RUNNING
    assert newest.tries[0].error == f"alreadyExists: another group has the name {FIRST}"
    assert newest.tries[-1].group.id != made.id
    assert submitted.cloud.compute.groups[ZONE, FIRST] == made
    assert set(made.members) == set(nodes)
    assert submitted.done("DeleteGroup") == 0


def test_a_job_that_is_over_leaves_such_a_group_alone(submitted):
    """It was closed before its own was made, of which it then has no ID."""
    made = theirs(submitted, FIRST)
    submitted.sweep()
    [record] = submitted.records()
    unmade = replace(record.tries[0], group=SliceGroup(name=FIRST), error="", refused=None, operation="")
    stopped = replace(record, state=AttemptState.STOPPED, lease=None, tries=(unmade,))
    submitted.store(AttemptRecord(job="slice", attempt=1), msgspec.json.encode(stopped))
    submitted.settle(20)
    assert submitted.cloud.compute.groups[ZONE, FIRST] == made
    assert submitted.done("DeleteGroup") == 0
