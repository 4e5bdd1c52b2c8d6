"""Markers that have their answer already, and jobs that are closed."""

import pytest

from spotwarden.model.action import ClearMarker, EndWatch, Tell, WriteAttempt
from spotwarden.model.attempt import AttemptState
from spotwarden.model.marker import MarkerBody

CLOSED = [AttemptState.ENDED, AttemptState.STOPPED, AttemptState.GAVE_UP]


def test_a_deleted_instance_closes_its_job(some, walk):
    """The owner's own delete is told and recorded, then marker and watch go."""
    deleted = some.node(history=(some.operation("delete"),))
    steps, _ = walk(some.job(nodes=(deleted,)))
    assert [type(one) for one in steps] == [Tell, WriteAttempt, ClearMarker, EndWatch]
    written = steps[1]
    assert (written.record.state, written.record.number) == (AttemptState.STOPPED, 2)
    assert (written.generation, written.after) == (0, 100)


def test_a_job_without_a_ledger_is_closed_as_its_first_attempt(some, walk):
    """The developer's own launch is attempt 1; the record answers the marker."""
    deleted = some.node(history=(some.operation("delete"),))
    registered = {"test-vm": "1001"}
    steps, _ = walk(some.job(nodes=(deleted,), ledger=(), watched=None, registrations=registered))
    assert [type(one) for one in steps] == [Tell, WriteAttempt, ClearMarker]
    assert (steps[1].record.state, steps[1].record.number, steps[1].generation) == (
        AttemptState.STOPPED,
        1,
        0,
    )


@pytest.mark.parametrize("state", CLOSED)
def test_an_instance_launched_by_hand_after_a_close_is_recovered(some, claimed, state):
    """A closed job whose developer launched a new instance lives again, as the next attempt."""
    closed = some.attempt(1, state, instances={"test-vm": "1001"})
    by_hand = some.node(instance_id="3003", history=(some.operation(target_id="3003"),))
    insert = some.operation("insert", name="op-0", target_id="3003", at=some.instance().created)
    assert claimed(some.job(ledger=(closed,), nodes=(by_hand,), inserts=(insert,))).number == 2


@pytest.mark.parametrize("state", CLOSED)
def test_an_instance_of_which_the_log_no_longer_tells_who_made_it_opens_no_closed_job(some, walk, state):
    """It may be what the closed attempt itself had asked for; a launch by hand since is told of."""
    closed = some.attempt(1, state)
    lost = some.node(instance_id="3003", history=(some.operation(target_id="3003"),))
    facts = some.job(ledger=(closed,), nodes=(lost,), registrations={"test-vm": "3003"})
    steps, _ = walk(facts)
    assert [type(one) for one in steps] == [ClearMarker, EndWatch]


@pytest.mark.parametrize("state", CLOSED)
def test_an_instance_of_a_hidden_zone_says_nothing_yet_of_a_closed_job(some, walk, state):
    """Its owner may have launched it by hand since: its marker waits until the zone is shown."""
    closed = some.attempt(1, state)
    lost = some.node(instance=None, instance_id="3003", unsure="unreachable: us-central1-a")
    facts = some.job(ledger=(closed,), nodes=(lost,), registrations={"test-vm": "3003"})
    steps, _ = walk(facts)
    assert ClearMarker not in [type(one) for one in steps]


@pytest.mark.parametrize("state", CLOSED)
def test_a_closed_job_is_not_started_for_its_own_instance(some, walk, state):
    """A late or doubled marker of the closed attempt is only cleared."""
    closed = some.attempt(1, state, instances={"test-vm": "1001"})
    steps, _ = walk(some.job(ledger=(closed,)))
    assert [type(one) for one in steps] == [ClearMarker, EndWatch]


@pytest.mark.parametrize("state", CLOSED)
def test_a_closed_job_leaves_the_list(some, step, state):
    """Without a marker there is nothing to judge, however its instances stand."""
    closed = some.attempt(1, state, instances={"test-vm": "1001"})
    assert isinstance(step(some.job(ledger=(closed,), nodes=(some.node(marker=None),))), EndWatch)


def test_a_marker_that_is_already_answered_is_cleared(some, step):
    """Killed between the ledger and the marker: the next sweep only clears."""
    answers = some.attempt(2, AttemptState.RUNNING, markers={"test-vm": 11}, instances={"test-vm": "2002"})
    clears = step(some.job(ledger=(some.attempt(1), answers)))
    assert isinstance(clears, ClearMarker)
    assert "attempt 2" in clears.reason


def test_a_newer_marker_that_names_a_replaced_instance_is_cleared(some, step):
    """A doubled marker of the same instance makes no second attempt."""
    answers = some.attempt(2, AttemptState.RUNNING, markers={"test-vm": 10}, replaces={"test-vm": "1001"})
    doubled = some.node(marker=some.marker(body=MarkerBody(instance_id="1001")))
    assert isinstance(step(some.job(ledger=(answers,), nodes=(doubled,))), ClearMarker)


def test_a_newer_marker_that_names_nobody_is_judged(some, claimed):
    """It may be about the newest instance, whatever was registered last."""
    answers = some.attempt(2, AttemptState.RUNNING, markers={"test-vm": 10}, replaces={"test-vm": "1001"})
    assert claimed(some.job(ledger=(answers,))).number == 3


def test_a_new_preemption_of_the_new_instance_is_recovered_again(some, claimed):
    """Another instance, another marker: the next attempt."""
    second = some.attempt(
        2, markers={"test-vm": 10}, replaces={"test-vm": "1001"}, instances={"test-vm": "2002"}
    )
    again = some.node(instance_id="2002", history=(some.operation(target_id="2002"),))
    assert claimed(some.job(ledger=(second,), nodes=(again,))).number == 3
