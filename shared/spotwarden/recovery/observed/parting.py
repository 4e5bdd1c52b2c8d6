"""Members of a gang that bends that were told of their preemption: they part before they are taken.

A node that is told trains on for most of its notice. Then it stops, uploads, and says so in its marker; the
others go on without it while it still runs.
"""

from collections.abc import Collection
from datetime import timedelta

from spotwarden.model.action import Wait
from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.tick import Tick
from spotwarden.recovery.observed.fates import announced

BELIEVED = timedelta(minutes=1)
"""How long a node that has handed over is one that goes: half a minute later it is gone, or goes on."""
TOGETHER = timedelta(seconds=20)
"""How long others that were told are waited for once one has handed over: they stop with it."""


def told(facts: JobFacts, limits: RecoveryLimits, tick: Tick) -> list[NodeFacts]:
    """The nodes that run, and whose preemption is announced."""
    return [node for node in facts.nodes if announced(node, limits, tick)]


def told_ids(facts: JobFacts, limits: RecoveryLimits, tick: Tick) -> Collection[str]:
    """Their instances: none of these is let join."""
    return {node.instance_id for node in told(facts, limits, tick)}


def parted(facts: JobFacts, attempt: Attempt, limits: RecoveryLimits, tick: Tick) -> Collection[str]:
    """The members that have handed over."""
    return {node.instance_id for node in _members(facts, attempt, limits, tick) if _parts(node, tick)}


def await_others(facts: JobFacts, attempt: Attempt, limits: RecoveryLimits, tick: Tick) -> Wait | None:
    """Wait for the others that were told, once one has handed over; None where there are none.

    Each change of the members stops all of them, so those that are told at about the same time are one.
    """
    members = _members(facts, attempt, limits, tick)
    moments = [node.marker.written for node in members if node.marker and _parts(node, tick)]
    late = [node.node for node in members if not has_handed_over(node)]
    if not moments or not late or tick.now - min(moments) >= TOGETHER:
        return None
    return Wait(reason=f"{', '.join(late)} will be preempted too, and is about to hand over")


def has_handed_over(node: NodeFacts) -> bool:
    """Whether its marker says that its program has stopped, and all that it wrote is uploaded."""
    return node.marker is not None and node.marker.body.handed_over


def _parts(node: NodeFacts, tick: Tick) -> bool:
    return has_handed_over(node) and node.marker is not None and tick.now - node.marker.written < BELIEVED


def _members(facts: JobFacts, attempt: Attempt, limits: RecoveryLimits, tick: Tick) -> list[NodeFacts]:
    return [node for node in told(facts, limits, tick) if node.instance_id in attempt.instances.values()]
