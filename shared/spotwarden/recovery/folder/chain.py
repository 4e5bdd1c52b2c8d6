"""The chain of attempts as people see it: a stop is a record of its own, and ends the attempt before it."""

from collections.abc import Sequence

from msgspec.structs import replace

from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.facts import JobFacts


def told(ledger: Sequence[Attempt]) -> tuple[Attempt, ...]:
    """The attempts that were meant to run, each with how it was stopped; `ledger` is oldest first."""
    found: list[Attempt] = []
    for attempt in ledger:
        if found and ends_another(attempt) and not found[-1].closed:
            found[-1] = replace(
                found[-1],
                state=attempt.state,
                reason=attempt.reason,
                updated=attempt.updated,
                lease=None,
                instances={**_first_seen(found[-1], attempt), **found[-1].instances},
                removed={**found[-1].removed, **attempt.removed},
            )
        else:
            found.append(attempt)
    return tuple(found)


def newest(ledger: Sequence[Attempt]) -> Attempt | None:
    """The newest attempt that was meant to run; None where there is none."""
    chain = told(ledger)
    return chain[-1] if chain else None


def _first_seen(stopped: Attempt, tombstone: Attempt) -> dict[str, str]:
    """The instances of an attempt that was stopped before it was known to run: only the stop names them."""
    former = set(stopped.replaces.values())
    return {node: name for node, name in tombstone.replaces.items() if name not in former}


def as_told(facts: JobFacts) -> JobFacts:
    """The facts with the attempts as people see them; for what is shown, never for what is decided."""
    seen = {attempt.number: attempt for attempt in told([recorded.attempt for recorded in facts.ledger])}
    kept = [fact for fact in facts.ledger if fact.attempt.number in seen]
    ledger = tuple(replace(item, attempt=seen[item.attempt.number]) for item in kept)
    return facts if ledger == facts.ledger else replace(facts, ledger=ledger)


def ends_another(attempt: Attempt) -> bool:
    """Whether the record only says that the job was stopped."""
    return attempt.tombstone and attempt.state is AttemptState.STOPPED
