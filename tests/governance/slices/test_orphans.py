"""A slice whose job is over: told, and deleted as one by its group's id, whatever is left of it."""

from collections import Counter
from datetime import timedelta

import pytest

from spotwarden.layout import CaseRecord
from spotwarden.model.governance import GovernanceLimits, Remedy
from spotwarden.model.rule_limits import OrphanLimits
from spotwarden.ports import UnansweredError
from tests.fakes.world import load
from tests.governance.reap.reap_world import ReapWorld
from tests.governance.slices import slice_world
from tests.governance.slices.slice_world import JOB, OWNER, ZONE, asked_of_vms, close, deleted_groups, launch


@pytest.fixture
def world():
    """A project whose `reap_vms` enforces, and where sweeps come each five minutes."""
    limits = GovernanceLimits(ops="ops@x.org", blast_least=8)
    return ReapWorld(load("reap_vms"), governance=limits)


def ended(world):
    """A slice that has run for half an hour, and whose job has just ended."""
    made = launch(world)
    world.sweep_for(minutes=30)
    slice_world.end(world)
    return made


def test_the_slice_of_a_job_that_ended_is_warned_of_and_deleted_as_one(world):
    """By one deletion of its group; no VM is touched by itself."""
    made = launch(world)
    world.sweep_for(hours=1)
    assert world.kinds() == []
    slice_world.end(world)
    world.sweep_for(hours=1)
    assert deleted_groups(world) == [(made.group.name, made.group.id)]
    assert asked_of_vms(world) == []
    assert world.cloud.compute.fleet(ids=made.vms).items == ()
    warned, acted = world.notices()
    assert warned.what == "TPU slice trainer (4 VMs) is no longer needed by its job"
    assert warned.why == "its job ended with status 0, but its TPU slice still exists"
    assert "be deleted as a whole" in warned.then
    assert warned.evidence["managed instance group"] == f"{made.group.name} ({made.group.id})"
    assert warned.owner == OWNER
    assert acted.what == "TPU slice trainer (4 VMs) was deleted as a whole"


def test_what_a_person_has_left_of_a_slice_is_deleted_as_one(world):
    """One VM was removed by hand and the job closed: the rest costs, and can't run."""
    made = launch(world)
    world.sweep_for(minutes=30)
    world.cloud.compute.owner_deletes("trainer-2")
    world.wait(minutes=2)
    close(world, made, "trainer-2")
    world.sweep_for(hours=1)
    assert deleted_groups(world) == [(made.group.name, made.group.id)]
    assert asked_of_vms(world) == []
    warned = world.notices()[0]
    assert warned.what == "TPU slice trainer (3 VMs) is no longer needed by its job"
    assert warned.why == (
        "its job was closed (stopped), but 3 of the 4 VMs of its TPU slice still exist. A slice can't run"
        " without all of its VMs"
    )


def test_one_vm_that_is_left_of_a_slice_goes_by_its_group_too(world):
    """And the words are about one."""
    made = launch(world)
    world.sweep_for(minutes=30)
    for name in list(made.ids)[1:]:
        world.cloud.compute.owner_deletes(name)
    world.wait(minutes=2)
    close(world, made, *list(made.ids)[1:])
    world.sweep_for(hours=1)
    assert deleted_groups(world) == [(made.group.name, made.group.id)]
    warned, acted = world.notices()
    assert warned.what == "TPU slice trainer (1 VM) is no longer needed by its job"
    assert "1 of the 4 VMs of its TPU slice still exists" in warned.why
    assert acted.what == "TPU slice trainer (1 VM) was deleted as a whole"


def test_where_the_policy_stops_orphans_a_slice_is_deleted(world):
    """It can't be stopped, and its owner was told so."""
    world.set_policy(orphan=OrphanLimits(remedy=Remedy.STOP))
    made = ended(world)
    world.sweep_for(hours=1)
    assert deleted_groups(world) == [(made.group.name, made.group.id)]
    assert "be deleted as a whole (a slice can't be stopped" in world.notices()[0].then


def test_a_group_that_a_person_deletes_after_the_warning_is_told_of_as_gone(world):
    """Nobody says that we did it."""
    made = ended(world)
    world.sweep_for(minutes=20)
    assert world.kinds() == ["orphan_warning"]
    world.cloud.compute.owner_deletes_group(made.group.name)
    world.sweep_for(hours=1)
    assert len(deleted_groups(world)) == 1
    assert world.kinds() == ["orphan_warning", "orphan_cleared"]


def test_a_group_that_is_gone_at_the_last_moment_is_no_failure_of_the_sweep(world):
    """Its VMs are on our list, and the deletion finds nothing: it may have been us, or not."""
    made = ended(world)
    world.sweep_for(minutes=20)
    compute = world.cloud.compute
    whole = compute.delete_group

    def too_late(*about, **said):
        compute.owner_deletes_group(made.group.name)
        world.wait(minutes=1)
        return whole(*about, **said)

    compute.delete_group = too_late
    world.sweep_for(hours=1)
    assert len(deleted_groups(world)) == 1
    acted = world.notices()[-1]
    assert (acted.kind, acted.what) == (
        "orphan_acted",
        "TPU slice trainer (4 VMs) is gone: Spotwarden may have removed it",
    )
    assert world.case("orphan", made.group.id) is None


def test_a_group_of_its_name_with_another_id_is_let_be(world):
    """Somebody has deleted ours and made another one, with our labels: it is on no chain."""
    made = ended(world)
    world.sweep_for(minutes=20)
    world.cloud.compute.owner_deletes_group(made.group.name)
    world.wait(minutes=2)
    world.cloud.compute.templates.pop(made.group.name)
    labels = {"spotwarden-job": JOB, "spotwarden-attempt": "1"}
    other = slice_world.group(world, made.group.name, *made.ids, labels=labels)
    assert other.group.id != made.group.id
    world.sweep_for(hours=3)
    assert deleted_groups(world) == [(made.group.name, made.group.id)]
    assert asked_of_vms(world) == []
    assert {machine.id for machine in world.cloud.compute.fleet(ids=other.vms).items} == other.vms
    assert world.kinds() == ["orphan_warning", "orphan_cleared", "orphan_unknown"]


def test_between_two_looks_a_group_may_become_another(world):
    """The second look asks for it by its id, and nothing is touched."""
    made = ended(world)
    looks = Counter()
    whole = world.cloud.compute.group

    def another(zone, name, group_id=""):
        looks[world.now, group_id] += 1
        return None if looks[world.now, group_id] > 1 else whole(zone, name, group_id)

    world.cloud.compute.group = another
    world.sweep_for(hours=2)
    assert max(looks.values()) == 2
    assert {group_id for _at, group_id in looks} == {made.group.id}
    assert (deleted_groups(world), asked_of_vms(world)) == ([], [])


def test_a_vm_that_has_joined_since_the_first_look_keeps_the_slice(world):
    """The second look asks for all members, not for those alone that were seen: this one may be in use."""
    made = ended(world)
    compute, joined = world.cloud.compute, []
    whole = compute.group

    def late(zone, name, group_id=""):
        joined.append(world.now)
        if joined.count(world.now) == 2:
            compute.fill_group(ZONE, name, group_id, ["late"], "late")
            world.wait(seconds=30)
        return whole(zone, name, group_id)

    compute.group = late
    world.sweep_for(hours=2)
    compute.group = whole
    assert "late" in compute.group(ZONE, made.group.name).ids
    assert (deleted_groups(world), asked_of_vms(world)) == ([], [])
    told = world.notices()[-1]
    assert (told.kind, told.why[:32]) == ("orphan_unknown", "it started after its job ended w")


def test_a_group_that_does_not_answer_leaves_its_case_as_it_is(world):
    """No warning is taken back, nothing is done; then it goes on."""
    made = ended(world)
    world.sweep_for(minutes=20)
    group = world.cloud.compute.group

    def silent(*_about):
        raise UnansweredError("no answer")

    world.cloud.compute.group = silent
    world.sweep_for(hours=1)
    assert (world.kinds(), deleted_groups(world)) == (["orphan_warning"], [])
    world.cloud.compute.group = group
    world.sweep_for(hours=1)
    assert deleted_groups(world) == [(made.group.name, made.group.id)]


def test_a_slice_larger_than_the_budget_waits_for_ops(world):
    """Each VM counts: it is asked for as a large gang is."""
    world.set_policy(governance=GovernanceLimits(ops="ops@x.org", blast_count=3, blast_least=3))
    made = ended(world)
    world.sweep_for(hours=2)
    assert deleted_groups(world) == []
    asked = next(notice for notice in world.notices() if notice.kind == "approval_needed")
    assert asked.what == ("TPU slice trainer (4 VMs) needs your approval: 4 VMs should be deleted as a whole")
    assert f"spotwarden cases approve orphan {made.group.id}" in asked.todo


def test_a_slice_that_a_job_has_replaced_is_an_orphan(world):
    """Attempt 2 runs as another group, and the old one is still there."""
    old = launch(world)
    world.wait(hours=1)
    names = [f"new-{number}" for number in range(4)]
    labels = {"spotwarden-job": JOB, "spotwarden-attempt": "2"}
    new = slice_world.group(world, "trainer-2-1-beef", *names, labels=labels)
    tried = slice_world.Try(place=ZONE, request_id="r2", at=world.now, group=new.group)
    slice_world.write(world, JOB, 2, tries=(tried,), instances=new.ids)
    world.sweep_for(hours=1)
    assert deleted_groups(world) == [(old.group.name, old.group.id)]
    assert "attempt 2 of trainer runs on other VMs, but this slice still exists" in world.notices()[0].why
    assert {machine.id for machine in world.cloud.compute.fleet(ids=new.vms).items} == new.vms


@pytest.mark.parametrize("named", ["trainer-1", "group", "group id"])
def test_a_slice_that_its_owner_keeps_is_kept_whole(world, named):
    """By the label of one of its VMs."""
    made = ended(world)
    day = (world.now + timedelta(days=2)).date()
    if named == "trainer-1":
        world.cloud.compute.relabel(named, {"spotwarden-keep": str(day)})
        world.sweep_for(hours=3)
    else:
        world.sweep_for(minutes=20)
        world.change_case("orphan", made.group.id, keep_until=world.now + timedelta(days=2))
        world.sweep_for(hours=3)
    assert deleted_groups(world) == []


def test_a_group_that_is_on_no_chain_is_let_be_and_told_once(world):
    """It carries our labels, its job has ended: a template was copied."""
    world.job("over")
    world.end("over")
    labels = {"spotwarden-job": "over", "spotwarden-attempt": "1"}
    slice_world.group(world, "strange", "strange-0", "strange-1", labels=labels)
    world.sweep_for(hours=3)
    assert deleted_groups(world) == []
    told = [notice for notice in world.notices() if notice.owner == "ops@x.org"]
    assert [notice.kind for notice in told] == ["orphan_unknown"]
    names = [entry.name for entry in world.cloud.store.entries("spotwarden/cases/orphan/")]
    assert len(names) == 1
    assert world.layout.parse(names[0]) == CaseRecord(rule="orphan", key=told[0].case.key)
