"""What is read of a job's metrics, at what cost, and how the course of one of them is followed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from spotwarden.governance.signals.training import Aim, Track
from spotwarden.governance.signals.trainings import follow, read_training, thinned
from spotwarden.layout import Heartbeat, LogFile, MetricsFile
from spotwarden.model.attempt import AttemptState
from spotwarden.model.rule_limits import EarlyStopLimits, Goal
from tests.fakes.world import load
from tests.governance.reap.reap_world import Calls, ReapWorld

LOSS = EarlyStopLimits(metric="loss", patience=100.0)


@pytest.fixture
def world():
    """A project whose policy watches a loss."""
    return ReapWorld(load("reap_vms"), early_stop=LOSS)


def lines(*points, **more):
    """A file of metrics with these steps and losses."""
    return b"".join(
        json.dumps({"step": step, "metrics": {"loss": loss}, **more}).encode() + b"\n"
        for step, loss in points
    )


def write(world, *points, attempt=1, node="test-vm"):
    """The metrics of an attempt, and the heartbeat that goes with the newest."""
    said = {"instance_id": world.id_of(node, attempt=attempt), "attempt": attempt}
    world.store(MetricsFile(job="test-vm", node=node, attempt=attempt), lines(*points, **said))
    world.store(Heartbeat(job="test-vm", node=node), lines(points[-1], **said))


def training(world, **facts):
    """What a look finds of the job."""
    return world.look(**facts).jobs["test-vm"].training


def test_the_course_of_a_metric_goes_over_the_attempts_of_a_preempted_job(world):
    """A preemption is no new beginning: the best of the first attempt is to be beaten by the second."""
    ids = world.job()
    write(world, (10, 0.9), (20, 0.5))
    world.attempt(number=2, instances=ids)
    write(world, (20, 0.6), (30, 0.7), attempt=2)
    assert training(world).tracks == {"test-vm": Track(step=30, best=0.5, best_step=20)}


@pytest.mark.parametrize("state", [AttemptState.STOPPED, AttemptState.ENDED, AttemptState.GAVE_UP])
def test_a_job_that_was_closed_and_started_again_begins_anew(world, state):
    """Whoever starts it again has mended something, or wants to see."""
    ids = world.job()
    world.attempt(number=1, state=state, instances=ids)
    write(world, (10, 0.9), (20, 0.5))
    world.attempt(number=2, instances=ids)
    write(world, (20, 0.6), (30, 0.7), attempt=2)
    assert training(world).tracks == {"test-vm": Track(step=30, best=0.6, best_step=20)}


def test_a_heartbeat_of_an_earlier_attempt_says_nothing_of_this_one(world):
    """The object stays behind when a VM goes."""
    ids = world.job()
    write(world, (10, "nan"))
    assert training(world).measures
    world.attempt(number=2, instances=ids)
    assert not training(world).measures


def test_a_heartbeat_that_names_no_attempt_is_of_the_one_that_ran_when_it_came(world):
    """Jobs may write their own."""
    ids = world.job()
    world.store(Heartbeat(job="test-vm", node="test-vm"), lines((1, 0.5), instance_id=ids["test-vm"]))
    assert training(world).measures
    world.wait(minutes=1)
    world.attempt(number=2, instances=ids, created=world.now, started=world.now)
    assert not training(world).measures


@pytest.mark.parametrize("instance_id", ["4711", "", None])
def test_a_heartbeat_that_another_vm_wrote_is_not_believed(world, instance_id):
    """Every job VM may write every job's: one that does not name the node's own VM measures nothing."""
    world.job()
    said = {"attempt": 1} | ({} if instance_id is None else {"instance_id": instance_id})
    world.store(Heartbeat(job="test-vm", node="test-vm"), lines((10, "nan"), **said))
    assert not training(world).measures


def test_of_a_file_of_metrics_only_what_the_attempts_own_vm_wrote_counts(world):
    """A line of another VM, or of no VM, is left out; so is a file of an attempt that is on no record."""
    ids = world.job()
    write(world, (10, 0.5))
    world.attempt(number=2, instances={"test-vm": "4002"})
    forged = lines((20, 0.1)) + lines((30, 0.1), instance_id=ids["test-vm"])
    own = lines((40, 0.6), instance_id="4002")
    world.store(MetricsFile(job="test-vm", node="test-vm", attempt=2), forged + own)
    world.store(MetricsFile(job="test-vm", node="test-vm", attempt=3), lines((50, 0.1), instance_id="4002"))
    aim = Aim(metric="loss")
    record = world.look().jobs["test-vm"]
    found = read_training(
        world.cloud.store, world.layout, replace(record, instances={"test-vm": "4002"}), aim
    )
    assert found.tracks == {"test-vm": Track(step=40, best=0.5, best_step=10)}


def test_only_what_has_changed_is_read_again(world):
    """Each look lists; it reads a heartbeat and a file of metrics where it is of another generation."""
    ids = world.job()
    write(world, (10, 0.9))
    world.attempt(number=2, instances=ids)
    write(world, (20, 0.8), attempt=2)
    kept = ("metadata/metrics/", "metadata/heartbeat/")

    def reads():
        counted = Calls(world.cloud.ports())
        world.look(cloud=counted.cloud)
        return sum(any(part in str(name) for part in kept) for name in counted.of("read"))

    # The heartbeat twice: once for the rule of stalls.
    assert reads() == 4
    assert reads() == 0
    write(world, (20, 0.8), (30, 0.7), attempt=2)
    assert reads() == 2
    assert training(world).tracks["test-vm"].best == 0.7


def test_nothing_is_read_of_a_job_that_asks_for_nothing():
    """The default policy costs nothing."""
    world = ReapWorld(load("reap_vms"))
    world.job()
    write(world, (10, "nan"))
    counted = Calls(world.cloud.ports())
    world.look(cloud=counted.cloud)
    assert not any("metrics/" in str(name) for name in counted.of("read"))
    # Once for the rule of stalls, which has to know when the program last got on.
    assert sum("heartbeat/" in str(name) for name in counted.of("read")) == 1


def test_a_file_that_is_far_too_large_is_a_problem_and_no_verdict(world):
    """It is named; the sweep goes on."""
    world.job()
    world.store(MetricsFile(job="test-vm", node="test-vm", attempt=1), b"\n" * (4 * 1024 * 1024 + 1))
    assert "metadata/metrics/test-vm/1.jsonl" in training(world).problem


def test_of_a_folder_that_is_listed_in_part_no_course_is_known(world, monkeypatch):
    """The node that still gets better may be among those that were not listed."""
    monkeypatch.setattr("spotwarden.recovery.folder.folder_list.ROWS_AT_MOST", 5)
    world.job()
    write(world, (1, 1.0))
    assert training(world).problem == ""
    for number in range(5):
        world.store(LogFile(job="test-vm", node=f"n{number}", attempt=1))
    assert training(world).problem == "test-vm/metadata/metrics/ has more files than are listed"


VALUES = st.one_of(
    st.sampled_from([float("nan"), float("inf"), float("-inf")]), st.integers(-9, 9).map(float)
)


@given(st.lists(VALUES, max_size=30), st.sampled_from(Goal), st.integers(0, 3))
def test_a_thinned_course_makes_the_same_track(values, goal, delta):
    """Only running bests and the newest are remembered of a file, whatever the delta is."""
    aim = Aim(metric="loss", goal=goal, min_delta=float(delta))
    course = tuple(enumerate(values))
    thin = thinned(course, aim)
    assert bool(thin) is bool(course)
    assert not course or follow(thin, aim) == follow(course, aim)


@pytest.mark.parametrize(
    ("goal", "delta", "best"),
    [
        (Goal.MIN, 0.0, (3, 0.7)),
        (Goal.MIN, 0.11, (0, 0.8)),
        (Goal.MIN, 0.09, (3, 0.7)),
        (Goal.MAX, 0.0, (2, 0.9)),
    ],
)
def test_better_is_more_than_the_delta(goal, delta, best):
    """Worked by hand: 0.8, 0.75, 0.9, 0.7."""
    track = follow(tuple(enumerate((0.8, 0.75, 0.9, 0.7))), Aim(metric="loss", goal=goal, min_delta=delta))
    assert (track.best_step, track.best, track.step) == (*best, 3)
