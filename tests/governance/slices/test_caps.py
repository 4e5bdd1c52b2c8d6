"""A slice over a limit of its job, of its VMs or of its owner goes as one."""

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.governance.answering import answered
from spotwarden.layout import CaseRecord, JobFileName
from spotwarden.model.answer import Accepted, Extend, Keep
from spotwarden.model.governance import GovernanceLimits, Remedy
from spotwarden.model.rule_limits import InstanceCap, JobCap, OwnerCap
from tests.fakes.trouble import rejected
from tests.fakes.world import load
from tests.governance.caps.cap_world import CapWorld
from tests.governance.slices.slice_world import JOB, OWNER, asked_of_vms, deleted_groups, launch

HOUR = timedelta(hours=1)
PRICES = Path(__file__).parents[3] / "infra/prices.toml"
STOPPED = ["job_cap_warning", "job_cap_warning", "job_cap_acted"]
LIMITS = GovernanceLimits(ops="ops@x.org", blast_least=8)


def world_with(**rules):
    """A project with these caps, where each stops what is over."""
    return CapWorld(load("cap_runtime"), governance=LIMITS, **rules)


def test_a_slice_over_its_runtime_cap_is_warned_and_deleted_as_one():
    """After the last warning has had its grace."""
    world = world_with(job_cap=JobCap(remedy=Remedy.STOP, max_runtime=10 * HOUR))
    made = launch(world)
    world.sweep_for(hours=12)
    assert deleted_groups(world) == [(made.group.name, made.group.id)]
    assert asked_of_vms(world) == []
    warned, *_others, acted = world.notices()
    assert warned.what == "TPU slice trainer (4 VMs) is near or over its time or cost limit"
    assert acted.what == "TPU slice trainer (4 VMs) was deleted as a whole"
    assert "spotwarden restart trainer" in acted.todo


def test_a_slice_whose_vms_are_up_for_too_long_is_deleted_as_one():
    """One case of all its VMs."""
    world = world_with(instance_cap=InstanceCap(remedy=Remedy.STOP, max_uptime=10 * HOUR))
    made = launch(world)
    world.sweep_for(hours=12)
    assert deleted_groups(world) == [(made.group.name, made.group.id)]
    assert asked_of_vms(world) == []
    assert "4 VMs of the TPU slice trainer are up together" in world.notices()[0].why


def test_an_owner_who_has_a_slice_and_a_vm_too_many_loses_both_each_in_its_way():
    """The VM is stopped and the slice deleted, as the warning said."""
    world = world_with(owner_cap=OwnerCap(remedy=Remedy.STOP, concurrent_gpus=0))
    made = launch(world)
    vm = world.job("single", owner=OWNER)
    world.sweep_for(hours=3)
    assert deleted_groups(world) == [(made.group.name, made.group.id)]
    assert asked_of_vms(world) == [("stop", "single")]
    assert world.status(vm) == "TERMINATED"
    warned, acted = world.notices()
    assert "its TPU slices are deleted, because a slice can't be stopped" in warned.then
    assert "Its TPU slices were deleted, because a slice can't be stopped" in acted.what


def test_a_deletion_that_is_refused_is_told_with_the_group_to_delete_by_hand():
    """Ops read the command; it is tried on."""
    world = world_with(job_cap=JobCap(remedy=Remedy.DELETE, max_runtime=HOUR, warn=(0.5,)))
    made = launch(world)
    for _ in range(40):
        world.cloud.compute.trouble.order("delete_group", rejected("forbidden", "no"))
    world.sweep_for(hours=3)
    told = next(notice for notice in world.notices() if notice.kind == "job_cap_failing")
    assert f"gcloud compute instance-groups managed delete {made.group.name} --zone=" in told.todo
    assert f"{made.group.name}: forbidden" in told.why
    assert asked_of_vms(world) == []


@pytest.mark.parametrize(
    "answer",
    [
        lambda now: Keep(by=OWNER, until=now + 5 * HOUR),
        lambda _now: Extend(by=OWNER, hours=5),
    ],
    ids=["keep", "extend"],
)
def test_a_slice_that_is_kept_or_extended_stays_whole(answer):
    """The answer is about the unit; then it goes as one."""
    world = world_with(job_cap=JobCap(remedy=Remedy.STOP, max_runtime=10 * HOUR, longest=20 * HOUR))
    made = launch(world)
    world.sweep_for(hours=9)
    case = world.case("job_cap", "trainer")
    said = answered(case, answer(world.now), policy=world.policy, now=world.now)
    assert isinstance(said, Accepted)
    world.store(CaseRecord(rule="job_cap", key="trainer"), msgspec.json.encode(said.case), shown=True)
    world.sweep_for(hours=3)
    assert (deleted_groups(world), asked_of_vms(world)) == ([], [])
    world.sweep_for(hours=6)
    assert deleted_groups(world) == [(made.group.name, made.group.id)]


@pytest.mark.parametrize(
    ("machine", "file", "kinds"),
    [
        ("ct6e-standard-4t", b"budget = 20\n", STOPPED),
        ("tpu7x-standard-4t", b"budget = 20\n", ["job_cap_unknown"]),
        ("tpu7x-standard-4t", b"budget = 20\nprice_per_hour = 1.5\n", []),
        ("tpu7x-standard-4t", b"budget = 9\nprice_per_hour = 1.5\n", STOPPED),
    ],
)
def test_a_budget_of_a_slice_counts_each_vm_at_a_known_price(machine, file, kinds):
    """Without one its owner is told once, and nothing is deleted; `price_per_hour` is the slice's."""
    world = world_with(job_cap=JobCap(remedy=Remedy.STOP))
    world.settings = replace(world.settings, prices_file=PRICES)
    made = launch(world, machine=machine)
    world.store(JobFileName(job=JOB), file)
    world.sweep_for(hours=9)
    assert world.kinds() == kinds
    assert deleted_groups(world) == ([(made.group.name, made.group.id)] if "job_cap_acted" in kinds else [])
    if kinds == ["job_cap_unknown"]:
        assert "VM-hours have no known price" in world.notices()[0].why
