"""What is known after a step, so that the next one need not read the world again."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from spotwarden.model.action import (
    ClearMarker,
    Done,
    LaunchInstances,
    Look,
    Outcome,
    Quarantine,
    RegisterInstance,
    Rejected,
    Step,
    Tell,
    Unanswered,
    WriteAttempt,
)
from spotwarden.model.attempt import Recorded, State
from spotwarden.model.facts import JobFacts


def after(facts: JobFacts, step: Step, outcome: Outcome) -> JobFacts | None:
    """The facts with this outcome in them; None where the world must be read anew before the next step."""
    if isinstance(step, LaunchInstances) and isinstance(outcome, Rejected):
        return _with_error(facts, f"{outcome.code}: {outcome.message}")
    if isinstance(step, LaunchInstances) and isinstance(outcome, Unanswered):
        return replace(facts, unanswered=facts.unanswered + 1)
    if not isinstance(outcome, Done) or type(step) not in _LEARN:
        return None
    return _LEARN[type(step)](facts, step, outcome)


def _record(facts: JobFacts, step: WriteAttempt, outcome: Done) -> JobFacts:
    recorded = Recorded(attempt=step.record, generation=outcome.generation)
    kept = tuple(one for one in facts.ledger if one.attempt.number != recorded.attempt.number)
    operation = facts.operation if step.record.state is State.PLACING else None
    return replace(facts, ledger=(*kept, recorded), operation=operation, told=False, registered=False)


def _operation(facts: JobFacts, _step: Step, outcome: Done) -> JobFacts:
    return replace(facts, operation=outcome.operation)


def _without(facts: JobFacts, node: str) -> JobFacts:
    return replace(facts, nodes=tuple(one for one in facts.nodes if one.node != node))


def _with_error(facts: JobFacts, error: str) -> JobFacts:
    newest = facts.ledger[-1]
    tries = newest.attempt.tries
    noted = replace(newest.attempt, tries=(*tries[:-1], replace(tries[-1], error=error)))
    return replace(facts, ledger=(*facts.ledger[:-1], replace(newest, attempt=noted)))


_LEARN: Mapping[type, Callable[[JobFacts, Any, Done], JobFacts]] = {
    WriteAttempt: _record,
    LaunchInstances: _operation,
    Look: _operation,
    RegisterInstance: lambda facts, _step, _done: replace(facts, registered=True),
    Tell: lambda facts, _step, _done: replace(facts, told=True),
    ClearMarker: lambda facts, step, _done: _without(facts, step.node),
    Quarantine: lambda facts, step, _done: _without(facts, step.name),
}
