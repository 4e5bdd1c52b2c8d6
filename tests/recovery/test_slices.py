"""recover_spot over the ports: TPU slices of several hosts."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from spotwarden import clock
from spotwarden.cli.acting import asking, stopping
from spotwarden.cli.context import Context
from spotwarden.cli.main import main
from spotwarden.model.attempt import AttemptState
from spotwarden.model.policy import Mode, Policy
from tests.fakes.trouble import rejected, unanswered
from tests.recovery.slice_world import NODES, SliceWorld, pod

__all__ = ["pod"]


@pytest.fixture
def submitted(recover, monkeypatch):
    """A spot slice of which nothing was asked yet."""
    return SliceWorld(recover, monkeypatch)


def test_a_slice_is_made_as_one_group(submitted):
    """Policy, template and group under the try's own name; its VMs are known by the group's ID."""
    submitted.sweep_until_quiet()
    assert submitted.runs()
    newest = submitted.newest
    assert newest.tries[-1].group.name == f"slice-1-1-{newest.tries[-1].request_id[:4]}"
    assert submitted.done("FillGroup") == 1
    assert {vm.job for vm in submitted.instances()} == {"slice"}
    for node, instance_id in newest.instances.items():
        assert submitted.cloud.store.read(f"slice/metadata/{node}-instance-id").data.decode() == instance_id


def test_a_slice_that_loses_one_vm_is_made_anew_as_one(pod):
    """The whole group goes by its ID, then its template, and another one takes its place."""
    old = pod.group
    pod.cloud.compute.preempt("slice-2")
    pod.wait(minutes=1)
    pod.sweep_until_quiet()
    assert pod.runs()
    assert (pod.newest.number, pod.group.id != old.id) == (2, True)
    assert (pod.done("DeleteGroup"), pod.done("DeleteTemplate"), pod.done("DeleteInstance")) == (1, 1, 0)
    assert pod.notices()[-1] == "recovered"


def test_a_stockout_leaves_nothing_behind_and_is_tried_again(submitted):
    """What was made for the refused try goes; the next one is made of parts of its own."""
    submitted.cloud.compute.stock_out("us-central1-a", left=1)
    submitted.settle(3)
    assert submitted.newest.state is AttemptState.BACKING_OFF
    assert "RESOURCE_POOL_EXHAUSTED" in submitted.newest.tries[-1].error
    compute = submitted.cloud.compute
    assert (compute.groups, compute.templates, submitted.instances()) == ({}, {}, ())
    assert submitted.newest.lease is None
    compute.restock("us-central1-a")
    submitted.settle(30)
    assert submitted.runs()
    assert submitted.newest.number == 1


def test_a_group_that_a_person_deletes_ends_the_job(pod):
    """Its VMs are deleted by Google's account; the word is that of whoever deleted the group."""
    pod.cloud.compute.owner_deletes_group(pod.group.name)
    pod.settle(6)
    assert pod.newest.state is AttemptState.STOPPED
    assert (pod.done("FillGroup"), pod.done("DeleteGroup")) == (1, 0)


def test_a_group_that_a_person_deletes_before_it_is_whole_ends_the_job(submitted):
    """Also where the log tells of it late."""
    submitted.cloud.compute.let_the_log_lag(timedelta(minutes=5))
    submitted.sweep()
    submitted.cloud.compute.owner_deletes_group(submitted.group.name)
    submitted.wait(minutes=1)
    submitted.settle(15)
    assert submitted.newest.state is AttemptState.STOPPED
    assert submitted.done("FillGroup") == 1


def test_a_vm_that_a_person_deletes_before_the_slice_is_whole_ends_the_job(submitted):
    """It was meant."""
    submitted.sweep()
    submitted.wait(seconds=5)
    submitted.cloud.compute.owner_deletes("slice-1")
    submitted.settle(6)
    assert submitted.newest.state is AttemptState.STOPPED
    assert submitted.done("FillGroup") == 1


def test_a_vm_that_is_preempted_before_the_slice_is_whole_costs_the_try(submitted):
    """The rest of it goes, and the slice is made again."""
    submitted.sweep()
    submitted.wait(seconds=5)
    submitted.cloud.compute.preempt("slice-1")
    submitted.settle(30)
    assert submitted.runs()
    assert submitted.done("DeleteGroup") == 1


def test_one_vm_that_a_person_deletes_closes_the_job_after_a_while(pod):
    """Its owner is told at once; recovery never deletes what is left."""
    group = pod.group
    pod.cloud.compute.owner_deletes("slice-2")
    pod.settle(5)
    assert pod.newest.state is AttemptState.RUNNING
    assert pod.notices()[-1] == "slice_broken"
    pod.settle(30)
    assert pod.newest.state is AttemptState.STOPPED
    pod.settle(20)
    assert [vm.name for vm in pod.instances()] == ["slice-1"]
    assert pod.group is group


def test_what_is_left_of_a_closed_slice_leaves_no_template_behind(pod):
    """Whoever deletes its last VMs, however long after the job was closed."""
    pod.cloud.compute.owner_deletes("slice-2")
    pod.settle(60)
    assert pod.newest.state is AttemptState.STOPPED
    pod.cloud.compute.owner_deletes_group(pod.group.name)
    pod.settle(5)
    compute = pod.cloud.compute
    assert (compute.groups, compute.templates, pod.names("spotwarden/open/")) == ({}, {}, [])


@pytest.mark.parametrize("model", ["STANDARD", "FLEX_START"])
def test_a_slice_that_google_restarts_is_let_be(recover, monkeypatch, model):
    """A host error restarts the slice, unless it is a spot slice; one that stays down is made anew."""
    world = SliceWorld(recover, monkeypatch, model=model)
    world.sweep_until_quiet()
    world.settle(2)
    assert world.runs()
    vm = world.cloud.compute.vms.named("slice-1")
    operation = world.cloud.compute.vms.begin("compute.instances.hostError", vm.seen, "system")
    world.cloud.compute.vms.take_down(vm, operation, timedelta(seconds=5), remove=False)
    world.settle(50)
    assert (world.newest.number, world.done("DeleteGroup")) == (1, 0)
    world.settle(20)
    assert (world.newest.number, world.done("DeleteGroup"), world.runs()) == (2, 1, True)


def test_a_flexible_slice_waits_for_room(recover, monkeypatch):
    """However long that takes, within what a request for Flex-start VMs lasts."""
    world = SliceWorld(recover, monkeypatch, model="FLEX_START")
    world.cloud.compute.stock_out("us-central1-a")
    world.settle(40)
    assert world.newest.state is AttemptState.PLACING
    assert "waits_for_room" in world.notices()
    world.cloud.compute.restock("us-central1-a")
    world.settle(4)
    assert world.runs()
    assert world.done("FillGroup") == 1


def test_a_flexible_slice_at_its_time_limit_is_made_anew(recover, monkeypatch):
    """As a single Flex-start VM is."""
    world = SliceWorld(recover, monkeypatch, model="FLEX_START")
    world.sweep_until_quiet()
    world.settle(2)
    for node in NODES:
        world.cloud.compute.preempt(node)
    world.settle(8)
    assert world.runs()
    assert world.newest.number == 2


def test_a_forgotten_fill_finds_what_it_has_made(submitted):
    """The sweep that asked died; by the time that another one comes Compute Engine remembers no request."""
    died_after(submitted, "fill_group")
    submitted.wait(minutes=3)
    submitted.cloud.compute.forget_operations(requests=True)
    submitted.wait(minutes=3)
    submitted.settle(5)
    assert submitted.runs()
    assert (submitted.newest.number, len(submitted.newest.tries)) == (1, 1)


def died_after(world, call):
    """A sweep that ends with this call carried out and no answer to it."""
    world.cloud.compute.trouble.order(call, unanswered(after_work=True), times=5)
    world.sweep()
    world.cloud.compute.trouble.calm()


def test_a_policy_that_somebody_deletes_is_made_again(submitted):
    """Between its creation and the group's; a request that is remembered would make nothing."""
    died_after(submitted, "launch")
    submitted.cloud.compute.policies.clear()
    submitted.settle(8)
    assert submitted.runs()


@pytest.mark.parametrize("part", ["policies", "templates"])
def test_a_part_that_somebody_deletes_before_the_group_is_made_is_made_again(submitted, part):
    """In the very sweep that has made it."""
    compute = submitted.cloud.compute
    made = compute._make_group

    def lose(*given):
        getattr(compute, part).clear()
        compute._make_group = made
        return made(*given)

    compute._make_group = lose
    submitted.settle(8)
    assert submitted.runs()
    assert submitted.newest.tries[-1].turn == 1


def test_a_lease_is_not_kept_while_a_part_is_missing(submitted):
    """The next sweep goes on at once."""
    submitted.cloud.compute.trouble.order(
        "launch", rejected("notFound"), about="instanceGroupManagers", times=1
    )
    submitted.sweep()
    assert submitted.newest.lease is None
    submitted.wait(seconds=10)
    submitted.sweep()
    assert submitted.newest.tries[-1].group.id


@pytest.fixture
def typed(pod, monkeypatch):
    """Types a command of the developer whose slice runs."""
    monkeypatch.setattr(clock, "now", pod.cloud.clock.now)
    monkeypatch.setenv("SPOTWARDEN_OWNER", "ada@example.com")
    monkeypatch.setenv("SPOTWARDEN_BUCKET", "b")
    for module in ("recovery.instances.own_instances", "recovery.sweep"):
        monkeypatch.setattr(
            f"spotwarden.{module}.with_launch", lambda facts, *_: replace(facts, launch=pod.launch)
        )
    monkeypatch.setattr(
        asking,
        "open_context",
        lambda: Context(
            settings=pod.settings, policy=Policy(version="c", mode=Mode.ENFORCE), cloud=pod.cloud.ports()
        ),
    )
    monkeypatch.setattr(stopping, "time", SimpleNamespace(sleep=lambda seconds: pod.wait(seconds=seconds)))
    return lambda *words: CliRunner().invoke(main, words)


@pytest.mark.parametrize("words", [(), ("--delete",)])
def test_a_stop_deletes_the_slice_as_one(pod, typed, words):
    """Its VMs can't be stopped; recovery clears the template away, and nothing comes back."""
    said = typed("stop", "slice", "--yes", *words)
    assert said.exit_code == 0, said.output
    assert "can only be deleted as a whole" in said.output
    assert [row["action"] for row in pod.audit()].count("DeleteGroup") == 1
    pod.settle(5)
    compute = pod.cloud.compute
    assert (pod.newest.state, pod.instances()) == (AttemptState.STOPPED, ())
    assert (compute.groups, compute.templates) == ({}, {})
    again = typed("stop", "slice", "--yes")
    assert (again.exit_code, "There is nothing to stop" in again.output) == (0, True)


def test_a_stop_that_is_refused_says_what_still_runs_and_what_was_done(pod, typed):
    """The job is closed all the same, and the second stop finds the slice."""
    refusal = rejected("forbidden", "Required 'compute.x.delete' permission")
    pod.cloud.compute.trouble.order("delete_group", refusal)
    said = typed("stop", "slice", "--yes")
    assert said.exit_code == 1
    assert "Compute Engine refused it: Required 'compute.x.delete' permission." in said.output
    assert "What was to be stopped may still run, and cost money." in said.output
    assert "slice is closed as stopped, so that nothing restarts it." in said.output
    assert "Ask an administrator" in said.output
    assert typed("stop", "slice", "--yes").exit_code == 0
    pod.settle(5)
    assert (pod.newest.state, pod.instances()) == (AttemptState.STOPPED, ())


def test_a_slice_that_was_stopped_is_restarted(pod, typed):
    """As its next attempt, in a group of its own."""
    typed("stop", "slice", "--yes")
    pod.settle(5)
    said = typed("restart", "slice")
    assert said.exit_code == 0, said.output
    pod.settle(5)
    assert pod.runs()


def test_a_slice_that_lacks_a_vm_is_made_whole_by_a_restart(pod, typed):
    """As its owner is told: what is left goes first, and nothing else of it comes back."""
    pod.cloud.compute.owner_deletes("slice-2")
    pod.settle(5)
    assert pod.notices()[-1] == "slice_broken"
    said = typed("restart", "slice")
    assert said.exit_code == 0, said.output
    assert "What is left of its TPU slice is deleted first" in said.output
    pod.settle(40)
    assert pod.runs()
    assert (pod.newest.number, len(pod.cloud.compute.groups)) == (2, 1)
    assert sorted(vm.name for vm in pod.instances()) == list(NODES)


def test_a_slice_that_has_ended_leaves_nothing_behind(pod):
    """Its VMs delete themselves; the group stays, and may make them anew."""
    pod.ended("0")
    for node in NODES:
        pod.cloud.compute.owner_deletes(node, user="1234-compute@developer.gserviceaccount.com")
    pod.settle(5)
    compute = pod.cloud.compute
    assert (pod.newest.state, compute.groups, compute.templates) == (AttemptState.ENDED, {}, {})
