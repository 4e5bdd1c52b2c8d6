"""A slice idles as one, by the duty cycle of all its hosts."""

from datetime import timedelta

import pytest

from spotwarden.model.case import CaseState
from spotwarden.model.governance import GovernanceLimits, Remedy
from spotwarden.model.rule_limits import IdleLimits
from tests.fakes.world import load
from tests.governance.idle.idle_world import IdleWorld
from tests.governance.slices import slice_world
from tests.governance.slices.slice_world import asked_of_vms, deleted_groups, launch

NOTHING, BUSY = (0.0,) * 4, (0.0, 0.0, 80.0, 0.0)


@pytest.fixture
def world():
    """A project whose policy stops what idles for two hours."""
    limits = GovernanceLimits(ops="ops@x.org", blast_least=8)
    return IdleWorld(load("flag_idle_gpus"), idle=IdleLimits(remedy=Remedy.STOP), governance=limits)


def run(world, *works):
    """A slice whose hosts do this; of one that does nothing at all no metric comes."""
    made = launch(world, hosts=len(works))
    for instance_id, work in zip(made.ids.values(), works, strict=True):
        world.gauges.chips.add(instance_id)
        if work:
            world.gauges.work(instance_id, *work)
    return made


def test_a_slice_all_of_whose_hosts_idle_is_warned_of_and_deleted_as_one(world):
    """Where the policy says "stop", too; one case, named by its job."""
    made = run(world, NOTHING, NOTHING, NOTHING)
    world.ticks(hours=3)
    assert deleted_groups(world) == [(made.group.name, made.group.id)]
    assert asked_of_vms(world) == []
    first, _second, acted = world.notices()
    assert world.kinds() == ["idle_warning", "idle_warning", "idle_acted"]
    assert first.what == "TPU slice trainer (3 VMs) has idle TPUs"
    assert first.why.startswith("3 VMs of the TPU slice trainer idle together. All 4 TPU chips of trainer-")
    assert "be deleted as a whole" in first.then
    assert "use the TPU chips, or stop the job." in first.todo
    assert acted.what == "TPU slice trainer (3 VMs) was deleted as a whole"


def test_one_host_at_work_keeps_the_slice(world):
    """The others may wait for it."""
    run(world, NOTHING, NOTHING, BUSY)
    world.ticks(hours=5)
    assert (world.kinds(), deleted_groups(world)) == ([], [])


def test_one_host_of_which_nothing_is_heard_makes_the_slice_unknown(world):
    """Its owner is told once, and nothing is done."""
    run(world, NOTHING, NOTHING, ())
    world.ticks(hours=5)
    assert (world.kinds(), deleted_groups(world)) == (["idle_unknown"], [])


def test_the_one_vm_that_is_left_of_a_slice_is_a_slice_still(world):
    """It goes by its group, and the words are about one."""
    made = run(world, NOTHING)
    world.ticks(hours=3)
    assert deleted_groups(world) == [(made.group.name, made.group.id)]
    assert asked_of_vms(world) == []
    assert world.notices()[0].what == "TPU slice trainer (1 VM) has idle TPUs"


def test_a_slice_that_works_at_the_second_look_is_let_be(world):
    """Half an answer of two sweeps is none."""
    run(world, NOTHING, NOTHING)
    world.ticks(minutes=110)
    assert world.kinds()[-1] == "idle_warning"
    rows = world.gauges.tpus

    def second(grid, *, ids):
        found = rows(grid, ids=ids)
        world.gauges.work(min(ids), *BUSY)
        return found

    world.gauges.tpus = second
    world.ticks(hours=2)
    assert deleted_groups(world) == []


def test_while_nothing_is_told_of_tpus_the_case_of_a_slice_waits(world):
    """GPUs are judged meanwhile."""
    run(world, NOTHING, NOTHING)
    world.ticks(minutes=110)
    world.gauges.tpu_problem = "no answer"
    card = world.vm(0.0, name="card", job="card")
    world.ticks(hours=3)
    assert (deleted_groups(world), asked_of_vms(world)) == ([], [("stop", "card")])
    assert world.case("idle", "trainer").state is CaseState.WARNED
    assert world.status(card) != "RUNNING"


def test_a_group_of_somebody_else_is_told_about_and_let_be(world):
    """Its VMs have the job's labels, and no chain has its id: they are nobody's."""
    launch(world)
    labels = {"spotwarden-job": "trainer", "spotwarden-attempt": "1"}
    other = slice_world.group(world, "copied", "copied-0", "copied-1", labels=labels)
    for instance_id in other.vms:
        world.gauges.chips.add(instance_id)
        world.gauges.work(instance_id, *NOTHING)
    world.ticks(hours=4)
    assert deleted_groups(world) == []
    assert [notice for notice in world.notices() if "copied" in str(notice)] == []


def test_a_slice_that_is_kept_is_kept_whole(world):
    """By the label of one of its hosts."""
    run(world, NOTHING, NOTHING)
    day = (world.now + timedelta(days=2)).date()
    world.cloud.compute.relabel("trainer-1", {"spotwarden-keep": str(day)})
    world.ticks(hours=4)
    assert (world.kinds(), deleted_groups(world)) == ([], [])
