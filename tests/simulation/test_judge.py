"""What the judge of recovery sees, where it lets a job be closed, or go on with less."""

from datetime import timedelta

import msgspec
import pytest

from tests.simulation import commands as c
from tests.simulation.jobs import Job, stranger
from tests.simulation.process import silenced
from tests.simulation.run import Setting
from tests.simulation.verdict import open_ends
from tests.simulation.world import World

REMOVED_LATE = (
    c.Submit(kind=c.Kind.GANG, nodes=3),
    c.Lag(seconds=60),
    c.Preempt(vm=1, word=c.Word.NONE),
    c.Interfere(),
)
"""An owner stops a node of a gang while it is preempted, and the log tells of both at once."""


@pytest.fixture
def smaller() -> World:
    """The world in which that gang goes on without the node."""
    setting = Setting()
    world = setting.world()
    assert setting.faults(REMOVED_LATE, world)[0] == []
    assert len(world.running(world.jobs[0])) == 2
    return world


def test_a_gang_goes_on_without_a_node_only_where_its_owner_was_told(smaller):
    """Without the notice nobody knows that it is smaller."""
    smaller.cloud.notices.messages.clear()
    assert "is open, but of 3 nodes" in open_ends(smaller)[0]


def test_a_gang_goes_on_without_the_very_node_that_its_owner_removed(smaller):
    """Another one that is missing was lost."""
    job: Job = smaller.jobs[0]
    assert job.removed_late in job.nodes
    job.removed_late = next(node for node in job.nodes if node != job.removed_late)
    assert "is open, but of 3 nodes" in open_ends(smaller)[0]


@pytest.mark.parametrize(("state", "faults"), [("running", 1), ("stopped", 0)])
def test_a_marker_of_a_job_that_may_be_closed_goes_only_once_it_is(state, faults):
    """While it is open no record answers that of a VM which is on none, whatever its owner did meanwhile."""
    world = Setting().world()
    commands = (
        c.Submit(kind=c.Kind.SOLO),
        c.Lag(seconds=60),
        c.Preempt(word=c.Word.EMPTY),
        c.Interfere(),
        c.Pass(seconds=40),
    )
    with silenced():
        for command in commands:
            world.do(command)
    store, record = world.cloud.store, "solo-0/metadata/attempts/1.json"
    said = {**msgspec.json.decode(store.read(record).data), "state": state, "instances": {}}
    store.write(record, msgspec.json.encode(said), generation=None)
    (marker,) = store.entries("preempted-jobs/")
    clears = ("delete", (marker.name,), {"generation": marker.generation})
    world.watch.asking(world.new_process(timedelta(0)), *clears)
    assert len(world.watch.broken) == faults


@pytest.mark.parametrize(("kind", "faults"), [("name_taken", 0), ("gang_changed", 1)])
def test_a_gang_that_bends_lacks_a_node_whose_name_others_have_only_where_that_was_told(kind, faults):
    """Its owner can then do something about it."""
    world = Setting().world()
    with silenced():
        world.do(c.Submit(kind=c.Kind.BENT, nodes=3))
        [job] = world.jobs
        lost = next(vm for vm in world.running(job) if vm.node == job.nodes[1])
        world.cloud.compute.preempt(lost.seen.id)
        world.pass_time(timedelta(minutes=1))
    made = world.cloud.compute.launch(stranger(job.nodes[1], lost.seen.zone), "namesake 1")
    world.pass_time(timedelta(minutes=1))
    world.strangers.append(made.target_id)
    world.ports.notices.publish(b"{}", {"id": "1", "kind": kind, "job": job.name})
    assert len(open_ends(world)) == faults


def started_beside(*slept):
    """A world in which an owner starts a VM that was told of its end, and what was wrong with that."""
    setting = Setting()
    world = setting.world()
    began = (c.Submit(kind=c.Kind.EARLY, zone=2), c.Pass(seconds=60), c.Announce(), c.Pass(seconds=10))
    stopped = (c.Remove(keep=True), c.Pass(seconds=40), c.StartAgain())
    faults, _ = setting.faults((*began, *slept, *stopped), world)
    return world, faults


@pytest.mark.parametrize(("calls", "changes"), [(2, True), (5, False)], ids=["claimed", "had looked"])
def test_a_vm_that_was_told_of_its_end_may_be_started_beside_what_a_sweep_that_slept_makes(calls, changes):
    """Its job kit finds the newer attempt, and runs nothing. Of any other two VMs of a job both train."""
    slept = c.Sweep(calls=calls, changes=changes, then=c.Then.PAUSE)
    world, faults = started_beside(slept)
    assert faults == []
    [job] = world.jobs
    assert len(world.running(job)) == 2
    job.doomed.clear()
    assert "is open, but of 1 nodes ['early-0', 'early-0'] run" in open_ends(world)[0]


def test_a_sweep_that_looks_after_the_start_makes_nothing_beside_it(monkeypatch):
    """What the VM was told of was its former life."""

    def believed(node, *_):
        return node.marker is not None and node.marker.body.early

    monkeypatch.setattr("spotwarden.recovery.observed.fates.announced", believed)
    _, faults = started_beside()
    assert "a launch of early-0 was asked for while it lives" in faults[0]


@pytest.mark.parametrize(("reason", "faults"), [("stopped", 0), ("the instance was deleted", 1)])
def test_a_job_that_may_be_closed_is_so_where_its_owner_has_said_it_or_was_told(reason, faults):
    """The VM of a request that was on its way at that moment, and was lost since, does not come back."""
    world = Setting().world()
    with silenced():
        for command in (c.Submit(kind=c.Kind.SOLO), c.Stop(), c.Pass(seconds=60)):
            world.do(command)
    [job] = world.jobs
    job.over, job.doubtful = "", True
    store, record = world.cloud.store, "solo-0/metadata/attempts/2.json"
    said = {**msgspec.json.decode(store.read(record).data), "reason": reason}
    store.write(record, msgspec.json.encode(said), generation=None)
    assert len(open_ends(world)) == faults
