"""Standby: a program that waits for its turn is started while the VM before it still trains."""

import json
from datetime import UTC, datetime

import pytest

from tests.job.lab import ZONE
from tests.job.training import EARLY, NOTICE, TRAIN, record, stepped, undisturbed

ELSEWHERE = ZONE.replace("central1-a", "central1-b")
STEPS = 300
WAITS = "print('imported', flush=True)\npreemption.wait_for_turn()\n"


def training(before="", *, waits=WAITS):
    """A training that does something first, and then waits for its turn."""
    return (TRAIN % STEPS).replace("guard = ", f"{before}\n{waits}guard = ")


@pytest.fixture
def train(lab):
    """Boot a VM with a notice of 120 s that runs this command."""
    lab.post("/local/timings", {"preemption_notice": 120})

    def booted(command, **more):
        return lab.job(command, scheduling=NOTICE, **{**EARLY, "spotwarden_notice": "12", **more})

    return booted


def hand_over(lab, train, command, then="", beat="standby", **more):
    """A VM that runs the one command and will be taken, and its successor, which runs the other."""
    old = train(command, **more)
    old.until_said("step 5 ")
    lab.until(lambda: old.beat.get(beat), f"a heartbeat with {beat}")
    old.preempt()
    lab.until(lambda: old.marker, "the early marker")
    attempt = record(2, created=datetime.now(UTC).isoformat(), replaces={old.name: old.id}, early=True)
    lab.write(f"{old.name}/metadata/attempts/2.json", json.dumps(attempt))
    return old, train(then or command, name=old.name, attempt=2, zone=ELSEWHERE, **more)


def continued(old, new):
    """Whether the curve is that of one undisturbed run, and no step that the first VM told was made again.

    Of what a VM says in its last moment a line may be missing.
    """
    assert new.object("output/curve.csv").splitlines() == undisturbed(STEPS)
    last, first = stepped(old.said)[-1], stepped(new.said)[0]
    return first[0] > last[0] and first[1] > last[1]


def test_its_imports_are_done_before_its_turn_comes(lab, train):
    """It has imported while the old VM trained, and no step is lost or made twice."""
    old, new = hand_over(lab, train, training())
    assert old.beat["standby"] == "1"
    new.until_said("imported")
    assert old.beat["status"] == "running"
    assert new.status() == "0"
    assert new.said.count("imported") == 1
    assert continued(old, new)


def test_a_program_that_never_waited_is_not_started_early(lab, train):
    """What it would write, or has looked for, is not there yet."""
    old, new = hand_over(lab, train, training(waits="print('imported', flush=True)\n"), beat="status")
    assert "standby" not in old.beat
    assert new.status() == "0"
    assert "starts early" not in new.said
    assert continued(old, new)


@pytest.mark.parametrize(
    "first",
    [
        "open(os.environ['SPOTWARDEN_OUTPUT'] + '/early.log', 'a').write(os.environ['SPOTWARDEN_ATTEMPT'])",
        "time.sleep(60 * (not os.path.exists(os.environ['SPOTWARDEN_TURN'])))",
    ],
    ids=["writes", "still imports"],
)
def test_one_that_is_not_waiting_when_its_turn_comes_starts_again(lab, train, first):
    """Nobody knows what it has read before the output was there."""
    old, new = hand_over(lab, train, training(), then=training(first))
    new.until_said("starts early")
    assert new.status() == "0"
    assert "it is restarted" in new.said
    assert continued(old, new)


def test_one_that_ends_before_its_turn_runs_again_when_that_comes(lab, train):
    """A crash of the program that only waits does not end the job, whose training goes on elsewhere."""
    ends = "os.path.exists(os.environ['SPOTWARDEN_TURN']) or sys.exit(3)"
    old, new = hand_over(lab, train, training(), then=training(f"import sys\n{ends}"))
    assert new.status() == "0"
    assert "starts early" in new.said
    assert continued(old, new)


def test_a_setup_that_takes_longer_than_the_notice_is_left_alone(lab, train):
    """Only a program is started early, after its setup; then its turn has come."""
    slow = 'until [ -e "$HOME/spotwarden/turn" ]; do sleep 0.1; done; echo set up'
    old = train(training())
    old.until_said("step 5 ")
    old.preempt()
    lab.until(lambda: old.marker, "the early marker")
    attempt = record(2, created=datetime.now(UTC).isoformat(), replaces={old.name: old.id}, early=True)
    lab.write(f"{old.name}/metadata/attempts/2.json", json.dumps(attempt))
    new = train(training(), name=old.name, attempt=2, zone=ELSEWHERE, spotwarden_setup=slow)
    assert new.status() == "0"
    assert "set up" in new.said
    assert continued(old, new)


def test_a_standby_that_is_stopped_itself_ends_at_once(lab, train):
    """It has nothing to save: its grace is not waited for."""
    _, new = hand_over(lab, train, training(), spotwarden_notice="120", spotwarden_grace="10")
    new.until_said("imported")
    lab.remove(f"{ELSEWHERE}/instances/{new.name}")
    new.until_said("changed files")
    assert "is killed" not in new.said
