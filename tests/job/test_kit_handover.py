"""Hand-over: a VM that is told beforehand trains on until its successor has booted."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.job.lab import ZONE
from tests.job.training import EARLY, NOTICE, TRAINING, record, stepped, undisturbed

ELSEWHERE = ZONE.replace("central1-a", "central1-b")


@pytest.fixture
def train(lab):
    """Boot a VM that trains, with a notice of 120 s; `zone` and the kit's settings may be given."""
    lab.post("/local/timings", {"preemption_notice": 120})

    def booted(command=TRAINING, **more):
        return lab.job(command, scheduling=NOTICE, **{**EARLY, **more})

    return booted


def claim(lab, vm, *, ago=timedelta(0)):
    """Write the record of attempt 2, which stands in for this VM while it runs."""
    created = (datetime.now(UTC) - ago).isoformat()
    attempt = record(2, created=created, replaces={vm.name: vm.id}, early=True)
    lab.write(f"{vm.name}/metadata/attempts/2.json", json.dumps(attempt, indent=2))


def succeed(train, vm, **more):
    """Boot its successor: the same name, in another zone, as recovery does."""
    return train(name=vm.name, attempt=2, zone=ELSEWHERE, **more)


@pytest.fixture
def trains(lab, train):
    """A VM that is in the midst of its training, and knows that it will be taken."""
    vm = train()
    vm.until_said("step 5 ")
    vm.preempt()
    lab.until(lambda: vm.marker, "the early marker")
    return vm


def test_no_step_is_lost_and_none_is_made_twice(lab, train, trains):
    """The successor sets up while the old VM trains, begins after it, and the curve is that of one run."""
    claim(lab, trains)
    second = succeed(train, trains, spotwarden_setup="echo set up")
    second.until_said("set up")
    assert trains.beat["status"] == "running"
    assert second.status() == "0"
    old, new = stepped(trains.said), stepped(second.said)
    assert (new[0][0], new[0][1] > old[-1][1]) == (old[-1][0] + 1, True)
    assert second.object("output/curve.csv").splitlines() == undisturbed()
    assert "handed over" in trains.said


def test_the_marker_comes_first_and_the_training_goes_on(lab, trains):
    """A successor is called at once; what was saved goes up at once, whatever the period of uploads is."""
    assert trains.marker["early"] is True
    told = len(stepped(trains.said))
    saved = json.loads(lab.until(lambda: trains.object("output/state.json"), "the checkpoint"))
    lab.until(lambda: len(stepped(trains.said)) > told + 10, "ten more steps")
    assert saved["step"] <= told + 10
    assert "Starting shutdown scripts" not in trains.console


def test_what_is_uploaded_last_is_the_last_step(lab, trains):
    """At the end of the notice it stops by itself, says so, and writes no status."""
    beat = lab.until(lambda: trains.beat.get("status") == "handed-over" and trains.beat, "the hand-over")
    assert beat["attempt"] == 1
    assert json.loads(trains.object("output/state.json"))["step"] == stepped(trains.said)[-1][0]
    assert trains.object("metadata/status-code") is None


def test_a_power_button_before_the_end_of_the_notice_ends_it(lab, train):
    """As on a VM that was never told: the program has its grace, and its last step goes up."""
    vm = train(spotwarden_notice="120")
    vm.until_said("step 5 ")
    vm.preempt()
    vm.until_said("the early marker is written")
    vm.delete()
    vm.until_gone()
    assert json.loads(vm.object("output/state.json"))["step"] == stepped(vm.said)[-1][0]


def test_an_attempt_after_the_successor_ends_the_old_one_at_once(lab, train):
    """Its attempt number is the greatest: nobody waits for the end of a notice any more."""
    vm = train(spotwarden_notice="120", spotwarden_sync="1")
    vm.until_said("step 5 ")
    vm.preempt()
    lab.until(lambda: vm.marker, "the early marker")
    claim(lab, vm)
    lab.write(f"{vm.name}/metadata/attempts/3.json", json.dumps(record(3)))
    vm.until_said("a newer attempt has taken over the job")
    assert vm.beat["status"] == "running"


def test_a_successor_that_has_begun_fences_the_old_one(lab, train):
    """It has waited its time, and says by its heartbeat that it begins: what comes later is refused."""
    vm = train(spotwarden_notice="120")
    vm.until_said("step 5 ")
    vm.preempt()
    lab.until(lambda: vm.marker, "the early marker")
    claim(lab, vm, ago=timedelta(minutes=10))
    second = succeed(train, vm)
    second.until_said("has not handed over in time")
    vm.until_said("it writes nothing more")
    assert second.status() == "0"
    assert second.beat["attempt"] == 2


def test_a_training_that_needs_no_vm_before_it_waits_for_none(lab, train):
    """Attempt 2 whose record is not early begins at once."""
    lab.write("alone/metadata/attempts/2.json", json.dumps(record(2, replaces={"alone": "99"})))
    vm = train(name="alone", attempt=2)
    vm.until_said("step 1 ")
    assert "still runs" not in vm.said


CATCHES = """python3 -c '
import signal, subprocess, time
signal.signal(signal.SIGUSR1, lambda number, frame: print("caught", flush=True))
below = subprocess.Popen(["sleep", "60"], start_new_session=True)
print("ready", flush=True)
while True:
    time.sleep(0.1)
    if below.poll() is not None:
        print("its child is dead", flush=True)
'"""


def test_only_what_catches_the_signal_gets_it(lab, train):
    """SIGUSR1 would end everything else: the shell around the training, and what it has started."""
    vm = train(CATCHES)
    vm.until_said("ready")
    vm.preempt()
    vm.until_said("caught")
    vm.until_said("handed over")
    assert "1 processes catch SIGUSR1" in vm.said
    assert "its child is dead" not in vm.said


WAITS = 'echo ready; while ! [ -e now ]; do sleep 0.1; done; echo "asked: $(cat now)"; sleep 60'


# The program sees the file as soon as it is there, so it is there only with what it says.
@pytest.mark.parametrize("how", ["file:now", 'command:echo "of $SPOTWARDEN_JOB" >new && mv new now'])
def test_a_program_can_be_asked_in_its_own_way(lab, train, how):
    """By a file in the folder of its code, or by a command with its environment."""
    vm = train(WAITS, spotwarden_checkpoint=how)
    vm.until_said("ready")
    vm.preempt()
    vm.until_said(f"asked: of {vm.name}" if how.startswith("command") else "asked:")


@pytest.mark.parametrize("how", ["none", "SIGNONSENSE"])
def test_a_program_that_is_asked_by_nothing_goes_on(lab, train, how):
    """An unknown signal is said, and costs nothing else."""
    vm = train(spotwarden_checkpoint=how)
    vm.until_said("step 5 ")
    vm.preempt()
    vm.until_said("handed over")
    assert ("is not a valid signal" in vm.said) is (how != "none")
