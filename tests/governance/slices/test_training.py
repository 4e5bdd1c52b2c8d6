"""A slice that hangs, or trains for nothing, goes as one."""

import json
from datetime import timedelta

import pytest

from spotwarden.layout import Heartbeat, JobFileName
from spotwarden.model.attempt import AttemptState
from spotwarden.model.governance import GovernanceLimits, Remedy
from spotwarden.model.rule_limits import StallLimits
from tests.fakes.world import load
from tests.governance.reap.reap_world import AT_REST, ReapWorld
from tests.governance.slices.slice_world import JOB, asked_of_vms, deleted_groups, launch, newest

STALL = StallLimits(remedy=Remedy.STOP, after=timedelta(hours=2), grace=timedelta(minutes=15))


@pytest.fixture
def world():
    """A project whose policy stops what stands still for two hours."""
    limits = GovernanceLimits(ops="ops@x.org", blast_least=8)
    return ReapWorld(load("reap_vms"), stall=STALL, governance=limits)


def test_a_slice_none_of_whose_hosts_gets_on_is_deleted_as_one(world):
    """Its heartbeats have stopped, and its processors rest."""
    made = launch(world)
    for instance_id in made.vms:
        world.cloud.metrics.cpu[instance_id] = AT_REST
    for _ in range(6):
        world.wait(minutes=5)
        for name in made.ids:
            world.beat(name, JOB)
        world.sweep()
    assert world.kinds() == []
    world.sweep_for(hours=4)
    assert deleted_groups(world) == [(made.group.name, made.group.id)]
    assert asked_of_vms(world) == []
    assert world.kinds() == ["stall_warning", "stall_acted"]
    warning = world.notices()[0]
    assert warning.what == "TPU slice trainer (4 VMs) has stopped making progress"
    assert warning.evidence["busiest TPU chip in the last hour"] == "unknown"
    assert "GPU" not in str(warning)


def test_a_slice_whose_loss_is_no_number_is_closed_and_deleted_as_one(world):
    """The job first, so that nothing brings it back; then the group."""
    world.sweep()
    world.store(JobFileName(job=JOB), b"[rules.early_stop]\nunreal = true\n")
    made = launch(world)
    for name, instance_id in made.ids.items():
        said = {"step": 10, "attempt": 1, "instance_id": instance_id, "metrics": {"loss": "NaN"}}
        world.store(Heartbeat(job=JOB, node=name), json.dumps(said).encode())
    world.sweep_for(hours=2)
    assert newest(world).state is AttemptState.STOPPED
    assert deleted_groups(world) == [(made.group.name, made.group.id)]
    assert asked_of_vms(world) == []
    assert world.kinds() == ["early_stop_warning", "early_stop_acted"]
