"""What a person has removed: a job is its owner's to end, also while it is being brought back."""

from datetime import datetime

from spotwarden.model.attempt import CLOSED, Attempt, Removal
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.instance import Operation
from spotwarden.recovery.observed.actors import Actor, actor
from spotwarden.recovery.observed.fates import KINDS, REMOVALS, Fate, alive, cause_of
from spotwarden.recovery.observed.identity import CLOCKS_APART
from spotwarden.recovery.observed.reopening import instances_of, is_persons_start
from spotwarden.recovery.requests.launching import delete_id, is_stop_behind
from spotwarden.recovery.requests.slice_groups import is_removal


def removal_of(facts: JobFacts, node: NodeFacts) -> Removal | None:
    """What ended the node's newest life, where that was somebody's wish or its own; None for all else."""
    cause = cause_of(node)
    if cause is None or KINDS[cause.kind] is not Fate.STOPPED or _made_way(facts, node, cause):
        return None
    return Removal(
        instance_id=node.instance_id, operation=cause.name, kind=cause.kind, user=cause.user, at=cause.at
    )


def removals(facts: JobFacts, attempt: Attempt) -> dict[str, Removal]:
    """The removals of what the attempt has, or stands in for, that the facts tell of, by node.

    Where a person has ended the job by removing the VM that it still ran on, that is the node's.
    """
    ids = instances_of(attempt)
    known = (*facts.nodes, *facts.tried)
    own = [node for node in known if node.instance_id and ids.get(node.node) == node.instance_id]
    early = _replaced(facts, attempt) if attempt.early else []
    beside = [node for node in (*early, *removed_beside(facts, _lost(facts, attempt))) if by_person(node)]
    gone = {node.node: removal for node in (*own, *beside) if (removal := removal_of(facts, node))}
    return {**attempt.removed, **gone}


def on_purpose(facts: JobFacts, node: NodeFacts) -> bool:
    """Whether a person removed the node, or a rule of ours: not the guest, its own account, nor recovery."""
    cause = cause_of(node)
    if cause is None or cause.kind not in REMOVALS or _made_way(facts, node, cause):
        return False
    return actor(cause.user) in {Actor.PERSON, Actor.OURS}


def _made_way(facts: JobFacts, node: NodeFacts, cause: Operation) -> bool:
    """Whether recovery itself deleted what was left of a gang, so that the gang can start anew."""
    if not cause.request_id:
        return False
    if is_removal(facts, cause.request_id):
        return True
    newest = facts.ledger[-1].attempt.number if facts.ledger else 0
    return any(
        cause.request_id == delete_id(facts.job, number, node.instance_id) for number in range(newest + 2)
    )


def by_person(node: NodeFacts) -> bool:
    """Whether a person removed the node: nodes also shut themselves down once their peers are gone."""
    cause = cause_of(node)
    return cause is not None and cause.kind in REMOVALS and actor(cause.user) is Actor.PERSON


def removed(facts: JobFacts, attempt: Attempt) -> bool:
    """Whether a person or a rule has removed what the attempt stands in for, before it had VMs of its own.

    Or what its request had just begun to make. A rule stops a gang as one: where some of its nodes were lost
    just before, it stops the others.
    """
    ours = [node_facts for node_facts in _replaced(facts, attempt) if not asked_since(node_facts, attempt)]
    return (
        any(on_purpose(facts, node) or _ended_again(facts, node, attempt) for node in ours)
        or _removed_at_birth(facts, attempt)
        or bool(removed_beside(facts, _lost(facts, attempt)))
    )


def why_removed(facts: JobFacts, attempt: Attempt) -> str:
    """What is said of an attempt that ends since `removed` holds."""
    if any(_ended_again(facts, node, attempt) for node in _replaced(facts, attempt)):
        return "its owner had started its VM again, and that has shut itself down"
    return "one of its VMs was deleted or stopped on purpose meanwhile"


def _ended_again(facts: JobFacts, node: NodeFacts, attempt: Attempt) -> bool:
    """Whether a person has started a single VM since it was lost, and it has gone by itself: so jobs end."""
    if attempt.lost is None or attempt.early or len(attempt.replaces) > 1:
        return False
    lost, stopped = attempt.lost, removal_of(facts, node)
    started = any(is_persons_start(item) and item.at and item.at > lost for item in node.history)
    if not started or stopped is None:
        return False
    # A limit of its own time is no such end: Compute Engine stops it then.
    return stopped.kind == "compute.instances.guestTerminate" or actor(stopped.user) is Actor.MACHINE


def _removed_at_birth(facts: JobFacts, attempt: Attempt) -> bool:
    """Whether a person removed what a request had begun to make; that of a gang may go by itself."""
    return any(
        by_person(node) and on_purpose(facts, node) and not asked_since(node, attempt) for node in facts.tried
    )


def asked_since(node: NodeFacts, *attempts: Attempt) -> bool:
    """Whether a person has asked for one of these after what befell the node: that word is the newer one."""
    cause, words = cause_of(node), [asked_for(attempt) for attempt in attempts]
    if cause and cause.at and any(word and cause.at < word for word in words):
        return True
    return any(is_behind(node, attempt) for attempt in attempts)


def is_behind(node: NodeFacts, attempt: Attempt) -> bool:
    """Whether a stop removed it that knew nothing of this attempt, for which a person has asked since.

    It may have slept just before its request, and then comes second by the clock alone.
    """
    cause = cause_of(node)
    if cause is None or not cause.request_id or asked_for(attempt) is None:
        return False
    return any(
        is_stop_behind(cause.request_id, attempt.job, newest, node.instance_id)
        for newest in range(attempt.number)
    )


def asked_for(attempt: Attempt) -> datetime | None:
    """When a person last asked for the attempt; None for one that only recovery has begun."""
    return attempt.asked or (attempt.created if attempt.lost is None else None)


def told_late(facts: JobFacts) -> NodeFacts | None:
    """A predecessor that a person, or a rule of ours, removed, of which the log has told only now.

    Its successor was made meanwhile. What came after the claim only tidied up; clocks may be a minute apart.
    """
    if facts.newest is None or facts.newest.state in CLOSED:
        return None
    since_asked: list[Attempt] = []
    closed = False
    for recorded in facts.ledger:
        # What ended the job before somebody opened it again was heard then.
        since_asked = [] if closed else since_asked
        since_asked = [] if recorded.attempt.lost is None else [*since_asked, recorded.attempt]
        closed = recorded.attempt.state in CLOSED
    for attempt in since_asked:
        # A gang that bends goes on without a node that was removed.
        for node in () if attempt.bent else facts.predecessors:
            cause = cause_of(node) if on_purpose(facts, node) else None
            if asked_since(node, *since_asked):
                continue
            mine = attempt.replaces.get(node.node) == node.instance_id and not attempt.early
            if mine and cause and cause.at and cause.at <= attempt.created + CLOCKS_APART:
                return node
    return None


def removed_beside(facts: JobFacts, lost: datetime | None) -> list[NodeFacts]:
    """The VMs that a person removed which had outlived their own successor, once that one was lost.

    Before the loss it only tidied up; and who has asked for the job since wants it back.
    """
    newest = [facts.newest] if facts.newest else []
    return [
        node
        for node in facts.outlived
        if by_person(node)
        and not asked_since(node, *newest)
        and (cause := cause_of(node))
        and lost is not None
        and cause.at is not None
        and cause.at >= lost
    ]


def may_be_removed(facts: JobFacts, attempt: Attempt) -> bool:
    """Whether a person may have removed such a VM for all that these lists show, which are not whole.

    What an attempt replaces is gone before it is claimed, unless it was claimed early.
    """
    running = (*(_replaced(facts, attempt) if attempt.early else ()), *facts.outlived)
    shown = {instance.id for instance in facts.instances if alive(instance)}
    return bool(facts.unsure) and any(
        cause_of(machine) is None and machine.instance_id not in shown for machine in running
    )


def _replaced(facts: JobFacts, attempt: Attempt) -> list[NodeFacts]:
    return [node for node in facts.nodes if attempt.replaces.get(node.node) == node.instance_id]


def _lost(facts: JobFacts, attempt: Attempt) -> datetime | None:
    """When the attempt's predecessor was lost; one that is only announced to be taken may run on."""
    if not attempt.early:
        return attempt.lost
    causes = [cause for node in _replaced(facts, attempt) if (cause := cause_of(node))]
    return next((cause.at for cause in causes), None)
