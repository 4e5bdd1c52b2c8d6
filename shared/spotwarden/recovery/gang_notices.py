"""What the owner of a gang that bends is told."""

from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.notice import Notice, Severity
from spotwarden.model.tick import Tick
from spotwarden.recovery.fates import Fate

_HOW = {
    Fate.PREEMPTED.value: "Compute Engine preempted",
    Fate.HOST_ERROR.value: "The host failed of",
}


def bent(facts: JobFacts, changed: Attempt, tick: Tick) -> Notice:
    """Say that a gang goes on with fewer nodes, or with nodes that were refilled."""
    had = facts.newest.instances if facts.newest else {}
    new = [node for node in changed.instances if node not in had]
    nodes = len(changed.instances) + len(changed.lacking)
    size = f"{len(changed.instances)} of {nodes} nodes"
    how = _HOW.get(changed.fate, "It lost")
    what = f"{changed.job} continues on {size}"
    why = f"{', '.join(new)} joined again" if new else f"{how} {', '.join(changed.replaces)}"
    then = "each missing node is requested again every ten minutes" if changed.lacking else ""
    return Notice(
        id=f"bent/{changed.job}/{changed.number}",
        kind="gang_changed",
        severity=Severity.INFO,
        job=changed.job,
        at=tick.now,
        what=what,
        why=why,
        then=then,
        owner=changed.owner,
        evidence={
            "attempt": str(changed.number),
            "nodes": ", ".join(changed.instances),
            "missing": ", ".join(changed.lacking),
        },
    )
