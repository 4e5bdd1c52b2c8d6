"""Which managed instance groups a job's slices are made as, and how they go.

A slice is one unit: Compute Engine connects its VMs, and a part of it is of no use. It is deleted by its
group, and made anew as a group of its own ("Failure recovery of TPU instances", "Request TPU Spot VMs").
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from uuid import uuid5

from msgspec.structs import replace

from spotwarden.model.action import Step, Wait
from spotwarden.model.attempt import Attempt, Try
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Operation
from spotwarden.model.launch import Launch
from spotwarden.model.slice_action import DeleteGroup, DeleteTemplate, LookAtGroup
from spotwarden.model.slices import SeenGroup, SliceGroup
from spotwarden.recovery.observed.actors import Actor, actor
from spotwarden.recovery.observed.fates import GOING, REMOVALS
from spotwarden.recovery.observed.identity import CLOCKS_APART
from spotwarden.recovery.requests.launching import NAMESPACE

ENDS = frozenset(("delete", "deleteInstances", "compute.instanceGroupManagers.deleteInstances"))
"""Operations on a group by which somebody removes VMs of it."""
LOG_REACHES = timedelta(minutes=15)
"""How far before a try the log tells of what was deleted for it."""


def is_slice(facts: JobFacts) -> bool:
    """Whether the job is launched as a slice."""
    return isinstance(facts.launch, Launch) and facts.launch.slice is not None


def group_of(job: str, attempt: int, turn: int, request: str) -> SliceGroup:
    """The group of a try, before anybody has made it: nobody else has a request of this id."""
    return SliceGroup(name=f"{job}-{attempt}-{turn}-{request[:4]}")


def is_anothers(tried: Try, group: SliceGroup, seen: SeenGroup) -> bool:
    """Whether somebody else made what has the name of a try's group: it was there before the try.

    Another deployment in the project, or a job of this name whose folder is gone, may have sent the same ids.
    """
    return not group.id and seen.created is not None and seen.created < tried.at - CLOCKS_APART


def removal_id(job: str, group_id: str) -> str:
    """The request id under which recovery, or a command, deletes a group for the job to be made anew."""
    return str(uuid5(NAMESPACE, f"delete-group/{job}/{group_id}"))


def groups_of(facts: JobFacts) -> Iterator[tuple[Attempt, Try, SliceGroup]]:
    """The groups on the chain, newest first, with the tries that they are of."""
    for recorded in reversed(facts.ledger):
        for tried in reversed(recorded.attempt.tries):
            if tried.group is not None:
                yield recorded.attempt, tried, tried.group


def newest_group(attempt: Attempt | None) -> tuple[Try, SliceGroup] | None:
    """The group that an attempt has, or is about to have; None where it is no slice."""
    last = attempt.tries[-1] if attempt and attempt.tries else None
    return (last, last.group) if last is not None and last.group is not None else None


def member_ids(facts: JobFacts) -> frozenset[str]:
    """The ids of VMs that are members of a group whose id is on the chain, as far as it was looked at."""
    known = {group.id for _, _, group in groups_of(facts) if group.id}
    seen = [group for group in facts.groups.values() if group is not None and group.id in known]
    return frozenset(instance_id for group in seen for instance_id in group.ids.values())


def unseen_group(facts: JobFacts, recorded: frozenset[str]) -> LookAtGroup | None:
    """The look that tells whose a VM with the labels of an attempt is; None where none is needed."""
    numbers = {
        instance.attempt
        for instance in facts.instances
        if instance.job == facts.job and instance.id not in recorded
    }
    for attempt, tried, group in groups_of(facts) if numbers else ():
        if attempt.number in numbers and group.id and group.name not in facts.groups:
            return LookAtGroup(zone=tried.place, group=group.name, group_id=group.id)
    return None


def deleted_by(facts: JobFacts, name: str) -> Operation | None:
    """The operation that deleted the group of this name, or VMs of it, where the log tells."""
    ends = [
        operation
        for operation in facts.group_log
        if operation.target_name == name and operation.kind in ENDS and not operation.error
    ]
    return next(iter(ends), None)


def is_removal(facts: JobFacts, request: str) -> bool:
    """Whether recovery itself has deleted a group by this request, so that the slice can be made anew."""
    return any(request == removal_id(facts.job, group.id) for _, _, group in groups_of(facts))


def clear_former(facts: JobFacts, attempt: Attempt) -> Step | None:
    """Have the slice gone that this attempt stands in for, before anything is asked; None once it is.

    With the attempt's first try that was done, and a refused try is cleared away before the next one.
    """
    if attempt.tries:
        return None
    for former, tried, group in groups_of(facts):
        if former.number < attempt.number:
            return clear(facts, attempt, tried, group)
    return None


def clear(facts: JobFacts, attempt: Attempt, tried: Try, group: SliceGroup) -> Step | None:
    """Delete a group with all its VMs, wait until it is gone, and delete its template; None when both are."""
    if group.name not in facts.groups:
        return LookAtGroup(zone=tried.place, group=group.name, group_id=group.id)
    seen = facts.groups[group.name]
    if seen is not None and is_anothers(tried, group, seen):
        return None
    if seen is not None and (group.name in facts.cleared or _is_going(seen)):
        return Wait(reason=f"the slice {group.name} must be gone first")
    if seen is not None:
        return _delete(attempt, seen)
    if template_key(group.name) in facts.cleared:
        return None
    return DeleteTemplate(
        reason=f"the slice {group.name} is gone",
        job=attempt.job,
        template=group.name,
        request_id=removal_id(attempt.job, f"template/{group.name}"),
    )


def _is_going(seen: SeenGroup) -> bool:
    return seen.size == 0 and bool(seen.members) and all(member.leaving for member in seen.members)


def left_over(facts: JobFacts) -> Step | None:
    """What is left to do about the group of a slice that is over; None where nothing is.

    Recovery deletes no VM of a closed job: but once they are gone a group and its template stay.
    """
    attempt, tried, group = next(groups_of(facts), (None, None, None))
    if attempt is None or tried is None or group is None or facts.watched is None:
        return None
    seen = facts.groups.get(group.name)
    seen = None if seen is not None and is_anothers(tried, group, seen) else seen
    own = [member for member in seen.members if member.id and not member.leaving] if seen else []
    if own:
        goes = all(member.status in GOING for member in own)
        how = "are being deleted" if goes else "run on"
        return Wait(reason=f"the VMs of the slice {group.name} {how}", soon=False)
    return clear(facts, attempt, tried, group)


def template_key(name: str) -> str:
    """What `JobFacts.cleared` calls the template of a group."""
    return f"template {name}"


def _delete(attempt: Attempt, seen: SeenGroup) -> DeleteGroup:
    return DeleteGroup(
        reason=f"the slice {seen.name} is over",
        job=attempt.job,
        zone=seen.zone,
        group=seen.name,
        group_id=seen.id,
        request_id=removal_id(attempt.job, seen.id),
    )


def spoken(facts: JobFacts, instance_id: str, history: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """The history of a slice's VM, in which whoever has deleted its group has deleted it, too.

    The service agent of the project is what the log names for each of the VMs.
    """
    found = _group_with(facts, instance_id)
    end = deleted_by(facts, found.name) if found else None
    if end is None:
        return history
    return tuple(
        replace(item, user=end.user, request_id=end.request_id) if _came_of(item, end) else item
        for item in history
    )


def _group_with(facts: JobFacts, instance_id: str) -> SliceGroup | None:
    """The group that made this VM: that of the attempt that has it, else that of the one under way."""
    having = (fact.attempt for fact in facts.ledger if instance_id in fact.attempt.instances.values())
    named = newest_group(next(having, facts.newest))
    return named[1] if named else None


def _came_of(operation: Operation, end: Operation) -> bool:
    machines = operation.kind in REMOVALS and actor(operation.user) is Actor.MACHINE
    return machines and (operation.at is None or end.at is None or operation.at >= end.at - CLOCKS_APART)


def made_by_group(facts: JobFacts, inserts: Sequence[Operation]) -> list[Operation]:
    """The inserts that the group of the attempt under way has asked for, as far as the log tells."""
    named = newest_group(facts.newest)
    since = _filled_since(facts) if named else None
    if named is None or since is None:
        return []
    return [
        insert
        for insert in inserts
        if insert.kind == "insert"
        and insert.zone == named[0].place
        and actor(insert.user) is Actor.MACHINE
        and insert.at is not None
        and insert.at >= since
        and not insert.error
    ]


def _filled_since(facts: JobFacts) -> datetime | None:
    """From when on what is made under the job's names is of its newest group; None where the log hides it.

    Nothing tells of a VM that is gone which group it was in, but that the one before was deleted first.
    """
    (newest, tried, _), *former = groups_of(facts)
    asked = tried.at - CLOCKS_APART
    if not former:
        return asked
    _, before, group = former[0]
    gone = [
        end.at for end in facts.group_log if end.target_name == group.name and end.kind == "delete" and end.at
    ]
    if gone:
        return max(asked, *gone)
    return None if tried.at - (before.refused or newest.created) < LOG_REACHES else asked


def made_while_open(facts: JobFacts, instance_id: str) -> bool:
    """Whether a group of a closed job may have made it before that: of a try that was refused no id is kept.

    The service agent of the project makes the VMs of groups, in the place of the try.
    """
    closed = facts.newest.updated if facts.newest else None
    return any(
        insert.target_id == instance_id
        and insert.kind == "insert"
        and actor(insert.user) is Actor.MACHINE
        and insert.zone == tried.place
        and insert.at is not None
        and closed is not None
        and tried.at - CLOCKS_APART <= insert.at <= closed
        for insert in facts.inserts
        for _, tried, _ in groups_of(facts)
    )


def group_operations(facts: JobFacts, log: Iterable[Operation]) -> tuple[Operation, ...]:
    """What was done to the groups on the chain."""
    names = {group.name for _, _, group in groups_of(facts)}
    return tuple(operation for operation in log if operation.target_name in names) if names else ()
