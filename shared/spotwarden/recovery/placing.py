"""An attempt under way: from the claim to the instances that exist.

The lease guards the steps up to an answered request. From then on every step is safe for any sweep:
an operation is only looked at, ids are written as they are, and the ledger changes under its generation.
"""

from collections.abc import Sequence
from datetime import timedelta

from msgspec.structs import replace

from spotwarden.model.action import LaunchInstances, Look, StartInstance, Step, Survey, Wait, WriteAttempt
from spotwarden.model.attempt import Attempt, AttemptState, Recorded, Try, TryKind
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance, Operation
from spotwarden.model.launch import Choice, Launch
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.recovery import asking, finishing, planned
from spotwarden.recovery.avoiding import avoided
from spotwarden.recovery.begun import unplaced
from spotwarden.recovery.bounds import time_left
from spotwarden.recovery.choosing import held_zones
from spotwarden.recovery.clearing import clear_the_way, in_the_way
from spotwarden.recovery.ending import stop
from spotwarden.recovery.fates import KEPT
from spotwarden.recovery.finishing import (
    finish,
    inserted,
    launched_anew,
    made,
    made_and_gone,
    revived,
    started_beside,
    whole,
)
from spotwarden.recovery.flexible import is_flexible, waiting
from spotwarden.recovery.identity import CLOCKS_APART
from spotwarden.recovery.launching import prepare
from spotwarden.recovery.leasing import is_held_by_another, lease, until
from spotwarden.recovery.lifecycle import AttemptEvent
from spotwarden.recovery.machines import launch_on, on_machine
from spotwarden.recovery.progress import UNANSWERED_AT_MOST
from spotwarden.recovery.refusals import lacks_notice
from spotwarden.recovery.removal import may_be_removed, removed
from spotwarden.recovery.waits import tell_of_wait

REMOVED = "a person has removed an instance of it since"
TOLD_LATE = timedelta(minutes=5)
"""What was asked for longer ago may be lost again by the time it is told of: then it is looked for first."""


def carry_on(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    """The next step of an attempt that is under way."""
    attempt = newest.attempt
    if attempt.staged:
        return unplaced(facts, newest, tick)
    if attempt.state is AttemptState.PLACING:
        if attempt.tries[-1].operation or facts.operation:
            return _created(facts, newest, policy, tick)
        return _guarded(facts, newest, policy, tick)
    if facts.unanswered >= UNANSWERED_AT_MOST:
        return _let_go(newest, tick)
    return _undone(facts, newest, policy, tick) or _asking(facts, newest, policy, tick)


def _in_part(
    facts: JobFacts, newest: Recorded, by_hand: Sequence[Instance], policy: Policy, tick: Tick
) -> Step:
    """Wait for the rest of a gang that somebody launches or starts by hand; then go on with what runs.

    Nothing is made beside it, and what it was started for its owner knows: further nodes join as they come.
    """
    settled = tick.now - policy.recovery.settle
    if facts.unsure or any(instance.started is None or instance.started > settled for instance in by_hand):
        names = ", ".join(instance.name for instance in by_hand)
        return Wait(reason=f"{names} was launched by hand, and not the whole gang", soon=False)
    if not facts.surveyed:
        return _survey(facts, newest.attempt)
    seen = replace(newest, attempt=replace(newest.attempt, seen=True))
    return finish(facts, seen, {item.name: item.id for item in by_hand}, tick, AttemptEvent.REVIVED)


def _undone(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step | None:
    """What must be seen to before a place is asked; None once nothing must."""
    attempt = newest.attempt
    if ids := revived(facts, attempt):
        return (
            finish(facts, newest, ids, tick, AttemptEvent.REVIVED)
            if facts.surveyed
            else _survey(facts, attempt)
        )
    if step := _removal(facts, newest, tick):
        return step
    if by_hand := launched_anew(facts, attempt) or started_beside(facts, attempt):
        return _in_part(facts, newest, by_hand, policy, tick)
    if attempt.not_before and attempt.not_before > tick.now:
        return tell_of_wait(facts, newest, policy, tick) or asking.wait(attempt, tick)
    if step := clear_the_way(facts, attempt):
        return step
    if attempt.state is AttemptState.CLAIMED and is_held_by_another(attempt, tick):
        return Wait(reason=f"another sweep works on attempt {attempt.number}")
    # What this sweep has seen may be older than the claim; before anything is asked it looks again.
    return None if facts.surveyed else _survey(facts, attempt)


def _asking(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    """A back-off that is over needs no lease: writing the try down is what only one can do."""
    if newest.attempt.state is AttemptState.BACKING_OFF:
        return asking.ask(facts, newest, policy, tick, lease=lease(policy.recovery, tick), waited=True)
    return _guarded(facts, newest, policy, tick)


def _guarded(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    """A step that needs the lease: wait for it, take it over, or go on under it."""
    attempt, held = newest.attempt, newest.attempt.lease
    if facts.unanswered >= UNANSWERED_AT_MOST:
        return _let_go(newest, tick)
    if is_held_by_another(attempt, tick):
        return Wait(reason=f"another sweep works on attempt {attempt.number}")
    if held is None or held.holder != tick.sweep:
        taken = replace(attempt, lease=lease(policy.recovery, tick), updated=tick.now)
        reason = "took over the attempt" if held else "took the attempt"
        return WriteAttempt(reason=reason, record=taken, generation=newest.generation)
    if attempt.state is AttemptState.CLAIMED:
        return asking.ask(facts, newest, policy, tick, lease=lease(policy.recovery, tick), waited=False)
    return _send(facts, newest, policy, tick)


def _removal(facts: JobFacts, newest: Recorded, tick: Tick) -> Step | None:
    """Stop with its owner, and wait where the lists may hide that; None where nobody removed anything."""
    if removed(facts, newest.attempt):
        return stop(facts, newest, REMOVED, tick)
    if may_be_removed(facts, newest.attempt):
        return Wait(reason=f"the list of instances is incomplete ({facts.unsure})", soon=False)
    return None


def _let_go(newest: Recorded, tick: Tick) -> Step:
    """Leave the request to a later sweep, which sends it once more with the same id."""
    held = newest.attempt.lease
    if held is None or held.holder != tick.sweep:
        return Wait(reason="Compute Engine does not answer")
    free = replace(newest.attempt, lease=None, updated=tick.now)
    return WriteAttempt(reason="Compute Engine does not answer", record=free, generation=newest.generation)


def _send(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    """Send the request that was written down, unless what it asks for is there."""
    attempt, last = newest.attempt, newest.attempt.tries[-1]
    if last.error:
        return _refused(facts, newest, last.error, policy, tick)
    ids = made(facts, attempt)
    if last.kind is TryKind.CREATE and whole(facts, ids):
        return finish(facts, newest, ids, tick)
    # Whoever sent it was not answered; by now its ID may be forgotten, and it would be carried out twice.
    old = last.kind is TryKind.CREATE and tick.now - last.at > TOLD_LATE
    if old and (step := _come_of(facts, newest, policy, tick)):
        return step
    if removed(facts, attempt) and not facts.surveyed:
        # Whoever wrote the try may have sent it, and died; then what it made is there.
        return _survey(facts, attempt)
    if step := _removal(facts, newest, tick) or _gone_before(facts, newest, tick):
        return step
    if last.kind is TryKind.CREATE and (again := revived(facts, attempt)):
        # Whoever wrote the try saw it stopped.
        started = finish(facts, newest, again, tick, AttemptEvent.REVIVED)
        return started if facts.surveyed else _survey(facts, attempt)
    if last.kind is TryKind.START:
        return StartInstance(
            reason=f"attempt {attempt.number} in {last.place}",
            job=attempt.job,
            attempt=attempt.number,
            generation=newest.generation,
            zone=last.place,
            instance_id=next(iter(attempt.replaces.values())),
            request_id=last.request_id,
            before=until(attempt),
        )
    choice = _choice(facts, last)
    if choice is None:
        return _refused(
            facts, newest, "notFound: the create script doesn't allow this zone any more", policy, tick
        )
    left = time_left(facts, attempt.lost or tick.now)
    avoid = {entry.zone for entry in avoided(facts, policy.placement, tick.now)}
    return LaunchInstances(
        reason=f"attempt {attempt.number} in {last.place}{on_machine(last)}",
        job=attempt.job,
        attempt=attempt.number,
        generation=newest.generation,
        request=prepare(choice.request, attempt, left=left, held=held_zones(facts, attempt) | avoid),
        request_id=last.request_id,
        before=until(attempt),
        at_rest=tuple((item.zone, item.id) for item in facts.instances if item.status in KEPT),
    )


def _gone_before(facts: JobFacts, newest: Recorded, tick: Tick) -> Step | None:
    """End a move whose VM is gone before anything was asked for; None where it runs, or it is no move.

    Who has just written the record has just seen it.
    """
    if not newest.attempt.planned or facts.fresh:
        return None
    if not facts.surveyed:
        return _survey(facts, newest.attempt)
    if facts.unsure:
        return Wait(reason=f"the list of instances is incomplete ({facts.unsure})", soon=False)
    return None if planned.is_beside(facts, newest.attempt) else planned.stay(facts, newest, tick)


def _choice(facts: JobFacts, tried: Try) -> Choice | None:
    launch = launch_on(facts, tried.machine)
    choices = launch.choices if launch else ()
    return next((choice for choice in choices if choice.place == tried.place), None)


def _created(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    """Note the operation, look at it, and finish or fail with it."""
    attempt, last = newest.attempt, newest.attempt.tries[-1]
    operation = facts.operation or _told(facts, last)
    if operation and not last.operation:
        noted = replace(asking.noted(attempt, tick, operation=operation.name), lease=None, updated=tick.now)
        # The claim was written a moment ago, and an object takes one write a second.
        why = "the request was accepted"
        return WriteAttempt(reason=why, record=noted, generation=newest.generation, later=True)
    if operation is None or operation.name != last.operation:
        if facts.forgotten:
            return _forgotten(facts, newest, policy, tick)
        return Look(place=last.place, operation=last.operation)
    if not operation.done:
        return tell_of_wait(facts, newest, policy, tick) or _under_way(facts, last)
    if operation.error:
        return _refused(facts, newest, operation.error, policy, tick)
    if step := _without_room(facts, attempt, operation):
        return step
    if tick.now - last.at > TOLD_LATE and (step := _look_for(facts, attempt, operation)):
        return step
    if last.kind is TryKind.START:
        return finish(facts, newest, dict(attempt.replaces), tick)
    if not isinstance(facts.launch, Launch) or not facts.launch.gang:
        return finish(facts, newest, {operation.target_name: operation.target_id}, tick)
    return _gang_created(facts, newest, policy, tick)


def _told(facts: JobFacts, last: Try) -> Operation | None:
    """The operation of a single VM's insert as the log tells of it, once it is over: it need not be asked."""
    if facts.forgotten:
        return None
    over = (insert for insert in facts.inserts if insert.done and insert.kind == "insert")
    return next((insert for insert in over if insert.name == last.operation), None)


def _under_way(facts: JobFacts, last: Try) -> Wait:
    """Say what Compute Engine does; a Flex-start VM may wait for hours, and no look within seconds helps."""
    if last.kind is TryKind.CREATE and is_flexible(facts):
        return Wait(reason=f"the request waits for capacity in {last.place} (Flex-start)", soon=False)
    doing = "starting" if last.kind is TryKind.START else "creating"
    return Wait(reason=f"Compute Engine is still {doing} it in {last.place}")


def _without_room(facts: JobFacts, attempt: Attempt, operation: Operation) -> Step | None:
    """Wait for a Flex-start VM that is PENDING; None for any other.

    Google does not say whether the operation of its insert is done before there is room: it is not built on.
    """
    if attempt.tries[-1].kind is not TryKind.CREATE or not is_flexible(facts):
        return None
    if not facts.surveyed:
        return _survey(facts, attempt)
    # The operation says whose it is; the lists may not have told yet.
    waits = waiting((*facts.instances, *facts.namesakes), (operation.target_id,))
    return _under_way(facts, attempt.tries[-1]) if waits else None


def _look_for(facts: JobFacts, attempt: Attempt, operation: Operation) -> Step | None:
    """What was made long ago may be gone again; None once the lists show it, or all of them do not."""
    if not facts.surveyed:
        return _survey(facts, attempt)
    single = operation.kind != "bulkInsert"
    if facts.unsure and single and operation.target_id not in {instance.id for instance in facts.instances}:
        return Wait(reason=f"the list of instances is incomplete ({facts.unsure})", soon=False)
    return None


def _forgotten(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    """Adopt what a request has made whose operation answers 404; where there is nothing, send it again."""
    again = asking.ask_again(newest, tick, lease=lease(policy.recovery, tick))
    return _come_of(facts, newest, policy, tick) or again


def _come_of(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step | None:
    """Look for what the newest request has made, and adopt it; None where there is nothing."""
    if not facts.surveyed:
        return _survey(facts, newest.attempt)
    if facts.unsure:
        return Wait(reason=f"the list of instances is incomplete ({facts.unsure})", soon=False)
    ids = finishing.came_of(facts, newest.attempt)
    if ids and isinstance(facts.launch, Launch) and facts.launch.gang:
        return _gang_created(facts, newest, policy, tick)
    return finish(facts, newest, ids, tick) if whole(facts, ids) else None


def _gang_created(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    """The operation names no instance: list them; what is not there any more was lost since."""
    attempt, last = newest.attempt, newest.attempt.tries[-1]
    if not facts.surveyed:
        return _survey(facts, attempt)
    # A node that was lost since is a node of this attempt all the same: what befell it is judged by its id.
    # A list that hides a zone may hide the newest of them, and then the log tells only of older ones.
    shown = made(facts, attempt, dead=True)
    ids = shown if facts.unsure else {**inserted(facts, attempt), **shown}
    if whole(facts, ids, last.least):
        return finish(facts, newest, ids, tick)
    if tick.now - last.at >= policy.recovery.log_delay and not facts.unsure:
        return _refused(facts, newest, "incomplete: not all nodes were made", policy, tick)
    return Wait(reason=f"{last.place} does not show all nodes yet")


def _survey(facts: JobFacts, attempt: Attempt) -> Survey | Wait:
    if facts.unanswered >= UNANSWERED_AT_MOST:
        return Wait(reason="Compute Engine does not answer")
    names = facts.launch.nodes if isinstance(facts.launch, Launch) else tuple(attempt.replaces)
    # Our clock may be ahead of Compute Engine's by a minute.
    asked = attempt.tries[-1].at if attempt.tries else attempt.created
    return Survey(job=facts.job, names=names, since=asked - CLOCKS_APART)


def _refused(facts: JobFacts, newest: Recorded, error: str, policy: Policy, tick: Tick) -> Step:
    """Make sure that nothing came of the try, then go on to the next place, or back off, or give up."""
    attempt = newest.attempt
    gang = isinstance(facts.launch, Launch) and facts.launch.gang
    # A refusal that is no operation's may answer a repetition, when the first request was carried out
    # unanswered; what it made may be dead already. Or its developer has launched it by hand a moment ago.
    direct = not attempt.tries[-1].operation
    if (gang or direct) and not facts.surveyed:
        return _survey(facts, attempt)
    ids = made(facts, attempt, dead=not gang) or revived(facts, attempt)
    least = attempt.tries[-1].least
    if direct and not whole(facts, ids, least) and not facts.unsure:
        ids = made_and_gone(facts, attempt)
    if direct and whole(facts, ids, least):
        return finish(facts, newest, ids, tick)
    if in_the_way(facts, attempt) or (facts.surveyed and facts.unsure):
        if step := clear_the_way(facts, attempt):
            return step
        return Wait(reason=f"the list of instances is incomplete ({facts.unsure})", soon=False)
    if removed(facts, attempt):
        return stop(facts, newest, REMOVED, tick)
    failed = replace(newest, attempt=asking.noted(attempt, tick, error=error))
    if planned.stays(attempt) and not lacks_notice(failed.attempt.tries[-1]):
        return planned.stay(facts, failed, tick)
    return asking.go_on(facts, failed, policy, tick, lease=lease(policy.recovery, tick))
