"""What is known of a case after a step, so that the next one need not read it again."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from spotwarden.governance.cases.remedy import GONE
from spotwarden.model.action import (
    CaseStep,
    DeleteInstance,
    FileCase,
    LabelInstance,
    RemoveLeftover,
    StopInstance,
    Tell,
)
from spotwarden.model.base_action import CloseJob
from spotwarden.model.case import CaseFacts, CaseState, Filed, Remediation
from spotwarden.model.outcome import Done, Observed, Outcome, Rejected, Unanswered
from spotwarden.model.slice_action import DeleteGroup

REMEDIATING = StopInstance | DeleteInstance | DeleteGroup | RemoveLeftover


def after(facts: CaseFacts, step: CaseStep, outcome: Outcome) -> CaseFacts | None:
    """The facts with this outcome in them; None where nothing more can be done in this sweep."""
    if isinstance(step, REMEDIATING):
        return None if isinstance(outcome, Observed) else _remediated(facts, step, outcome)
    if isinstance(step, LabelInstance):
        # A label is a courtesy: a VM that takes none is dealt with all the same.
        return replace(facts, labelled=facts.labelled | {step.instance_id})
    if (
        not isinstance(outcome, Done)
        or type(step) not in _LEARN
        or (facts.remediated and isinstance(step, FileCase))
    ):
        # What came of the remedy is the last thing that a sweep writes about a case.
        return None
    return _LEARN[type(step)](facts, step, outcome)


def _filed(facts: CaseFacts, step: FileCase, outcome: Done) -> CaseFacts:
    filed = Filed(case=step.case, generation=outcome.generation)
    return replace(facts, filed=filed, planned=facts.permitted and step.case.state is CaseState.DUE)


def _closed(facts: CaseFacts, _step: CloseJob, _outcome: Done) -> CaseFacts:
    return replace(facts, closed=True)


def _told(facts: CaseFacts, step: Tell, outcome: Done) -> CaseFacts:
    return replace(facts, told={**facts.told, step.notice.id: outcome.at or step.notice.at})


def _remediated(facts: CaseFacts, step: REMEDIATING, outcome: Outcome) -> CaseFacts:
    target = _target(step)
    planned = facts.filed.case.remediations if facts.filed else ()
    known = next(remediation for remediation in planned if remediation.target == target)
    return replace(facts, remediated={**facts.remediated, target: _with(known, outcome)})


def _target(step: REMEDIATING) -> str:
    """What its remediation is called by."""
    match step:
        case RemoveLeftover(link=link):
            return link
        case DeleteGroup(group_id=group_id):
            return group_id
        case _:
            return step.instance_id


def _with(remediation: Remediation, outcome: Outcome) -> Remediation:
    """What came of it: gone already is as good as done, no answer leaves it open under the same request."""
    match outcome:
        case Done(operation=operation):
            return replace(remediation, operation=operation.name if operation else "done", error="")
        case Rejected(code="notFound"):
            return replace(remediation, operation=GONE, error="")
        case Rejected(code=code, message=message):
            return replace(remediation, operation="", error=f"{code}: {message}")
        case Unanswered():
            return replace(remediation, operation="", error="")
        case _:
            return replace(remediation, operation="", error="not carried out")


_LEARN: Mapping[type, Callable[[CaseFacts, Any, Done], CaseFacts]] = {
    FileCase: _filed,
    Tell: _told,
    CloseJob: _closed,
}
