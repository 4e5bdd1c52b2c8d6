"""A request that is on record and not answered: it may still be sent, until the lease of its sweep ends."""

from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace

from spotwarden.layout import AttemptRecord
from spotwarden.model.attempt import Attempt, AttemptState, Lease, Try
from spotwarden.recovery.folder.job_folder import look_at_job
from spotwarden.recovery.submission import unsent_until
from tests.fakes.world import load
from tests.recovery.typed_commands import JOB, Typed

MINUTE = timedelta(minutes=1)


@pytest.fixture(scope="session")
def reap():
    """functions/reap_vms/main.py."""
    return load("reap_vms")


@pytest.fixture
def slow(monkeypatch, tmp_path, recover, reap):
    """A job whose VM is gone, and a sweep that has written down its next request and stands still."""
    world = Typed(monkeypatch, tmp_path, recover, reap)
    world.launched()
    world.preempt()
    world.wait(minutes=1)
    now = world.cloud.clock.now()
    written = Attempt(
        job=JOB,
        number=2,
        state=AttemptState.PLACING,
        created=now,
        updated=now,
        lost=now - MINUTE,
        replaces=world.attempts()[-1].instances,
        lease=Lease(holder="a sweep", until=now + 5 * MINUTE),
        tries=(Try(place="us-central1-a", request_id="00000000-0000-4000-8000-000000000002", at=now),),
    )
    world.store(AttemptRecord(job=JOB, attempt=2), msgspec.json.encode(written))
    return world


def test_a_stop_waits_until_it_cannot_be_sent_any_more(slow):
    """Its job is closed at once; then nothing can come that nobody stops."""
    until = slow.attempts()[-1].lease.until
    said = slow.type("stop", JOB, "--yes")
    assert said.exit_code == 0
    assert f"may still be sent until {until:%H:%M:%S} UTC" in said.output
    assert until <= slow.cloud.clock.now() <= until + MINUTE
    assert slow.type("submit", str(slow.script), "--again").exit_code == 0


def test_a_new_attempt_is_refused_until_then(slow):
    """Somebody has written a status, which makes the job one that is over; both VMs would run."""
    slow.ended("0")
    said = slow.type("submit", str(slow.script), "--again")
    assert said.exit_code == 1
    assert "may still be sent until" in said.output
    slow.wait(minutes=6)
    assert slow.type("submit", str(slow.script), "--again").exit_code == 0


@pytest.mark.parametrize(
    ("told", "waits"),
    [
        ({}, True),
        ({"operation": "operation-1"}, False),
        ({"error": "quotaExceeded"}, False),
    ],
)
def test_one_that_was_answered_is_not_waited_for(slow, told, waits):
    """Compute Engine shows then what came of it."""
    facts = look_at_job(slow.cloud.store, slow.layout, JOB)
    now = slow.cloud.clock.now()
    newest = facts.ledger[-1]
    answered = replace(newest.attempt, tries=(replace(newest.attempt.tries[-1], **told),))
    facts = replace(facts, ledger=(*facts.ledger[:-1], replace(newest, attempt=answered)))
    assert (unsent_until(facts, now) is not None) is waits
    assert unsent_until(facts, now + 5 * MINUTE) is None
