"""Gangs are the unit of recovery: a node that somebody removed is not missed, and the rest is not touched."""

import msgspec
import pytest

from spotwarden.model.attempt import AttemptState, Removal
from spotwarden.model.instance import Instances, Operations, Status
from spotwarden.model.marker import MarkerBody
from spotwarden.recovery.instances.nodes import with_nodes
from spotwarden.recovery.observed.shown import ShownInstances
from tests.fakes.world import GANG

FOUR = GANG.replace(b"gang-1,gang-2", b"gang-1,gang-2,gang-3,gang-4")
REAPER = "spotwarden-flag-idle-gpus@p.iam.gserviceaccount.com"
JOB_VM = "job@p.iam.gserviceaccount.com"


@pytest.fixture
def four(new_world):
    """A gang of four that a sweep has seen run."""
    world = new_world("gang", FOUR)
    world.settle()
    return world


def running(world):
    """The nodes that run."""
    return sorted(vm.name for vm in world.instances() if vm.status is Status.RUNNING)


def states(world):
    """The states of all attempts, oldest first."""
    return [attempt.state for attempt in world.attempts()]


def removes(world, node, how):
    """Remove a node, in one of the ways there are."""
    compute = world.cloud.compute
    match how:
        case "its owner deletes it":
            compute.owner_deletes(node)
        case "its owner stops it":
            compute.owner_stops(node)
        case "a rule stops it":
            compute.owner_stops(node, user=REAPER)
        case "it deletes itself":
            compute.owner_deletes(node, user=JOB_VM)
        case "it shuts itself down":
            compute.power_off(node)


HOWS = [
    "its owner deletes it",
    "its owner stops it",
    "a rule stops it",
    "it deletes itself",
    "it shuts itself down",
]


@pytest.mark.parametrize("marker", [True, False])
@pytest.mark.parametrize("how", HOWS)
def test_a_node_that_was_removed_is_never_missed_however_long_the_rest_runs(four, how, marker):
    """The owner is told at once; an hour later the three others are still the same."""
    others = {vm.name: vm.id for vm in four.instances() if vm.name != "gang-4"}
    removes(four, "gang-4", how)
    if marker:
        four.store("preempted-jobs/gang-4", b"")
    for _ in range(60):
        four.sweep()
        four.wait(minutes=1)
    assert {vm.name: vm.id for vm in four.instances() if vm.status is Status.RUNNING} == others
    assert states(four) == [AttemptState.RUNNING]
    assert four.notices().count("node_removed") == 1
    assert four.names("preempted-jobs/") == []
    assert list(four.attempts()[0].removed) == ["gang-4"]


@pytest.mark.parametrize("how", HOWS)
def test_so_it_is_with_a_node_that_was_removed_before_any_sweep_saw_the_gang(new_world, how):
    """The sweeps failed until then: its marker is answered all the same, and its removal is on record."""
    world = new_world("gang", FOUR)
    world.wait(minutes=1)
    removes(world, "gang-4", how)
    body = msgspec.json.encode(MarkerBody(instance_id=world.ids["gang-4"]))
    world.store("preempted-jobs/gang-4", body)
    world.settle(6)
    assert running(world) == ["gang-1", "gang-2", "gang-3"]
    assert world.names("preempted-jobs/") == []
    assert list(world.attempts()[0].removed) == ["gang-4"]
    assert world.notices().count("node_removed") == 1


def test_a_node_that_was_removed_unseen_belongs_to_the_gang_once_its_owner_starts_it(new_world):
    """Then a preemption brings all four back."""
    world = new_world("gang", FOUR)
    world.wait(minutes=1)
    removes(world, "gang-4", "its owner stops it")
    body = msgspec.json.encode(MarkerBody(instance_id=world.ids["gang-4"]))
    world.store("preempted-jobs/gang-4", body)
    world.settle(6)
    world.cloud.compute.owner_starts("gang-4")
    world.settle(4)
    assert world.attempts()[0].removed == {}
    assert world.attempts()[0].instances == world.ids
    world.preempt(node="gang-2")
    world.settle(10)
    assert running(world) == ["gang-1", "gang-2", "gang-3", "gang-4"]


def test_the_rest_of_a_gang_costs_no_look_once_the_removal_is_on_record(four):
    """The list of open jobs counts on three nodes, and they run."""
    removes(four, "gang-4", "its owner deletes it")
    four.settle(4)
    assert sorted(four.read("spotwarden/open/gang.json")["instances"]) == ["gang-1", "gang-2", "gang-3"]


@pytest.mark.parametrize("how", ["its owner deletes it", "a rule stops it"])
def test_a_gang_without_a_removed_node_is_closed_when_another_is_lost_and_the_rest_is_left_alone(four, how):
    """Nobody makes again what a person, or a rule, has removed; nothing that works is deleted."""
    removes(four, "gang-4", how)
    for _ in range(40):
        four.sweep()
        four.wait(minutes=1)
    four.preempt(node="gang-2")
    four.settle(30)
    assert running(four) == ["gang-1", "gang-3"]
    assert states(four) == [AttemptState.STOPPED]
    assert four.notices()[-1] == "stopped"


@pytest.mark.parametrize("how", ["it deletes itself", "it shuts itself down"])
def test_a_gang_of_which_a_node_left_by_itself_comes_back_whole_when_another_is_lost(four, how):
    """That was nobody's word."""
    removes(four, "gang-4", how)
    for _ in range(40):
        four.sweep()
        four.wait(minutes=1)
    four.preempt(node="gang-2")
    four.settle(10)
    assert running(four) == ["gang-1", "gang-2", "gang-3", "gang-4"]
    assert states(four) == [AttemptState.RUNNING] * 2


def test_a_node_that_its_owner_starts_again_belongs_to_the_gang_again(four):
    """Then a preemption brings all four back."""
    removes(four, "gang-4", "its owner stops it")
    four.settle(4)
    four.cloud.compute.owner_starts("gang-4")
    four.settle(4)
    assert four.attempts()[0].removed == {}
    assert four.read("spotwarden/open/gang.json")["instances"]["gang-4"] == four.ids["gang-4"]
    four.preempt(node="gang-2")
    four.settle(10)
    assert running(four) == ["gang-1", "gang-2", "gang-3", "gang-4"]


def test_a_gang_whose_nodes_are_all_removed_is_closed(four):
    """One after the other, ten minutes apart."""
    for node in ("gang-4", "gang-1", "gang-3", "gang-2"):
        removes(four, node, "its owner deletes it")
        four.settle(10)
    assert states(four) == [AttemptState.STOPPED]
    assert four.notices().count("node_removed") == 3


def test_the_owner_is_told_before_the_removal_is_on_record(four):
    """Nothing is concluded of which nobody was told."""
    removes(four, "gang-4", "its owner deletes it")
    four.wait(seconds=40)
    four.sweep()
    acts = [record["action"] for record in four.audit() if "without gang-4" in record["why"]]
    assert acts == ["Tell", "WriteAttempt"]


def test_a_gang_that_its_owner_stops_and_starts_node_by_node_is_open_again(four):
    """A sweep sees the first two alone; in the end all four count."""
    four.wait(minutes=1)
    for node in four.ids:
        removes(four, node, "its owner stops it")
    four.settle(4)
    assert states(four) == [AttemptState.STOPPED]
    for node in ("gang-1", "gang-2"):
        four.cloud.compute.owner_starts(node)
    four.wait(seconds=5)
    four.sweep()
    for node in ("gang-3", "gang-4"):
        four.cloud.compute.owner_starts(node)
    four.settle(6)
    assert states(four) == [AttemptState.STOPPED, AttemptState.RUNNING]
    assert four.attempts()[-1].instances == four.ids


def test_a_removal_is_of_the_instance_that_was_removed_and_of_no_other(some, tick):
    """A marker that names another VM of the node says nothing of that one's removal."""
    removal = Removal(
        instance_id="1001", operation="op-9", kind="delete", user="ann@example.com", at=tick.now
    )
    facts = some.job(ledger=(some.attempt(instances={"test-vm": "1001"}, removed={"test-vm": removal}),))
    shown = ShownInstances(Instances(), Operations())
    named = some.marker(body=MarkerBody(instance_id="1002"))
    other, own = with_nodes(facts, [named], shown).nodes
    assert (other.instance_id, other.history) == ("1002", ())
    assert (own.instance_id, own.history[0].name) == ("1001", "op-9")
