"""Markers of nodes that the job does not have: anybody on a VM of any job can make up a name."""

from spotwarden.model.action import Quarantine, Tell
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.launch import Launch
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.marker import Marker, UnusableMarker
from spotwarden.model.tick import Tick
from spotwarden.recovery.instances import ownership
from spotwarden.recovery.steps.judging import answered, known
from spotwarden.recovery.telling import notices


def put_aside(facts: JobFacts, tick: Tick) -> Tell | Quarantine | None:
    """Tell of a marker of no node of the job, then put it aside; None where there is none.

    A node that is nowhere would be taken for one that is gone, and a healthy job be made again.
    """
    nodes = nodes_of(facts)
    for node in facts.nodes:
        if node.marker is None or not nodes or node.node in nodes:
            continue
        reason = f"{node.node} isn't a node of {facts.job}: neither its records nor its script name it"
        return _aside(facts, node.node, node.marker, reason, tick)
    return None


def foreign(facts: JobFacts, limits: RecoveryLimits, tick: Tick) -> Tell | Quarantine | None:
    """Put a marker aside that names somebody else's instance, once the log has had time to tell of it.

    A log that is not whole may leave out the insert that tells whose it is.
    """
    if facts.unsure:
        return None
    for node in ownership.foreign(facts):
        young = node.marker is not None and tick.now - node.marker.written < limits.log_delay
        if node.marker is None or young or answered(facts, node):
            continue
        reason = (
            f"the instance {node.instance_id} is not {facts.job}'s: its id is on no record of the job, and"
            " nothing shows that a request of the job, or its stored script, made it"
        )
        return _aside(facts, node.node, node.marker, reason, tick)
    return None


def never_seen(facts: JobFacts, node: NodeFacts, tick: Tick) -> Tell | Quarantine | None:
    """Put a marker aside of an instance that nobody has seen; None where somebody else than it tells of that.

    The job's script is stored, and perhaps nobody has launched it yet; or its VM has shut itself down, and
    the marker names another one, that is nowhere. Neither must be launched for a marker.
    """
    ledger = [recorded.attempt for recorded in facts.ledger]
    recorded_ids = {name for of in ledger for ids in (of.instances, of.replaces) for name in ids.values()}
    if node.marker is None or node.instance_id in recorded_ids - {""} or known(facts, node):
        return None
    which = f" with the id {node.instance_id}" if node.instance_id else ""
    reason = (
        f"no instance was ever seen as {node.node} of {facts.job}{which}:"
        " Compute Engine shows none, its log names none, and none is registered"
    )
    return _aside(facts, node.node, node.marker, reason, tick)


def _aside(facts: JobFacts, name: str, marker: Marker, reason: str, tick: Tick) -> Tell | Quarantine:
    unusable = UnusableMarker(name=name, generation=marker.generation, reason=reason, data=marker.data)
    notice = notices.unusable(unusable, tick)
    if notice.id not in facts.told:
        return Tell(reason=reason, notice=notice)
    return Quarantine(reason=reason, name=name, generation=marker.generation, data=marker.data, job=facts.job)


def nodes_of(facts: JobFacts) -> set[str]:
    """The job's nodes by what it does not write itself: the chain, registered ids, and the stored script."""
    chain = (
        nodes
        for recorded in facts.ledger
        for nodes in (recorded.attempt.instances, recorded.attempt.replaces)
    )
    script = facts.launch.nodes if isinstance(facts.launch, Launch) else ()
    return {*facts.registrations, *script, *(node for nodes in chain for node in nodes)}
