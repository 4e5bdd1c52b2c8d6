"""What has become of a case so far, told from its record alone."""

from collections.abc import Iterator
from datetime import datetime

from spotwarden.governance.cases.approval import is_approved, is_asked
from spotwarden.model.case import Approval, Case, CaseState, Remediation, Warned
from spotwarden.recovery.folder.standing import TimelineEvent


def history(case: Case) -> list[TimelineEvent]:
    """Everything on record about a case, oldest first."""
    return sorted(_moments(case), key=lambda moment: moment.at)


def standing(case: Case, now: datetime) -> str:
    """How it stands, in a word or two."""
    if is_kept(case, now):
        return f"kept until {case.keep_until:%Y-%m-%d %H:%M}"
    if case.approval is not None and case.state is not CaseState.ACTED and is_asked(case, now):
        return f"approved by {case.approval.by}" if is_approved(case, now) else "waits for approval"
    earnest = [warning for warning in case.warnings if warning.counts]
    if case.state is CaseState.WARNED and earnest and all(warned.delivered is None for warned in earnest):
        return "warned, not arrived yet"
    return str(case.state.value)


def is_kept(case: Case, now: datetime) -> bool:
    """Whether a person's veto is in force."""
    return case.keep_until is not None and now < case.keep_until


def _moments(case: Case) -> Iterator[TimelineEvent]:
    if case.since is not None:
        yield TimelineEvent(at=case.since, what="the trouble began")
    yield TimelineEvent(at=case.opened, what="first suspected")
    for warned in case.warnings:
        yield TimelineEvent(at=warned.at, what=_warning(warned))
        if warned.delivered is not None:
            yield TimelineEvent(at=warned.delivered, what=f"warning {warned.level} arrived; its grace began")
    if case.approval is not None:
        yield from _approval(case.approval)
    for remediation in case.remediations:
        yield TimelineEvent(at=remediation.at, what=_remediation(case, remediation))
    if case.looked > case.opened:
        yield TimelineEvent(at=case.looked, what=f"last look on record, of {case.looks}")


def _approval(approval: Approval) -> Iterator[TimelineEvent]:
    count = len(approval.targets)
    yield TimelineEvent(at=approval.asked, what=f"ops were asked to approve it for {count} VMs")
    if approval.at is not None and approval.until is not None:
        why = f": {approval.why}" if approval.why else ""
        until = f"{approval.until:%Y-%m-%d %H:%M} UTC"
        yield TimelineEvent(at=approval.at, what=f"approved by {approval.by} until {until}{why}")


def _warning(warned: Warned) -> str:
    counts = "" if warned.counts else ", which no longer counts or only observed"
    return f"warning {warned.level} was accepted as notice {warned.notice}{counts}"


def _remediation(case: Case, remediation: Remediation) -> str:
    what = f"{case.remedy.value} {remediation.target}"
    if remediation.error:
        return f"{what} failed: {remediation.error}"
    return (
        f"{what}: operation {remediation.operation}"
        if remediation.operation
        else f"{what} was written down as due"
    )
