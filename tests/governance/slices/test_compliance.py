"""Compliance judges a slice's VMs as one: one template made them."""

from datetime import timedelta

from spotwarden.model.governance import GovernanceLimits, Remedy, Scope
from spotwarden.model.rule_limits import ComplianceLimits
from tests.fakes.world import load
from tests.governance.governed import GovernedWorld
from tests.governance.slices import slice_world
from tests.governance.slices.slice_world import asked_of_vms, deleted_groups, launch


def world_with(scope=Scope.JOBS, **limits):
    """A project under `check_compliance` where only g2 machines are allowed."""
    return GovernedWorld(
        "check_compliance",
        load("check_compliance").sweep,
        compliance=ComplianceLimits(machine_types=("g2-*",), grace=timedelta(hours=1), **limits),
        governance=GovernanceLimits(ops="ops@x.org", blast_least=8, scope=scope),
    )


def test_a_slice_that_is_not_allowed_is_told_of_once():
    """One notice, not one for each VM, also where nothing is done in the end."""
    world = world_with()
    launch(world)
    world.sweep_for(hours=3)
    [told] = world.notices()
    assert told.what == "TPU slice trainer (4 VMs) violates the policy"
    assert "It is a part of the TPU slice trainer, whose VMs are treated together." in told.why
    assert told.todo.startswith("launch it again with values that the policy allows")


def test_a_slice_that_is_not_allowed_is_deleted_as_one_where_the_policy_stops():
    """After the grace."""
    world = world_with(remedy=Remedy.STOP)
    made = launch(world)
    world.sweep_for(hours=3)
    assert deleted_groups(world) == [(made.group.name, made.group.id)]
    assert asked_of_vms(world) == []


def test_a_slice_of_somebody_else_is_let_be():
    """With a job's labels it is nobody's; where the whole project is looked at, ops are told of its VMs."""
    world = world_with(remedy=Remedy.STOP)
    labels = {"spotwarden-job": "trainer", "spotwarden-attempt": "1"}
    slice_world.group(world, "strange", "strange-0", "strange-1", labels=labels)
    world.sweep_for(hours=3)
    assert (world.kinds(), deleted_groups(world)) == ([], [])
    everybody = world_with(Scope.PROJECT, remedy=Remedy.STOP)
    slice_world.group(everybody, "strange", "strange-0", "strange-1", labels=labels)
    everybody.sweep_for(hours=3)
    assert deleted_groups(everybody) == asked_of_vms(everybody) == []
    assert {notice.owner for notice in everybody.notices()} == {"ops@x.org"}
    assert len(everybody.notices()) == 2
