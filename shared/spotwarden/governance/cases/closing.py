"""What becomes of a case that cannot be judged, or whose problem is gone."""

from msgspec.structs import replace

from spotwarden.governance.cases import notices
from spotwarden.governance.cases.life import CaseEvent, follow
from spotwarden.governance.cases.observation import counting, look_once_more, new_case, past, seen, vetoed
from spotwarden.governance.cases.remedy import GONE
from spotwarden.model.action import CaseStep, CloseCase, FileCase, LabelInstance, Tell
from spotwarden.model.case import Case, CaseFacts, CaseState, Warned
from spotwarden.model.finding import Finding
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick


def doubt(facts: CaseFacts, finding: Finding, policy: Policy, tick: Tick) -> CaseStep | None:
    """Tell once that nothing can be known; a case that was warned about stays as it is."""
    filed = facts.filed
    if filed is None:
        case = new_case(facts, finding, CaseState.UNKNOWN, tick)
        return FileCase(reason=finding.reason, case=case, generation=0)
    case = filed.case
    if finding.exempt or vetoed(case, tick):
        return None
    if case.state is CaseState.SUSPECTED and not case.warnings:
        state = follow(case.state, CaseEvent.DOUBT)
        doubted = seen(case, finding, tick, state=state, looks=1)
        return FileCase(reason=finding.reason, case=doubted, generation=filed.generation)
    if case.state is not CaseState.UNKNOWN:
        return None
    if case.looks < finding.limits.looks:
        return look_once_more(facts, policy, tick)
    notice = notices.unknown(case, finding, policy, tick)
    if notice.id in case.told:
        return look_once_more(facts, policy, tick)
    if notice.id not in facts.told:
        return Tell(reason=finding.reason, notice=notice)
    told = seen(case, finding, tick, told=(*case.told, notice.id))
    return FileCase(reason="notified that it can't be checked", case=told, generation=filed.generation)


def without_finding(facts: CaseFacts, policy: Policy, tick: Tick) -> CaseStep | None:
    """Nothing is wrong any more, by itself or through the remedy."""
    if facts.filed is None:
        return None
    case, generation = facts.filed.case, facts.filed.generation
    if not _was_acted_upon(facts, case):
        why = "another case has its VMs now" if facts.merged else "the problem is gone"
        return clear(facts, facts.spared or why, policy, tick)
    # A sweep that was cut off has perhaps not sent it, and the VM went by itself.
    sure = any(remediation.operation for remediation in case.remediations)
    gone = {remediation.target for remediation in case.remediations if remediation.operation == GONE}
    notice = notices.acted(case, policy, tick, sure=sure, gone=gone)
    if notice.id not in case.told and notice.id not in facts.told:
        return Tell(reason=case.reason, notice=notice)
    return CloseCase(reason="the remedy has worked", case=case, generation=generation)


def _was_acted_upon(facts: CaseFacts, case: Case) -> bool:
    """Whether the remedy was taken, as far as anybody can tell: asked for without an answer, and all gone."""
    if case.state not in {CaseState.DUE, CaseState.ACTED}:
        return _was_answered_too_late(facts, case)
    if _was_warned_since(case):
        return False
    taken = any(remediation.operation for remediation in case.remediations)
    return taken or (not facts.there and any(not remediation.error for remediation in case.remediations))


def _was_warned_since(case: Case) -> bool:
    """Whether its remedy has failed, as of a VM that was started again, and a new warning was given then."""
    if not all(remediation.error for remediation in case.remediations):
        return False
    newest = max((remediation.at for remediation in case.remediations), default=case.opened)
    return bool(notices.begun_warnings(case)) or any(warned.at > newest for warned in case.warnings)


def _was_answered_too_late(facts: CaseFacts, case: Case) -> bool:
    """Whether a person's answer came between the remedy and its record, and nobody has seen the VMs since."""
    sent = [remediation for remediation in case.remediations if not remediation.error]
    return bool(sent) and not facts.there and all(case.looked <= remediation.at for remediation in sent)


def clear(facts: CaseFacts, why: str, policy: Policy, tick: Tick) -> CaseStep | None:
    """Close the case; whoever was warned is told, unless another case goes on, and our label comes off."""
    if facts.filed is None:
        return None
    case, generation = facts.filed.case, facts.filed.generation
    if vetoed(case, tick):
        # A person's word holds until its moment: VMs are stopped and started again, exemptions come and go.
        return None
    begun = notices.begun_warnings(case)
    if counting(case) or begun:
        # Before it is told: where it is bad again in the next sweep, the owner has read that nothing is done.
        warned = (Warned(level=1, at=case.looked, notice=name, counts=False) for name in begun)
        told = tuple(name for name in case.told if name not in begun)
        taken_back = replace(case, warnings=(*past(case), *warned), told=told)
        return FileCase(reason="its warnings no longer count", case=taken_back, generation=generation)
    notice = notices.cleared(case, why, policy, tick)
    goes_on = facts.merged and not facts.spared
    if case.warnings and notice.id not in facts.told and not goes_on:
        return Tell(reason=why, notice=notice)
    for target in case.subject.targets if case.labels and facts.there else ():
        if target.id not in facts.labelled:
            return LabelInstance(
                reason=why,
                job=case.subject.job,
                node=target.name,
                zone=target.zone,
                instance_id=target.id,
                labels=dict.fromkeys(case.labels, ""),
            )
    return CloseCase(reason=why, case=case, generation=generation)
