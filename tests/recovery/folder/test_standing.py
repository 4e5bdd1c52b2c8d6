"""The experiment table and the timeline."""

from datetime import timedelta

import pytest

from spotwarden.cli.table import duration, render
from spotwarden.model.attempt import AttemptState, Removal
from spotwarden.model.instance import Status
from spotwarden.model.slices import SliceGroup
from spotwarden.model.standing import Standing
from spotwarden.recovery.folder.standing import experiment, timeline, worded
from spotwarden.recovery.submission import problem


def row(facts, tick, *instances):
    """The row of a job with these instances in the project."""
    return experiment(facts, instances, tick.now)


def test_a_job_whose_instance_is_there_runs(some, tick):
    """Newest attempt running, instance alive."""
    assert row(some.job(), tick, some.instance()).status is Standing.RUNNING


@pytest.mark.parametrize("facts", [{"status": Status.TERMINATED}, {"id": "9"}])
def test_a_job_whose_instance_is_gone_is_about_to_be_recovered(some, tick, facts):
    """A vanished VM is never shown as running."""
    assert row(some.job(), tick, some.instance(**facts)).status is Standing.RECOVERING


def test_a_job_whose_instance_waits_for_room_is_queued(some, tick):
    """A flex-start VM is there before it has room."""
    assert row(some.job(), tick, some.instance(status=Status.PENDING)).status is Standing.QUEUED


def test_a_job_that_governance_found_stalled_is_shown_so_while_its_instance_is_there(some, tick):
    """Once it is gone, that is what counts."""
    assert experiment(some.job(), (some.instance(),), tick.now, stalled=True).status is Standing.STALLED
    assert experiment(some.job(), (), tick.now, stalled=True).status is Standing.RECOVERING


@pytest.mark.parametrize(
    ("there", "removed", "status"),
    [
        (("1", "2"), (), Standing.RUNNING),
        (("1",), (), Standing.RECOVERING),
        (("1",), ("2",), Standing.STALLED),
        ((), ("2",), Standing.RECOVERING),
    ],
)
def test_a_slice_runs_with_all_of_its_vms_only(some, tick, asked, there, removed, status):
    """One that was lost is made again; one that somebody removed is not, and the others can't go on."""
    made = (asked(group=SliceGroup(name="g", id="7")),)
    gone = {node: Removal(instance_id=node, operation="op", kind="delete") for node in removed}
    slice_of_two = some.attempt(1, tries=made, instances={"1": "1", "2": "2"}, removed=gone)
    facts = some.job(ledger=(slice_of_two,))
    assert row(facts, tick, *(some.instance(id=name, name=name) for name in there)).status is status


@pytest.mark.parametrize(("code", "words"), [("0", "ended"), ("1", "failed (1)"), ("", "failed ()")])
def test_an_ended_job_says_how(some, tick, code, words):
    """Only `0` is success, and it is compared as the text it is."""
    found = row(some.job(status_code=code, ended=tick.now), tick)
    assert worded(found) == words
    assert found.status is (Standing.ENDED if code == "0" else Standing.FAILED)


@pytest.mark.parametrize(
    ("number", "state", "status"),
    [
        (1, AttemptState.CLAIMED, Standing.QUEUED),
        (1, AttemptState.BACKING_OFF, Standing.QUEUED),
        (2, AttemptState.PLACING, Standing.RECOVERING),
        (2, AttemptState.BACKING_OFF, Standing.RECOVERING),
        (2, AttemptState.GAVE_UP, Standing.GAVE_UP),
        (1, AttemptState.STOPPED, Standing.STOPPED),
    ],
)
def test_an_attempt_under_way_or_closed_says_so(some, tick, number, state, status):
    """In the words of the report."""
    assert row(some.job(ledger=(some.attempt(number, state),)), tick).status is status


def test_runtime_ends_with_the_job(some, tick):
    """From the first launch to the status code, or to now."""
    half = tick.now - timedelta(minutes=30)
    assert row(some.job(), tick).runtime == timedelta(hours=1)
    assert row(some.job(status_code="0", ended=half), tick).runtime == timedelta(minutes=30)


def test_a_job_of_which_no_vm_ran_has_no_runtime(some, tick):
    """It waited for room, and was stopped; with one that ran, the time counts from its first launch."""
    waited = some.attempt(1, AttemptState.STOPPED)
    assert row(some.job(ledger=(waited,)), tick).runtime is None
    assert row(some.job(ledger=(waited,), status_code="0", ended=tick.now), tick).runtime is not None
    again = some.attempt(2, AttemptState.BACKING_OFF)
    assert row(some.job(ledger=(some.attempt(1), again)), tick).runtime is not None
    # The table reads the first and the newest attempts alone.
    ninth = some.attempt(9, AttemptState.BACKING_OFF)
    assert row(some.job(ledger=(waited, again, ninth)), tick).runtime is not None


def test_a_job_without_a_ledger_has_no_runtime(some, tick):
    """What nobody wrote down is not made up."""
    assert row(some.job(ledger=()), tick).runtime is None


def test_the_timeline_tells_everything_in_order(some, tick, asked):
    """Attempts, tries, refusals, the end."""
    tries = (asked(error="stockout", at=tick.now), asked(at=tick.now + timedelta(seconds=30)))
    second = some.attempt(2, reason="preempted", tries=tries, created=tick.now, instances={"test-vm": "2002"})
    told = [
        moment.what
        for moment in timeline(
            some.job(ledger=(some.attempt(), second), status_code="0", ended=tick.now + timedelta(hours=1))
        )
    ]
    assert told[-1] == "the job ended with status 0"
    assert any("asked us-central1-a, refused: stockout" in line for line in told)
    assert any("attempt 2: preempted" in line for line in told)


def test_the_timeline_tells_of_a_stop_when_it_was_and_not_at_the_beginning(some, tick, asked):
    """The reason of a closed attempt is that of its end; what began it is the loss that it answers."""
    began, ended = tick.now - timedelta(hours=1), tick.now
    stopped = {"state": AttemptState.STOPPED, "reason": "stopped by ada", "created": began, "updated": ended}
    first, second = some.attempt(1, **stopped), some.attempt(2, fate="preempted", **stopped)
    told = [(moment.at, moment.what) for moment in timeline(some.job(ledger=(first, second)))]
    assert (ended, "attempt 1: stopped: stopped by ada") in told
    assert (began, "attempt 2: preempted") in told
    assert [at for at, what in told if "ada" in what] == [ended, ended]


def test_the_timeline_tells_who_removed_a_node_of_a_gang(some, tick):
    """The gang goes on without it: whoever asks why sees when that was, and by whom."""
    gone = Removal(instance_id="1002", operation="op", kind="delete", user="bob@x.org", at=tick.now)
    job = some.job(ledger=(some.attempt(removed={"gang-2": gone}),))
    assert (tick.now, "attempt 1: delete of gang-2 by bob@x.org") in [
        (moment.at, moment.what) for moment in timeline(job)
    ]


def test_a_running_job_is_not_submitted_again(some):
    """Not even with --again: two of them would write into one folder."""
    assert "running" in problem(some.job(), again=True)


@pytest.mark.parametrize("facts", [{"status_code": "0"}, {"closed": AttemptState.STOPPED}])
def test_a_finished_job_is_submitted_again_only_when_asked(some, facts):
    """`--again` is said, or the command explains."""
    ledger = (some.attempt(1, facts.get("closed", AttemptState.RUNNING)),)
    job = some.job(ledger=ledger, status_code=facts.get("status_code"))
    assert "--again" in problem(job, again=False)
    assert problem(job, again=True) == ""


def test_a_new_job_and_one_left_half_way_are_submitted(some):
    """A submit that was killed is carried on by the next one."""
    assert problem(some.job(ledger=()), again=False) == ""
    assert problem(some.job(ledger=(some.attempt(1, AttemptState.PLACING),)), again=False) == ""


def test_a_table_aligns_and_shows_what_is_empty():
    """Columns as wide as their widest cell, a dash for nothing."""
    assert render(("A", "LONGER"), [("xxx", ""), ("y", "z")]) == "A    LONGER\nxxx  -\ny    z"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (59, "59s"),
        (60, "1m00s"),
        (3599, "59m59s"),
        (3600, "1h00m"),
        (86_399, "23h59m"),
        (90_000, "1d01h"),
    ],
)
def test_a_duration_shows_its_two_largest_units(seconds, text):
    """Both sides of every unit."""
    assert duration(timedelta(seconds=seconds)) == text
