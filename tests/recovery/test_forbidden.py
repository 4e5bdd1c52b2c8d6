"""A create that is forbidden: told to ops, tried again, and given up only after a time."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.action import LaunchInstances, StartInstance, Tell, Wait
from spotwarden.model.attempt import AttemptState, Lease
from spotwarden.model.outcome import Done, Rejected
from spotwarden.recovery.attempts import next_step

SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
NO = Rejected(code="forbidden", message="Required 'compute.instances.create' permission (insert: 403)")
STOCKOUT = Rejected(code="ZONE_RESOURCE_POOL_EXHAUSTED", message="no")


@pytest.fixture
def refused(some, asked, tick, walk):
    """Take the steps of a job whose next create is answered so; its tries have failed since a while."""

    def go(answer=NO, *, since=None, error="forbidden: no", **facts):
        tries = (asked(error=error, at=tick.now - since),) if since is not None else ()
        forbidden = {"forbidden_since": tick.now - since} if since is not None else {}
        record = some.attempt(
            2,
            AttemptState.BACKING_OFF,
            replaces={"test-vm": "1001"},
            tries=tries,
            lost=tick.now - HOUR,
            **forbidden,
        )
        facts = some.job(ledger=(record,), nodes=(), launch=some.launch("us-central1-b"), **facts)
        return walk(facts, {LaunchInstances: answer, StartInstance: answer})

    return go


def test_the_first_time_is_told_to_ops_and_waited_out(refused, tick):
    """It may be a grant that does not hold everywhere yet; no other place is asked for the same."""
    steps, facts = refused()
    (told,) = (one.notice for one in steps if isinstance(one, Tell))
    assert (told.kind, told.due) == ("launch_failing", tick.now + HOUR)
    assert "compute.instances.create" in told.why
    assert isinstance(steps[-1], Wait)
    assert len([one for one in steps if isinstance(one, LaunchInstances)]) == 1
    assert (facts.newest.state, facts.newest.forbidden_since) == (AttemptState.BACKING_OFF, tick.now)
    assert facts.newest.not_before > tick.now


def test_ops_are_told_once_however_often_it_is_refused(refused):
    """The same trouble is no news."""
    steps, facts = refused(since=HOUR / 2)
    assert not [one for one in steps if isinstance(one, Tell)]
    assert facts.newest.state is AttemptState.BACKING_OFF


def test_a_job_is_given_up_when_it_has_been_forbidden_for_the_whole_time(refused):
    """One second short of it waits; at the limit a person is told, with Compute Engine's own words."""
    _, waits = refused(since=HOUR - SECOND)
    assert waits.newest.state is AttemptState.BACKING_OFF
    steps, given_up = refused(since=HOUR)
    assert given_up.newest.state is AttemptState.GAVE_UP
    (told,) = (one.notice for one in steps if isinstance(one, Tell))
    assert told.kind == "gave_up"
    assert "forbidden for 1h" in told.why
    assert "compute.instances.create" in told.why


def test_the_policy_says_for_how_long(some, asked, policy, tick):
    """A team that grants rights by hand may want a day."""
    record = some.attempt(
        2,
        AttemptState.PLACING,
        replaces={"test-vm": "1001"},
        tries=(asked(error="forbidden: no", at=tick.now),),
        forbidden_since=tick.now - HOUR,
        lease=Lease(holder=tick.sweep, until=tick.now + HOUR),
    )
    facts = some.job(ledger=(record,), nodes=(), surveyed=True)
    longer = replace(policy, recovery=replace(policy.recovery, forbidden_for=HOUR + SECOND))
    assert isinstance(next_step(facts, policy, tick), Tell)
    assert next_step(facts, longer, tick).record.state is AttemptState.BACKING_OFF


@pytest.mark.parametrize("answer", [STOCKOUT, Rejected(code="quotaExceeded", message="no (insert: 403)")])
def test_another_refusal_between_begins_the_time_anew(refused, answer):
    """Whoever is told that a zone is empty, or a quota used up, may create."""
    _, facts = refused(answer, since=2 * HOUR)
    assert facts.newest.state is AttemptState.BACKING_OFF
    assert facts.newest.forbidden_since is None


def test_a_right_that_comes_back_ends_it(some, refused):
    """The attempt runs as any other."""
    steps, _ = refused(Done(operation=some.operation("insert", name="op-2", done=False)), since=HOUR / 2)
    assert isinstance(steps[-1], Wait)
    assert "still creating" in steps[-1].reason
