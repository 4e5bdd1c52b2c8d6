"""recover_spot beside a stored script that is written to keep it busy: the other jobs do not wait for it."""

import time

import pytest

from spotwarden.layout import CreateScript, InstanceId, ScriptFile
from spotwarden.recovery.folder.stored_script import FILES_AT_MOST, MANY_FILES, SCRIPT_AT_MOST
from tests.create_script.hostile import GROWTH, MATCHES, RUNS
from tests.recovery.crowd_world import Slow

SECOND = "gcloud compute instances create other-vm --zone=us-central1-a --provisioning-model=SPOT\n"
MOST_SECONDS = 1.0
BUSY = 8
"""A machine with much else to do takes so much more processor time for the same work."""
HOSTILE = {
    "a loop": RUNS["a loop"],
    "doubled values": GROWTH["doubled values"],
    "arithmetic": RUNS["a long arithmetic"],
    "a pattern": MATCHES["one expression always"],
    "a reference back": MATCHES["a reference back"],
}


def _sweeps_until_back(world) -> int:
    """How many sweeps it takes until the attempt of `test-vm` runs."""
    for sweeps in range(1, 30):
        world.sweep()
        if world.attempts() and world.attempts()[0].instances:
            return sweeps
        world.wait(seconds=10)
    raise AssertionError("test-vm never came back")


def _with_other(world, script: str) -> None:
    """A second job, whose VM ran from an innocent script that was exchanged since; both are preempted."""
    for node, instance_id in world.launch_by_hand(SECOND.encode()).items():
        world.store(InstanceId(job="other-vm", node=node), instance_id.encode())
    world.store(CreateScript(job="other-vm"), f"# exchanged\n{script}\n".encode())
    world.preempt()
    world.preempt(node="other-vm")


@pytest.mark.parametrize("script", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_job_comes_back_as_fast_beside_a_hostile_script_as_alone(new_world, script):
    """As many sweeps, and the hostile one takes no second of the processor."""
    beside = new_world()
    _with_other(beside, script)
    before = time.process_time()
    swept = _sweeps_until_back(beside)
    assert time.process_time() - before < BUSY * MOST_SECONDS * swept
    # Made only now: its generations are those of the other bucket, which this process remembers.
    alone = new_world()
    alone.preempt()
    assert swept == _sweeps_until_back(alone)


@pytest.mark.parametrize("script", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_script_is_put_aside_with_its_line_and_reason(new_world, script):
    """Its owner is told where, and nothing starts for it."""
    world = new_world()
    _with_other(world, script)
    world.sweep_until_quiet()
    assert list(world.quarantined()) == ["other-vm"]
    line = 1 + len(f"{script}\n".splitlines())
    assert f"create-instance.sh:{line}: " in world.quarantined()["other-vm"]
    assert "other-vm" not in {vm.job for vm in world.cloud.compute.instances().items}


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        ({"": b"#" * (SCRIPT_AT_MOST + 1)}, f"it has {SCRIPT_AT_MOST + 1} bytes"),
        (
            dict.fromkeys("abc", b"x" * (FILES_AT_MOST // 3 + 1)),
            f"the files beside it have {FILES_AT_MOST + 1} bytes",
        ),
        (dict.fromkeys(map(str, range(MANY_FILES + 1)), b""), f"{MANY_FILES + 1} files are stored beside it"),
    ],
    ids=["a long script", "large files", "many files"],
)
def test_what_is_stored_beside_a_script_cannot_fill_or_delay_a_function(new_world, stored, reason):
    """It is refused by its size in the listing, and not read; its owner is told, the other job comes back."""
    world = new_world()
    _with_other(world, SECOND)
    for path, data in stored.items():
        name = ScriptFile(job="other-vm", path=path) if path else CreateScript(job="other-vm")
        world.store(name, data)
    slow = Slow(world.cloud.ports())
    world.sweep_over(slow.cloud)
    assert not [what for call, what, _ in slow.made if call == "read" and "/files/" in str(what)]
    world.sweep_until_quiet()
    assert world.attempts()[0].instances
    assert reason in world.quarantined()["other-vm"]


def test_as_many_files_as_are_read_are_no_trouble(new_world):
    """One fewer, and the job comes back."""
    world = new_world()
    for number in range(MANY_FILES):
        size = FILES_AT_MOST // MANY_FILES
        world.store(ScriptFile(job=world.job, path=str(number)), b"x" * size)
    world.preempt()
    world.sweep_until_quiet()
    assert world.attempts()[0].instances
