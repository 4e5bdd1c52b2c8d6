"""Gangs that bend whose nodes are told of their preemption: they hand over, and the others go on at once."""

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.layout import JobFileName, MarkerName
from spotwarden.model.attempt import AttemptState
from spotwarden.model.instance import Status
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.marker import MarkerBody
from spotwarden.ports import RejectedError
from tests.fakes.beats import kit_beat
from tests.fakes.world import GANG

FOUR = GANG.replace(b"gang-1,gang-2", b"gang-1,gang-2,gang-3,gang-4").replace(
    b"--metadata=", b"--metadata=spotwarden-early=1,"
)
ALL = ["gang-1", "gang-2", "gang-3", "gang-4"]
MACHINE = "g2-standard-4"


@pytest.fixture
def four(new_world):
    """A gang of four of which two are enough, whose VMs get a notice, that a sweep has seen run."""
    world = new_world("gang", FOUR)
    world.store(JobFileName(job="gang"), b'nodes = "2:4"')
    for node in ALL:
        world.cloud.compute.give_notice(node)
    world.settle()
    return world


def tell(world, *nodes, handed_over=False):
    """Write the early markers of these nodes, whose VMs run on."""
    for node in nodes:
        body = MarkerBody(instance_id=found(world, node).id, early=True, handed_over=handed_over)
        world.store(MarkerName(node=node), msgspec.json.encode(body))


def take(world, *nodes):
    """Preempt these nodes; their shutdown scripts write markers."""
    for node in nodes:
        world.preempt(node=node, body=msgspec.json.encode(MarkerBody(instance_id=found(world, node).id)))


def found(world, node):
    """The instance of a node."""
    return next(vm for vm in world.instances() if vm.name == node)


def say_waiting(world, *nodes):
    """These nodes say that they are set up, and wait for a record that names them."""
    for node in nodes:
        kit_beat(world.cloud.store, node, job="gang", instance_id=found(world, node).id, status="waiting")


def running(world):
    """The nodes that run."""
    return sorted(vm.name for vm in world.instances() if vm.status is Status.RUNNING)


def members(world):
    """The nodes that the newest record names."""
    return list(world.attempts()[-1].instances)


def test_nothing_changes_when_a_node_is_told(four):
    """All of them save, and train on."""
    tell(four, "gang-2")
    four.settle(2)
    assert [attempt.number for attempt in four.attempts()] == [1]
    assert four.names("preempted-jobs/") == ["preempted-jobs/gang-2"]


def test_the_others_go_on_while_a_node_that_has_handed_over_still_runs(four):
    """One sweep, by its marker, writes the record; nothing is deleted, and it says why."""
    tell(four, "gang-2", handed_over=True)
    four.sweep("gang-2")
    newest = four.attempts()[-1]
    assert (newest.number, newest.bent, [*newest.instances]) == (2, True, ["gang-1", "gang-3", "gang-4"])
    assert [*newest.lacking] == ["gang-2"]
    assert "gang-2 will be preempted" in newest.reason
    assert running(four) == ALL
    assert four.notices() == ["gang_changed"]
    assert four.done("DeleteInstance") == four.done("LaunchInstances") == 0


def test_a_node_is_refilled_with_a_notice_as_soon_as_its_name_is_free(four):
    """Not before it is gone, and then without waiting for the log."""
    tell(four, "gang-2", handed_over=True)
    four.sweep("gang-2")
    four.wait(seconds=30)
    four.sweep()
    assert four.done("LaunchInstances") == 0
    before = found(four, "gang-2").id
    take(four, "gang-2")
    four.sweep("gang-2")
    four.wait(minutes=1)
    four.sweep()
    assert four.done("LaunchInstances") == 1
    four.wait(minutes=1)
    four.sweep()
    say_waiting(four, "gang-2")
    four.settle(2)
    assert members(four) == ALL
    assert found(four, "gang-2").id != before
    assert found(four, "gang-2").notice
    assert four.attempts()[-1].tries[-1].notice is True
    assert four.names("preempted-jobs/") == []
    assert four.notices() == ["gang_changed", "gang_changed"]


def test_those_that_are_told_at_about_the_same_time_are_one_change(four):
    """One has handed over; the other one does so within seconds."""
    tell(four, "gang-3")
    tell(four, "gang-2", handed_over=True)
    four.sweep("gang-2")
    assert [attempt.number for attempt in four.attempts()] == [1]
    four.wait(seconds=3)
    tell(four, "gang-3", handed_over=True)
    four.sweep("gang-3")
    assert members(four) == ["gang-1", "gang-4"]
    assert four.attempts()[-1].number == 2


def test_one_that_does_not_hand_over_in_time_is_not_waited_for(four):
    """It may be an hour before it is really taken."""
    tell(four, "gang-3")
    tell(four, "gang-2", handed_over=True)
    four.sweep("gang-2")
    four.wait(seconds=25)
    four.sweep()
    assert members(four) == ["gang-1", "gang-3", "gang-4"]


def test_a_node_that_was_not_taken_after_all_joins_again(four):
    """As the VM that it is, once it says that it waits; nothing was requested in its place."""
    before = found(four, "gang-2").id
    tell(four, "gang-2", handed_over=True)
    four.sweep("gang-2")
    four.wait(minutes=2)
    four.sweep()
    assert members(four) == ["gang-1", "gang-3", "gang-4"]
    say_waiting(four, "gang-2")
    four.settle(2)
    newest = four.attempts()[-1]
    assert (newest.instances.get("gang-2"), [*newest.instances], newest.lacking) == (before, ALL, {})
    assert four.done("LaunchInstances") == four.done("DeleteInstance") == 0


def test_an_early_marker_of_a_notice_that_was_called_off_is_cleared_while_others_are_missing(four):
    """Else the others would save at once for ever, and nobody would hear of a second notice."""
    four.cloud.compute.stock_out("us-central1-a")
    take(four, "gang-4")
    four.settle(2)
    tell(four, "gang-2")
    four.settle(15)
    assert four.names("preempted-jobs/") == []
    assert members(four) == ["gang-1", "gang-2", "gang-3"]


def test_a_gang_of_which_too_few_are_left_is_made_anew_once_they_are_gone(four):
    """All of it, with a notice; not while what was told still runs."""
    tell(four, "gang-1", "gang-2", "gang-3", handed_over=True)
    four.sweep("gang-1")
    assert four.done("LaunchInstances") == four.done("DeleteInstance") == 0
    before = set(four.vms())
    take(four, "gang-1", "gang-2", "gang-3")
    four.wait(minutes=1)
    four.settle(8)
    assert running(four) == ALL
    assert not set(four.vms()) & before
    assert not four.attempts()[-1].bent
    assert {vm.notice for vm in four.instances()} == {True}


def test_the_last_node_whose_peers_were_removed_has_no_successor_beside_it(new_world):
    """It is the only one that its gang still wants; it is made again once it is gone."""
    pair = new_world("gang", GANG.replace(b"--metadata=", b"--metadata=spotwarden-early=1,"))
    pair.store(JobFileName(job="gang"), b'nodes = "1:2"')
    for node in ("gang-1", "gang-2"):
        pair.cloud.compute.give_notice(node)
    pair.settle()
    pair.cloud.compute.owner_deletes("gang-2")
    pair.settle(3)
    tell(pair, "gang-1")
    pair.settle(2)
    assert pair.done("LaunchInstances") == 0
    take(pair, "gang-1")
    pair.wait(minutes=1)
    pair.settle(3)
    assert (running(pair), pair.done("LaunchInstances")) == (["gang-1"], 1)


def test_what_is_told_before_it_has_joined_does_not_join(four):
    """The others would wait for it until it is gone."""
    take(four, "gang-2")
    four.settle(3)
    assert running(four) == ALL
    say_waiting(four, "gang-2")
    tell(four, "gang-2")
    four.sweep("gang-2")
    assert members(four) == ["gang-1", "gang-3", "gang-4"]
    assert four.done("LaunchInstances") == 1
    take(four, "gang-2")
    for _ in range(14):
        four.settle(1)
        say_waiting(four, *(node for node in running(four) if node not in members(four)))
    assert members(four) == ALL
    assert four.names("preempted-jobs/") == []


def test_a_marker_of_a_vm_without_a_notice_says_nothing(four):
    """Anybody may write one: the gang goes on with all of its nodes."""
    vms = four.cloud.compute.vms
    vm = vms.living[found(four, "gang-2").id]
    vm.seen = replace(vm.seen, notice=False)
    tell(four, "gang-2", handed_over=True)
    four.settle(3)
    assert [attempt.number for attempt in four.attempts()] == [1]


@pytest.mark.parametrize("words", ["preemptionNoticeDuration is not supported", "not for this machine"])
def test_a_refill_that_is_refused_for_its_notice_is_asked_for_without_at_once(four, words):
    """In the same sweep, and no more for a day; that is no refusal of the zone."""
    four.policy = replace(four.policy, placement=PlacementLimits())
    four.cloud.compute.refuse_notice(MACHINE, RejectedError("unsupportedOperation", words))
    take(four, "gang-2")
    four.sweep("gang-2")
    four.wait(minutes=1)
    four.settle(2)
    first, second = [tried for tried in four.attempts()[-1].tries if tried.nodes][-2:]
    assert (first.notice, second.notice, first.place) == (True, False, second.place)
    assert running(four) == ALL
    say_waiting(four, "gang-2")
    four.settle(2)
    take(four, "gang-3")
    four.settle(3)
    assert [tried.notice for tried in four.attempts()[-1].tries if tried.nodes] == [False]


def test_a_job_that_wants_no_hand_over_has_no_notice(four):
    """Its job.toml says so; its nodes are refilled as they were."""
    four.store(JobFileName(job="gang"), b'nodes = "2:4"\nhandover = false')
    take(four, "gang-2")
    four.settle(4)
    assert four.attempts()[-1].tries[-1].notice is None
    assert four.attempts()[-1].state is AttemptState.RUNNING
