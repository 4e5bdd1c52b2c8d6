"""From a marker to the instance that answers it: one step after the other."""

from datetime import timedelta

import msgspec
import pytest

from spotwarden.decide.attempts import next_step
from spotwarden.decide.launching import request_id, stamp
from spotwarden.decide.placing import UNANSWERED_AT_MOST, back_off_until
from spotwarden.decide.progress import after
from spotwarden.model.action import (
    ClearMarker,
    Done,
    LaunchInstances,
    Look,
    Lost,
    Quarantine,
    RegisterInstance,
    Rejected,
    Tell,
    Unanswered,
    Wait,
    WriteAttempt,
)
from spotwarden.model.attempt import Lease, State
from spotwarden.model.instance import Operation, Status
from spotwarden.model.launch import NoLaunch

HOUR = timedelta(hours=1)


def test_the_whole_way_of_a_recovery(some, limits, tick):
    """Claim, write the try, ask, note, look, register, tell, finish, clear: in this order."""
    created = some.operation("insert", name="op-2", target_id="2002")
    answers = {
        WriteAttempt: Done(generation=5),
        LaunchInstances: Done(operation=msgspec.structs.replace(created, done=False, target_id="2002")),
        Look: Done(operation=created),
    }
    facts, steps = some.job(), []
    while (step := next_step(facts, limits, tick)) is not None:
        steps.append(step)
        if isinstance(step, Wait):
            facts = msgspec.structs.replace(facts, operation=created)
            continue
        facts = after(facts, step, answers.get(type(step), Done()))
    assert [type(step) for step in steps] == [
        WriteAttempt, WriteAttempt, LaunchInstances, WriteAttempt, Wait,
        RegisterInstance, Tell, WriteAttempt, ClearMarker,
    ]  # fmt: skip
    assert [step.record.state for step in steps if isinstance(step, WriteAttempt)] == [
        State.CLAIMED, State.PLACING, State.PLACING, State.RUNNING,
    ]  # fmt: skip
    assert steps[5].instance_id == "2002"
    assert steps[-1].generation == 11


def test_the_claim_is_created_never_overwritten(some, limits, tick):
    """The next attempt's record is written with generation 0: exactly one sweep can."""
    claim = next_step(some.job(), limits, tick)
    assert isinstance(claim, WriteAttempt)
    assert (claim.generation, claim.record.number, claim.record.state) == (0, 2, State.CLAIMED)
    assert claim.record.lease == Lease(holder="this-sweep", until=tick.now + limits.lease)
    assert claim.record.replaces == {"test-vm": "1001"}


def test_a_job_without_a_ledger_was_launched_once(some, limits, tick):
    """The developer's own launch is attempt 1, written down or not."""
    claim = next_step(some.job(ledger=()), limits, tick)
    assert isinstance(claim, WriteAttempt)
    assert claim.record.number == 2


def test_a_lost_claim_is_the_end_of_this_sweeps_part(some, limits, tick):
    """The loser learns nothing and must look anew."""
    facts = some.job()
    assert after(facts, next_step(facts, limits, tick), Lost(detail="")) is None


def test_an_ended_job_is_never_started(some, limits, tick):
    """A status code clears the marker, whatever the instance says."""
    step = next_step(some.job(status_code="0"), limits, tick)
    assert isinstance(step, ClearMarker)
    assert "ended with status 0" in step.reason


def test_an_ended_job_without_markers_needs_nothing(some, limits, tick):
    """Nothing to clear, nothing to do."""
    assert next_step(some.job(status_code="0", nodes=()), limits, tick) is None


def test_a_lease_of_another_sweep_is_respected(some, limits, tick):
    """While somebody else works on the attempt, wait."""
    theirs = Lease(holder="other", until=tick.now + timedelta(seconds=1))
    facts = some.job(ledger=(some.attempt(2, State.CLAIMED, lease=theirs),))
    assert isinstance(next_step(facts, limits, tick), Wait)


def test_an_expired_lease_is_taken_over_under_the_generation(some, limits, tick):
    """The same attempt goes on, with its own number."""
    theirs = Lease(holder="other", until=tick.now)
    facts = some.job(ledger=(some.attempt(2, State.CLAIMED, lease=theirs),))
    step = next_step(facts, limits, tick)
    assert isinstance(step, WriteAttempt)
    assert (step.generation, step.record.number, step.record.lease.holder) == (200, 2, "this-sweep")


def test_a_request_taken_over_keeps_its_request_id(some, limits, tick, ours, asked):
    """A try that was written down is sent again as it was, so it cannot create twice."""
    facts = some.job(ledger=(some.attempt(2, State.PLACING, lease=ours, tries=(asked(request_id="r-9"),)),))
    step = next_step(facts, limits, tick)
    assert isinstance(step, LaunchInstances)
    assert step.request_id == "r-9"


def test_an_accepted_request_needs_no_lease(some, limits, tick, asked):
    """Whoever comes by may look at the operation and finish."""
    theirs = Lease(holder="other", until=tick.now + HOUR)
    tries = (asked(operation="op-2"),)
    facts = some.job(ledger=(some.attempt(2, State.PLACING, lease=theirs, tries=tries),))
    assert next_step(facts, limits, tick) == Look(place="us-central1-a", operation="op-2")


def test_a_request_without_an_answer_is_repeated_and_then_left(some, limits, tick, ours, asked):
    """Some repeats under the same id, then the lease is freed for a later sweep."""
    facts = some.job(ledger=(some.attempt(2, State.PLACING, lease=ours, tries=(asked(),)),))
    for _ in range(UNANSWERED_AT_MOST):
        step = next_step(facts, limits, tick)
        assert isinstance(step, LaunchInstances)
        facts = after(facts, step, Unanswered(detail="timed out"))
    freed = next_step(facts, limits, tick)
    assert isinstance(freed, WriteAttempt)
    assert freed.record.lease is None
    assert isinstance(next_step(after(facts, freed, Done(generation=201)), limits, tick), Wait)


def test_an_instance_made_by_an_unanswered_request_is_adopted(some, limits, tick, ours, asked):
    """A running instance that carries this attempt's number is the one that was asked for."""
    mine = some.instance(id="2002", job="test-vm", attempt=2)
    facts = some.job(
        ledger=(some.attempt(2, State.PLACING, lease=ours, tries=(asked(),)),),
        nodes=(some.node(namesakes=(mine,)),),
    )
    step = next_step(facts, limits, tick)
    assert isinstance(step, RegisterInstance)
    assert step.instance_id == "2002"


@pytest.mark.parametrize("other", [{"attempt": 1}, {"job": "another"}, {"status": Status.STAGING}])
def test_another_instance_is_not_adopted(some, limits, tick, ours, asked, other):
    """An older attempt's, another job's, or one that may still fail: none of them is it."""
    theirs = some.instance(**{"id": "2002", "job": "test-vm", "attempt": 2, **other})
    facts = some.job(
        ledger=(some.attempt(2, State.PLACING, lease=ours, tries=(asked(),)),),
        nodes=(some.node(namesakes=(theirs,)),),
    )
    assert isinstance(next_step(facts, limits, tick), LaunchInstances)


def failed(facts, limits, tick, error: str):
    """The step after the operation has failed like this."""
    operation = Operation(
        name="op-2", zone="us-central1-a", kind="insert", target_id="", target_name="", done=True, error=error
    )
    return next_step(msgspec.structs.replace(facts, operation=operation), limits, tick)


def test_a_stockout_backs_off(some, limits, tick, asked):
    """A place that has nothing now is asked again later, with the reason on record."""
    facts = some.job(ledger=(some.attempt(2, State.PLACING, tries=(asked(operation="op-2"),)),))
    step = failed(facts, limits, tick, "ZONE_RESOURCE_POOL_EXHAUSTED: the zone has none")
    assert isinstance(step, WriteAttempt)
    assert step.record.state is State.BACKING_OFF
    assert step.record.not_before == tick.now + limits.first_backoff
    assert "EXHAUSTED" in step.record.tries[-1].error


def test_a_rejected_request_backs_off_too(some, limits, tick, ours, asked):
    """A name that is still taken, a quota: outcomes, not errors."""
    facts = some.job(ledger=(some.attempt(2, State.PLACING, lease=ours, tries=(asked(),)),))
    rejected = after(facts, next_step(facts, limits, tick), Rejected(code="alreadyExists", message="taken"))
    step = next_step(rejected, limits, tick)
    assert isinstance(step, WriteAttempt)
    assert step.record.state is State.BACKING_OFF


@pytest.mark.parametrize("code", ["invalid", "forbidden", "notFound"])
def test_a_refusal_that_cannot_change_is_given_up_and_told(some, limits, tick, ours, asked, code):
    """A faulty request is not repeated for ever; a person hears of it first."""
    facts = some.job(ledger=(some.attempt(2, State.PLACING, lease=ours, tries=(asked(),)),))
    facts = after(facts, next_step(facts, limits, tick), Rejected(code=code, message="no"))
    told = next_step(facts, limits, tick)
    assert isinstance(told, Tell)
    ended = next_step(after(facts, told, Done()), limits, tick)
    assert isinstance(ended, WriteAttempt)
    assert ended.record.state is State.GAVE_UP


def test_a_back_off_is_waited_out_to_the_second(some, limits, tick, asked):
    """One second early waits; on time asks again, under a new request id."""
    tries = (asked(error="stockout"),)
    early = some.attempt(2, State.BACKING_OFF, tries=tries, not_before=tick.now + timedelta(seconds=1))
    assert isinstance(next_step(some.job(ledger=(early,)), limits, tick), Wait)
    due = some.attempt(2, State.BACKING_OFF, tries=tries, not_before=tick.now)
    step = next_step(some.job(ledger=(due,)), limits, tick)
    assert isinstance(step, WriteAttempt)
    assert step.record.tries[-1].request_id == request_id("test-vm", 2, "us-central1-a", 2)


def test_back_off_doubles_up_to_its_ceiling(limits, tick):
    """30 s, 60 s, 120 s … and never more than the longest."""
    waits = [back_off_until(turn, limits, tick.now) - tick.now for turn in (1, 2, 3, 50)]
    assert waits == [
        timedelta(seconds=30),
        timedelta(seconds=60),
        timedelta(seconds=120),
        limits.longest_backoff,
    ]


def test_the_last_allowed_restart_is_made(some, limits, tick):
    """As many restarts as `max_restarts` says are made."""
    facts = some.job(ledger=(some.attempt(limits.max_restarts),))
    assert next_step(facts, limits, tick).record.state is State.CLAIMED


def test_one_restart_more_gives_up(some, limits, tick):
    """Not one more is made; the person is told first."""
    facts = some.job(ledger=(some.attempt(limits.max_restarts + 1),))
    told = next_step(facts, limits, tick)
    assert isinstance(told, Tell)
    ended = next_step(after(facts, told, Done()), limits, tick)
    assert (ended.record.state, ended.record.number) == (State.GAVE_UP, limits.max_restarts + 2)


def test_a_deleted_instance_closes_its_job(some, limits, tick):
    """The owner's own delete is told and recorded, then the marker goes."""
    facts = some.job(nodes=(some.node(history=(some.operation("delete"),)),))
    told = next_step(facts, limits, tick)
    assert isinstance(told, Tell)
    facts = after(facts, told, Done())
    closed = next_step(facts, limits, tick)
    assert isinstance(closed, WriteAttempt)
    assert (closed.record.state, closed.generation) == (State.STOPPED, 100)
    assert isinstance(next_step(after(facts, closed, Done(generation=101)), limits, tick), ClearMarker)


def test_an_instance_launched_by_hand_after_a_stop_is_recovered(some, limits, tick):
    """A closed job whose developer launched a new instance lives again, as the next attempt."""
    stopped = some.attempt(1, State.STOPPED, instances={"test-vm": "1001"})
    by_hand = some.node(instance_id="3003", history=(some.operation(target_id="3003"),))
    claim = next_step(some.job(ledger=(stopped,), nodes=(by_hand,)), limits, tick)
    assert isinstance(claim, WriteAttempt)
    assert claim.record.number == 2


@pytest.mark.parametrize("state", [State.ENDED, State.STOPPED, State.GAVE_UP])
def test_a_closed_job_is_not_started_for_its_own_instance(some, limits, tick, state):
    """A late or doubled marker of the closed attempt is only cleared."""
    closed = some.attempt(1, state, instances={"test-vm": "1001"})
    assert isinstance(next_step(some.job(ledger=(closed,)), limits, tick), ClearMarker)


def test_a_marker_that_is_already_answered_is_cleared(some, limits, tick):
    """Killed between the ledger and the marker: the next sweep only clears."""
    answered = some.attempt(2, State.RUNNING, markers={"test-vm": 11}, instances={"test-vm": "2002"})
    step = next_step(some.job(ledger=(some.attempt(1), answered)), limits, tick)
    assert isinstance(step, ClearMarker)
    assert "attempt 2" in step.reason


def test_a_second_marker_of_a_replaced_instance_is_cleared(some, limits, tick):
    """A doubled marker of the same instance makes no second attempt."""
    answered = some.attempt(2, State.RUNNING, markers={"test-vm": 10}, replaces={"test-vm": "1001"})
    assert isinstance(next_step(some.job(ledger=(answered,)), limits, tick), ClearMarker)


def test_a_new_preemption_of_the_new_instance_is_recovered_again(some, limits, tick):
    """Another instance, another marker: the next attempt."""
    second = some.attempt(2, State.RUNNING, markers={"test-vm": 10}, replaces={"test-vm": "1001"})
    again = some.node(instance_id="2002", history=(some.operation(target_id="2002"),))
    claim = next_step(some.job(ledger=(second,), nodes=(again,)), limits, tick)
    assert isinstance(claim, WriteAttempt)
    assert claim.record.number == 3


@pytest.mark.parametrize("launch", [NoLaunch(reason="create-instance.sh:3: `$(date)` is not known"), None])
def test_a_job_that_cannot_be_launched_is_told_and_put_aside(some, limits, tick, launch):
    """A refused or missing script loses nothing: notice first, then quarantine with the reason."""
    facts = some.job(launch=launch)
    told = next_step(facts, limits, tick)
    assert isinstance(told, Tell)
    aside = next_step(after(facts, told, Done()), limits, tick)
    assert isinstance(aside, Quarantine)
    assert aside.reason == (launch.reason if launch else "the job has no create script")


def test_request_ids_differ_by_job_attempt_place_and_turn():
    """The same call always has the same id, every other call another."""
    base = request_id("a", 1, "z", 1)
    assert base == request_id("a", 1, "z", 1)
    assert (
        len(
            {
                base,
                request_id("b", 1, "z", 1),
                request_id("a", 2, "z", 1),
                request_id("a", 1, "y", 1),
                request_id("a", 1, "z", 2),
            }
        )
        == 5
    )


def test_a_launched_vm_is_told_its_job_and_attempt(some):
    """Metadata for the guest, labels for whoever lists; the rest of the request stays."""
    body = stamp(some.launch.request, "test-vm", 2).body
    items = {item["key"]: item["value"] for item in body["metadata"]["items"]}
    assert items == {"spotwarden-attempt": "2", "spotwarden-job": "test-vm", "startup-script": "true"}
    assert body["labels"] == {"spotwarden-job": "test-vm", "spotwarden-attempt": "2"}
    assert some.launch.request.body["metadata"]["items"] == [{"key": "startup-script", "value": "true"}]


def test_a_template_keeps_its_own_metadata(some):
    """Metadata in the request would replace the template's, so none is added."""
    request = msgspec.structs.replace(
        some.launch.request, query={"sourceInstanceTemplate": "t"}, body={"name": "test-vm"}
    )
    assert stamp(request, "test-vm", 2).body == {"name": "test-vm"}
