"""Flex-start VMs: the wait for room is no run time, and the end at their time limit no fault of the job."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.action import LaunchInstances, Survey, Tell, Wait, WriteAttempt
from spotwarden.model.attempt import AttemptState, Try
from spotwarden.model.instance import Status
from spotwarden.model.jobfile import JobFile
from spotwarden.model.placement import PlaceEvent
from spotwarden.recovery.kinds.bounds import exceeded, time_up
from spotwarden.recovery.observed.fates import Fate
from spotwarden.recovery.places.news import news
from tests.recovery.facts import HOME, NOW

NEXT = "us-central1-b"
SHORT = "ZONE_RESOURCE_POOL_EXHAUSTED: [resource_availability]"
HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)


def asked(**facts):
    """A try at home, two hours ago, whose request Compute Engine has taken."""
    return Try(**{"place": HOME, "request_id": "r", "at": NOW - 2 * HOUR, "operation": "op", **facts})


@pytest.fixture
def placing(some):
    """A job whose second attempt has asked for a Flex-start VM, with what its operation says by now."""

    def build(operation, **facts):
        record = {"tries": (asked(),), "lost": NOW - 3 * HOUR, "created": NOW - 2 * HOUR, "waits_told": 3}
        attempt = some.attempt(2, AttemptState.PLACING, **record)
        launch = some.launch(NEXT, spot=False, flexible=True)
        ledger = (some.attempt(instances={"test-vm": "1001"}), attempt)
        given = {"ledger": ledger, "launch": launch, "operation": operation, "nodes": (), **facts}
        return some.job(**given)

    return build


def test_a_request_that_waits_for_room_is_waited_for(some, placing, step):
    """However long, and no look within seconds would help."""
    waits = step(placing(some.operation("insert", name="op", target_id="2001", done=False)))
    assert isinstance(waits, Wait)
    assert (waits.soon, "waits for capacity in us-central1-a" in waits.reason) == (False, True)


@pytest.mark.parametrize(("status", "waits"), [(Status.PENDING, True), (Status.PROVISIONING, False)])
def test_a_vm_that_is_pending_is_waited_for_though_its_operation_is_done(some, placing, step, status, waits):
    """Google does not say which comes first; once it has room the attempt runs from then on."""
    operation = some.operation("insert", name="op", target_id="2001")
    there = some.instance(id="2001", status=status, started=None, job="test-vm", attempt=2, turn=1)
    facts = placing(operation, instances=(there,), surveyed=True)
    assert isinstance(step(facts), Wait) is waits


@pytest.mark.parametrize(("status", "waits"), [(Status.PENDING, True), (Status.PROVISIONING, False)])
def test_a_vm_that_is_pending_is_waited_for_though_its_operation_is_forgotten(
    some, placing, step, status, waits
):
    """Told as running, it would use up its job's time while it waits for room."""
    there = some.instance(id="2001", status=status, started=None, job="test-vm", attempt=2, turn=1)
    facts = placing(None, instances=(there,), surveyed=True, forgotten=True)
    assert isinstance(step(facts), Wait) is waits


def test_a_wait_in_vain_is_a_refusal_of_now(some, placing, step, tick):
    """The next place is asked at once, and home counts as out of room since now, not since it was asked."""
    written = step(placing(some.operation("insert", name="op", target_id="2001", error=SHORT)))
    assert isinstance(written, WriteAttempt)
    refused, following = written.record.tries
    assert (refused.place, refused.refused, following.place) == (HOME, NOW, NEXT)
    (told,) = [item for item in news(written.record, tick) if item.event is PlaceEvent.STOCKOUT]
    assert (told.place, told.at) == (HOME, NOW)


GONE = "RESOURCE_NOT_FOUND: The resource 'test-vm' was not found"
ADA = "ada@example.com"


@pytest.fixture
def gone(some, placing, walk):
    """What comes of an attempt whose VM went before it had room: by whom the log says, if anybody.

    It was asked for two hours before, so long a request is valid, and `late` more.
    """

    def build(user, *, error=GONE, late=timedelta(0)):
        asked = {"target_id": "2001", "request_id": "r", "at": NOW - 2 * HOUR - late}
        insert = some.operation("insert", name="op", error=error, **asked)
        removal = some.operation("delete", name="gone", target_id="2001", user=user, at=NOW)
        log = (insert, removal) if user else (insert,)
        return walk(placing(insert), some.surveyed(inserts=log))[1].newest

    return build


@pytest.mark.parametrize("error", [GONE, ""], ids=["its insert failed", "its insert was done"])
def test_a_persons_delete_of_a_vm_that_waits_for_room_closes_the_job(gone, error):
    """However long it has waited: its insert is looked for as far back as it was asked for."""
    assert gone(ADA, error=error).state is AttemptState.STOPPED


@pytest.mark.parametrize("error", [GONE, ""], ids=["its insert failed", "its insert was done"])
def test_a_vm_that_went_in_line_without_a_word_is_asked_for_again_once_the_log_would_tell(
    gone, limits, error
):
    """The log may be late, and a person may have deleted it; nobody hears that it runs."""
    attempt = gone("", error=error)
    assert (attempt.state, attempt.not_before) == (AttemptState.BACKING_OFF, NOW + limits.log_delay)


@pytest.mark.parametrize("late", [-MINUTE, 5 * MINUTE])
def test_a_request_that_expired_after_its_insert_was_done_is_a_refusal(gone, late):
    """Compute Engine itself deleted the VM, and no word of it is that the job ran."""
    attempt = gone("system", error="", late=late)
    refused, following = attempt.tries[-2:]
    assert (attempt.state, refused.place, following.place) == (AttemptState.PLACING, HOME, NEXT)
    assert "expired" in refused.error


@pytest.mark.parametrize("late", [-MINUTE - SECOND, 5 * MINUTE + SECOND])
def test_what_compute_engine_deletes_at_another_moment_had_room_and_ran_to_its_limit(gone, late):
    """No sweep has seen it, and it registers nothing: its owner hears that it ran, and is gone again."""
    attempt = gone("system", error="", late=late)
    assert (attempt.number, attempt.state, attempt.instances) == (
        2,
        AttemptState.RUNNING,
        {"test-vm": "2001"},
    )


@pytest.fixture
def expired(some):
    """A job whose Flex-start VM Compute Engine has deleted, after so many such ends before."""

    def build(before=0, *, flexible=True, **facts):
        ends = [
            some.attempt(number, lost=NOW - 3 * HOUR, fate=Fate.EXPIRED.value, started=NOW - 9 * HOUR)
            for number in range(2, before + 2)
        ]
        ledger = [some.attempt(instances={"test-vm": "1001"}), *ends]
        ledger[-1] = replace(
            ledger[-1],
            attempt=replace(
                ledger[-1].attempt, instances={"test-vm": "1001"}, started=NOW - timedelta(minutes=1)
            ),
        )
        history = (some.operation("delete", user="system", at=NOW - timedelta(seconds=30)),)
        return some.job(
            ledger=tuple(ledger),
            nodes=(some.node(marker=None, history=history),),
            launch=some.launch(spot=False, flexible=flexible),
            **facts,
        )

    return build


def test_the_end_of_its_time_limit_begins_the_next_attempt(expired, claimed):
    """Its owner reads why; no zone is in trouble for it."""
    record = claimed(expired())
    assert (record.number, record.fate) == (2, Fate.EXPIRED.value)
    assert record.reason.startswith("Compute Engine ended the Flex-start VM at its time limit")


def test_the_same_end_of_any_other_vm_closes_the_job(expired, walk):
    """There its owner has chosen the limit."""
    steps, _ = walk(expired(flexible=False))
    assert [item.record.state for item in steps if isinstance(item, WriteAttempt)] == [AttemptState.STOPPED]


def test_no_number_of_such_ends_uses_up_a_restart(expired, claimed, limits):
    """Nor do short lives make it a job that only crashes."""
    before = limits.max_restarts + 5
    assert claimed(expired(before, file=JobFile(max_restarts=1, max_preemptions=0))).number == before + 2


def test_no_place_is_in_trouble_for_it(expired, claimed, tick):
    """It is no preemption."""
    assert not list(news(claimed(expired()), tick))


@pytest.mark.parametrize(("left", "over"), [(timedelta(minutes=10), False), (timedelta(minutes=9), True)])
def test_a_job_with_less_time_left_than_such_a_vm_may_have_is_over(expired, limits, tick, left, over):
    """Ten minutes is the least that Google takes; the wait before a start counts for nothing."""
    facts = expired(file=JobFile(max_runtime=left + timedelta(seconds=30)))
    reason = exceeded(facts, NOW - timedelta(seconds=30), Fate.EXPIRED, limits, tick)
    assert bool(reason) is over


@pytest.fixture
def by_hand(some):
    """A job whose Flex-start VM its developer has launched by hand, as it stands now."""

    def build(status, started=None, **facts):
        vm = some.instance(status=status, created=NOW - HOUR, started=started)
        given = {
            "ledger": (),
            "nodes": (),
            "instances": (vm,),
            "launch": some.launch(spot=False, flexible=True),
            "fetched": some.ran(vm),
            "watched": some.watched(attempt=0, instances={}, recorded=False),
            **facts,
        }
        return some.job(**given)

    return build


def test_a_vm_that_is_seen_before_it_has_room_has_not_begun(by_hand, step, some, tick):
    """It is on record, and no time of its counts; once it runs its start is written down."""
    seen = step(by_hand(Status.PENDING)).record
    assert (seen.seen, seen.instances, seen.started) == (True, {"test-vm": "1001"}, None)
    began = NOW - timedelta(minutes=2)
    vm = some.instance(created=NOW - HOUR, started=began)
    known = {
        "ledger": (replace(some.attempt(), attempt=seen),),
        "nodes": (some.node(marker=None, instance=vm, history=()),),
        "instances": (vm,),
        "watched": some.watched(),
    }
    assert time_up(by_hand(Status.PENDING, **known), NOW) == timedelta(0)
    assert step(by_hand(Status.RUNNING, **known)).record.started == began


@pytest.mark.parametrize("user", ["system", ""], ids=["the log tells", "the log is silent"])
def test_an_expired_request_of_its_developers_is_no_end_of_the_jobs_own(by_hand, step, some, claimed, user):
    """The next attempt says why, and no restart is used up."""
    seen = replace(step(by_hand(Status.PENDING)).record, created=NOW - 3 * HOUR)
    history = (some.operation("delete", user=user, at=NOW - HOUR),) if user else ()
    node = some.node(marker=None, instance=None, history=history, missing_since=NOW - HOUR)
    record = claimed(
        by_hand(
            Status.PENDING,
            ledger=(replace(some.attempt(), attempt=seen),),
            nodes=(node,),
            instances=(),
            watched=some.watched(),
            file=JobFile(max_restarts=0),
        )
    )
    assert (record.number, record.fate) == (2, Fate.UNSERVED.value)
    assert record.reason.startswith("the request for the Flex-start VM expired before there was capacity")


def test_a_launch_by_hand_that_went_at_another_moment_has_run_to_its_limit(by_hand, step, some, claimed):
    """Its sweeps were down while it ran; the next attempt does not say that it never had capacity."""
    seen = step(by_hand(Status.PENDING)).record
    ended = some.operation("delete", user="system", at=NOW - 20 * MINUTE)
    node = some.node(marker=None, instance=None, history=(ended,))
    known = {"ledger": (replace(some.attempt(), attempt=seen),), "nodes": (node,), "instances": ()}
    record = claimed(by_hand(Status.PENDING, **known, watched=some.watched()))
    assert (record.number, record.fate) == (2, Fate.EXPIRED.value)


def test_its_wait_is_no_run_time_where_it_is_seen_first_while_it_is_being_made(by_hand, step):
    """Its creation, hours ago, is not its start; Compute Engine tells of none yet."""
    seen = step(by_hand(Status.PROVISIONING)).record
    assert (seen.created, seen.started) == (NOW - HOUR, None)
    began = NOW - timedelta(minutes=2)
    assert step(by_hand(Status.RUNNING, started=began)).record.started == began


def test_a_vm_that_the_lists_may_hide_has_not_begun(some, placing, walk):
    """Its insert is done, and it may be PENDING."""
    insert = some.operation("insert", name="op", target_id="2001", request_id="r")
    steps, after = walk(placing(insert), some.surveyed(inserts=(insert,), unreachable=(HOME,)))
    assert (isinstance(steps[-1], Wait), after.newest.state) == (True, AttemptState.PLACING)
    assert not [item for item in steps if isinstance(item, Tell)]


@pytest.mark.parametrize(("status", "waits"), [(Status.PENDING, True), (Status.PROVISIONING, False)])
def test_a_vm_whose_request_was_not_answered_has_not_begun_while_it_waits(some, placing, walk, status, waits):
    """The lists show it, and nobody hears that it runs, nor registers it, before it has room."""
    there = some.instance(id="2001", status=status, started=None, job="test-vm", attempt=2, turn=1)
    facts = placing(None, instances=(there,))
    sent = replace(facts.ledger[-1].attempt, tries=(asked(operation=""),))
    ledger = (facts.ledger[0], replace(facts.ledger[1], attempt=sent))
    steps, after = walk(replace(facts, ledger=ledger))
    assert any(isinstance(item, Tell) for item in steps) is not waits
    assert after.newest.state is (AttemptState.PLACING if waits else AttemptState.RUNNING)


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize(("status", "told"), [(Status.PENDING, True), (Status.PROVISIONING, False)])
def test_the_owner_is_told_that_it_waits_only_while_it_does(some, placing, step, done, status, told):
    """Whether or not its insert is done; the lists are asked first."""
    operation = some.operation("insert", name="op", target_id="2001", done=done)
    there = some.instance(id="2001", status=status, started=None, job="test-vm", attempt=2, turn=1)
    facts = placing(operation, instances=(there,))
    waits = replace(facts.ledger[-1], attempt=replace(facts.ledger[-1].attempt, waits_told=0))
    facts = replace(facts, ledger=(facts.ledger[0], waits))
    assert isinstance(step(facts), Survey)
    found = step(replace(facts, surveyed=True))
    assert (isinstance(found, Tell) and found.notice.kind == "waits_for_room") is told


@pytest.mark.parametrize(("status", "told"), [(Status.PENDING, True), (Status.PROVISIONING, False)])
def test_the_owner_of_a_vm_launched_by_hand_is_told_that_it_waits(by_hand, step, some, status, told):
    """Where it waits, and since it was asked for."""
    seen = step(by_hand(Status.PENDING)).record
    vm = some.instance(created=NOW - HOUR, started=None, status=status)
    known = {
        "ledger": (replace(some.attempt(), attempt=seen),),
        "nodes": (some.node(marker=None, instance=vm, history=()),),
        "instances": (vm,),
        "watched": some.watched(),
    }
    found = step(by_hand(status, **known))
    assert isinstance(found, Tell) is told
    if told:
        assert found.notice.what == "test-vm has waited 30 min for a VM"
        assert found.notice.why == f"attempt 1 asked {HOME} (the request waits there)"


def test_a_new_request_is_bounded_by_no_less_than_it_may_be(some, placing, walk):
    """Where the job has twelve minutes left, it asks for twelve; the policy's caps hold besides."""
    facts = placing(None, file=JobFile(max_runtime=timedelta(minutes=12)))
    sent = replace(facts.ledger[-1].attempt, tries=(asked(operation="", at=NOW),))
    steps, _ = walk(replace(facts, ledger=(facts.ledger[0], replace(facts.ledger[1], attempt=sent))))
    launches = [item for item in steps if isinstance(item, LaunchInstances)]
    assert launches
    assert launches[0].request.body["scheduling"]["maxRunDuration"] == {"seconds": "720"}
    assert not [item for item in steps if isinstance(item, Tell)]
