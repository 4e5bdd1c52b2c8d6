"""Which attempt a status ends: what its writer has put beside it, and when it came."""

from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.layout import AttemptRecord
from spotwarden.model.attempt import AttemptState
from spotwarden.recovery.folder.job_folder import look_at_job, read_status
from spotwarden.recovery.folder.status_code import attempt_in, code_in, is_late
from tests.fakes.store import MemoryStore
from tests.recovery.facts import NOW, attempt

SECOND = timedelta(seconds=1)
SECOND_ATTEMPT = attempt(2, created=NOW, instances={"test-vm": "2002"}).attempt


def late(at=NOW + SECOND, newest=SECOND_ATTEMPT, **metadata):
    """Whether a status is late that came a second after the second attempt was claimed."""
    return is_late(metadata, at, newest)


def test_of_an_attempt_before_the_newest_it_is_late():
    """It tells how another VM has ended, not how this one does."""
    assert late(attempt="1", instance_id="1001")


@pytest.mark.parametrize("number", ["2", "3"])
def test_of_the_newest_attempt_or_one_that_is_not_on_record_yet_it_is_not(number):
    """A launch by hand knows its number before the ledger does."""
    assert not late(attempt=number, instance_id="2002")


@pytest.mark.parametrize("metadata", [{}, {"attempt": ""}, {"attempt": "one"}, {"instance_id": "1001"}])
def test_what_names_no_attempt_is_taken_for_the_newest(metadata):
    """So is what a script of its developer's own writes."""
    assert not late(**metadata)


@pytest.mark.parametrize("text", ["0", "-1", "01", "1 ", "1.0", "\u0661", "9" * 10])
def test_what_is_no_number_of_an_attempt_names_none(text):
    """Whoever writes the status writes this, too."""
    assert attempt_in({"attempt": text}) is None
    assert attempt_in({"attempt": "9" * 9}) == 999_999_999


@pytest.mark.parametrize(("after", "is_so"), [(-SECOND, False), (0 * SECOND, False), (SECOND, True)])
def test_one_that_came_before_the_claim_is_the_jobs_end(after, is_so):
    """The sweep that claimed had looked before it was written."""
    assert late(at=NOW + after, attempt="1") is is_so


def test_one_of_two_attempts_ago_is_late_whenever_it_came():
    """The one between has gone on since."""
    third = attempt(3, created=NOW, instances={"test-vm": "3003"}).attempt
    assert late(at=NOW - SECOND, newest=third, attempt="1")
    assert not late(at=NOW - SECOND, newest=third, attempt="2")


def test_one_of_a_vm_that_the_newest_has_as_its_own_is_not_late():
    """A VM that was started again in its place may not know its new number."""
    assert not late(attempt="1", instance_id="2002")


@pytest.mark.parametrize(
    ("planned", "there"), [("spot is cheaper", False), ("spot is cheaper", True), ("", False)]
)
def test_one_of_a_vm_that_was_to_be_moved_is_not_late_until_another_has_taken_over(planned, there):
    """Its program has ended where it ran: nothing is left to be moved."""
    moved = replace(
        SECOND_ATTEMPT,
        planned=planned,
        replaces={"test-vm": "1001"},
        instances={"test-vm": "2002"} if there else {},
    )
    assert late(newest=moved, attempt="1", instance_id="1001") is (there or not planned)
    assert late(newest=moved, attempt="1", instance_id="9999")


@pytest.mark.parametrize(
    ("facts", "is_so"),
    [
        ({}, False),
        ({"instances": {"test-vm": "2002"}}, True),
        ({"early": True}, True),
        ({"lost": None}, True),
        ({"replaces": {"test-vm": "1001", "other": "1002"}}, True),
    ],
)
def test_one_of_a_vm_that_was_down_and_that_somebody_has_started_is_not_late(facts, is_so):
    """Its owner was first; not where it may have run on, nor once another VM has taken over."""
    claimed = replace(SECOND_ATTEMPT, instances={}, replaces={"test-vm": "1001"}, lost=NOW)
    assert late(newest=replace(claimed, **facts), attempt="1", instance_id="1001") is is_so
    assert late(newest=replace(claimed, **facts), attempt="1", instance_id="9999")


def test_without_any_attempt_on_record_nothing_is_late():
    """There is none that it could have come too late for."""
    assert not late(newest=None, attempt="1")


@pytest.fixture
def again(world):
    """A job whose second attempt runs."""
    world.settle()
    world.preempt()
    world.settle()
    assert states(world)[-1] is AttemptState.RUNNING
    assert len(world.vms()) == 1
    return world


def states(world):
    """The states of all attempts, oldest first."""
    return [record.state for record in world.attempts()]


@pytest.mark.parametrize("code", ["0", "1"])
def test_a_late_status_of_an_attempt_before_does_not_keep_a_job_from_coming_back(again, code):
    """The VM of attempt 1 writes how it ended while attempt 2 runs, and that one is preempted later."""
    newest = again.attempts()[-1]
    again.ended(code, attempt=str(newest.number - 1), instance_id=newest.replaces["test-vm"])
    again.wait(minutes=20)
    again.preempt()
    again.settle(6)
    last = again.attempts()[-1]
    assert (last.number, last.state) == (newest.number + 1, AttemptState.RUNNING)
    assert len(again.vms()) == 1
    assert "end_doubted" not in again.notices()


@pytest.mark.parametrize("metadata", [{"attempt": "2"}, {}])
def test_a_status_of_the_attempt_that_runs_ends_the_job(again, metadata):
    """And so does one that nobody has put anything beside, as before."""
    again.ended("0", **metadata)
    again.preempt()
    again.settle(6)
    assert states(again)[-1] is AttemptState.ENDED
    assert again.vms() == []


def test_after_a_stop_the_status_of_the_attempt_that_was_stopped_is_not_late(again):
    """A stop is a record of its own, and no attempt that could be meant instead."""
    newest = again.attempts()[-1]
    stop = replace(
        newest,
        number=newest.number + 1,
        state=AttemptState.STOPPED,
        instances={},
        tries=(),
        created=again.cloud.clock.now(),
    )
    again.store(AttemptRecord(job="test-vm", attempt=stop.number), msgspec.json.encode(stop))
    again.wait(seconds=1)
    again.ended("0", attempt=str(newest.number))
    assert look_at_job(again.cloud.store, again.layout, "test-vm").status_code == "0"
    again.ended("0", attempt=str(newest.number - 1))
    assert look_at_job(again.cloud.store, again.layout, "test-vm").status_code is None


def test_one_that_cannot_be_read_is_a_status_with_its_metadata():
    """Nobody needs to read it to know that the job has ended, and which attempt."""
    store = MemoryStore()
    store.put("status-code", b"0" * 5_000_000, {"attempt": "1"})
    found = read_status(store, "status-code")
    assert (found.data, found.metadata, found.updated) == (b"unreadable", {"attempt": "1"}, store.clock.now())
    assert found.generation == store.entry("status-code").generation
    assert read_status(store, "another") is None


def test_a_status_is_told_on_one_line_and_cut():
    """A program may write its whole traceback."""
    assert code_in(b" 137\n") == "137"
    assert code_in(b"failed:\n  no space\xff" + b"x" * 5_000) == "failed: no space\ufffd" + "x" * 83
