"""The nodes of a gang that bends: which run, which are missing, and what is done about those."""

from datetime import datetime, timedelta

from spotwarden.model.attempt import AttemptState, TryKind
from spotwarden.model.facts import JobFacts
from spotwarden.recovery.elastic import refill_due


def changes(facts: JobFacts) -> str:
    """How many attempts only changed the members; "" where none did."""
    bent = sum(recorded.attempt.bent for recorded in facts.ledger)
    return f" ({bent} of them changed which nodes run)" if bent else ""


def members(facts: JobFacts, block: timedelta, now: datetime) -> str:
    """How many nodes run of how many, and why not all; "" for a job that needs all that it has."""
    newest, file = facts.newest, facts.file
    if newest is None or not file.most_nodes or newest.state is not AttemptState.RUNNING:
        return ""
    said = [f"{len(newest.instances)} of {file.most_nodes}, at least {file.fewest_nodes}"]
    if newest.lacking:
        said.append(f"missing {', '.join(newest.lacking)}: {_refill(facts, block, now)}")
    said += [
        f"{node} was removed{f' by {removal.user}' if removal.user else ''}"
        for node, removal in newest.removed.items()
        if node not in newest.instances
    ]
    return "; ".join(said)


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
