"""A planned move: nothing takes the VM, and its job goes on where it costs less."""

import json

import pytest

from tests.job.lab import ZONE
from tests.job.training import EARLY, NOTICE, TRAINING, record, stepped, undisturbed

CHEAPER = ZONE.replace("central1-a", "central1-b")


@pytest.fixture
def train(lab):
    """Boot a VM that trains; `zone` and the kit's settings may be given."""

    def booted(**more):
        return lab.job(TRAINING, scheduling=NOTICE, **{**EARLY, **more})

    return booted


@pytest.fixture
def vm(train):
    """A VM in the midst of its training."""
    machine = train()
    machine.until_said("step 5 ")
    return machine


def planned(lab, vm, state, **instances):
    """Write the record of attempt 2: the job moves, and its VM goes on meanwhile."""
    move = record(2, replaces={vm.name: vm.id}, early=True, planned="spot costs less there")
    told = json.dumps({**move, "state": state, "instances": instances}, indent=2)
    lab.write(f"{vm.name}/metadata/attempts/2.json", told)


def trains_on(lab, vm):
    """Whether it makes ten more steps."""
    told = len(stepped(vm.said))
    return lab.until(lambda: len(stepped(vm.said)) > told + 10, "ten more steps")


def test_no_step_is_lost_in_a_move_and_the_old_vm_goes(lab, train, vm):
    """It trains on while the new one is asked for and sets up; then it hands over, and deletes itself."""
    planned(lab, vm, "placing")
    assert trains_on(lab, vm)
    second = train(name=vm.name, attempt=2, zone=CHEAPER, spotwarden_setup="echo set up")
    second.until_said("set up")
    assert vm.beat["status"] == "running"
    lab.write(f"{vm.name}/metadata/{vm.name}-instance-id", second.id)
    planned(lab, vm, "running", **{vm.name: second.id})
    assert second.status() == "0"
    old, new = stepped(vm.said), stepped(second.said)
    assert (new[0][0], new[0][1] > old[-1][1]) == (old[-1][0] + 1, True)
    assert second.object("output/curve.csv").splitlines() == undisturbed()
    assert vm.marker is None
    vm.until_gone()


def test_a_job_that_stays_trains_on_as_the_next_attempt(lab, train):
    """The cheaper place refused: the record names the VM that runs, and nothing is stopped."""
    vm = train(spotwarden_heartbeat="1")
    vm.until_said("step 5 ")
    planned(lab, vm, "placing")
    assert trains_on(lab, vm)
    planned(lab, vm, "running", **{vm.name: vm.id})
    lab.until(lambda: vm.beat.get("attempt") == 2, "its heartbeat as attempt 2")
    assert trains_on(lab, vm)
    assert "moved" not in vm.said


def test_a_vm_that_hears_too_late_of_the_move_goes(lab, vm):
    """Its successor has waited in vain, and begun: by its heartbeat the old one sees it."""
    lab.write(f"{vm.name}/metadata/{vm.name}-instance-id", "99")
    begun = {"job": vm.name, "attempt": "2", "instance_id": "99", "status": "running"}
    planned(lab, vm, "running", **{vm.name: "99"})
    lab.write(f"heartbeats/{vm.name}", "", **begun)
    vm.until_said("it writes nothing more")
    vm.until_gone()


def test_a_newer_attempt_ends_a_job_that_is_about_to_move(lab, vm):
    """A stop by its owner comes behind the move's record: from then on nothing may be written."""
    planned(lab, vm, "placing")
    lab.write(f"{vm.name}/metadata/attempts/3.json", json.dumps(record(3)))
    vm.until_said("a newer attempt has taken over the job")
