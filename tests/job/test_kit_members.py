"""Gangs that bend: a program runs among the members that the newest record names, and nowhere else."""

import json

import pytest

from tests.job.bent import Bent
from tests.job.lab import ZONE

TRAIN = (
    "cat $SPOTWARDEN_OUTPUT/best 2>/dev/null;"
    ' echo "epoch $SPOTWARDEN_ATTEMPT: rank $RANK of $NODES at $MASTER_ADDR";'
    " [ $RANK != 0 ] || echo saved by $SPOTWARDEN_ATTEMPT > $SPOTWARDEN_OUTPUT/best;"
    ' trap "exit 3" TERM; sleep 300 & wait'
)


@pytest.fixture
def bent(lab):
    """A gang whose three nodes run in their first epoch."""
    gang = Bent(lab, next(lab._names), TRAIN)
    for vm in gang.vms.values():
        lab.until(lambda vm=vm: vm.beat.get("status") == "waiting", "a node that waits")
    assert gang.ranks(1) == {}
    gang.record(1, *gang.vms)
    assert gang.until_all(1, 3) == ["0 of 3", "1 of 3", "2 of 3"]
    yield gang
    for vm in gang.vms.values():
        if lab.has(f"projects/demo/zones/us-central1-a/instances/{vm.name}"):
            vm.delete()


def test_survivors_go_on_by_the_next_record_without_a_new_vm(bent):
    """The first node is gone: the second one leads, with what the first had saved last."""
    first, second, third = bent.vms
    bent.lab.until(lambda: bent.vms[first].object("output/best"), "the first checkpoint")
    bent.vms[first].preempt()
    bent.record(2, second, third)
    assert bent.until_all(2, 2) == ["0 of 2", "1 of 2"]
    assert bent.ranks(2)[second] == "0 of 2"
    assert "saved by 1" in bent.vms[second].said
    assert bent.vms[second].said.count("set up") == len(["once a boot"])
    assert bent.vms[second].object("metadata/status-code") is None


def test_a_refilled_node_begins_with_the_others_in_the_epoch_that_names_it(bent):
    """Until then it waits, also while the gang bends once more."""
    first, second, third = bent.vms
    bent.vms[third].preempt()
    bent.record(2, first, second)
    bent.until_all(2, 2)
    bent.vms[third].until_gone()
    bent.vms[third] = bent.boot(third, 2)
    bent.lab.until(lambda: bent.vms[third].beat.get("status") == "waiting", "the new node to wait")
    bent.record(3, first)
    assert bent.until_all(3, 1) == ["0 of 1"]
    assert bent.ranks(3) == {first: "0 of 1"}
    bent.vms[second].until_gone()
    bent.record(4, first, third)
    assert bent.until_all(4, 2) == ["0 of 2", "1 of 2"]
    assert "saved by 3" in bent.vms[third].said


def test_no_program_of_an_epoch_begins_before_all_of_the_last_one_have_ended(bent):
    """One node is slow to stop: the other waits for it."""
    first, second, third = bent.vms
    bent.record(2, first, second)
    bent.until_all(2, 2)
    bent.vms[third].until_gone()
    for node in (first, second):
        said = bent.vms[node].said
        assert said.index("the program ended") < said.index("epoch 2:")


def test_members_that_wait_for_another_go_on_saying_so_while_the_bucket_is_silent(bent, tmp_path):
    """One is still being set up; after reads without an answer the others still know that they have come."""
    first, second, third = bent.vms
    bent.vms[third].preempt()
    bent.vms[third].until_gone()
    gate = tmp_path / "gate"
    setup = f"until [ -e {gate} ]; do sleep 0.1; done"
    bent.vms[third] = bent.boot(third, 2, spotwarden_setup=setup)
    bent.record(2, first, second, third)
    beats = [bent.vms[node] for node in (first, second)]
    bent.lab.until(lambda: [vm.beat["status"] for vm in beats] == ["joining"] * 2, "two members to come")
    # One look at the members may be cut off, as they look each second.
    bent.lab.fault(service="storage", path=f"{bent.name}/metadata/attempts", status=503, for_seconds=2)
    told = {vm.beat["at"] for vm in beats}
    bent.lab.until(lambda: not told & {vm.beat["at"] for vm in beats}, "both to say it again")
    assert [vm.beat["status"] for vm in beats] == ["joining"] * 2
    gate.touch()
    assert bent.until_all(2, 3) == ["0 of 3", "1 of 3", "2 of 3"]


def test_a_member_that_is_stopped_and_started_again_waits_and_joins_by_the_next_record(bent):
    """With what the others have saved meanwhile, though its own disk has a file of that length."""
    first, second, third = bent.vms
    vm = bent.vms[third]
    bent.lab.until(lambda: vm.object("output/best"), "the first checkpoint")
    bent.lab.call("POST", f"{ZONE}/instances/{third}/stop")
    vm.until_off()
    bent.record(2, first, second)
    bent.until_all(2, 2)
    bent.lab.call("POST", f"{ZONE}/instances/{third}/start")
    bent.lab.until(lambda: vm.beat["status"] == "waiting", "the node to wait")
    assert third not in bent.ranks(2)
    bent.record(3, first, second, third)
    assert bent.until_all(3, 3) == ["0 of 3", "1 of 3", "2 of 3"]
    assert "saved by 2" in vm.said
    assert "saved by 1" not in vm.said


def test_a_node_of_the_first_launch_that_is_started_again_waits_too(lab):
    """Nothing in its metadata says that its gang bends: the records do."""
    name = next(lab._names)
    more = {"NODES": "3", "MASTER_ADDR": f"{name}-1", "spotwarden_job": name, "spotwarden_attempt": "1"}
    vm = lab.boot(f"{name}-3", spotwarden_command="echo began; sleep 300", **more)
    vm.until_said("began")
    lab.call("POST", f"{ZONE}/instances/{vm.name}/stop")
    vm.until_off()
    ids = {f"{name}-1": "1", f"{name}-2": "2"}
    body = {"job": name, "number": 2, "state": "running", "instances": ids, "bent": True}
    lab.write(f"{name}/metadata/attempts/1.json", json.dumps({"number": 1, "instances": {vm.name: vm.id}}))
    lab.write(f"{name}/metadata/attempts/2.json", json.dumps(body))
    lab.call("POST", f"{ZONE}/instances/{vm.name}/start")
    lab.until(lambda: vm.beat["status"] == "waiting", "the node to wait")
    assert vm.said.count("began") == 1
    vm.delete()


def test_a_former_member_whose_job_is_made_anew_shuts_down_and_keeps_its_disk(bent):
    """Whoever started it may want what is on it."""
    first, second, third = bent.vms
    vm = bent.vms[third]
    bent.lab.call("POST", f"{ZONE}/instances/{third}/stop")
    vm.until_off()
    bent.record(2, first, second)
    bent.until_all(2, 2)
    bent.lab.write(f"{bent.name}/metadata/attempts/3.json", '{"state": "claimed", "instances": {}}')
    bent.lab.call("POST", f"{ZONE}/instances/{third}/start")
    vm.until_said("the job goes on without this VM; it shuts down")
    bent.lab.until(
        lambda: bent.lab.call("GET", f"{ZONE}/instances/{third}")["status"] == "TERMINATED", "its stop"
    )
    assert third in [disk["name"] for disk in bent.lab.call("GET", f"{ZONE}/disks")["items"]]


def test_a_gang_that_bends_ends_with_the_status_of_its_newest_epoch(lab):
    """All of those that are left end with 0."""
    name = next(lab._names)
    command = 'echo "epoch $SPOTWARDEN_ATTEMPT: rank $RANK of $NODES"; [ $NODES = 3 ] || exit 0; sleep 300'
    gang = Bent(lab, name, command)
    gang.record(1, *gang.vms)
    gang.until_all(1, 3)
    first, second, third = gang.vms.values()
    second.preempt()
    gang.record(2, first.name, third.name)
    assert first.status() == "0"
    assert lab.metadata(f"{name}/metadata/status-code")["attempt"] == "2"
    for vm in (first, third):
        vm.until_gone()


def test_a_node_that_waits_goes_once_another_gang_is_begun(lab):
    """A record that is not of its gang was created after the one that it was made for."""
    gang = Bent(lab, next(lab._names), "sleep 300")
    for vm in gang.vms.values():
        lab.until(lambda vm=vm: vm.beat.get("status") == "waiting", "a node that waits")
    lab.write(f"{gang.name}/metadata/attempts/1.json", '{"state": "placing", "instances": {}}')
    lab.write(f"{gang.name}/metadata/attempts/2.json", '{"state": "claimed", "instances": {}}')
    for vm in gang.vms.values():
        vm.until_gone()
    assert gang.ranks(1) == {}


def test_what_a_program_prints_after_a_change_is_the_log_of_that_epoch(lab):
    """It goes up under the epoch's number, and its figures are read: of a survivor and of a new node."""
    program = 'N=$SPOTWARDEN_ATTEMPT; echo "epoch $N: rank $RANK of $NODES"; echo "step ${N}00"; sleep 300'
    gang = Bent(lab, next(lab._names), program, spotwarden_metrics="step=^step ([0-9]+)\n")
    first, second, third = gang.vms
    gang.record(1, *gang.vms)
    gang.until_all(1, 3)
    gang.vms[third].preempt()
    gang.record(2, first, second)
    gang.until_all(2, 2)
    gang.vms[third].until_gone()
    gang.vms[third] = gang.boot(third, 2)
    lab.until(lambda: gang.vms[third].beat.get("status") == "waiting", "the new node to wait")
    gang.record(3, first, second, third)
    gang.until_all(3, 3)
    for node, vm in gang.vms.items():
        lab.until(lambda vm=vm: vm.beat.get("step") == 300, f"the step of {node}")
        log = f"metadata/logs/{node}/3.log"
        lab.until(lambda vm=vm, log=log: "epoch 3" in (vm.object(log) or ""), f"the log of {node}")
        assert "epoch 2" not in vm.object(log)
    assert "epoch 2" in gang.vms[first].object(f"metadata/logs/{first}/2.log")
    for vm in gang.vms.values():
        vm.delete()


def test_what_a_program_says_as_it_is_stopped_for_a_change_ends_the_log_of_its_epoch(lab):
    """It is up before the next epoch begins, however recently the log before it went up."""
    stopped = 'echo "epoch $SPOTWARDEN_ATTEMPT: saved step 12"; exit 3'
    gang = Bent(lab, next(lab._names), TRAIN.replace("exit 3", stopped.replace('"', '\\"')))
    gang.record(1, *gang.vms)
    gang.until_all(1, 3)
    first, second, _removed = gang.vms
    gang.record(2, first, second)
    gang.until_all(2, 2)
    for node in (first, second):
        log = gang.vms[node].object(f"metadata/logs/{node}/1.log") or ""
        assert log.splitlines()[-1:] == ["epoch 1: saved step 12"]
        assert "epoch 1" not in (gang.vms[node].object(f"metadata/logs/{node}/2.log") or "")
    for node in (first, second):
        gang.vms[node].delete()
