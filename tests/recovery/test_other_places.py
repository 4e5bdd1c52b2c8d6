"""recover_spot over the ports: where a job comes back when home has nothing, and VMs that are stopped."""

import pytest

from spotwarden.layout import JobFileName
from spotwarden.model.attempt import AttemptState, TryKind
from tests.fakes.trouble import rejected

A, B, C = "us-central1-a", "us-central1-b", "us-central1-c"


def zones(world):
    """Where the VMs are that run."""
    return [one.zone for one in world.instances() if one.status.value == "RUNNING"]


def test_a_stockout_at_home_is_no_wait(world):
    """Another zone of the region gives what home has not, and the record names both tries."""
    world.cloud.compute.stock_out(A)
    world.preempt()
    world.sweep_until_quiet()
    (attempt,) = world.attempts()
    assert zones(world) == [B]
    assert [one.place for one in attempt.tries] == [A, B]
    assert attempt.state is AttemptState.RUNNING


def test_what_a_place_did_is_remembered_for_the_next_job(world):
    """The stockout at home, what was given elsewhere, and the preemption before."""
    world.cloud.compute.stock_out(A)
    world.preempt()
    world.sweep_until_quiet()
    availability = world.read("spotwarden/placement/g2-standard-4.json")["availability"]
    assert availability[A]["out"]
    assert availability[A]["taken"]
    assert availability[B]["given"]


def test_the_next_restart_does_not_ask_a_blocked_home_first(world):
    """It had none a minute ago."""
    world.cloud.compute.stock_out(A)
    world.preempt()
    world.sweep_until_quiet()
    world.preempt()
    world.sweep_until_quiet()
    assert A not in [one.place for one in world.attempts()[-1].tries]


def test_a_zone_that_does_not_offer_the_machine_is_not_asked(world):
    """Whatever else it has."""
    world.cloud.compute.offer("g2-standard-4", [A, C])
    world.cloud.compute.stock_out(A)
    world.preempt()
    world.sweep_until_quiet()
    assert zones(world) == [C]


@pytest.mark.parametrize("words", ["places = []", 'places = ["us-central1-c"]'])
def test_a_job_goes_only_where_it_says(world, words):
    """An empty list keeps it at home; a list of its own is the list."""
    world.store(JobFileName(job="test-vm"), words.encode())
    world.cloud.compute.stock_out(A)
    world.preempt()
    for _ in range(12):
        world.sweep()
        world.wait(seconds=10)
    assert zones(world) == ([C] if "central" in words else [])


def test_a_job_file_that_cannot_be_read_is_told_and_sets_nothing(world):
    """The policy's limits hold, and the job comes back."""
    world.store(JobFileName(job="test-vm"), b"max_restarts = 'many'")
    world.preempt()
    world.sweep_until_quiet()
    assert world.attempts()[-1].state is AttemptState.RUNNING


def test_when_no_zone_has_room_the_job_waits_and_comes_back(world):
    """Every place is asked once, then it backs off; the first room ends it."""
    for zone in (A, B, C):
        world.cloud.compute.stock_out(zone)
    world.preempt()
    for _ in range(12):
        world.sweep()
        world.wait(seconds=10)
    waiting = world.attempts()[-1]
    assert {one.place for one in waiting.tries} == {A, B, C}
    world.cloud.compute.restock(B)
    world.sweep_until_quiet(limit=300)
    assert zones(world) == [B]


def test_a_lasting_refusal_of_every_zone_is_given_up(world):
    """A person is told why."""
    world.cloud.compute.trouble.order("launch", rejected("badRequest", "no such field"), times=9)
    world.preempt()
    world.sweep_until_quiet()
    assert world.attempts()[-1].state is AttemptState.GAVE_UP
    assert len(world.attempts()[-1].tries) == 3
    assert world.notices() == ["gave_up"]


def test_a_stopped_vm_is_started_in_place(kept):
    """The same id, one VM, and its marker gone."""
    kept.preempt()
    kept.sweep_until_quiet()
    (attempt,) = kept.attempts()
    assert (attempt.state, attempt.instances) == (AttemptState.RUNNING, kept.ids)
    assert [one.kind for one in attempt.tries] == [TryKind.START]
    assert kept.vms() == [kept.first]
    assert kept.names("preempted-jobs/") == []


def test_a_stopped_vm_is_started_again_and_again(kept):
    """Each preemption of the same id is an attempt of its own."""
    for _ in range(3):
        kept.preempt()
        kept.sweep_until_quiet()
        kept.wait(minutes=10)
    assert [attempt.number for attempt in kept.attempts()] == [2, 3, 4]
    assert zones(kept) == [A]
    assert kept.done("StartInstance") == 3


def test_a_stopped_vm_whose_zone_has_no_room_comes_back_elsewhere(kept):
    """The old one stays as it is, stopped: its disk may hold what nobody else has."""
    kept.cloud.compute.stock_out(A)
    kept.preempt()
    kept.sweep_until_quiet()
    (attempt,) = kept.attempts()
    assert [(one.kind, one.place) for one in attempt.tries] == [(TryKind.START, A), (TryKind.CREATE, B)]
    assert zones(kept) == [B]
    assert len(kept.vms()) == 2


def test_a_job_that_moved_is_started_where_it_is_now(kept):
    """Not where its first VM still stands, stopped."""
    kept.cloud.compute.stock_out(A)
    kept.preempt()
    kept.sweep_until_quiet()
    kept.cloud.compute.restock(A)
    kept.wait(minutes=10)
    kept.cloud.compute.preempt(kept.attempts()[-1].instances["test-vm"])
    kept.store("preempted-jobs/test-vm", b"")
    kept.sweep_until_quiet()
    assert zones(kept) == [B]
    assert [one.kind for one in kept.attempts()[-1].tries] == [TryKind.START]


def test_a_vm_that_its_owner_stopped_is_not_started(kept):
    """Whatever its marker says."""
    kept.cloud.compute.owner_stops("test-vm")
    kept.store("preempted-jobs/test-vm", b"")
    kept.sweep_until_quiet()
    assert zones(kept) == []
    assert [attempt.state for attempt in kept.attempts()] == [AttemptState.STOPPED]


def test_a_vm_that_its_owner_starts_while_the_job_waits_is_taken_as_it_runs(kept):
    """No zone has room, and by hand it goes."""
    for zone in (A, B, C):
        kept.cloud.compute.stock_out(zone)
    kept.preempt()
    for _ in range(9):
        kept.sweep()
        kept.wait(seconds=10)
    assert kept.attempts()[-1].state is AttemptState.BACKING_OFF
    kept.cloud.compute.restock(A)
    kept.cloud.compute.start(A, kept.first, "by-hand")
    kept.wait(minutes=1)
    kept.cloud.compute.stock_out(A)
    kept.sweep_until_quiet()
    assert (kept.attempts()[-1].state, kept.attempts()[-1].instances) == (AttemptState.RUNNING, kept.ids)
    assert kept.vms() == [kept.first]


def test_a_job_that_is_forbidden_for_some_minutes_comes_back(world):
    """Ops are told once, and nobody that it is given up."""
    world.cloud.compute.forbid()
    world.preempt()
    for _ in range(20):
        world.sweep()
        world.wait(minutes=1)
    assert (world.attempts()[-1].state, world.notices()) == (AttemptState.BACKING_OFF, ["launch_failing"])
    world.cloud.compute.forbid(forbidden=False)
    world.wait(minutes=15)
    world.sweep_until_quiet()
    assert world.attempts()[-1].state is AttemptState.RUNNING
    assert world.notices() == ["launch_failing", "recovered"]
