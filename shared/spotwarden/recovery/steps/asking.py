"""Which place is asked is written down before it is asked; so is that none could be."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from spotwarden.model.action import Step, Tell, Wait, WriteAttempt
from spotwarden.model.attempt import Attempt, AttemptState, Lease, Recorded, Try, TryKind
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch, NoLaunch
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.model.values import written
from spotwarden.recovery.folder.lifecycle import AttemptEvent, follow
from spotwarden.recovery.instances.elastic import least_of
from spotwarden.recovery.instances.ownership import blocking
from spotwarden.recovery.kinds.bounds import work_left
from spotwarden.recovery.kinds.flexible import is_flexible
from spotwarden.recovery.kinds.machines import on_machine
from spotwarden.recovery.kinds.price_limits import is_unpriced, kept_away
from spotwarden.recovery.places import avoiding, placement
from spotwarden.recovery.places.choosing import Choosing, choose
from spotwarden.recovery.places.handover import asks_for_notice
from spotwarden.recovery.places.usable_places import free_name, hopeless
from spotwarden.recovery.requests.launching import request_id
from spotwarden.recovery.requests.refusals import RefusalKind, lacks_notice, refusal
from spotwarden.recovery.requests.slice_groups import group_of, is_slice
from spotwarden.recovery.telling import name_notices, notices
from spotwarden.recovery.telling.told_once import untold, with_told

TRIES_KEPT = 60
"""More tries than a person wants to read; the record of a job that waits for weeks stays small."""
A_TICK = timedelta(minutes=1)


def noted(attempt: Attempt, tick: Tick, *, operation: str = "", error: str = "") -> Attempt:
    """The attempt with what is known of its newest try."""
    last = attempt.tries[-1]
    refused = last.refused or (tick.now if error else None)
    known = replace(last, operation=operation or last.operation, error=error or last.error, refused=refused)
    since = attempt.forbidden_since
    if error:
        since = (since or last.at) if refusal(error) is RefusalKind.FORBIDDEN else None
    return replace(attempt, tries=(*attempt.tries[:-1], known), forbidden_since=since)


def wait(attempt: Attempt, tick: Tick) -> Wait:
    """Say until when it backs off, and why."""
    until = attempt.not_before or tick.now
    why = attempt.tries[-1].error if attempt.tries else attempt.reason
    return Wait(reason=f"backing off until {until:%H:%M:%S} UTC: {why}", soon=until - tick.now < A_TICK)


def ask(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick, *, lease: Lease, waited: bool) -> Step:
    """Write down which place is about to be asked, under this lease; without any, back off or give up."""
    if others := blocking(facts):
        notice = name_notices.name_taken(facts, others, tick)
        if untold(facts, newest.attempt, notice):
            return Tell(reason="another VM has the name of one of the job's VMs", notice=notice)
        # Whatever is written next says that it was told.
        newest = replace(newest, attempt=with_told(newest.attempt, notice))
    attempt = newest.attempt
    again = _without_notice(attempt)
    chosen, least = (again, 0) if again else _chosen(facts, attempt, policy, tick, waited=waited)
    if chosen is None:
        if hopeless(facts, attempt, policy):
            return give_up(facts, newest, _last_word(facts, attempt), tick)
        return _back_off(facts, newest, policy, tick)
    turn = (attempt.tries[-1].turn if attempt.tries else 0) + 1
    key = chosen.place if chosen.kind is TryKind.CREATE else f"start/{chosen.place}"
    request = request_id(attempt.job, attempt.number, key, turn)
    trying = Try(
        place=chosen.place,
        request_id=request,
        at=tick.now,
        kind=chosen.kind,
        spot=chosen.spot,
        turn=turn,
        why=chosen.advice,
        model=chosen.model,
        least=least,
        machine=chosen.machine,
        group=group_of(attempt.job, attempt.number, turn, request) if is_slice(facts) else None,
        notice=False if again else _asks_for_notice(facts, attempt, chosen, policy, tick),
        vm=_name_of(facts, attempt, chosen, again=again is not None),
    )
    event = AttemptEvent.NEXT if attempt.state is AttemptState.PLACING else AttemptEvent.ASK
    asking = replace(
        attempt,
        state=follow(attempt.state, event),
        tries=(*attempt.tries, trying)[-TRIES_KEPT:],
        lease=lease,
        not_before=None,
        updated=tick.now,
    )
    why = on_machine(trying)
    why += " without a notice" if again else ""
    why += f", on demand: {chosen.why}" if chosen.why else ""
    why += f": {chosen.advice}" if chosen.advice else ""
    if is_unpriced(facts, policy.placement, chosen.model, (chosen.machine, chosen.place)):
        why += ": its price is unknown, so max_price doesn't apply"
    return WriteAttempt(reason=f"asks {chosen.place}{why}", record=asking, generation=newest.generation)


def _name_of(facts: JobFacts, attempt: Attempt, chosen: Choosing, *, again: bool) -> str:
    """The name that its VM is asked for under, "" for its node's."""
    if again:
        return attempt.tries[-1].vm
    return (free_name(facts, attempt, chosen.place) or "") if chosen.kind is TryKind.CREATE else ""


def _without_notice(attempt: Attempt) -> Choosing | None:
    """The place that has just refused a notice of preemption, to be asked at once without."""
    last = attempt.tries[-1] if attempt.tries else None
    if last is None or not lacks_notice(last):
        return None
    return Choosing(place=last.place, kind=last.kind, spot=last.spot, model=last.model, machine=last.machine)


def _asks_for_notice(
    facts: JobFacts, attempt: Attempt, chosen: Choosing, policy: Policy, tick: Tick
) -> bool | None:
    if chosen.kind is not TryKind.CREATE:
        return None
    return asks_for_notice(facts, attempt, chosen, policy.recovery, tick.now)


def _chosen(
    facts: JobFacts, attempt: Attempt, policy: Policy, tick: Tick, *, waited: bool
) -> tuple[Choosing | None, int]:
    """The next place, and how many nodes are enough there: every place is first asked for all of them."""
    least = least_of(facts)
    if not least or not isinstance(facts.launch, Launch):
        return choose(facts, attempt, policy, tick, waited=waited), 0
    whole = len(facts.launch.nodes)
    if chosen := choose(facts, attempt, policy, tick, waited=False, least=whole):
        return chosen, whole
    return choose(facts, attempt, policy, tick, waited=waited, least=least), least


def ask_again(newest: Recorded, tick: Tick, *, lease: Lease) -> WriteAttempt:
    """Forget an operation that answers 404, and send the same try once more, under this lease.

    It keeps its request id: as long as Compute Engine remembers that, nothing is made twice.
    """
    attempt, last = newest.attempt, newest.attempt.tries[-1]
    tries = (*attempt.tries[:-1], replace(last, operation=""))
    again = replace(attempt, tries=tries, lease=lease, updated=tick.now)
    reason = f"the operation {last.operation} is gone and created nothing: requesting again"
    return WriteAttempt(reason=reason, record=again, generation=newest.generation)


def go_on(facts: JobFacts, failed: Recorded, policy: Policy, tick: Tick, *, lease: Lease) -> Step:
    """After a try that is known to have failed: the next place at once, where one is open.

    A repetition that is refused for its notice waits for the log: the first request may have been carried out
    all the same, its id forgotten since, and what it made removed by a person. So does a Flex-start VM that
    went before it had room, and not because there was none.
    """
    last = failed.attempt.tries[-1]
    repeated = lacks_notice(last) and last.at < tick.now and not last.operation
    if repeated or (_went_in_line(last) and is_flexible(facts)):
        return _back_off_until(failed, tick.now + policy.recovery.log_delay, last.error, tick)
    match refusal(failed.attempt.tries[-1].error):
        case RefusalKind.NOT_READY:
            return _back_off(facts, failed, policy, tick)
        case RefusalKind.FORBIDDEN:
            return _forbidden(facts, failed, policy, tick)
    return ask(facts, failed, policy, tick, lease=lease, waited=False)


def _went_in_line(last: Try) -> bool:
    created = last.kind is TryKind.CREATE and bool(last.operation)
    return created and refusal(last.error) is RefusalKind.OTHER


def _forbidden(facts: JobFacts, failed: Recorded, policy: Policy, tick: Tick) -> Step:
    """Tell ops of the first refusal for want of a right, and back off; give up once it has lasted too long.

    Another place is not asked at once: rights are the project's as a rule, and nothing is lost by waiting.
    """
    last = failed.attempt.tries[-1]
    since = failed.attempt.forbidden_since or last.at
    if tick.now - since >= policy.recovery.forbidden_for:
        lasted = written(policy.recovery.forbidden_for)
        return give_up(
            facts, failed, f"it was forbidden for {lasted} (recovery.forbidden_for): {last.error}", tick
        )
    notice = notices.forbidden(facts, failed.attempt, policy, tick)
    if since == last.at and notice.id not in facts.told:
        return Tell(reason=last.error, notice=notice)
    return _back_off(facts, failed, policy, tick)


def _last_word(facts: JobFacts, attempt: Attempt) -> str:
    if attempt.tries and attempt.tries[-1].error:
        return attempt.tries[-1].error
    if isinstance(facts.launch, NoLaunch):
        return facts.launch.reason
    return "the job has no create script"


def _back_off(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    """Wait for a place to open; not beyond the moment when only on-demand VMs still make the deadline."""
    attempt = newest.attempt
    until = back_off_until(attempt, policy.recovery, tick.now)
    last_call = _last_call(facts, policy, tick)
    if last_call and last_call > tick.now:
        until = min(until, last_call)
    why = attempt.tries[-1].error if attempt.tries else _closed_places(facts, policy, tick)
    return _back_off_until(newest, until, why, tick)


def _back_off_until(newest: Recorded, until: datetime, why: str, tick: Tick) -> WriteAttempt:
    attempt = newest.attempt
    event = AttemptEvent.FAILED if attempt.state is AttemptState.PLACING else AttemptEvent.NO_PLACE
    waiting = replace(
        attempt, state=follow(attempt.state, event), not_before=until, lease=None, updated=tick.now
    )
    return WriteAttempt(reason=why, record=waiting, generation=newest.generation)


def _closed_places(facts: JobFacts, policy: Policy, tick: Tick) -> str:
    avoid = avoiding.avoided(facts, policy.placement, tick.now)
    waited = tick.now - facts.newest.created if facts.newest else timedelta(0)
    expensive = [place.words for place in kept_away(facts, policy.placement, waited)]
    left_out = [f"avoided: {avoiding.said(avoid)}"] if avoid else []
    return "; ".join(("no zone is available now", *left_out, *expensive))


def _last_call(facts: JobFacts, policy: Policy, tick: Tick) -> datetime | None:
    left = work_left(facts, tick.now)
    if facts.file.deadline is None or left is None:
        return None
    return placement.spot_until(left, facts.file.deadline, policy.placement)


def back_off_until(attempt: Attempt, limits: RecoveryLimits, now: datetime) -> datetime:
    """When the next try may start: doubling from the first back-off up to the longest, spread by a fifth."""
    turns = attempt.tries[-1].turn if attempt.tries else 1
    doubled = min(limits.first_backoff * (1 << min(turns - 1, 20)), limits.longest_backoff)
    return now + doubled + placement.jitter(attempt.job, turns, doubled / 5)


def give_up(facts: JobFacts, newest: Recorded, reason: str, tick: Tick) -> Step:
    """Tell a person, then write down that we stopped trying."""
    attempt = newest.attempt
    notice = notices.gave_up(facts, attempt, reason, tick)
    if notice.id not in facts.told:
        return Tell(reason=reason, notice=notice)
    ended = replace(
        attempt,
        state=follow(attempt.state, AttemptEvent.GIVE_UP),
        reason=reason,
        lease=None,
        updated=tick.now,
    )
    return WriteAttempt(reason=reason, record=ended, generation=newest.generation)
