"""`spotwarden show`: its line `next` promises only what will happen."""

from datetime import timedelta

import msgspec
import pytest

from spotwarden import clock
from spotwarden.cli.looking import show as command
from spotwarden.cli.main import main
from spotwarden.layout import AvoidedZones, CreateScript, JobFileName, OpenJob, SweepTurn
from spotwarden.model.attempt import AttemptState, Lease, Removal, Try
from spotwarden.model.placement import AvoidedPlace, AvoidedPlaces
from spotwarden.model.slices import SliceGroup
from spotwarden.model.watch import Watch
from tests.cli.logged import JOB, Speaker


@pytest.fixture
def speaker(monkeypatch) -> Speaker:
    """A job without attempts yet; the command's clock is its cloud's."""
    speaker = Speaker()
    monkeypatch.setattr(clock, "now", speaker.cloud.clock.now)
    monkeypatch.setattr(command, "open_context", lambda: speaker.context)
    return speaker


@pytest.fixture
def run(speaker, capsys):
    """Run `spotwarden show train …` and give its output."""

    def run(*words: str) -> str:
        main(["show", JOB, *words], standalone_mode=False)
        return capsys.readouterr().out

    return run


def said(page: str, word: str) -> list[str]:
    """What stands behind a word of the page."""
    lines = (line.strip().partition(" ") for line in page.splitlines()[1:])
    return [rest.strip() for first, _, rest in lines if first == word]


@pytest.mark.parametrize(
    ("state", "step"),
    [
        (AttemptState.STOPPED, "`spotwarden restart train` resumes it"),
        (AttemptState.GAVE_UP, "`spotwarden restart train` resumes it"),
    ],
)
def test_the_next_step_fits_how_the_job_stands(speaker, run, state, step):
    """A command that can be copied, or nothing to do."""
    speaker.attempt(2, state=state)
    assert said(run(), "next") == [step]


@pytest.mark.parametrize(("code", "words"), [("0", "download train"), ("1", "restart train")])
def test_the_next_step_of_a_job_that_ended(speaker, run, code, words):
    """Its output, or what went wrong."""
    speaker.attempt(1)
    speaker.end(code)
    assert words in said(run(), "next")[0]


def test_a_vm_that_outlives_the_end_of_its_job_is_told_of(speaker, run):
    """It deletes itself within minutes, unless somebody else wrote the status, or --keep-vm keeps it."""
    speaker.attempt(1)
    speaker.up("11")
    speaker.end("0")
    speaker.wait(300)
    assert said(run(), "next") == ["`spotwarden download train` fetches its output"]
    speaker.wait(1)
    (step,) = said(run(), "next")
    assert step.startswith("train still runs, though the job has ended. `spotwarden stop train` stops it")


def waiting(speaker, number=1, **attempt):
    """A job that waits, on the list of open jobs, and recovery that has just looked."""
    speaker.attempt(number, **attempt)
    speaker.put(OpenJob(job=JOB), msgspec.json.encode(Watch(job=JOB, attempt=number)))
    speaker.put(SweepTurn(function="recover_spot"), "{}")


def take_away(speaker, thing):
    """Delete an object of the bucket."""
    name = speaker.layout.build(thing)
    speaker.cloud.store.delete(name, generation=speaker.cloud.store.read(name).generation)


def test_a_wait_says_until_when(speaker, run):
    """The moment of the next try; where nobody has to wait, the next tick."""
    later = speaker.cloud.clock.now() + timedelta(minutes=4)
    waiting(speaker, state=AttemptState.BACKING_OFF, not_before=later)
    assert said(run(), "next") == ["no action needed: Spotwarden continues it at 09:04:00 UTC"]
    waiting(speaker, state=AttemptState.PLACING)
    assert said(run(), "next") == ["no action needed: Spotwarden continues it within a minute"]
    speaker.wait(299)
    assert "Spotwarden continues it" in said(run(), "next")[0]


@pytest.mark.parametrize(("zone", "waits"), [("us-central1-a", True), ("us-central1-b", False)])
def test_a_job_that_waits_for_a_name_says_who_has_it(speaker, run, zone, waits):
    """Nobody but that VM's owner can free it; one in a zone that the job does not ask for is no matter."""
    speaker.put(CreateScript(job=JOB), "gcloud compute instances create train --zone=us-central1-a\n")
    speaker.put(JobFileName(job=JOB), "places = []\n")
    waiting(speaker, state=AttemptState.BACKING_OFF, tries=())
    speaker.up("9", zone)
    (step,) = said(run(), "next")
    assert (
        step.startswith("VM train in us-central1-a (ID 9, RUNNING) has the name, and it is not one") is waits
    )
    assert ("once the name is free" in step) is waits
    assert ("no action needed" in step) is not waits


def test_a_claim_waits_for_its_lease(speaker, run):
    """Whoever was interrupted may have left one."""
    until = speaker.cloud.clock.now() + timedelta(minutes=5)
    waiting(speaker, state=AttemptState.CLAIMED, lease=Lease(holder="x", until=until))
    assert said(run(), "next") == ["no action needed: Spotwarden continues it at 09:05:00 UTC"]


def test_nothing_is_promised_where_nobody_looks(speaker, run):
    """Recovery that never ran, or has not for five minutes, brings nothing back by itself."""
    waiting(speaker, state=AttemptState.PLACING)
    speaker.wait(301)
    (step,) = said(run(), "next")
    assert step.startswith("recovery hasn't run since 2026-01-05 09:00:00 UTC; nothing continues it")
    take_away(speaker, SweepTurn(function="recover_spot"))
    assert said(run(), "next")[0].startswith("recovery hasn't run yet")


def test_an_attempt_that_nobody_watches_is_said_to_wait_for_a_person(speaker, run):
    """Without an entry among the open jobs no sweep finds it."""
    waiting(speaker, state=AttemptState.CLAIMED)
    take_away(speaker, OpenJob(job=JOB))
    (step,) = said(run(), "next")
    assert "nothing continues it" in step
    assert "`spotwarden stop train`" in step


def test_a_launch_that_was_begun_is_not_said_to_be_queued(speaker, run):
    """The script is stored, the entry is there, the record is not: the command was interrupted."""
    speaker.put(CreateScript(job=JOB), "true")
    speaker.put(OpenJob(job=JOB), msgspec.json.encode(Watch(job=JOB, attempt=1)))
    page = run()
    assert page.splitlines()[0].startswith("train: unknown")
    (step,) = said(page, "next")
    assert "attempt 1 is being launched and is not on record yet" in step
    assert "From 09:10:00 UTC on the job counts as stopped" in step


def test_a_job_whose_vm_is_gone_is_brought_back_unless_somebody_stopped_it(speaker, run):
    """More is not known before the operation log has been read."""
    waiting(speaker, 2, state=AttemptState.RUNNING)
    assert said(run(), "next")[0].startswith(
        "no action needed: Spotwarden checks it every minute and restarts it, unless"
    )


def test_a_job_that_waits_names_the_zones_that_are_avoided(speaker, run):
    """Until when and why; of one that runs they are not worth a call."""
    until = speaker.cloud.clock.now() + timedelta(hours=6)
    place = AvoidedPlace(zone="us-central1-a", until=until, reason="host errors")
    data = msgspec.json.encode(AvoidedPlaces(places=(place,)))
    speaker.context.cloud.store.write(
        speaker.context.settings.layout.build(AvoidedZones()), data, generation=0
    )
    speaker.attempt(1, state=AttemptState.BACKING_OFF)
    (line,) = said(run(), "avoids")
    assert line == f"us-central1-a until {until:%Y-%m-%d %H:%M} UTC (host errors)"
    speaker.end("0")
    assert said(run(), "avoids") == []


def test_a_closed_job_says_who_ended_it_and_what_stops_a_vm_that_is_left(speaker, run):
    """A restart would do nothing beside it."""
    speaker.attempt(1, instances={JOB: "17"})
    speaker.up("17")
    speaker.attempt(2, state=AttemptState.STOPPED, reason="stopped by bob@x.org", replaces={JOB: "17"})
    page = run()
    assert said(page, "ended")[0].endswith(" UTC, stopped by bob@x.org")
    assert said(page, "next") == ["`spotwarden stop train` stops train, still running; then restart it"]


def test_a_slice_that_lacks_a_vm_is_said_to_be_over_soon(speaker, run):
    """Its other VMs run, and can't go on."""
    now = speaker.cloud.clock.now()
    made = Try(place="us-central1-a", request_id="r", at=now, group=SliceGroup(name="g", id="7"))
    removed = {"b": Removal(instance_id="12", operation="op", kind="delete", user="ada", at=now)}
    speaker.attempt(1, "a", "b", tries=(made,), removed=removed)
    speaker.up("11")
    page = run()
    assert page.splitlines()[0].startswith("train: stalled")
    assert said(page, "nodes") == ["1 of 2, and a slice needs all; b was removed by ada"]
    (step,) = said(page, "next")
    assert step.startswith("`spotwarden restart train` creates the slice again")
    assert "the job is closed at 09:30:00 UTC" in step
