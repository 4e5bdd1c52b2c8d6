"""What the owner of a gang that bends is told, and of a slice that cannot."""

from collections.abc import Mapping
from datetime import timedelta

from msgspec.structs import replace

from spotwarden.model.attempt import Attempt, Removal
from spotwarden.model.facts import JobFacts
from spotwarden.model.notice import Notice, Severity
from spotwarden.model.tick import Tick
from spotwarden.recovery.observed.fates import Fate
from spotwarden.recovery.telling import notices

BROKEN_FOR = timedelta(minutes=30)
"""How long the owner of a slice that lacks a VM has to take the rest down, or to ask for it anew."""
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
    if changed.fate == Fate.PREEMPTED.value and not changed.cause:
        how = "Compute Engine announced the preemption of"
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


def slice_broken(facts: JobFacts, attempt: Attempt, gone: Mapping[str, Removal], tick: Tick) -> Notice:
    """Say that a slice lacks VMs that somebody has removed, and what becomes of it."""
    left = [node for node in attempt.wanted if node not in gone]
    users = {node: removal.user or "the VM itself" for node, removal in gone.items()}
    minutes = BROKEN_FOR.seconds // 60
    return replace(
        notices.node_removed(facts, attempt, gone, tick),
        kind="slice_broken",
        what=f"{facts.job} is a TPU slice and lacks {', '.join(gone)}",
        why="; ".join(f"{node} was removed by {users[node]}" for node in gone),
        then=f"A slice needs all of its VMs. {minutes} minutes after the removal Spotwarden closes the job."
        f" What is left of the slice ({', '.join(left)}) costs money until the rule orphan deletes it,"
        " after a warning, or somebody does",
        todo=f"to get the whole slice back, run `spotwarden restart {facts.job}`; to end it,"
        f" `spotwarden stop {facts.job} --delete`",
    )
