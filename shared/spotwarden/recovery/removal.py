"""What a person has removed: a job is its owner's to end, also while it is being brought back."""

from datetime import datetime

from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.recovery.actors import Actor, actor
from spotwarden.recovery.fates import REMOVALS, alive, cause_of


def by_person(node: NodeFacts) -> bool:
    """Whether a person removed the node: nodes also shut themselves down once their peers are gone."""
    cause = cause_of(node)
    return cause is not None and cause.kind in REMOVALS and actor(cause.user) is Actor.PERSON


def removed(facts: JobFacts, attempt: Attempt) -> bool:
    """Whether a person has removed what the attempt stands in for, before it had anything of its own."""
    ours = [one for one in _replaced(facts, attempt) if not _asked_since(one, attempt)]
    return any(by_person(operation) for operation in ours) or removed_beside(facts, _lost(facts, attempt))


def _asked_since(node: NodeFacts, attempt: Attempt) -> bool:
    """Whether a person has asked for this attempt after what befell the node: that word is the newer one."""
    cause = cause_of(node)
    return attempt.lost is None and cause is not None and cause.at is not None and cause.at < attempt.created


def removed_beside(facts: JobFacts, lost: datetime | None) -> bool:
    """Whether a person removed a VM that had outlived its own successor, once that one was lost.

    Before the loss it only tidied up.
    """
    ends = [one.at for node in facts.outlived if by_person(node) and (one := cause_of(node))]
    return lost is not None and any(at is not None and at >= lost for at in ends)


def may_be_removed(facts: JobFacts, attempt: Attempt) -> bool:
    """Whether a person may have removed such a VM for all that these lists show, which are not whole.

    What an attempt replaces is gone before it is claimed, unless it was claimed early.
    """
    running = (*(_replaced(facts, attempt) if attempt.early else ()), *facts.outlived)
    shown = {instance.id for instance in facts.instances if alive(instance)}
    return bool(facts.unsure) and any(
        cause_of(one) is None and one.instance_id not in shown for one in running
    )


def _replaced(facts: JobFacts, attempt: Attempt) -> list[NodeFacts]:
    return [node for node in facts.nodes if attempt.replaces.get(node.node) == node.instance_id]


def _lost(facts: JobFacts, attempt: Attempt) -> datetime | None:
    """When the attempt's predecessor was lost; one that is only announced to be taken may run on."""
    if not attempt.early:
        return attempt.lost
    causes = [cause for one in _replaced(facts, attempt) if (cause := cause_of(one))]
    return next((cause.at for cause in causes), None)
