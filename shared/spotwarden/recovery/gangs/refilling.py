"""A gang's missing nodes, asked for again under their names, beside those that run.

A refill is a try of the attempt that runs, written down before it is sent, as any other. What it makes joins
the gang by the next record: until that names it, it trains nothing.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from spotwarden.model.action import LaunchInstances, Look, Step, Tell, Wait, WriteAttempt
from spotwarden.model.attempt import Attempt, Recorded, Try, TryKind
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Choice
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.recovery.gangs.joining import let_join
from spotwarden.recovery.gangs.lacking import due_nodes
from spotwarden.recovery.gangs.membership import survey
from spotwarden.recovery.instances.elastic import home_of, refill_due, refilled
from spotwarden.recovery.kinds.bounds import SHORTEST_RUN, time_left
from spotwarden.recovery.kinds.machines import launch_on, runs_on
from spotwarden.recovery.observed.identity import CLOCKS_APART
from spotwarden.recovery.observed.inserts import of_requests
from spotwarden.recovery.places.choosing import Choosing
from spotwarden.recovery.places.handover import asks_for_notice
from spotwarden.recovery.requests.launching import prepare, request_id
from spotwarden.recovery.requests.refusals import lacks_notice
from spotwarden.recovery.steps import asking
from spotwarden.recovery.steps.leasing import is_held_by_another, lease, until
from spotwarden.recovery.steps.progress import UNANSWERED_AT_MOST
from spotwarden.recovery.telling import name_notices
from spotwarden.recovery.telling.told_once import untold, with_told

UNSEEN_AFTER = asking.A_TICK
"""What an operation has made, and the lists do not show for so long, is gone again."""
TAKEN_BACK = "incomplete: what was made is gone again"


def refill(
    facts: JobFacts, newest: Recorded, left: Mapping[str, str], policy: Policy, tick: Tick
) -> Step | None:
    """The next step to have the gang's missing nodes again; None where none is missing."""
    attempt = newest.attempt
    if not attempt.lacking:
        return None
    if is_under_way(attempt):
        return _carry_on(facts, newest, left, policy, tick)
    if refilled(facts, attempt):
        return let_join(facts, attempt, left, policy, tick)
    return _ask(facts, newest, left, policy, tick)


def is_under_way(attempt: Attempt) -> bool:
    """Whether a refill was written down of which nobody knows yet what came."""
    last = attempt.tries[-1] if attempt.tries else None
    return last is not None and last.kind is TryKind.REFILL and last.refused is None


def _ask(
    facts: JobFacts, newest: Recorded, left: Mapping[str, str], policy: Policy, tick: Tick
) -> Step | None:
    """Write down which nodes are about to be asked for, where their peers are."""
    attempt = newest.attempt
    last = attempt.tries[-1] if attempt.tries else None
    again = refill_due(attempt, policy.placement.block)
    if again is not None and tick.now < again:
        return Wait(reason=f"missing nodes are requested again at {again:%H:%M:%S} UTC", soon=False)
    left_to_run = time_left(facts, tick.now)
    if left_to_run is not None and left_to_run < SHORTEST_RUN:
        return Wait(reason="no missing node is requested: the job's time or budget is used up", soon=False)
    due, wait = due_nodes(facts, attempt, policy, tick)
    if not isinstance(wait, Wait | None):
        return wait
    place = home_of(facts, left.values())
    if not due or _choice(facts, runs_on(facts), place) is None:
        return wait or Wait(reason=f"nothing can be requested in {place}", soon=False)
    others = [other for other in facts.namesakes if other.name in due and other.zone == place]
    if others:
        taken = name_notices.node_name_taken(facts, others, tick)
        if untold(facts, attempt, taken):
            return Tell(reason="another VM has the name of a missing node", notice=taken)
        attempt = with_told(attempt, taken)
        held = {other.name for other in others}
        due = tuple(node for node in due if node not in held) or due
    trying = _trying(facts, place, due, policy, tick)
    asked = replace(
        attempt,
        tries=(*attempt.tries, trying)[-asking.TRIES_KEPT :],
        lease=lease(policy.recovery, tick),
        updated=tick.now,
    )
    without = " without a notice" if last and lacks_notice(last) else ""
    return WriteAttempt(
        reason=f"asks {place} for {', '.join(due)}{without}", record=asked, generation=newest.generation
    )


def _trying(facts: JobFacts, place: str, due: tuple[str, ...], policy: Policy, tick: Tick) -> Try:
    """The request for these nodes, as the others were asked for; without a notice that was just refused."""
    attempt = facts.ledger[-1].attempt
    last = attempt.tries[-1] if attempt.tries else None
    turn = (last.turn if last else 0) + 1
    chosen = Choosing(
        place=place,
        kind=TryKind.CREATE,
        spot=last.spot if last else True,
        model=last.model if last else None,
        machine=runs_on(facts),
    )
    refused = last is not None and lacks_notice(last)
    return Try(
        place=place,
        request_id=request_id(attempt.job, attempt.number, f"refill/{place}", turn),
        at=tick.now,
        kind=TryKind.REFILL,
        spot=chosen.spot,
        turn=turn,
        model=chosen.model,
        machine=chosen.machine,
        least=1,
        nodes=due,
        notice=False if refused else asks_for_notice(facts, attempt, chosen, policy.recovery, tick.now),
    )


def _choice(facts: JobFacts, machine: str, place: str) -> Choice | None:
    """The request for this place, on the machine type that the gang has."""
    launch = launch_on(facts, machine)
    return next((item for item in launch.choices if item.place == place), None) if launch else None


def _carry_on(facts: JobFacts, newest: Recorded, left: Mapping[str, str], policy: Policy, tick: Tick) -> Step:
    """Send what was written down, look what came of it, and let it join."""
    attempt, last, operation = newest.attempt, newest.attempt.tries[-1], facts.operation
    if last.error:
        return _note(newest, tick, last.error)
    if not last.operation and operation is None:
        return _send(facts, newest, policy, tick)
    if operation is not None and not last.operation:
        noted = replace(asking.noted(attempt, tick, operation=operation.name), lease=None, updated=tick.now)
        return WriteAttempt(
            reason="the request was accepted", record=noted, generation=newest.generation, later=True
        )
    if facts.forgotten:
        return _came_of(facts, newest, left, policy, tick)
    if operation is None or operation.name != last.operation:
        return Look(place=last.place, operation=last.operation)
    if not operation.done:
        return Wait(reason=f"Compute Engine is still creating {', '.join(last.nodes)} in {last.place}")
    if operation.error:
        return _note(newest, tick, operation.error)
    return _came_of(facts, newest, left, policy, tick)


def conclude(facts: JobFacts, newest: Recorded, tick: Tick) -> Step | None:
    """See a refill to its end before the whole gang is made anew: what it makes would live beside that."""
    attempt = newest.attempt
    if not is_under_way(attempt):
        return None
    last, operation = attempt.tries[-1], facts.operation
    if last.operation and not facts.forgotten:
        if operation is None or operation.name != last.operation:
            return Look(place=last.place, operation=last.operation)
        if not operation.done:
            return Wait(reason=f"Compute Engine is still creating {', '.join(last.nodes)} in {last.place}")
    elif not last.operation and is_held_by_another(attempt, tick):
        return Wait(reason=f"another sweep works on attempt {attempt.number}")
    return _note(newest, tick, "superseded: too few nodes are left")


def _send(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    attempt, last = newest.attempt, newest.attempt.tries[-1]
    if facts.unanswered >= UNANSWERED_AT_MOST:
        return Wait(reason="Compute Engine does not answer")
    if is_held_by_another(attempt, tick):
        return Wait(reason=f"another sweep works on attempt {attempt.number}")
    if attempt.lease is None or attempt.lease.holder != tick.sweep:
        taken = replace(attempt, lease=lease(policy.recovery, tick), updated=tick.now)
        return WriteAttempt(reason="took over the refill", record=taken, generation=newest.generation)
    choice = _choice(facts, last.machine, last.place)
    if choice is None:
        return _note(newest, tick, "notFound: the create script doesn't allow this zone any more")
    left = time_left(facts, tick.now)
    return LaunchInstances(
        reason=f"{', '.join(last.nodes)} of attempt {attempt.number} in {last.place}",
        job=attempt.job,
        attempt=attempt.number,
        generation=newest.generation,
        request=prepare(choice.request, attempt, left=left),
        request_id=last.request_id,
        before=until(attempt),
    )


def _came_of(facts: JobFacts, newest: Recorded, left: Mapping[str, str], policy: Policy, tick: Tick) -> Step:
    """Let join what a request has made, all of it at once; what is gone again was refused."""
    attempt, last = newest.attempt, newest.attempt.tries[-1]
    if not facts.surveyed:
        return survey(facts, attempt)
    there = refilled(facts, attempt)
    made = {
        insert.target_name for insert in of_requests(facts.inserts, {last.request_id}) if not insert.error
    }
    young = tick.now - last.at < UNSEEN_AFTER + CLOCKS_APART
    if young and (made - set(there) or not there):
        return Wait(reason=f"{last.place} does not show all of {', '.join(last.nodes)} yet")
    return let_join(facts, attempt, left, policy, tick) if there else _note(newest, tick, TAKEN_BACK)


def _note(newest: Recorded, tick: Tick, error: str) -> WriteAttempt:
    """Write down that a refill came to nothing; the place is asked again after a while."""
    noted = asking.noted(newest.attempt, tick, error=error)
    record = replace(noted, lease=None, forbidden_since=None, updated=tick.now)
    return WriteAttempt(reason=error, record=record, generation=newest.generation)
