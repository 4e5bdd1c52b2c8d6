"""The claim and the first try: one write, unless something must be seen to between the two."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from spotwarden.model.action import DeleteInstance, LaunchInstances, Survey, Tell, Wait, WriteAttempt
from spotwarden.model.attempt import AttemptState, Lease
from spotwarden.model.instance import Status
from spotwarden.model.outcome import Unanswered


def of_type(steps, kind):
    """The steps of one kind."""
    return [step for step in steps if isinstance(step, kind)]


def test_the_claim_holds_the_first_try(some, claim_of, limits, tick):
    """Created behind the record that was read, under this sweep's lease, with what is about to be asked."""
    facts = some.job()
    claim = claim_of(facts)
    assert (claim.generation, claim.after) == (0, facts.head)
    assert claim.record.state is AttemptState.PLACING
    assert claim.record.lease == Lease(holder="this-sweep", until=tick.now + limits.lease)
    assert [(tried.place, tried.turn, tried.operation) for tried in claim.record.tries] == [
        (some.home, 1, "")
    ]
    assert claim.record.replaces == {"test-vm": "1001"}


def test_why_it_was_lost_and_where_it_is_asked_for_stand_in_the_reason(some, claim_of):
    """The audit has one entry for both; the record keeps why it began."""
    claim = claim_of(some.job())
    assert claim.reason == f"{claim.record.reason}; asks {some.home}"


def test_the_request_follows_with_nothing_between(some, walk):
    """Nor is the record written again before it is sent: an object takes one write a second."""
    steps, _ = walk(some.job())
    assert [type(step) for step in steps[:3]] == [Survey, WriteAttempt, LaunchInstances]


def test_what_is_looked_at_before_the_claim_is_as_new_as_what_was_after_it(some, step, tick):
    """By the job's names, and the log from a minute before: clocks may be so far apart."""
    look = step(some.job())
    assert (look.job, look.names, look.since) == ("test-vm", ("test-vm",), tick.now - timedelta(minutes=1))


def test_nothing_is_claimed_while_compute_engine_does_not_answer(some, walk):
    """Nobody has to wait for a lease then; the next sweep judges anew."""
    steps, facts = walk(some.job(), {Survey: Unanswered(detail="no")})
    assert [type(step) for step in steps] == [Survey, Wait]
    assert facts.newest.number == 1


def test_a_vm_that_a_person_started_meanwhile_is_not_asked_for(some, walk):
    """The look before the claim shows it; the attempt is the one that runs."""
    steps, facts = walk(some.job(), some.surveyed(some.instance()))
    assert of_type(steps, LaunchInstances) == []
    assert facts.newest.instances == {"test-vm": "1001"}


def test_a_gang_whose_survivors_must_go_first_is_claimed_alone(some, walk):
    """Whoever takes over deletes them too; nothing is written of a try that may be minutes away."""
    steps, facts = walk(some.gang_job())
    first = steps[0]
    assert (type(first), first.record.state, first.record.tries) == (WriteAttempt, AttemptState.CLAIMED, ())
    assert [step.instance_id for step in of_type(steps, DeleteInstance)] == ["1002"]
    assert facts.newest.lease is None


def test_a_gang_that_is_gone_as_a_whole_is_claimed_with_its_first_try(some, walk):
    """There is nothing to wait for."""
    gone = [replace(node, instance=None) for node in some.gang_job().nodes]
    gone = [replace(node, history=(some.operation(target_name=node.node),)) for node in gone]
    steps, _ = walk(some.gang_job(nodes=tuple(gone), instances=()))
    assert [type(step) for step in steps[:3]] == [Survey, WriteAttempt, LaunchInstances]
    assert len(steps[1].record.tries) == 1


def test_where_the_owner_must_be_told_first_the_claim_stands_alone(some, walk):
    """Somebody else's VM has the job's name in its zone."""
    namesake = some.instance(id="7777", created=None, status=Status.RUNNING)
    steps, _ = walk(some.job(), some.surveyed(namesake))
    claim, *_ = of_type(steps, WriteAttempt)
    assert claim.record.state is AttemptState.CLAIMED
    assert of_type(steps, Tell)


@pytest.mark.parametrize("job", ["job", "gang_job"])
def test_a_job_that_is_well_is_claimed_by_nobody(some, claim_of, job):
    """No loss, no attempt."""
    facts = getattr(some, job)(nodes=())
    assert not isinstance(claim_of(facts), WriteAttempt)


def test_a_recovery_writes_its_record_once_before_it_asks(world):
    """Of the attempt's own object; whatever else is written is another object."""
    world.preempt()
    world.wait(minutes=1)
    world.sweep()
    kinds = [entry["action"] for entry in world.audit()]
    assert kinds.index("LaunchInstances") > kinds.index("WriteAttempt")
    assert kinds[: kinds.index("LaunchInstances")].count("WriteAttempt") == 1
