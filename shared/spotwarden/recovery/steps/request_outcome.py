"""What came of the newest request of an attempt: not done yet, refused, or the instances that it made."""

from collections.abc import Mapping
from datetime import timedelta

from msgspec.structs import replace

from spotwarden.model.action import Look, Step, Survey, Wait, WriteAttempt
from spotwarden.model.attempt import Attempt, Recorded, Try, TryKind
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Operation
from spotwarden.model.launch import Launch
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.recovery.instances.removal import removed, why_removed
from spotwarden.recovery.kinds.flexible import expired_in_line, is_flexible, waiting
from spotwarden.recovery.observed.actors import Actor, actor
from spotwarden.recovery.observed.fates import REMOVALS, cause_of
from spotwarden.recovery.observed.identity import CLOCKS_APART
from spotwarden.recovery.observed.inserts import of_requests
from spotwarden.recovery.requests.clearing import clear_the_way, in_the_way
from spotwarden.recovery.requests.refusals import RefusalKind, lacks_notice, refusal
from spotwarden.recovery.requests.second_name import node_of, with_second_names
from spotwarden.recovery.steps import asking, finishing, planned
from spotwarden.recovery.steps.ending import stop
from spotwarden.recovery.steps.finishing import (
    finish,
    inserted,
    made,
    made_and_gone,
    revived,
    whole,
)
from spotwarden.recovery.steps.leasing import lease
from spotwarden.recovery.steps.progress import UNANSWERED_AT_MOST
from spotwarden.recovery.telling.waits import is_due, tell_of_wait

EXPIRED = "stockout: the request expired before there was capacity"
UNTOLD = "the VM is gone, it never registered, and the log doesn't tell why yet"
TOLD_LATE = timedelta(minutes=5)
"""What was asked for longer ago may be lost again by the time it is told of: then it is looked for first."""


def created(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
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
        return _in_line(facts, newest, policy, tick) or _under_way(facts, last)
    if operation.error:
        return refused(facts, newest, operation.error, policy, tick)
    if step := _without_room(facts, newest, operation, policy, tick):
        return step
    if tick.now - last.at > TOLD_LATE and (step := _look_for(facts, attempt, operation)):
        return step
    if last.kind is TryKind.START:
        return finish(facts, newest, dict(attempt.replaces), tick)
    if not isinstance(facts.launch, Launch) or not facts.launch.gang:
        return finish(facts, newest, {node_of(attempt, operation.target_name): operation.target_id}, tick)
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


def _in_line(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step | None:
    """Tell the owner of a Flex-start VM how long it waits, once the lists show that it still does.

    None where nothing is to be told.
    """
    attempt = newest.attempt
    if attempt.tries[-1].kind is not TryKind.CREATE or not is_flexible(facts) or not is_due(attempt, tick):
        return None
    return tell_of_wait(facts, newest, policy, tick) if facts.surveyed else survey(facts, attempt)


def _without_room(
    facts: JobFacts, newest: Recorded, operation: Operation, policy: Policy, tick: Tick
) -> Step | None:
    """Wait for a Flex-start VM that is PENDING; None for any other.

    Google does not say whether the operation of its insert is done before there is room: it is not built on.
    """
    attempt = newest.attempt
    if attempt.tries[-1].kind is not TryKind.CREATE or not is_flexible(facts):
        return None
    if not facts.surveyed:
        return survey(facts, attempt)
    # The operation says whose it is; the lists may not have told yet.
    if waiting((*facts.instances, *facts.namesakes), (operation.target_id,)):
        return _in_line(facts, newest, policy, tick) or _under_way(facts, attempt.tries[-1])
    return _gone_in_line(facts, newest, operation, policy, tick)


def _gone_in_line(
    facts: JobFacts, newest: Recorded, operation: Operation, policy: Policy, tick: Tick
) -> Step | None:
    """Stop with a person who has deleted a VM before it ran, or ask elsewhere where its request has expired.

    What the log does not tell of yet is waited for, and so is what the lists may hide. None where the VM is
    there, or has registered itself, or went in another way or at another moment: then it had room.
    """
    vm_id = operation.target_id
    there = any(instance.id == vm_id for instance in (*facts.instances, *facts.namesakes))
    if there or vm_id in facts.registrations.values():
        return None
    if facts.unsure:
        return Wait(reason=f"the list of instances is incomplete ({facts.unsure})", soon=False)
    if removed(facts, newest.attempt):
        return stop(facts, newest, why_removed(facts, newest.attempt), tick)
    causes = [cause_of(node) for node in facts.tried if node.instance_id == vm_id]
    cause = next((cause for cause in causes if cause), None)
    if cause is None:
        return refused(facts, newest, UNTOLD, policy, tick)
    by_google = cause.kind in REMOVALS and actor(cause.user) is Actor.GOOGLE
    in_vain = by_google and expired_in_line(facts, operation.at, cause.at)
    return refused(facts, newest, EXPIRED, policy, tick) if in_vain else None


def _look_for(facts: JobFacts, attempt: Attempt, operation: Operation) -> Step | None:
    """What was made long ago may be gone again; None once the lists show it, or all of them do not."""
    if not facts.surveyed:
        return survey(facts, attempt)
    single = operation.kind != "bulkInsert"
    if facts.unsure and single and operation.target_id not in {instance.id for instance in facts.instances}:
        return Wait(reason=f"the list of instances is incomplete ({facts.unsure})", soon=False)
    return None


def _forgotten(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    """Adopt what a request has made whose operation answers 404; where there is nothing, send it again."""
    again = asking.ask_again(newest, tick, lease=lease(policy.recovery, tick))
    return come_of(facts, newest, policy, tick) or again


def come_of(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step | None:
    """Look for what the newest request has made, and adopt it; None where there is nothing."""
    if not facts.surveyed:
        return survey(facts, newest.attempt)
    if facts.unsure:
        return Wait(reason=f"the list of instances is incomplete ({facts.unsure})", soon=False)
    if is_flexible(facts) and removed(facts, newest.attempt):
        return stop(facts, newest, why_removed(facts, newest.attempt), tick)
    ids = finishing.came_of(facts, newest.attempt)
    if step := _in_line_still(facts, newest, ids, policy, tick):
        return step
    if ids and isinstance(facts.launch, Launch) and facts.launch.gang:
        return _gang_created(facts, newest, policy, tick)
    return finish(facts, newest, ids, tick) if whole(facts, ids) else None


def _in_line_still(
    facts: JobFacts, newest: Recorded, ids: Mapping[str, str], policy: Policy, tick: Tick
) -> Step | None:
    """Wait for a Flex-start VM that is PENDING, or go on without the one that was, by the log's word."""
    single = not isinstance(facts.launch, Launch) or not facts.launch.gang
    for insert in of_requests(facts.inserts, {newest.attempt.tries[-1].request_id}) if single else ():
        if not insert.error and (step := _without_room(facts, newest, insert, policy, tick)):
            return step
    flexible = newest.attempt.tries[-1].kind is TryKind.CREATE and is_flexible(facts)
    if flexible and waiting((*facts.instances, *facts.namesakes), tuple(ids.values())):
        return _in_line(facts, newest, policy, tick) or _under_way(facts, newest.attempt.tries[-1])
    return None


def _gang_created(facts: JobFacts, newest: Recorded, policy: Policy, tick: Tick) -> Step:
    """The operation names no instance: list them; what is not there any more was lost since."""
    attempt, last = newest.attempt, newest.attempt.tries[-1]
    if not facts.surveyed:
        return survey(facts, attempt)
    # A node that was lost since is a node of this attempt all the same: what befell it is judged by its id.
    # A list that hides a zone may hide the newest of them, and then the log tells only of older ones.
    shown = made(facts, attempt, dead=True)
    ids = shown if facts.unsure else {**inserted(facts, attempt), **shown}
    if whole(facts, ids, last.least):
        return finish(facts, newest, ids, tick)
    if tick.now - last.at >= policy.recovery.log_delay and not facts.unsure:
        return refused(facts, newest, "incomplete: not all nodes were made", policy, tick)
    return Wait(reason=f"{last.place} does not show all nodes yet")


def survey(facts: JobFacts, attempt: Attempt) -> Survey | Wait:
    """List what there is of the job, and what the log tells since it was asked for."""
    if facts.unanswered >= UNANSWERED_AT_MOST:
        return Wait(reason="Compute Engine does not answer")
    names = facts.launch.nodes if isinstance(facts.launch, Launch) else tuple(attempt.replaces)
    # Our clock may be ahead of Compute Engine's by a minute.
    asked = attempt.tries[-1].at if attempt.tries else attempt.created
    return Survey(job=facts.job, names=with_second_names(facts, names), since=asked - CLOCKS_APART)


def refused(facts: JobFacts, newest: Recorded, error: str, policy: Policy, tick: Tick) -> Step:
    """Make sure that nothing came of the try, then go on to the next place, or back off, or give up."""
    attempt = newest.attempt
    gang = isinstance(facts.launch, Launch) and facts.launch.gang
    # A refusal that is no operation's may answer a repetition, when the first request was carried out
    # unanswered; what it made may be dead already. Or its developer has launched it by hand a moment ago.
    direct = not attempt.tries[-1].operation
    # A Flex-start VM that went in line, and not for want of room, may have been deleted by a person.
    unclear = is_flexible(facts) and refusal(error) is RefusalKind.OTHER
    if (gang or direct or unclear) and not facts.surveyed:
        return survey(facts, attempt)
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
        return stop(facts, newest, why_removed(facts, newest.attempt), tick)
    failed = replace(newest, attempt=asking.noted(attempt, tick, error=error))
    if planned.stays(attempt) and not lacks_notice(failed.attempt.tries[-1]):
        return planned.stay(facts, failed, tick)
    return asking.go_on(facts, failed, policy, tick, lease=lease(policy.recovery, tick))
