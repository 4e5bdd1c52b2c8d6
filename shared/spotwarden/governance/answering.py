"""What becomes of a case when a person answers: a veto, its end, more time; or a refusal in words."""

from collections.abc import Callable, Mapping
from datetime import datetime
from math import isfinite
from typing import Any, NamedTuple

from msgspec.structs import replace

from spotwarden.governance.caps.jobs import extendable
from spotwarden.governance.cases.approval import fits, is_approved, is_asked
from spotwarden.governance.cases.life import CaseEvent, IllegalCaseError, follow
from spotwarden.governance.cases.observation import past
from spotwarden.model.answer import (
    Accepted,
    Answer,
    Answered,
    AnswerRefused,
    Approve,
    Extend,
    Keep,
    Release,
)
from spotwarden.model.case import Case, CaseState
from spotwarden.model.governance import Remedy
from spotwarden.model.jobfile import JobFile
from spotwarden.model.policy import Policy
from spotwarden.model.precedence import NOBODY, limits
from spotwarden.model.rule_limits import JobCap
from spotwarden.model.spans import moment

MOST_HOURS = 366 * 24
"""Beyond this an extension is a slip of the keyboard, whatever the policy says."""


class _Rules(NamedTuple):
    """What an answer is held against."""

    policy: Policy
    file: JobFile
    now: datetime


def answered(
    case: Case, answer: Answer, *, policy: Policy, now: datetime, file: JobFile = NOBODY
) -> Answered:
    """The case after this answer, or why it cannot be given; `file` is what the case's job says of itself."""
    try:
        return _ANSWERS[type(answer)](case, answer, _Rules(policy=policy, file=file, now=now))
    except IllegalCaseError:
        return AnswerRefused(why=f"it is too late: {_deed(case)} at {moment(case.looked)}")


def _keep(case: Case, answer: Keep, by: _Rules) -> Answered:
    """A veto is a person's word and holds at once, but not for ever: what never ends is an exemption."""
    longest = by.now + by.policy.governance.longest_keep
    if answer.until <= by.now:
        return AnswerRefused(why=f"{moment(answer.until)} has passed")
    if answer.until > longest:
        return AnswerRefused(
            why=f"a case can be kept until {moment(longest)} at most (governance.longest_keep), then"
            " kept again."
            " For longer, ask for an exemption in the policy"
        )
    kept = replace(
        case,
        state=follow(case.state, CaseEvent.KEEP),
        keep_until=answer.until,
        kept_by=answer.by,
        kept_why=answer.why,
        warnings=past(case),
        approval=None,
    )
    return Accepted(
        case=kept,
        reason=f"{answer.by} keeps it until {moment(answer.until)}{_because(answer.why)}",
        note=_under_way(case),
    )


def _release(case: Case, answer: Release, by: _Rules) -> Answered:
    """The veto ends now rather than never was: a warning from before it does not count again."""
    if case.keep_until is None or case.keep_until <= by.now:
        return AnswerRefused(why="it is not kept")
    released = replace(case, keep_until=by.now, kept_by=answer.by, kept_why=answer.why)
    return Accepted(case=released, reason=f"{answer.by} no longer keeps it{_because(answer.why)}")


def _extend(case: Case, answer: Extend, by: _Rules) -> Answered:
    """The new limit is warned of anew, and the grace counts from that warning."""
    if problem := _not_more(case, answer, by):
        return AnswerRefused(why=problem)
    extended = replace(
        case,
        state=follow(case.state, CaseEvent.KEEP),
        extended=case.extended + answer.hours,
        warnings=past(case),
        approval=None,
    )
    return Accepted(
        case=extended,
        reason=f"{answer.by} extends it by {answer.hours:g} h, {extended.extended:g} h in all"
        f"{_because(answer.why)}",
        note=_under_way(case),
    )


def _approve(case: Case, answer: Approve, by: _Rules) -> Answered:
    """Allow what ops were asked for, and nothing else; who approves it again changes nothing."""
    if problem := _not_to_approve(case, answer, by.now):
        return AnswerRefused(why=problem)
    if case.approval is None or is_approved(case, by.now):
        return Accepted(case=case, reason=_approved(case))
    until = by.now + by.policy.governance.approval_lasts
    given = replace(case.approval, by=answer.by, at=by.now, until=until, why=answer.why)
    approved = replace(case, approval=given)
    return Accepted(case=approved, reason=_approved(approved))


def _not_to_approve(case: Case, answer: Approve, now: datetime) -> str:
    """Why there is nothing to approve; "" where there is."""
    asked = case.approval
    if case.state is CaseState.ACTED:
        return f"it is too late: {_deed(case)} at {moment(case.looked)}"
    if case.keep_until is not None and now < case.keep_until:
        return f"it is kept until {moment(case.keep_until)} by {case.kept_by}"
    if asked is None:
        return (
            "no approval was requested: one is requested once the remedy is due and exceeds a sweep's budget"
        )
    if not fits(case):
        return (
            "its VMs or its problem have changed since the request. If it is still due, you get a new request"
        )
    if answer.notice and answer.notice != asked.notice:
        return "there is a newer request. Answer that one"
    return (
        "" if is_asked(case, now) else "the approval has expired. If it is still due, you get a new request"
    )


def _approved(case: Case) -> str:
    given = case.approval
    if given is None or given.until is None:
        return ""
    verb = {Remedy.DELETE: "delete", Remedy.STOP: "stop"}.get(given.remedy, "act on")
    return (
        f"{given.by} allows us to {verb} its {len(given.targets)} VMs until {moment(given.until)}"
        f"{_because(given.why)}"
    )


def _not_more(case: Case, answer: Extend, by: _Rules) -> str:
    """Why a case cannot be extended by so much; "" where it can."""
    cap = limits(by.policy, case.rule, owner=case.subject.owner, job_file=by.file)
    if not isinstance(cap, JobCap):
        return (
            "only the limits of a job (the rule job_cap) can be extended. To gain time, run"
            " `spotwarden cases keep`"
        )
    if not isfinite(answer.hours) or not 0 < answer.hours <= MOST_HOURS - case.extended:
        return (
            f"{answer.hours:g} h is not a valid extension; it must be more than 0, and at most a "
            "year in total"
        )
    return extendable(case, answer.hours, cap, by.file)


def _under_way(case: Case) -> str:
    """What a person must know of a remedy that was written down before the answer came."""
    sent = [remediation for remediation in case.remediations if not remediation.error]
    if case.state is not CaseState.DUE or not sent:
        return ""
    at = moment(max(message.at for message in sent))
    return f"the action was requested at {at} and may already be under way. Check the VM"


def _deed(case: Case) -> str:
    return {Remedy.DELETE: "it was deleted", Remedy.STOP: "it was stopped"}.get(
        case.remedy, "it was acted on"
    )


def _because(why: str) -> str:
    return f": {why}" if why else ""


_ANSWERS: Mapping[type, Callable[[Case, Any, _Rules], Answered]] = {
    Keep: _keep,
    Release: _release,
    Extend: _extend,
    Approve: _approve,
}
