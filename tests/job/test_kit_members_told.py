"""A gang that bends of which a node is told that it will be preempted: all save, and the others go on."""

import pytest

from tests.job.bent import Bent
from tests.job.lab import ZONE
from tests.job.training import NOTICE

TRAIN = (
    "cat $SPOTWARDEN_OUTPUT/best 2>/dev/null;"
    ' echo "epoch $SPOTWARDEN_ATTEMPT: rank $RANK of $NODES";'
    ' trap "echo saved by $NODE_RANK of $SPOTWARDEN_ATTEMPT >$SPOTWARDEN_OUTPUT/best; exit 143" TERM;'
    " sleep 300 & wait"
)
"""It saves as it is stopped, and not before."""
ASKED = "command:echo asked in $SPOTWARDEN_NODE"


@pytest.fixture
def gang(lab):
    """Three nodes that run in their first epoch; how long a notice is, for the kit and for Compute Engine."""
    made = []

    def booted(*, notice, reserve, lasts=120):
        lab.post("/local/timings", {"preemption_notice": lasts})
        told = {"spotwarden_early": "1", "spotwarden_notice": str(notice), "spotwarden_reserve": str(reserve)}
        more = {"spotwarden_sync": "300", "spotwarden_checkpoint": ASKED, "scheduling": NOTICE}
        bent = Bent(lab, next(lab._names), TRAIN, **told, **more)
        made.append(bent)
        for vm in bent.vms.values():
            lab.until(lambda vm=vm: vm.beat.get("status") == "waiting", "a node that waits")
        bent.record(1, *bent.vms)
        assert bent.until_all(1, 3) == ["0 of 3", "1 of 3", "2 of 3"]
        return bent

    yield booted
    for bent in made:
        for vm in bent.vms.values():
            if lab.has(f"projects/demo/zones/us-central1-a/instances/{vm.name}"):
                vm.delete()


def asked(vm):
    """How often its program was asked for a checkpoint."""
    return vm.said.count(f"asked in {vm.name}")


@pytest.mark.parametrize("rank", [0, 2])
def test_all_save_when_one_is_told_and_go_on_without_it_before_it_is_taken(gang, lab, rank):
    """It has handed over, and still runs, when the others begin the next epoch with what was saved last."""
    bent = gang(notice=20, reserve=14)
    told = list(bent.vms.values())[rank]
    others = [vm for vm in bent.vms.values() if vm is not told]
    told.preempt()
    lab.until(lambda: [asked(vm) for vm in bent.vms.values()] == [1, 1, 1], "the checkpoints")
    assert "handed_over" not in told.marker
    lab.until(lambda: told.marker.get("handed_over"), "the hand-over")
    assert (told.marker["early"], told.beat["status"]) == (True, "handed-over")
    bent.record(2, *(vm.name for vm in others))
    assert bent.until_all(2, 2) == ["0 of 2", "1 of 2"]
    assert lab.status(told.name) == "RUNNING"
    for vm in others:
        assert "of 1" in vm.said[vm.said.index("saved by") :].splitlines()[0]
    assert bent.ranks(2).keys() == {vm.name for vm in others}
    assert told.object("metadata/status-code") is None


def test_a_notice_that_is_called_off_in_time_changes_nothing(gang, lab):
    """All have saved, and train on: nobody stops."""
    bent = gang(notice=60, reserve=30, lasts=2)
    told = list(bent.vms.values())[1]
    told.preempt(called_off=True)
    told.until_said("the preemption is called off")
    lab.until(lambda: [asked(vm) for vm in bent.vms.values()] == [1, 1, 1], "the checkpoints")
    assert [vm.beat["status"] for vm in bent.vms.values()] == ["running"] * 3
    assert not any("saved by" in vm.said for vm in bent.vms.values())


def test_a_node_that_was_not_taken_after_all_waits_and_joins_again(gang, lab):
    """It had handed over, and the others went on: it is the same VM, with what they have saved."""
    bent = gang(notice=6, reserve=3, lasts=14)
    told = list(bent.vms.values())[2]
    first, second = list(bent.vms)[:2]
    told.preempt(called_off=True)
    lab.until(lambda: told.marker and told.marker.get("handed_over"), "the hand-over")
    bent.record(2, first, second)
    bent.until_all(2, 2)
    lab.until(lambda: told.beat["status"] == "waiting", "the node to wait")
    assert bent.ranks(2).keys() == {first, second}
    bent.record(3, *bent.vms)
    assert bent.until_all(3, 3) == ["0 of 3", "1 of 3", "2 of 3"]
    assert "of 2" in told.said[told.said.index("saved by") :]
    lab.post("/local/timings", {"preemption_notice": 120})
    told.preempt()
    told.until_said("asked in")
    lab.until(lambda: told.said.count("this VM will be preempted in") == 2, "the second notice to be heard")


def test_a_member_that_the_others_went_on_without_though_it_was_not_taken_joins_again(gang, lab):
    """Its notice was called off as the record was written: what it made since then is lost, and no VM is."""
    bent = gang(notice=60, reserve=30)
    first, second, third = bent.vms
    bent.record(2, first, second, lacking=third)
    bent.until_all(2, 2)
    lab.until(lambda: bent.vms[third].beat["status"] == "waiting", "the node to wait")
    bent.record(3, first, second, third)
    assert bent.until_all(3, 3) == ["0 of 3", "1 of 3", "2 of 3"]


def test_a_notice_is_heard_in_every_epoch(gang, lab):
    """Whoever has changed with the others once is told like any other."""
    bent = gang(notice=20, reserve=14)
    first, second, third = bent.vms
    bent.vms[third].delete()
    bent.record(2, first, second)
    bent.until_all(2, 2)
    bent.vms[second].preempt()
    lab.until(lambda: (bent.vms[second].marker or {}).get("early"), "the early marker")
    lab.until(lambda: asked(bent.vms[first]) == 1, "the other's checkpoint")


def test_a_member_that_is_told_while_all_wait_says_at_once_that_it_does_not_come(gang, lab):
    """The others would wait for it until it is gone."""
    bent = gang(notice=60, reserve=5)
    first, second, third = bent.vms
    bent.vms[third].delete()
    bent.vms[third].until_gone()
    bent.vms[third] = bent.boot(third, 2, spotwarden_setup="sleep 200")
    bent.record(2, first, second, third)
    both = bent.vms[first], bent.vms[second]
    lab.until(lambda: all(vm.beat["status"] == "joining" for vm in both), "the others to wait")
    bent.vms[second].preempt()
    lab.until(lambda: (bent.vms[second].marker or {}).get("handed_over"), "its word")
    assert bent.vms[first].beat["status"] == "joining"


def test_a_vm_that_was_told_before_it_was_set_up_begins_anew_if_it_is_not_taken(gang, lab):
    """Nobody else would run its setup, and the others would wait for it once a record names it."""
    bent = gang(notice=20, reserve=5, lasts=8)
    first, second, third = bent.vms
    bent.vms[third].delete()
    bent.vms[third].until_gone()
    bent.record(2, first, second)
    lab.fault(service="storage", path=f"{third}-instance-id", status=503, for_seconds=5)
    bent.vms[third] = bent.boot(third, 2)
    bent.vms[third].preempt(called_off=True)
    bent.vms[third].until_said("it starts again")
    lab.until(lambda: bent.vms[third].beat.get("status") == "waiting", "the node to wait")
    assert bent.vms[third].said.count("it starts again") == 1


def test_all_save_once_before_a_refilled_node_joins(gang, lab):
    """As soon as that waits: they train on until a record names it. For another VM they save once more."""
    bent = gang(notice=20, reserve=14)
    first, second, third = bent.vms
    bent.vms[third].delete()
    bent.record(2, first, second, lacking=third)
    bent.until_all(2, 2)
    for times in (1, 2):
        bent.vms[third].until_gone()
        bent.vms[third] = bent.boot(third, 2)
        lab.until(lambda: bent.vms[third].beat.get("status") == "waiting", "the new node to wait")
        left = [bent.vms[node] for node in (first, second)]
        lab.until(lambda times=times, left=left: [asked(vm) for vm in left] == [times] * 2, "the checkpoints")
        assert [vm.beat["status"] for vm in left] == ["running"] * 2
        assert [vm.said.count("the program ended") for vm in left] == [1, 1]
        if times == 1:
            bent.vms[third].delete()
    bent.record(3, first, second, third)
    assert bent.until_all(3, 3) == ["0 of 3", "1 of 3", "2 of 3"]
    assert [asked(vm) for vm in bent.vms.values()] == [2, 2, 0]


def test_all_save_before_a_removed_node_that_is_started_again_joins(gang, lab):
    """Once: it runs on the VM that it had."""
    bent = gang(notice=20, reserve=14)
    first, second, third = bent.vms
    lab.call("POST", f"{ZONE}/instances/{third}/stop")
    bent.vms[third].until_off()
    bent.record(2, first, second, removed=third)
    bent.until_all(2, 2)
    lab.call("POST", f"{ZONE}/instances/{third}/start")
    lab.until(lambda: bent.vms[third].beat.get("status") == "waiting", "the node to wait")
    left = [bent.vms[node] for node in (first, second)]
    lab.until(lambda: [asked(vm) for vm in left] == [1, 1], "the checkpoints")
    assert [vm.beat["status"] for vm in left] == ["running"] * 2
    bent.record(3, first, second, third)
    assert bent.until_all(3, 3) == ["0 of 3", "1 of 3", "2 of 3"]


def test_nobody_saves_for_a_node_that_does_not_wait_or_is_of_another_job(gang, lab):
    """What it said when it was a member is no word of a VM that joins."""
    bent = gang(notice=20, reserve=14)
    first, second, third = bent.vms
    bent.vms[third].delete()
    bent.record(2, first, second, lacking=third)
    bent.until_all(2, 2)
    bent.vms[third].until_gone()
    said = {"status": "waiting", "job": "another", "instance_id": "7", "attempt": "2"}
    lab.write(f"heartbeats/{third}", "{}", **said)
    looks = [bent.vms[node] for node in (first, second)]
    told = {vm.beat["at"] for vm in looks}
    lab.until(lambda: not told & {vm.beat["at"] for vm in looks}, "two looks more")
    assert [asked(vm) for vm in looks] == [0, 0]
