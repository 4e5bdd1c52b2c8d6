"""recover_spot over the ports: make before break."""

import pytest

from spotwarden.layout import JobFileName
from spotwarden.model.attempt import AttemptState
from tests.fakes.world import GANG, SCRIPT, World

WIDE = SCRIPT.replace(
    b"create test-vm --zone=us-central1-a", b"bulk create --predefined-names=test-vm --region=us-central1"
)


@pytest.fixture(params=[SCRIPT, WIDE], ids=["zone", "region"])
def announced(new_world, request):
    """A job that wants its successor early, whose VM was told that it will be taken.

    Its script names a zone, or leaves that to Compute Engine.
    """
    world = new_world(script=request.param)
    world.store(JobFileName(job="test-vm"), b"handover = true\n")
    world.cloud.compute.give_notice("test-vm")
    world.settle()
    world.store("preempted-jobs/test-vm", f'{{"instance_id": "{world.first}", "early": true}}'.encode())
    return world


def of_ours(world):
    """The attempts that we made."""
    return [one for one in world.attempts() if not one.seen]


def test_the_successor_runs_before_the_old_vm_is_taken(announced):
    """In another zone, with a new id; the announcement has its answer."""
    announced.sweep_until_quiet()
    (attempt,) = of_ours(announced)
    assert (attempt.state, attempt.early) == (AttemptState.RUNNING, True)
    assert {one.zone for one in announced.instances()} == {"us-central1-a", "us-central1-b"}
    assert announced.names("preempted-jobs/") == []


@pytest.mark.parametrize(
    "body", ["", '{{"instance_id": "{}"}}'], ids=["an empty marker", "a marker that names it"]
)
def test_the_old_vms_end_is_no_second_loss(announced, body):
    """Its shutdown writes another marker, which brings nothing back."""
    announced.sweep_until_quiet()
    announced.cloud.compute.preempt(announced.first)
    announced.store("preempted-jobs/test-vm", body.format(announced.first).encode())
    announced.wait(minutes=1)
    announced.settle(10)
    (attempt,) = of_ours(announced)
    assert announced.vms() == list(attempt.instances.values())
    assert announced.names("preempted-jobs/") == []


def test_a_successor_that_is_taken_as_well_comes_back(announced):
    """Attempt 3 answers the loss of attempt 2."""
    announced.sweep_until_quiet()
    announced.cloud.compute.preempt(announced.first)
    announced.wait(minutes=5)
    announced.preempt()
    announced.sweep_until_quiet()
    assert [one.number for one in of_ours(announced)] == [2, 3]
    assert announced.vms() == list(announced.attempts()[-1].instances.values())


@pytest.fixture
def told(recover):
    """A gang that asks for notices, of which a node was told that it will be taken."""
    gang = World(recover, "gang", GANG.replace(b"--metadata=", b"--metadata=spotwarden-early=1,"))
    gang.cloud.compute.give_notice("gang-1")
    gang.cloud.compute.give_notice("gang-2")
    gang.settle()
    said = f'{{"job": "gang", "instance_id": "{gang.ids["gang-1"]}", "early": true}}'
    gang.store("preempted-jobs/gang-1", said.encode())
    return gang


def test_nothing_is_begun_beside_a_gang_that_still_runs(told):
    """Its nodes save and stop together; what is told in vain leaves nothing behind."""
    told.settle(6)
    assert of_ours(told) == []
    assert sorted(told.vms()) == sorted(told.ids.values())
    assert told.names("preempted-jobs/") == []


def test_a_gang_is_made_anew_as_a_whole_once_the_node_is_gone(told):
    """One attempt, which no longer runs beside what it replaces."""
    told.sweep()
    told.wait(minutes=2)
    told.cloud.compute.preempt("gang-1")
    told.store("preempted-jobs/gang-1", f'{{"instance_id": "{told.ids["gang-1"]}"}}'.encode())
    told.sweep_until_quiet()
    (attempt,) = of_ours(told)
    assert (attempt.state, attempt.early, attempt.replaces) == (AttemptState.RUNNING, False, told.ids)
    assert sorted(told.vms()) == sorted(attempt.instances.values())
    assert not set(told.vms()) & set(told.ids.values())


def test_a_job_that_did_not_ask_for_it_gets_no_second_vm(world):
    """Its marker is cleared once it has settled: the VM lives."""
    world.settle()
    world.store("preempted-jobs/test-vm", b'{"early": true}')
    world.settle(6)
    assert of_ours(world) == []
    assert world.vms() == [world.first]
    assert world.names("preempted-jobs/") == []


def test_a_vm_that_compute_engine_gives_no_notice_gets_no_successor(world):
    """Whoever wrote the marker: it is cleared once the VM has settled."""
    world.store(JobFileName(job="test-vm"), b"handover = true\n")
    world.settle()
    world.store("preempted-jobs/test-vm", f'{{"instance_id": "{world.first}", "early": true}}'.encode())
    world.settle(6)
    assert of_ours(world) == []
    assert world.vms() == [world.first]
    assert world.names("preempted-jobs/") == []


def test_one_attempt_is_announced_once_however_often_its_marker_is_written(announced):
    """And while it runs beside its successor, that one is not announced either."""
    announced.sweep_until_quiet()
    (attempt,) = of_ours(announced)
    announced.cloud.compute.give_notice(attempt.instances["test-vm"])
    for instance_id in (announced.first, attempt.instances["test-vm"], ""):
        announced.store(
            "preempted-jobs/test-vm", f'{{"instance_id": "{instance_id}", "early": true}}'.encode()
        )
        announced.settle(5)
    assert [one.number for one in of_ours(announced)] == [attempt.number]
    assert len(announced.vms()) == len(["the first", "its successor"])


JOB_ACCOUNT = "job@p.iam.gserviceaccount.com"


def test_a_vm_that_was_not_taken_and_goes_by_itself_stops_nothing(announced):
    """Its job kit deletes it once the successor runs; what is announced after that is believed again."""
    announced.sweep_until_quiet()
    (successor,) = of_ours(announced)[0].instances.values()
    announced.cloud.compute.owner_deletes(announced.first, user=JOB_ACCOUNT)
    announced.wait(minutes=1)
    announced.sweep_until_quiet()
    assert (announced.vms(), announced.attempts()[-1].state) == ([successor], AttemptState.RUNNING)
    announced.store("preempted-jobs/test-vm", f'{{"instance_id": "{successor}", "early": true}}'.encode())
    announced.cloud.compute.give_notice("test-vm")
    announced.sweep_until_quiet()
    assert [(one.number, one.early) for one in of_ours(announced)] == [(2, True), (3, True)]
    assert len(announced.vms()) == len(["the successor", "the one after it"])


@pytest.mark.parametrize("late", [True, False])
def test_an_owner_who_deletes_what_still_runs_beside_a_lost_successor_stops_the_job(announced, late):
    """It was all that was left; while the successor ran it was only tidied up."""
    announced.sweep_until_quiet()
    (successor,) = of_ours(announced)[0].instances.values()
    ends = [
        lambda: announced.cloud.compute.preempt(successor),
        lambda: announced.cloud.compute.owner_deletes(announced.first),
    ]
    for end in ends if late else reversed(ends):
        end()
        announced.wait(seconds=1)
    announced.wait(minutes=1)
    announced.sweep_until_quiet()
    assert announced.attempts()[-1].state is (AttemptState.STOPPED if late else AttemptState.RUNNING)
    assert bool(announced.vms()) is not late
