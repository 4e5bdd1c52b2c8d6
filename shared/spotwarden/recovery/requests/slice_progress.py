"""What is known after a step that makes a slice, or lets it go."""

from msgspec.structs import replace

from spotwarden.model.facts import JobFacts
from spotwarden.model.outcome import Done, Outcome, Rejected, Unanswered
from spotwarden.model.slice_action import (
    DeleteGroup,
    DeleteTemplate,
    FillGroup,
    LookAtGroup,
    MakePart,
    SliceChange,
)
from spotwarden.recovery.requests.slice_groups import template_key

THERE = "alreadyExists"
_NOT_YET = frozenset(("notFound", "resourceNotReady", "resourceInUseByAnotherResource"))
"""What a group is refused with whose template or policy is not there yet, or not any more."""


def after_slice(facts: JobFacts, step: SliceChange | LookAtGroup, outcome: Outcome) -> JobFacts | None:
    """The facts with this outcome in them; None where the world must be read anew before the next step."""
    if isinstance(outcome, Unanswered):
        asked = isinstance(step, MakePart | FillGroup)
        return replace(facts, unanswered=facts.unanswered + 1) if asked else None
    match step:
        case LookAtGroup(group=name):
            return _seen(facts, name, outcome) if isinstance(outcome, Done) else None
        case MakePart():
            return _made(facts, step, outcome)
        case FillGroup(group=name):
            return _filled(facts, name, outcome)
        case DeleteGroup(group=name):
            return _gone(facts, name, name, outcome)
        case DeleteTemplate(template=name):
            return _gone(facts, name, template_key(name), outcome)


def _seen(facts: JobFacts, name: str, outcome: Done) -> JobFacts:
    return replace(facts, groups={**facts.groups, name: outcome.group})


def _made(facts: JobFacts, step: MakePart, outcome: Outcome) -> JobFacts | None:
    made = replace(facts, parts=facts.parts | {step.part})
    if isinstance(outcome, Done):
        return made if step.part != "group" else _unlooked(made, step.request.body["name"])
    if not isinstance(outcome, Rejected):
        return None
    if outcome.code == THERE:
        return made if step.part != "group" else _unlooked(made, step.request.body["name"])
    why = f"{outcome.code}: {outcome.message}"
    if step.part == "group" and outcome.code in _NOT_YET:
        # Somebody may have deleted one of its parts since: they are made again.
        return replace(facts, parts=frozenset(), unmade=why)
    return _refused(facts, why)


def _filled(facts: JobFacts, name: str, outcome: Outcome) -> JobFacts | None:
    if isinstance(outcome, Done):
        return replace(_unlooked(facts, name), operation=outcome.operation)
    if not isinstance(outcome, Rejected):
        return None
    why = f"{outcome.code}: {outcome.message}"
    if outcome.code in {THERE, "notFound", "resourceNotReady"} and not facts.unmade:
        # Its members tell whether an earlier request was carried out that nobody remembers.
        return replace(_unlooked(facts, name), unmade=why)
    return _refused(facts, why)


def _gone(facts: JobFacts, name: str, key: str, outcome: Outcome) -> JobFacts | None:
    cleared = replace(facts, cleared=facts.cleared | {key})
    if isinstance(outcome, Done):
        return _unlooked(cleared, name) if key == name else cleared
    if not isinstance(outcome, Rejected):
        return None
    if outcome.code == "notFound":
        return replace(cleared, groups={**facts.groups, name: None})
    return cleared if key == name and outcome.code == "resourceNotReady" else None


def _unlooked(facts: JobFacts, name: str) -> JobFacts:
    return replace(facts, groups={key: seen for key, seen in facts.groups.items() if key != name})


def _refused(facts: JobFacts, why: str) -> JobFacts:
    """The newest try with its refusal, which is not on record yet."""
    newest = facts.ledger[-1]
    tries = newest.attempt.tries
    noted = replace(newest.attempt, tries=(*tries[:-1], replace(tries[-1], error=why)))
    return replace(facts, ledger=(*facts.ledger[:-1], replace(newest, attempt=noted)))
