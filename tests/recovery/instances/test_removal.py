"""A job is its owner's to end, also while it is being brought back."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.action import LaunchInstances, Tell, Wait, WriteAttempt
from spotwarden.model.attempt import AttemptState, Try
from spotwarden.recovery.instances.removal import may_be_removed, removed
from spotwarden.recovery.observed.reopening import startable
from spotwarden.recovery.steps.ending import stop

A, B = "us-central1-a", "us-central1-b"
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)
PERSON, ROBOT = "ann@example.com", "reaper@p.iam.gserviceaccount.com"
HIDES = f"unreachable: {B}"


@pytest.fixture
def outlived(some, tick):
    """The VM 1001, which still ran when its successor 2002 was lost a minute ago, and was deleted then."""

    def build(late=timedelta(0), user=PERSON, **facts):
        deleted = some.operation("delete", name="op-8", user=user, at=tick.now - MINUTE + late)
        return some.node(**{"marker": None, "history": (deleted,), **facts})

    return build


@pytest.fixture
def lost(some, tick):
    """The successor 2002, preempted a minute ago."""
    taken = some.operation(name="op-9", target_id="2002", at=tick.now - MINUTE)
    return some.node(instance_id="2002", marker=None, history=(taken,))


@pytest.fixture
def beside(some, lost):
    """A job whose successor, made before the break, was lost."""

    def build(node, **facts):
        runs = some.attempt(2, instances={"test-vm": "2002"}, replaces={"test-vm": "1001"}, early=True)
        return some.job(**{"ledger": (runs,), "nodes": (lost,), "outlived": (node,), **facts})

    return build


@pytest.mark.parametrize(("late", "stopped"), [(timedelta(0), True), (-SECOND, False)])
def test_who_removes_the_vm_that_has_outlived_its_successor_stops_the_job(
    outlived, beside, claim_of, late, stopped
):
    """It was all that was left. A second earlier its successor ran, and the old VM was only tidied up."""
    one = claim_of(beside(outlived(late)))
    assert isinstance(one, Tell) is stopped
    assert isinstance(one, WriteAttempt) is not stopped


def test_the_record_of_its_end_names_the_vm_that_was_removed(outlived, beside, walk):
    """Its owner reads who has ended the job, and may start that VM again, though it was not the newest."""
    _, facts = walk(beside(outlived()))
    removal = facts.newest.removed["test-vm"]
    assert (removal.instance_id, removal.operation) == ("1001", "op-8")
    assert startable(facts.newest) == {"2002": "test-vm", "1001": "test-vm"}
    assert f"test-vm was deleted by {PERSON}" in facts.newest.reason


@pytest.mark.parametrize(("asked", "stopped"), [(-SECOND, True), (SECOND, False)])
def test_who_asks_for_the_job_again_since_then_has_it(some, tick, lost, outlived, claim_of, asked, stopped):
    """A restart within a move, of which both VMs were stopped just before, is the newer word."""
    runs = some.attempt(
        2,
        instances={"test-vm": "2002"},
        replaces={"test-vm": "1001"},
        early=True,
        asked=tick.now - MINUTE + asked,
    )
    one = claim_of(some.job(ledger=(runs,), nodes=(lost,), outlived=(outlived(),)))
    assert isinstance(one, Tell) is stopped


def test_only_a_person_stops_a_job_so(outlived, beside, claimed):
    """The old VM is to go in any case, by whatever script."""
    assert claimed(beside(outlived(user=ROBOT))).number == 3


def test_an_old_vm_that_nobody_removed_stops_nothing(some, outlived, beside, claimed):
    """It was announced to be taken, and it was."""
    assert claimed(beside(outlived(history=(some.operation(),)))).number == 3


@pytest.fixture
def waits(some, beside, tick):
    """A third attempt, which stands in for the lost successor and has not asked yet."""

    def build(node, **facts):
        record = some.attempt(
            3,
            AttemptState.BACKING_OFF,
            replaces={"test-vm": "2002"},
            lost=tick.now - MINUTE,
            not_before=tick.now,
        )
        seen = some.node(instance_id="2002", marker=None, history=())
        return beside(node, **{"ledger": (record,), "nodes": (seen,), "instances": (), **facts})

    return build


@pytest.mark.parametrize(("late", "stopped"), [(timedelta(0), True), (-SECOND, False)])
def test_so_does_who_removes_it_while_the_next_attempt_waits(outlived, waits, walk, late, stopped):
    """Nothing is asked for any more."""
    steps, facts = walk(waits(outlived(late)))
    assert (facts.newest.state is AttemptState.STOPPED) is stopped
    assert (LaunchInstances in [type(one) for one in steps]) is not stopped


def test_a_log_that_hides_a_zone_may_hide_the_removal(some, outlived, waits, walk):
    """Nothing is asked for until the log is whole, or the list shows the old VM alive."""
    hidden = outlived(history=())
    steps, _ = walk(waits(hidden, unsure=HIDES))
    assert [type(one) for one in steps] == [Wait]
    assert HIDES in steps[0].reason
    runs = waits(hidden, unsure=HIDES, instances=(some.instance(),))
    assert not may_be_removed(runs, runs.newest)
    whole = waits(hidden)
    assert not may_be_removed(whole, whole.newest)


@pytest.mark.parametrize("early", [True, False])
def test_what_an_early_claim_replaces_may_be_removed_unseen(some, asked, ours, walk, early):
    """It still ran. What an ordinary claim replaces was known to be gone, and nobody can remove it."""
    record = some.attempt(
        2,
        AttemptState.PLACING,
        replaces={"test-vm": "1001"},
        early=early,
        tries=(asked(place=B),),
        lease=ours,
    )
    gone = some.node(marker=None, history=())
    facts = some.job(ledger=(record,), nodes=(gone,), launch=some.launch(B), unsure=HIDES)
    steps, _ = walk(facts)
    assert (LaunchInstances in [type(one) for one in steps]) is not early


@pytest.mark.parametrize(("asked", "stands"), [(SECOND, False), (timedelta(0), True)])
def test_who_asks_for_a_job_again_takes_his_own_stop_back(some, tick, asked, stands):
    """A second after he stopped its VM; in the very same second the stop may be the newer word."""
    stopped = some.operation("stop", name="op-8", user=PERSON, at=tick.now - MINUTE)
    node = some.node(marker=None, history=(stopped,))
    again = some.attempt(
        2, AttemptState.CLAIMED, replaces={"test-vm": "1001"}, created=tick.now - MINUTE + asked, lost=None
    )
    facts = some.job(ledger=(again,), nodes=(node,))
    assert removed(facts, again.attempt) is stands
    # Recovery's own attempt is no person's word, whenever it was made.
    by_us = some.attempt(
        2,
        AttemptState.CLAIMED,
        replaces={"test-vm": "1001"},
        created=tick.now - MINUTE + asked,
        lost=tick.now - MINUTE,
    )
    assert removed(some.job(ledger=(by_us,), nodes=(node,)), by_us.attempt)


@pytest.mark.parametrize(("user", "gone"), [(PERSON, True), (ROBOT, False)])
def test_who_removes_what_a_request_has_just_begun_to_make_stops_the_job(some, tick, user, gone):
    """Its insert may fail for lack of room at the same moment: that asks no other place."""
    deleted = some.operation("delete", name="op-8", target_id="3003", user=user, at=tick.now - SECOND)
    attempt = some.attempt(2, lost=tick.now - MINUTE, state=AttemptState.PLACING)
    begun = some.node(instance_id="3003", marker=None, history=(deleted,))
    assert removed(some.job(ledger=(attempt,), tried=(begun,)), attempt.attempt) is gone


def test_what_a_request_had_made_is_on_the_record_that_its_removal_closes(some, tick):
    """Its owner may start it again, and the operation log does not tell for ever who made it."""
    deleted = some.operation("stop", name="op-8", target_id="3003", user=PERSON, at=tick.now - SECOND)
    trying = Try(place=A, request_id="r", at=tick.now - MINUTE)
    newest = some.attempt(2, lost=tick.now - MINUTE, state=AttemptState.PLACING, tries=(trying,))
    insert = some.operation("insert", name="op-7", target_id="3003", request_id="r", at=tick.now - MINUTE)
    begun = some.node(instance_id="3003", marker=None, history=(deleted,))
    facts = some.job(ledger=(newest,), tried=(begun,), inserts=(insert,))
    told = frozenset((stop(facts, newest, "it was removed", tick).notice.id,))
    written = stop(replace(facts, told=told), newest, "it was removed", tick).record
    assert (written.state, written.instances) == (AttemptState.STOPPED, {"test-vm": "3003"})
    assert written.removed["test-vm"].at == deleted.at


@pytest.mark.parametrize(("late", "state"), [(-SECOND, AttemptState.STOPPED), (SECOND, AttemptState.RUNNING)])
def test_who_asks_for_what_is_being_brought_back_has_it_though_its_vm_was_stopped_before(
    some, tick, walk, late, state
):
    """The attempt was finished in between: what runs no more is brought back once more."""
    stopped = some.operation("stop", name="op-8", user=PERSON, at=tick.now - MINUTE)
    ours = some.attempt(
        2, instances={"test-vm": "1001"}, lost=tick.now - 2 * MINUTE, asked=tick.now - MINUTE + late
    )
    node = some.node(marker=None, history=(stopped,))
    watched = some.watched(attempt=2)
    steps, known = walk(some.job(ledger=(ours,), nodes=(node,), watched=watched), some.surveyed())
    assert (known.newest.state is AttemptState.STOPPED) is (state is AttemptState.STOPPED)
    assert (LaunchInstances in [type(step) for step in steps]) is (state is AttemptState.RUNNING)
