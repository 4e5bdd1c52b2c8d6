"""The remedy itself: one VM, or slice, after the other, then what came of it, told and written down."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from spotwarden.governance.cases import notices, ops_notices
from spotwarden.governance.cases.life import CaseEvent, follow
from spotwarden.governance.units import units
from spotwarden.model.action import (
    CaseStep,
    DeleteInstance,
    FileCase,
    RemoveLeftover,
    StopInstance,
    Tell,
)
from spotwarden.model.base_action import CloseJob
from spotwarden.model.case import Case, CaseFacts, Remediation
from spotwarden.model.finding import Finding, Target
from spotwarden.model.governance import Remedy
from spotwarden.model.policy import Policy
from spotwarden.model.slice_action import DeleteGroup
from spotwarden.model.tick import Tick

GONE = "gone already"
"""What stands for the operation where there was nothing left to act upon."""
IN_TIME = timedelta(minutes=5)
"""How long after its sweep began a remedy may be sent: a laptop that slept since has seen another world."""

CLOSES = frozenset({"early_stop"})
"""Rules whose remedy ends the job itself: it is closed first, so that nothing brings it back."""


def remediate(facts: CaseFacts, case: Case, finding: Finding, policy: Policy, tick: Tick) -> CaseStep:
    """The next unit to act upon, or the end of it; the case was written down as due in this very sweep."""
    if case.rule in CLOSES and not facts.closed and case.subject.job:
        return CloseJob(reason=case.reason, job=case.subject.job)
    found = units(finding.subject.targets)
    for remediation in case.remediations:
        if remediation.target not in facts.remediated and remediation.target in found:
            return _remedy(case, found[remediation.target], remediation, tick.now + IN_TIME)
    return _end(facts, case, policy, tick)


def _remedy(case: Case, unit: Sequence[Target], planned: Remediation, before: datetime) -> CaseStep:
    target, job = unit[0], case.subject.job
    node = target.name
    if target.id.startswith("projects/"):
        return RemoveLeftover(
            reason=case.reason, job=job, link=target.id, request_id=planned.request_id, before=before
        )
    if target.group:
        return DeleteGroup(
            reason=case.reason,
            job=job,
            zone=target.zone,
            group=target.group.name,
            group_id=target.group.id,
            request_id=planned.request_id,
            before=before,
            targets=tuple(unit),
        )
    if case.remedy is Remedy.DELETE:
        return DeleteInstance(
            reason=case.reason,
            job=job,
            attempt=0,
            node=node,
            zone=target.zone,
            instance_id=target.id,
            request_id=planned.request_id,
            before=before,
        )
    return StopInstance(
        reason=f"{case.reason}; the data on its local SSDs is discarded"
        if target.local_ssds
        else case.reason,
        job=job,
        node=node,
        zone=target.zone,
        instance_id=target.id,
        request_id=planned.request_id,
        before=before,
        discard_local_ssd=bool(target.local_ssds),
    )


def _end(facts: CaseFacts, case: Case, policy: Policy, tick: Tick) -> CaseStep:
    """Tell what was done; what failed stays open, and ops hear of it when it goes on failing."""
    remediations = tuple(
        facts.remediated.get(remediation.target, remediation) for remediation in case.remediations
    )
    failed = [item for item in remediations if not item.operation]
    failures = case.failures + bool(failed)
    gone = {item.target for item in remediations if item.operation == GONE}
    sure = _is_ours(case, remediations)
    news = [] if failed else [notices.acted(case, policy, tick, sure=sure, gone=gone)]
    if _is_told(failures, policy.governance.failures):
        news.append(ops_notices.failing(case, remediations, failures, policy, tick))
    for notice in news:
        if notice.id not in {*facts.told, *case.told}:
            return Tell(reason=case.reason, notice=notice)
    event = CaseEvent.FAIL if failed else CaseEvent.ACT
    told = tuple(sorted({*case.told, *facts.told}))
    after = replace(
        case,
        state=follow(case.state, event),
        remediations=remediations,
        failures=failures,
        looked=tick.now,
        told=told,
    )
    generation = facts.filed.generation if facts.filed else 0
    reason = "; ".join(sorted(_errors(failed).values())) if failed else f"done: {case.reason}"
    return FileCase(reason=reason, case=after, generation=generation)


def _is_ours(case: Case, remediations: Sequence[Remediation]) -> bool:
    """Whether it was us: of a VM that was gone by then, somebody may have removed it just before."""
    gone = [item for item in remediations if item.operation == GONE]
    return not gone or (case.remedy is Remedy.STOP and len(gone) < len(remediations))


def _is_told(failures: int, each: int) -> bool:
    """Whether ops hear of so many failures: of the first few, then each time that they have doubled."""
    times, rest = divmod(failures, each)
    return times > 0 and rest == 0 and times.bit_count() == 1


def _errors(failed: list[Remediation]) -> Mapping[str, str]:
    return {
        remediation.target: f"{remediation.target}: {remediation.error or 'no answer'}"
        for remediation in failed
    }
