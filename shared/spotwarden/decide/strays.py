"""Markers of nodes that the job does not have: anybody on a VM of any job can make up a name."""

from spotwarden.decide import notices
from spotwarden.model.action import Quarantine, Tell
from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.marker import UnusableMarker
from spotwarden.model.tick import Tick


def put_aside(facts: JobFacts, tick: Tick) -> Tell | Quarantine | None:
    """Tell of a marker of no node of the job, then put it aside; None where there is none.

    A node that is nowhere would be taken for one that is gone, and a healthy job be made again.
    """
    nodes = nodes_of(facts)
    for node in facts.nodes:
        if node.marker is None or not nodes or node.node in nodes:
            continue
        reason = f"{node.node} is no node of {facts.job}: neither its records nor its script name it"
        marker = UnusableMarker(
            name=node.node, generation=node.marker.generation, reason=reason, data=node.marker.data
        )
        notice = notices.unusable(marker, tick)
        if notice.id not in facts.told:
            return Tell(reason=reason, notice=notice)
        return Quarantine(
            reason=reason, name=marker.name, generation=marker.generation, data=marker.data, job=facts.job
        )
    return None


def nodes_of(facts: JobFacts) -> set[str]:
    """The job's nodes by what it does not write itself: the chain, registered ids, and the stored script."""
    chain = (
        nodes
        for recorded in facts.ledger
        for nodes in (recorded.attempt.instances, recorded.attempt.replaces)
    )
    script = facts.launch.nodes if isinstance(facts.launch, Launch) else ()
    return {*facts.registrations, *script, *(node for nodes in chain for node in nodes)}
