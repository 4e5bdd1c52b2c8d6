"""From a marker to the instance that answers it: one step after the other."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.action import (
    ClearMarker,
    EndWatch,
    KeepWatch,
    LaunchInstances,
    Look,
    Quarantine,
    RegisterInstance,
    Survey,
    Tell,
    Wait,
    WriteAttempt,
)
from spotwarden.model.attempt import AttemptState, Lease
from spotwarden.model.instance import Status
from spotwarden.model.launch import NoLaunch
from spotwarden.model.outcome import Done, Lost, Unanswered
from spotwarden.recovery.observed.identity import CLOCKS_APART
from spotwarden.recovery.placing import UNANSWERED_AT_MOST
from spotwarden.recovery.steps.progress import after
from spotwarden.recovery.telling import notices
from tests.recovery.facts import NOW

HOUR = timedelta(hours=1)


def test_the_whole_way_of_a_recovery(some, walk):
    """List, claim with the first try, ask, note, wait; then register, tell, finish, clear: in this order."""
    created = some.operation("insert", name="op-2", target_id="2002")
    answers = {LaunchInstances: Done(operation=replace(created, done=False))}
    first, facts = walk(some.job(), answers)
    assert [type(one) for one in first] == [
        Survey, WriteAttempt, LaunchInstances, WriteAttempt, Wait,
    ]  # fmt: skip
    later, _ = walk(replace(facts, operation=created))
    assert [type(one) for one in later] == [RegisterInstance, Tell, WriteAttempt, ClearMarker]
    assert [one.record.state for one in (*first, *later) if isinstance(one, WriteAttempt)] == [
        AttemptState.PLACING, AttemptState.PLACING, AttemptState.RUNNING,
    ]  # fmt: skip
    assert (later[0].instance_id, later[-1].generation) == ("2002", 11)


@pytest.mark.parametrize(("there", "says"), [(True, "runs again"), (False, "is gone again")])
def test_a_vm_that_is_told_of_late_is_looked_for_first(some, walk, asked, there, says):
    """The sweep that asked for it broke off; what Google has taken since is not told as running."""
    tries = (asked(operation="op-2", at=NOW - HOUR),)
    made = some.operation("insert", name="op-2", target_id="2002", request_id=tries[0].request_id)
    vms = (some.instance(id="2002", job="test-vm", attempt=2, turn=1),) if there else ()
    facts = replace(placing(some, tries=tries), operation=made)
    steps, _ = walk(facts, some.surveyed(*vms))
    assert [type(step) for step in steps[:3]] == [Survey, RegisterInstance, Tell]
    assert says in steps[2].notice.what


def test_a_vm_that_was_started_by_hand_is_not_told_in_the_place_that_was_asked(some, asked, tick):
    """It may be in another zone than the newest try."""
    attempt = some.attempt(2, AttemptState.PLACING, tries=(asked(place="us-central1-a"),)).attempt
    told = notices.started(attempt, {"test-vm": "1001"}, tick, found=notices.BY_HAND)
    assert told.what == "test-vm runs again as attempt 2 on a VM started by hand"
    assert told.evidence["zone"] == ""


@pytest.mark.parametrize(
    ("kind", "user", "where"),
    [
        ("start", "ann@example.com", "a VM started by hand"),
        ("compute.instances.automaticRestart", "system", "the VM that it had before"),
    ],
)
def test_only_what_a_person_has_started_is_told_as_started_by_hand(some, walk, kind, user, where):
    """Compute Engine restarts a VM after its host failed, if its owner wants that."""
    vm = some.instance(job=None)
    history = (some.operation("compute.instances.hostError"), some.operation(kind, name="op-9", user=user))
    claimed = some.attempt(2, AttemptState.CLAIMED, replaces={"test-vm": "1001"}, lost=NOW - HOUR)
    facts = some.job(ledger=(claimed,), nodes=(some.node(instance=vm, history=history),), instances=(vm,))
    steps, _ = walk(facts, some.surveyed(vm))
    told = next(step.notice for step in steps if isinstance(step, Tell))
    assert told.what == f"test-vm runs again as attempt 2 on {where}"


@pytest.mark.parametrize("name", ["test-vm", "gang"])
def test_a_list_that_is_not_answered_is_waited_for(some, walk, asked, name):
    """Whatever was made is told by a later sweep; this one comes to its end."""
    tries = (asked(operation="op-2", at=NOW - HOUR),)
    record = some.attempt(2, AttemptState.PLACING, job=name, tries=tries, replaces={name: "1001"})
    job = some.gang_job if name == "gang" else some.job
    facts = job(ledger=(record,), operation=some.operation("insert", name="op-2"))
    steps, _ = walk(facts, {Survey: Unanswered(detail="503")})
    assert [type(step) for step in steps][-2:] == [Survey, Wait]


def test_the_claim_is_created_never_overwritten(some, claimed, limits, tick):
    """The next attempt's record is written with generation 0: exactly one sweep can."""
    record = claimed(some.job())
    assert record.number == 2
    assert record.lease == Lease(holder="this-sweep", until=tick.now + limits.lease)
    assert record.replaces == {"test-vm": "1001"}


def test_a_job_is_on_the_list_of_open_jobs_before_it_is_claimed(some, step):
    """A claim that nobody watches could be lost with its marker."""
    entry = step(some.job(watched=None))
    assert isinstance(entry, KeepWatch)
    assert (entry.watch.job, entry.generation) == ("test-vm", 0)


def test_an_attempt_under_way_that_nobody_watches_is_put_on_the_list(some, step):
    """Whoever made the claim may have died before its entry was written."""
    facts = some.job(ledger=(some.attempt(2, AttemptState.CLAIMED),), watched=None)
    assert isinstance(step(facts), KeepWatch)


def test_a_claim_names_the_operation_that_it_answers(some, claimed):
    """The same preemption is never answered by another attempt."""
    record = claimed(some.job())
    assert (record.cause, record.fate, record.lost_in) == (
        "operation-1", "Compute Engine preempted it", "us-central1-a",
    )  # fmt: skip


def test_a_job_without_a_ledger_was_launched_once(some, claimed):
    """The developer's own launch is attempt 1, written down or not."""
    assert claimed(some.job(ledger=(), registrations={"test-vm": "1001"})).number == 2


def test_a_lost_claim_is_the_end_of_this_sweeps_part(some, step):
    """The loser learns nothing and must look anew."""
    facts = some.job()
    assert after(facts, step(facts), Lost(detail="")) is None


def test_an_ended_job_is_never_started(some, walk):
    """A status code clears the marker and ends record and watch, whatever the instance says."""
    steps, _ = walk(some.job(status_code="0"))
    assert [type(one) for one in steps] == [ClearMarker, WriteAttempt, EndWatch]
    assert steps[1].record.state is AttemptState.ENDED
    assert "ended with status 0" in steps[0].reason


def test_an_ended_job_that_is_on_no_list_needs_nothing(some, step):
    """Nothing to clear, nothing to close, nothing to do."""
    closed = (some.attempt(1, AttemptState.ENDED),)
    assert step(some.job(status_code="0", nodes=(), ledger=closed, watched=None)) is None


@pytest.mark.parametrize("state", [AttemptState.CLAIMED, AttemptState.PLACING, AttemptState.BACKING_OFF])
def test_a_job_that_ends_while_it_is_brought_back_is_not_asked_for_again(some, walk, asked, state):
    """The attempt ends where it stands."""
    under_way = some.attempt(2, state, tries=(asked(),))
    steps, _ = walk(some.job(status_code="1", nodes=(), ledger=(under_way,)))
    assert [type(one) for one in steps] == [WriteAttempt, EndWatch]
    assert steps[0].record.state is AttemptState.ENDED


def test_a_lease_of_another_sweep_is_respected(some, step, tick):
    """While somebody else works on the attempt, wait."""
    theirs = Lease(holder="other", until=tick.now + timedelta(seconds=1))
    waits = step(some.job(ledger=(some.attempt(2, AttemptState.CLAIMED, lease=theirs),)))
    assert isinstance(waits, Wait)
    assert "another sweep" in waits.reason


def test_an_expired_lease_is_taken_over_under_the_generation(some, step, tick):
    """The same attempt goes on, with its own number."""
    theirs = Lease(holder="other", until=tick.now)
    took = step(some.job(ledger=(some.attempt(2, AttemptState.CLAIMED, lease=theirs),), surveyed=True))
    assert isinstance(took, WriteAttempt)
    assert (took.generation, took.record.number, took.record.lease.holder) == (200, 2, "this-sweep")


def test_before_anything_is_asked_the_job_is_looked_at_once_more(some, walk, step):
    """What the sweep has seen may be older than the claim: a VM that lives is taken as it runs."""
    facts = some.job(ledger=(some.attempt(2, AttemptState.CLAIMED, replaces={"test-vm": "1001"}),), nodes=())
    assert isinstance(step(facts), Survey)
    by_hand = some.instance(id="3003")
    _, known = walk(replace(facts, fetched=some.ran(by_hand)), some.surveyed(by_hand))
    assert (known.newest.state, known.newest.instances) == (AttemptState.RUNNING, {"test-vm": "3003"})


def placing(some, **facts):
    """A job whose second attempt has written down a try."""
    return some.job(ledger=(some.attempt(2, AttemptState.PLACING, replaces={"test-vm": "1001"}, **facts),))


def test_a_request_taken_over_keeps_its_request_id(some, step, ours, asked):
    """A try that was written down is sent again as it was, so it cannot create twice."""
    sent = step(placing(some, lease=ours, tries=(asked(request_id="r-9"),)))
    assert isinstance(sent, LaunchInstances)
    assert sent.request_id == "r-9"


def test_a_request_says_until_when_it_may_be_sent(some, step, ours, asked):
    """Then somebody else may take the attempt over, by a clock that is ahead of this one."""
    sent = step(placing(some, lease=ours, tries=(asked(),)))
    assert sent.before == ours.until - CLOCKS_APART


def test_an_accepted_request_needs_no_lease(some, step, tick, asked):
    """Whoever comes by may look at the operation and finish."""
    theirs = Lease(holder="other", until=tick.now + HOUR)
    facts = placing(some, lease=theirs, tries=(asked(operation="op-2"),))
    assert step(facts) == Look(place="us-central1-a", operation="op-2")


def test_a_request_without_an_answer_is_repeated_and_then_left(some, walk, ours, asked):
    """Some repeats under the same id, then the lease is freed for a later sweep."""
    facts = placing(some, lease=ours, tries=(asked(),))
    steps, _ = walk(facts, {LaunchInstances: Unanswered(detail="timed out")})
    assert [type(one) for one in steps] == [LaunchInstances] * UNANSWERED_AT_MOST + [WriteAttempt, Wait]
    assert len({one.request_id for one in steps[:UNANSWERED_AT_MOST]}) == 1
    assert steps[-2].record.lease is None


def test_an_instance_made_by_an_unanswered_request_is_adopted(some, step, ours, asked):
    """A running instance that carries the number of this attempt and try is the one that was asked for."""
    mine = some.instance(id="2002", job="test-vm", attempt=2, turn=1)
    registers = step(replace(placing(some, lease=ours, tries=(asked(),)), instances=(mine,)))
    assert isinstance(registers, RegisterInstance)
    assert registers.instance_id == "2002"


@pytest.mark.parametrize(
    "other", [{"attempt": 1}, {"turn": 2}, {"job": "another"}, {"status": Status.TERMINATED}]
)
def test_another_instance_is_not_adopted(some, step, ours, asked, other):
    """An older attempt's, another try's, another job's, or one that has stopped: none of them is it."""
    theirs = some.instance(**{"id": "2002", "job": "test-vm", "attempt": 2, "turn": 1, **other})
    facts = replace(placing(some, lease=ours, tries=(asked(),)), instances=(theirs,))
    assert isinstance(step(facts), LaunchInstances)


def test_an_operation_that_is_not_done_is_waited_for(some, step, asked):
    """Nobody sleeps; another look comes soon."""
    under_way = some.operation("insert", name="op-2", done=False)
    waits = step(replace(placing(some, tries=(asked(operation="op-2"),)), operation=under_way))
    assert isinstance(waits, Wait)
    assert waits.soon


@pytest.mark.parametrize("launch", [NoLaunch(reason="create-instance.sh:3: `$(date)` is not known"), None])
def test_a_job_that_cannot_be_launched_is_told_and_put_aside(some, walk, launch):
    """A refused or missing script loses nothing: notice first, then quarantine with the reason."""
    steps, _ = walk(some.job(launch=launch))
    assert [type(one) for one in steps][:3] == [Tell, WriteAttempt, Quarantine]
    assert steps[2].reason == (launch.reason if launch else "the job has no create script")


def test_an_unlaunchable_job_without_a_marker_gets_one_in_the_quarantine(some, walk):
    """So that there is something to put back once the script is mended."""
    lost = some.node(marker=None)
    steps, _ = walk(some.job(launch=None, nodes=(lost,)))
    assert [type(one) for one in steps] == [Tell, WriteAttempt, Quarantine, EndWatch]
    assert (steps[2].name, steps[2].data) == ("test-vm", b"")


def test_of_an_unlaunchable_job_its_owner_is_told_once(some, walk):
    """The log shows its loss to later sweeps as well, though its marker and its entry are gone."""
    lost = some.node(marker=None)
    _, after = walk(some.job(launch=None, nodes=(lost,)))
    steps, _ = walk(some.job(launch=None, nodes=(lost,), ledger=after.ledger, watched=None))
    assert steps == []


@pytest.mark.parametrize(("ahead", "waits"), [(1, False), (2, True), (10, True), (11, False)], ids=str)
def test_a_sweep_that_overslept_an_attempt_concludes_nothing_of_it(some, step, ahead, waits):
    """What it saw is older than the record; further ahead it is the record's clock that is wrong."""
    removed = some.node(history=(some.operation("stop", user="ann@x.org"),))
    newest = some.attempt(instances={"test-vm": "1001"}, created=NOW + timedelta(minutes=ahead))
    decided = step(some.job(ledger=(newest,), nodes=(removed,)))
    assert (isinstance(decided, Wait) and "newer than what this sweep has seen" in decided.reason) is waits
