"""What people are told, in words."""

from spotwarden.model.attempt import Attempt, State
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.marker import UnusableMarker
from spotwarden.model.notice import Notice, Severity
from spotwarden.model.tick import Tick


def started(attempt: Attempt, instance_id: str, tick: Tick) -> Notice:
    """Say that a job is back, or that it was launched."""
    again = attempt.number > 1
    place = attempt.tries[-1].place
    return Notice(
        id=f"started/{attempt.job}/{attempt.number}",
        kind="recovered" if again else "launched",
        severity=Severity.INFO,
        job=attempt.job,
        at=tick.now,
        what=f"{attempt.job} {'is back' if again else 'was launched'}: attempt {attempt.number} in {place}",
        why=attempt.reason,
        owner=attempt.owner,
        evidence={"instance_id": instance_id, "zone": place, "attempt": str(attempt.number)},
    )


def not_recoverable(facts: JobFacts, node: NodeFacts, reason: str, tick: Tick) -> Notice:
    """Say that a preempted job cannot be started again, and what would help."""
    return Notice(
        id=f"not-recoverable/{facts.job}/{node.marker.generation}",
        kind="not_recoverable",
        severity=Severity.URGENT,
        job=facts.job,
        at=tick.now,
        what=f"{facts.job} was preempted and cannot be started again",
        why=reason,
        todo="mend the create script and launch the job again with `spotwarden submit`",
        owner=facts.ledger[-1].attempt.owner if facts.ledger else "",
        evidence={"node": node.node, "instance_id": node.instance_id},
    )


def gave_up(attempt: Attempt, reason: str, tick: Tick) -> Notice:
    """Say that Compute Engine or the script makes another launch pointless."""
    return Notice(
        id=f"gave-up/{attempt.job}/{attempt.number}",
        kind="gave_up",
        severity=Severity.URGENT,
        job=attempt.job,
        at=tick.now,
        what=f"{attempt.job} could not be started again; attempt {attempt.number} is given up",
        why=reason,
        todo="mend what the reason names and launch the job again with `spotwarden submit`",
        owner=attempt.owner,
    )


def closed(facts: JobFacts, node: NodeFacts, why: str, state: State, tick: Tick) -> Notice:
    """Say that a job is over and will not be started again."""
    return Notice(
        id=f"closed/{facts.job}/{node.marker.generation}",
        kind=state.value.replace(" ", "_"),
        severity=Severity.URGENT if state is State.GAVE_UP else Severity.WARNING,
        job=facts.job,
        at=tick.now,
        what=f"{facts.job} will not be started again",
        why=why,
        todo="launch it again with `spotwarden submit` if it should go on",
        owner=facts.ledger[-1].attempt.owner if facts.ledger else "",
        evidence={"node": node.node, "instance_id": node.instance_id},
    )


def unusable(marker: UnusableMarker, tick: Tick) -> Notice:
    """Say that a marker belongs to no job that we know."""
    return Notice(
        id=f"quarantined/{marker.name}/{marker.generation}",
        kind="quarantined",
        severity=Severity.WARNING,
        job="",
        at=tick.now,
        what=f"the marker {marker.name!r} could not be used and was put aside",
        why=marker.reason,
        todo="see spotwarden/quarantine/ in the bucket; launch the job again if it should go on",
    )
