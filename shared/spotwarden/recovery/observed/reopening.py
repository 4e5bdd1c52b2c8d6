"""A job that was closed is open again once a person has started one of its instances."""

from collections.abc import Sequence
from datetime import datetime

from spotwarden.model.attempt import CLOSED, Attempt, AttemptState
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.instance import Operation
from spotwarden.recovery.folder.chain import told
from spotwarden.recovery.observed.actors import Actor, actor
from spotwarden.recovery.observed.fates import alive, first_end

STARTS = {"start", "resume"}


def started_again(facts: JobFacts, node: NodeFacts) -> bool:
    """Whether a person has started this instance of the closed attempt, after what closed it."""
    over = last_closed(facts)
    if over is None or not node.instance_id or node.instance_id not in startable(over):
        return False
    since = closed_at(over, node.node)
    return any(
        is_persons_start(operation) and operation.at is not None and operation.at > since
        for operation in node.history
    )


def is_open_again(facts: JobFacts, node: NodeFacts) -> bool:
    """Whether this instance belongs to what a person opened by starting one of the closed attempt.

    It was started itself, or ran when the first was: a gang is opened with all of it that runs, whatever
    befalls that until a sweep sees it.
    """
    over, opened = last_closed(facts), opened_at(facts)
    if over is None or opened is None or node.instance_id not in startable(over):
        return False
    if started_again(facts, node) or (node.instance is not None and alive(node.instance)):
        return True
    end = first_end(node)
    return end is not None and end.at is not None and end.at >= opened


def opened_at(facts: JobFacts) -> datetime | None:
    """When a person first started an instance of the closed attempt again; None where nobody did."""
    over, newest = last_closed(facts), facts.newest
    if over is None or newest is None:
        return None
    ids = startable(over).keys()
    moments = [
        operation.at
        for node in facts.nodes
        if node.instance_id in ids
        for operation in node.history
        if is_persons_start(operation) and operation.at and operation.at > closed_at(over, node.node)
    ]
    if newest.state not in CLOSED and not ids.isdisjoint(newest.instances.values()):
        moments.append(newest.created)
    return min(moments, default=None)


def is_before_stop(facts: JobFacts, made: datetime | None) -> bool:
    """Whether a person has stopped the job after this was made, be it on record or not: it opens nothing."""
    newest = facts.newest
    if newest is None or made is None or newest.state is not AttemptState.STOPPED:
        return False
    by_word = newest.lost is None and not newest.tries and not newest.seen
    return by_word and made < newest.created


def started_since(facts: JobFacts, log: Sequence[Operation]) -> dict[str, str]:
    """The instances of a closed job that a person has started after its end, by node, gone or not.

    The log may be behind, and an instance that is gone again shows nothing: each tells what the other hides.
    """
    newest = facts.newest
    over = last_closed(facts) if newest and newest.state in CLOSED else None
    if over is None:
        return {}
    began = {instance.id: [instance.started] for instance in facts.instances}
    for operation in filter(is_persons_start, log):
        began.setdefault(operation.target_id, []).append(operation.at)
    return {
        node: name
        for name, node in startable(over).items()
        if any(at is not None and at > closed_at(over, node) for at in began.get(name, ()))
    }


def last_closed(facts: JobFacts) -> Attempt | None:
    """The attempt whose instances may be started again: the newest, or the one before such a start.

    The nodes of a gang are started one after the other, and a sweep may see the first of them alone.
    """
    last = told([recorded.attempt for recorded in facts.ledger])[-2:]
    if last and last[-1].seen and last[-1].state not in CLOSED:
        last = last[:-1]
    return last[-1] if last and last[-1].state in CLOSED else None


def instances_of(attempt: Attempt) -> dict[str, str]:
    """The instances that an attempt has, or stands in for where it has none of a node."""
    return {**attempt.replaces, **attempt.instances}


def startable(over: Attempt) -> dict[str, str]:
    """The instances that open the job again where a person starts one, each with its node.

    Beside those of the attempt it is what somebody has removed: the job may have run on that.
    """
    removed = {node: removal.instance_id for node, removal in over.removed.items()}
    ids = {name: node for of in (instances_of(over), removed) for node, name in of.items()}
    return {name: node for name, node in ids.items() if name}


def closed_at(over: Attempt, node: str) -> datetime:
    """When the last node was removed, where this one was too; else when the job was closed.

    The first is Compute Engine's own moment: a start may come between a removal and the sweep that sees it.
    A node of a gang that was started again before another one was removed went with the job.
    """
    moments = [removal.at for removal in over.removed.values()]
    if node not in over.removed or None in moments:
        return over.updated
    return max(moment for moment in moments if moment is not None)


def is_persons_start(operation: Operation) -> bool:
    """Whether a person has started or resumed an instance by it."""
    return operation.kind in STARTS and not operation.error and actor(operation.user) is Actor.PERSON
