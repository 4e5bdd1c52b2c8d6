"""The nodes of a gang that bends, and of a slice that can't: which run, which are missing, what follows."""

from datetime import datetime, timedelta

from spotwarden.model.attempt import Attempt, AttemptState, TryKind
from spotwarden.model.facts import JobFacts
from spotwarden.recovery.folder.standing import is_broken
from spotwarden.recovery.instances.elastic import refill_due


def changes(facts: JobFacts) -> str:
    """How many attempts only changed the members; "" where none did."""
    bent = sum(recorded.attempt.bent for recorded in facts.ledger)
    return f" ({bent} of them changed which nodes run)" if bent else ""


def counted(facts: JobFacts) -> str:
    """How many attempts there were, and up to which number they go where stops have numbers between."""
    count = max(1, len(facts.ledger))
    newest = facts.newest.number if facts.newest else 1
    numbers = f", numbered up to {newest} (each stop takes a number, too)" if newest > count else ""
    return f"{count} attempt{'s' if count > 1 else ''}{numbers}"


def members(facts: JobFacts, block: timedelta, now: datetime) -> str:
    """How many nodes run of how many, and why not all; "" for a job that has all that it needs."""
    newest, file = facts.newest, facts.file
    if newest is not None and is_broken(newest):
        left = f"{len(newest.wanted)} of {len(newest.instances)}"
        return f"{left}, and a slice needs all; {', '.join(_removed(newest))}"
    if newest is None or not file.most_nodes or newest.state is not AttemptState.RUNNING:
        return ""
    said = [f"{len(newest.instances)} of {file.most_nodes}, at least {file.fewest_nodes}"]
    if newest.lacking:
        said.append(f"missing {', '.join(newest.lacking)}: {_refill(facts, block, now)}")
    said += [
        told
        for node, told in zip(newest.removed, _removed(newest), strict=True)
        if node not in newest.instances
    ]
    return "; ".join(said)


def _removed(newest: Attempt) -> list[str]:
    """Each node that somebody has removed, and who did."""
    return [
        f"{node} was removed{f' by {removal.user}' if removal.user else ''}"
        for node, removal in newest.removed.items()
    ]


def _refill(facts: JobFacts, block: timedelta, now: datetime) -> str:
    newest = facts.newest
    last = newest.tries[-1] if newest and newest.tries else None
    if newest is None or last is None or last.kind is not TryKind.REFILL:
        return "requested next"
    if not last.error:
        return f"requested at {last.at:%H:%M:%S} UTC"
    due = refill_due(newest, block)
    again = f"requested again at {due:%H:%M:%S} UTC" if due and due > now else "requested next"
    return f"{last.place} refused ({last.error}), {again}"
