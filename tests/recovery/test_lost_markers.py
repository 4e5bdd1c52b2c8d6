"""recover_spot over the ports: what its ticks see without a marker, and what ran."""

from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.layout import AttemptRecord, CreateScript, Heartbeat, InstanceId, JobFileName
from spotwarden.model.attempt import AttemptState, Try
from tests.fakes.trouble import conflict, unanswered

OPEN = "spotwarden/open/test-vm.json"


@pytest.fixture
def seen(world):
    """A job that some ticks have seen run."""
    world.settle()
    return world


def test_a_job_that_is_seen_gets_its_first_attempt_a_watch_and_a_record(seen):
    """Without a word from anybody: a VM of its name runs."""
    (first,) = seen.attempts()
    assert (first.number, first.seen, first.instances) == (1, True, seen.ids)
    watch = seen.read(OPEN)
    assert (watch["attempt"], watch["recorded"], watch["instances"]) == (1, True, seen.ids)
    ran = seen.read("test-vm/metadata/launched/1.json")["test-vm"]
    assert ran["instance"]["id"] == seen.first
    assert seen.notices() == []


def test_what_ran_is_written_down_once(seen):
    """Ticks that follow change nothing."""
    before = seen.names("")
    seen.settle()
    assert [name for name in seen.names("") if "/audit/" not in name] == [
        name for name in before if "/audit/" not in name
    ]
    assert seen.done("RecordLaunched") == 1


def test_a_preemption_whose_marker_was_lost_is_seen_by_a_tick(seen):
    """The watch misses the VM, and the log tells."""
    seen.cloud.compute.preempt("test-vm")
    seen.wait(minutes=1)
    seen.sweep_until_quiet()
    assert [attempt.number for attempt in seen.attempts()] == [1, 2]
    assert seen.attempts()[-1].state is AttemptState.RUNNING
    assert len(seen.vms()) == 1


@pytest.mark.parametrize(
    ("call", "about", "failure"),
    [
        ("entries", "^test-vm/metadata/", unanswered(after_work=False)),
        ("write", "^test-vm/metadata/attempts/", unanswered(after_work=False)),
        ("write", "^test-vm/metadata/attempts/", conflict()),
    ],
)
def test_what_a_sweep_saw_and_could_not_write_down_is_seen_by_the_next(seen, call, about, failure):
    """Its owner deleted the VM while no tick came for a quarter of an hour; the job stays stopped."""
    seen.cloud.compute.owner_deletes("test-vm")
    seen.wait(minutes=16)
    seen.cloud.store.trouble.order(call, failure, about=about)
    seen.sweep()
    assert seen.attempts()[-1].state is AttemptState.RUNNING
    seen.wait(minutes=1)
    seen.settle(6)
    assert [attempt.state for attempt in seen.attempts()] == [AttemptState.STOPPED]
    assert seen.vms() == []


@pytest.mark.parametrize("minutes", [2, 60])
def test_what_its_owner_stops_stays_stopped_however_long_it_takes_to_stop(kept, minutes):
    """A graceful shutdown may take an hour; the log that tells of it is read as far back."""
    kept.settle()
    compute = kept.cloud.compute
    compute.vms.take_down(
        compute.vms.named("test-vm"),
        compute.vms.begin("stop", kept.instances()[0], "ada@example.com"),
        timedelta(minutes=minutes),
        remove=False,
    )
    kept.settle(minutes + 5)
    assert [attempt.state for attempt in kept.attempts()] == [AttemptState.STOPPED]


def test_a_new_vm_that_is_lost_before_any_tick_saw_it_is_missed(seen):
    """The ledger names it."""
    seen.preempt()
    seen.sweep_until_quiet()
    seen.cloud.compute.preempt("test-vm")
    seen.wait(minutes=1)
    seen.sweep_until_quiet()
    assert seen.attempts()[-1].number == 3


def test_a_vm_that_was_lost_before_anybody_saw_it_is_started_again(world):
    """On no list and in no ledger: the log of operations tells its name."""
    world.cloud.compute.preempt("test-vm")
    world.wait(minutes=1)
    world.sweep_until_quiet()
    assert world.attempts()[-1].state is AttemptState.RUNNING
    assert len(world.vms()) == 1


@pytest.mark.parametrize("marker", [True, False])
def test_a_vm_that_its_owner_deletes_closes_the_job_and_its_watch(seen, marker):
    """With or without a marker."""
    seen.cloud.compute.owner_deletes("test-vm")
    if marker:
        seen.store("preempted-jobs/test-vm", b"")
    seen.wait(minutes=1)
    seen.sweep_until_quiet()
    assert [attempt.state for attempt in seen.attempts()] == [AttemptState.STOPPED]
    assert seen.vms() == []
    assert OPEN not in seen.names("spotwarden/")
    assert seen.notices() == ["stopped"]


def test_a_job_that_ends_leaves_the_list(seen):
    """Its VM may go; nobody misses it."""
    seen.ended()
    seen.cloud.compute.power_off("test-vm")
    seen.wait(minutes=1)
    seen.sweep_until_quiet()
    assert OPEN not in seen.names("spotwarden/")
    assert [attempt.state for attempt in seen.attempts()] == [AttemptState.ENDED]


def test_a_hidden_zone_loses_no_job(seen):
    """Not seen is not gone, for as long as it takes."""
    seen.cloud.compute.hide("us-central1-a")
    seen.settle(10)
    seen.cloud.compute.show("us-central1-a")
    seen.sweep_until_quiet()
    assert len(seen.attempts()) == 1
    assert seen.vms() == [seen.first]


def test_a_job_whose_script_was_never_stored_comes_back_from_what_ran(world):
    """Machine, metadata values and all; its registration makes the VM the job's."""
    name = world.layout.build(CreateScript(job="test-vm"))
    world.cloud.store.delete(name, generation=world.cloud.store.read(name).generation)
    world.settle()
    world.preempt()
    world.sweep_until_quiet()
    (attempt,) = [one for one in world.attempts() if one.number == 2]
    assert attempt.state is AttemptState.RUNNING
    assert attempt.script is None
    world.settle()
    first, second = (world.read(f"test-vm/metadata/launched/{n}.json")["test-vm"]["instance"] for n in (1, 2))
    assert second["machineType"] == first["machineType"]
    items = {one["key"]: one["value"] for one in second["metadata"]["items"]}
    assert items["startup-script"] == "true"


@pytest.mark.parametrize("registered", [True, False])
def test_a_launch_without_a_script_that_was_lost_unseen_is_the_jobs_if_it_registered(world, registered):
    """By its id it is; by its name alone it is anybody's, and the job stays closed."""
    name = world.layout.build(CreateScript(job="test-vm"))
    world.cloud.store.delete(name, generation=world.cloud.store.read(name).generation)
    world.settle()
    world.cloud.compute.owner_deletes("test-vm")
    world.wait(minutes=1)
    world.sweep_until_quiet()
    (again,) = world.launch_by_hand().values()
    if registered:
        world.store(InstanceId(job="test-vm", node="test-vm"), again.encode())
    world.wait(seconds=30)
    world.cloud.compute.fail_host("test-vm")
    world.wait(seconds=30)
    world.settle(6)
    assert (len(world.vms()), world.attempts()[-1].number) == ((1, 3) if registered else (0, 1))


def test_a_vm_of_a_folders_name_is_no_job(world):
    """Neither a script nor its registered id: it is left alone, and so is its loss."""
    for thing in (CreateScript(job="test-vm"), InstanceId(job="test-vm", node="test-vm")):
        name = world.layout.build(thing)
        world.cloud.store.delete(name, generation=world.cloud.store.read(name).generation)
    world.store(Heartbeat(job="test-vm", node="test-vm"), b"")
    world.settle()
    assert world.attempts() == []
    world.cloud.compute.preempt("test-vm")
    world.settle()
    assert world.vms() == []


def test_a_script_that_differs_from_what_runs_is_told_once(world):
    """At once, and not at each tick; a restart follows the script."""
    script = world.cloud.store.read("test-vm/metadata/create-instance.sh").data
    world.store(CreateScript(job="test-vm"), script.replace(b"g2-standard-4", b"g2-standard-8"))
    world.settle()
    assert world.notices() == ["script_differs"]
    told = msgspec.json.decode(world.cloud.notices.messages[0].data)
    assert "g2-standard-8" in told["why"]


def test_a_job_launched_again_after_its_end_lives_again(seen):
    """Its status is gone with the new launch; the ledger goes on counting."""
    seen.cloud.compute.owner_deletes("test-vm")
    seen.wait(minutes=1)
    seen.sweep_until_quiet()
    (again,) = seen.launch_by_hand().values()
    seen.wait(minutes=5)
    seen.settle()
    assert (seen.attempts()[-1].number, seen.attempts()[-1].instances) == (3, {"test-vm": again})
    seen.preempt()
    seen.sweep_until_quiet()
    assert seen.attempts()[-1].number == 4


@pytest.mark.parametrize("again", [True, False])
def test_a_job_launched_again_before_its_end_was_written_down_lives_again(seen, again):
    """What is taken after the record's own request is another launch, however late the record is."""
    if not again:
        seen.cloud.compute.preempt("test-vm")
    else:
        seen.cloud.compute.owner_deletes("test-vm")
        seen.wait(minutes=1)
        seen.launch_by_hand()
        seen.wait(minutes=1)
        seen.cloud.compute.preempt("test-vm")
    seen.wait(minutes=1)
    (first,) = seen.attempts()
    asked = Try(place="us-central1-a", request_id="r-1", at=first.created)
    closed = replace(first, state=AttemptState.STOPPED, started=seen.cloud.clock.now(), tries=(asked,))
    seen.store(seen.layout.build(AttemptRecord(job="test-vm", attempt=1)), msgspec.json.encode(closed))
    seen.settle(6)
    assert bool(seen.vms()) is again


def test_a_job_that_has_had_its_restarts_is_given_up_with_all_that_a_person_needs(seen):
    """Last place, last checkpoint, and the command to resume."""
    seen.store(JobFileName(job="test-vm"), b"max_preemptions = 1\n")
    seen.store(Heartbeat(job="test-vm", node="test-vm"), b'{"step": 5, "checkpoint": "output/ck-5"}')
    for _ in range(2):
        seen.preempt()
        seen.sweep_until_quiet()
        seen.wait(minutes=10)
    assert seen.vms() == []
    assert seen.attempts()[-1].state is AttemptState.GAVE_UP
    assert seen.notices() == ["recovered", "gave_up"]
    told = msgspec.json.decode(seen.cloud.notices.messages[-1].data)
    assert told["evidence"]["last_checkpoint"] == "output/ck-5"
    assert "spotwarden restart" in told["todo"]
