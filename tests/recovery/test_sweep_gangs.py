"""recover_spot over the ports: gangs."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.layout import InstanceId, MarkerName
from spotwarden.model.attempt import AttemptState
from tests.fakes.world import GANG

IDS = {"gang-1", "gang-2"}


def assert_whole(world, number=2):
    """One attempt runs, with two new VMs in one zone, registered, and no marker is left."""
    newest = world.attempts()[-1]
    assert (newest.number, newest.state) == (number, AttemptState.RUNNING)
    there = world.instances()
    assert {one.name: one.id for one in there} == newest.instances
    assert set(newest.instances) == IDS
    assert len({one.zone for one in there}) == 1
    for node, instance_id in newest.instances.items():
        assert world.cloud.store.read(f"gang/metadata/{node}-instance-id").data.decode() == instance_id
    assert world.names("preempted-jobs/") == []


def test_a_gang_of_which_one_node_was_taken_is_made_anew(gang):
    """The survivor goes first; all nodes come back together, with new ids, and their owner is told once."""
    gang.preempt(node="gang-1")
    gang.sweep_until_quiet()
    assert_whole(gang)
    assert not set(gang.vms()) & set(gang.ids.values())
    assert gang.done("DeleteInstance") == 1
    assert gang.notices() == ["recovered"]


def test_the_silence_about_a_node_counts_from_when_that_node_was_missed(gang):
    """The log lags by ten minutes: of the second node, which its owner deletes, it tells after the first."""
    gang.settle()
    gang.cloud.compute.let_the_log_lag(timedelta(minutes=10))
    gang.cloud.compute.preempt("gang-1")
    gang.settle(5)
    gang.cloud.compute.owner_deletes("gang-2")
    gang.settle(20)
    assert gang.attempts()[-1].state is AttemptState.STOPPED
    assert gang.done("LaunchInstances") == 0


def test_a_gang_of_which_all_nodes_were_taken_is_one_attempt(gang):
    """However many markers there are."""
    for node in sorted(IDS):
        gang.preempt(node=node)
    gang.sweep_until_quiet()
    assert_whole(gang)
    assert gang.done("LaunchInstances") == 1
    assert gang.done("DeleteInstance") == 0


def test_the_second_nodes_marker_may_come_while_the_gang_is_made_anew(gang):
    """The survivor's own shutdown writes one as well: it has its answer already."""
    gang.preempt(node="gang-1")
    gang.wait(minutes=1)
    gang.sweep()
    gang.store(MarkerName(node="gang-2"), f'{{"instance_id": "{gang.ids["gang-2"]}"}}'.encode())
    gang.sweep_until_quiet()
    assert_whole(gang)
    gang.wait(minutes=10)
    gang.sweep_until_quiet()
    assert_whole(gang)


def test_a_zone_that_has_room_for_one_only_gives_none(gang):
    """The half that was made is gone again, and the gang is whole elsewhere; nobody advised against it."""
    gang.cloud.compute.advice_forbidden = True
    gang.preempt(node="gang-1")
    for zone in ("us-central1-a", "us-central1-b"):
        gang.cloud.compute.stock_out(zone, left=1)
    gang.sweep_until_quiet()
    assert_whole(gang)
    assert {one.zone for one in gang.instances()} == {"us-central1-c"}
    assert "VM_MIN_COUNT" in gang.attempts()[-1].tries[0].error


def test_a_gang_that_is_taken_again_comes_back_again(gang):
    """Attempt after attempt."""
    for number in (2, 3):
        gang.preempt(node="gang-2")
        gang.sweep_until_quiet()
        assert_whole(gang, number)
        gang.wait(minutes=10)


def test_nobody_elses_vm_is_touched(gang):
    """One with a name that looks like a node's, and one in whose name a marker lies."""
    theirs = gang.launch_by_hand(
        b"gcloud compute instances create gang-9 --zone=us-central1-a --machine-type=g2-standard-4\n"
    )["gang-9"]
    gang.wait(minutes=1)
    gang.preempt(node="gang-1", body=f'{{"instance_id": "{theirs}"}}'.encode())
    gang.sweep_until_quiet()
    assert theirs in gang.vms()
    assert gang.attempts()[-1].state is AttemptState.RUNNING


def test_a_lost_node_without_a_marker_is_a_lost_gang(gang):
    """The next ticks miss it."""
    gang.sweep_until_quiet()
    gang.cloud.compute.fail_host("gang-2")
    gang.wait(minutes=1)
    gang.sweep_until_quiet()
    assert_whole(gang)


def test_a_gang_that_its_owner_deletes_stays_deleted(gang):
    """One after the other, each with a marker."""
    for node in sorted(IDS):
        gang.cloud.compute.owner_deletes(node)
        gang.store(MarkerName(node=node), b"")
    gang.sweep_until_quiet()
    assert gang.vms() == []
    assert gang.notices() == ["stopped"]
    assert gang.done("LaunchInstances") == 0


@pytest.mark.parametrize("registered", [True, False])
def test_a_gang_launched_by_hand_is_seen_whole(gang, registered):
    """Attempt 1 has the ids of all its nodes, whether they were registered or not."""
    if not registered:
        for node in IDS:
            name = gang.layout.build(InstanceId(job="gang", node=node))
            gang.cloud.store.delete(name, generation=gang.cloud.store.read(name).generation)
    gang.settle()
    (first,) = gang.attempts()
    assert (first.number, first.seen, first.instances) == (1, True, gang.ids)
    assert set(gang.read("gang/metadata/launched/1.json")) == IDS


def test_an_unregistered_gang_leaves_no_survivor_beside_its_successor(gang):
    """Nobody wrote down an id, and nobody saw it before one node was taken."""
    for node in IDS:
        name = gang.layout.build(InstanceId(job="gang", node=node))
        gang.cloud.store.delete(name, generation=gang.cloud.store.read(name).generation)
    gang.preempt(node="gang-1", body=b'{"job": "gang"}')
    gang.sweep_until_quiet()
    assert not set(gang.vms()) & set(gang.ids.values())
    assert {one.name for one in gang.instances()} == IDS
    assert len(gang.instances()) == 2


class Meanwhile:
    """Compute Engine, when something happens right after its log was read."""

    def __init__(self, compute, happen):
        self._compute, self._happen = compute, [happen]

    def __getattr__(self, name):
        return getattr(self._compute, name)

    def operations(self, since):
        """The log, and then what happens, once."""
        log = self._compute.operations(since)
        while self._happen:
            self._happen.pop()()
        return log


def test_a_gang_launched_anew_while_a_sweep_looks_is_left_alone(gang):
    """The list is older than what the ledger knows, and so is the marker, which names no instance."""
    gang.settle()
    for node in sorted(IDS):
        gang.cloud.compute.owner_deletes(node)
        gang.store(MarkerName(node=node), b"")
    gang.wait(minutes=3)
    new = {}

    def launch():
        new.update(gang.launch_by_hand(GANG))
        for node, number in new.items():
            gang.store(InstanceId(job="gang", node=node), number.encode())
        gang.wait(seconds=40)
        gang.sweep()

    ports = gang.cloud.ports()
    compute = Meanwhile(ports.compute, launch)
    gang.sweep_over(replace(ports, compute=compute), about="gang-1")
    gang.settle(6)
    assert sorted(gang.vms()) == sorted(new.values())
    assert gang.done("DeleteInstance") == gang.claims() == 0
