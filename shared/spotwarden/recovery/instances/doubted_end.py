"""A job's status code, compared with what Compute Engine says: every job VM may write every job's status.

A status is a hint. The ledger is closed by it once no instance of the job runs any more. Where Compute
Engine took the VM, it must have been written about then: not long before, while the VM ran on, nor after.
"""

from datetime import datetime, timedelta

from spotwarden.model.attempt import CLOSED, AttemptState
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.recovery.kinds.bounds import TAKEN
from spotwarden.recovery.observed.fates import KINDS, Fate, alive, cause_of

ABOUT_THEN = timedelta(minutes=5)
"""How far a status may be from the end of the VM that wrote it; a last upload takes minutes at most."""


def own_nodes(facts: JobFacts) -> list[NodeFacts]:
    """The nodes of the attempt that runs; none where no attempt does."""
    newest = facts.newest
    if newest is None or newest.state is not AttemptState.RUNNING:
        return []
    return [node for node in facts.nodes if newest.wanted.get(node.node) == node.instance_id]


def runs_on(facts: JobFacts) -> bool:
    """Whether an instance of the job runs, whatever its status code says."""
    return any(node.instance is not None and alive(node.instance) for node in own_nodes(facts))


def is_old(facts: JobFacts, now: datetime) -> bool:
    """Whether the status was written so long ago that the end of the VM has to be compared with it."""
    return facts.ended is not None and now - facts.ended > ABOUT_THEN


def doubt(facts: JobFacts) -> str:
    """Why the status may not be the job's own; "" where Compute Engine's facts agree with it."""
    taken, written = _taken_at(facts), facts.ended
    if taken is None or written is None:
        return ""
    if written < taken - ABOUT_THEN:
        minutes = (taken - written).total_seconds() / 60
        return f"its VM ran for {minutes:.0f} more minutes, until it was preempted"
    return "no VM of the job ran then" if written > taken + ABOUT_THEN else ""


def _taken_at(facts: JobFacts) -> datetime | None:
    """When Compute Engine took a VM of the newest attempt, or of the one that is being replaced."""
    newest = facts.newest
    if newest is not None and newest.state is not AttemptState.RUNNING and newest.state not in CLOSED:
        return newest.lost if newest.fate in TAKEN else None
    causes = [cause for node in own_nodes(facts) if (cause := cause_of(node))]
    took = [cause.at for cause in causes if KINDS[cause.kind] in {Fate.PREEMPTED, Fate.HOST_ERROR}]
    return max((at for at in took if at is not None), default=None)
