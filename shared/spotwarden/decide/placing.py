"""An attempt under way: from the claim to the instance that exists.

The lease guards the steps up to an answered request. From then on every step is safe for any sweep:
an operation is only looked at, ids are written as they are, and the ledger changes under its generation.
"""

from datetime import datetime

from msgspec.structs import replace

from spotwarden.decide import notices
from spotwarden.decide.launching import request_id, stamp
from spotwarden.decide.lifecycle import Event, follow
from spotwarden.model.action import LaunchInstances, Look, RegisterInstance, Step, Tell, Wait, WriteAttempt
from spotwarden.model.attempt import Attempt, Lease, Recorded, State, Try
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance, Status
from spotwarden.model.launch import Launch
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.tick import Tick

PERMANENT = ("invalid", "required", "badRequest", "forbidden", "notFound", "notAuthorized", "accessDenied")
"""Refusals that asking again cannot change (reason words of Compute's `errors[].reason`)."""
UNANSWERED_AT_MOST = 3
"""How often one sweep repeats a request that got no answer; the request id makes that safe."""


def lease(limits: RecoveryLimits, tick: Tick) -> Lease:
    """The lease that this sweep takes."""
    return Lease(holder=tick.sweep, until=tick.now + limits.lease)


def carry_on(facts: JobFacts, newest: Recorded, limits: RecoveryLimits, tick: Tick) -> Step:
    """The next step of an attempt that is under way."""
    attempt = newest.attempt
    if attempt.tries and attempt.state is State.PLACING and (attempt.tries[-1].operation or facts.operation):
        return _created(facts, newest, limits, tick)
    if attempt.state is State.BACKING_OFF:
        if attempt.not_before and attempt.not_before > tick.now:
            return Wait(
                reason=f"backing off until {attempt.not_before:%H:%M:%S} UTC: {attempt.tries[-1].error}"
            )
        return _ask(facts, newest, limits, tick)
    return _guarded(facts, newest, limits, tick)


def _guarded(facts: JobFacts, newest: Recorded, limits: RecoveryLimits, tick: Tick) -> Step:
    """A step that needs the lease: wait for it, take it over, or go on under it."""
    attempt = newest.attempt
    held = attempt.lease
    if facts.unanswered >= UNANSWERED_AT_MOST:
        return _let_go(newest, tick)
    if held is None or held.holder != tick.sweep:
        if held and held.until > tick.now:
            return Wait(reason=f"another sweep works on attempt {attempt.number}")
        taken = replace(attempt, lease=lease(limits, tick), updated=tick.now)
        return WriteAttempt(reason="took over the attempt", record=taken, generation=newest.generation)
    if attempt.state is State.CLAIMED:
        return _ask(facts, newest, limits, tick)
    return _launch(facts, newest, limits, tick)


def _let_go(newest: Recorded, tick: Tick) -> Step:
    """Leave the request to a later sweep, which sends it once more with the same id."""
    if newest.attempt.lease is None:
        return Wait(reason="Compute Engine does not answer")
    free = replace(newest.attempt, lease=None, updated=tick.now)
    return WriteAttempt(reason="Compute Engine does not answer", record=free, generation=newest.generation)


def _ask(facts: JobFacts, newest: Recorded, limits: RecoveryLimits, tick: Tick) -> Step:
    """Write down which place is about to be asked, before it is asked."""
    attempt, launch = newest.attempt, facts.launch
    if not isinstance(launch, Launch):
        return _give_up(facts, newest, launch.reason if launch else "the job has no create script", tick)
    ours = request_id(attempt.job, attempt.number, launch.place, len(attempt.tries) + 1)
    asking = replace(
        attempt,
        state=follow(attempt.state, Event.ASK),
        tries=(*attempt.tries, Try(place=launch.place, request_id=ours, at=tick.now)),
        lease=lease(limits, tick),
        not_before=None,
        updated=tick.now,
    )
    return WriteAttempt(reason=f"asks {launch.place}", record=asking, generation=newest.generation)


def _launch(facts: JobFacts, newest: Recorded, limits: RecoveryLimits, tick: Tick) -> Step:
    attempt, last = newest.attempt, newest.attempt.tries[-1]
    if last.error:
        return _refused(facts, newest, last.error, limits, tick)
    if ours := _already_there(facts, attempt):
        return _finish(facts, newest, ours.id, ours.name, tick)
    if not isinstance(facts.launch, Launch):
        return _give_up(facts, newest, "the create script can no longer be read", tick)
    return LaunchInstances(
        reason=f"attempt {attempt.number} in {last.place}",
        job=attempt.job,
        attempt=attempt.number,
        request=stamp(facts.launch.request, attempt.job, attempt.number),
        request_id=last.request_id,
    )


def _already_there(facts: JobFacts, attempt: Attempt) -> Instance | None:
    """The instance of this very attempt, where an earlier sweep's request was carried out unanswered."""
    for node in facts.nodes:
        for one in node.namesakes:
            if (one.job, one.attempt) == (attempt.job, attempt.number) and one.status is Status.RUNNING:
                return one
    return None


def _created(facts: JobFacts, newest: Recorded, limits: RecoveryLimits, tick: Tick) -> Step:
    """Note the operation, look at it, and finish or fail with it."""
    attempt, last, operation = newest.attempt, newest.attempt.tries[-1], facts.operation
    if operation and not last.operation:
        noted = replace(_last_try(attempt, operation=operation.name), lease=None, updated=tick.now)
        return WriteAttempt(reason="the request was accepted", record=noted, generation=newest.generation)
    if operation is None or operation.name != last.operation:
        return Look(place=last.place, operation=last.operation)
    if not operation.done:
        return Wait(reason=f"{last.place} is still creating the instance")
    if operation.error:
        return _refused(facts, newest, operation.error, limits, tick)
    return _finish(facts, newest, operation.target_id, operation.target_name, tick)


def _last_try(attempt: Attempt, *, operation: str = "", error: str = "") -> Attempt:
    last = attempt.tries[-1]
    noted = replace(last, operation=operation or last.operation, error=error or last.error)
    return replace(attempt, tries=(*attempt.tries[:-1], noted))


def _refused(facts: JobFacts, newest: Recorded, error: str, limits: RecoveryLimits, tick: Tick) -> Step:
    """Back off from a place that has nothing now; give up where asking again cannot help."""
    if error.partition(":")[0] in PERMANENT:
        return _give_up(facts, newest, error, tick)
    attempt = newest.attempt
    waiting = replace(
        _last_try(attempt, error=error),
        state=follow(attempt.state, Event.FAILED),
        not_before=back_off_until(len(attempt.tries), limits, tick.now),
        lease=None,
        updated=tick.now,
    )
    return WriteAttempt(reason=error, record=waiting, generation=newest.generation)


def back_off_until(turns: int, limits: RecoveryLimits, now: datetime) -> datetime:
    """When the next try may start: doubling from the first back-off up to the longest."""
    doubled = limits.first_backoff * (1 << min(turns - 1, 20))
    return now + min(doubled, limits.longest_backoff)


def _give_up(facts: JobFacts, newest: Recorded, reason: str, tick: Tick) -> Step:
    """Tell a person, then write down that we stopped trying."""
    attempt = newest.attempt
    if not facts.told:
        return Tell(reason=reason, notice=notices.gave_up(attempt, reason, tick))
    ended = replace(
        attempt, state=follow(attempt.state, Event.GIVE_UP), reason=reason, lease=None, updated=tick.now
    )
    return WriteAttempt(reason=reason, record=ended, generation=newest.generation)


def _finish(facts: JobFacts, newest: Recorded, instance_id: str, node: str, tick: Tick) -> Step:
    """Ids first, then the news, then the ledger; the marker goes last, as one that is answered."""
    attempt = newest.attempt
    if not facts.registered:
        reason = f"attempt {attempt.number} is instance {instance_id}"
        return RegisterInstance(reason=reason, job=attempt.job, node=node, instance_id=instance_id)
    if not facts.told:
        return Tell(reason=attempt.reason, notice=notices.started(attempt, instance_id, tick))
    running = replace(
        attempt,
        state=follow(attempt.state, Event.CREATED),
        instances={node: instance_id},
        lease=None,
        updated=tick.now,
    )
    return WriteAttempt(reason="the instance exists", record=running, generation=newest.generation)
