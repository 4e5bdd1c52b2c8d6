"""One finding, one look, one step at a time: suspected, warned, due, acted, or cleared.

Nothing is done to a VM without a warning that arrived at least the grace earlier; what nobody knows,
what is exempt and what a person wants to keep is never acted upon.
"""

from collections.abc import Callable
from datetime import timedelta
from uuid import NAMESPACE_URL, uuid5

from msgspec.structs import replace

from spotwarden.governance.cases import ops_notices
from spotwarden.governance.cases.approval import is_asked
from spotwarden.governance.cases.closing import clear, doubt, without_finding
from spotwarden.governance.cases.life import CaseEvent, follow
from spotwarden.governance.cases.observation import (
    counting,
    enforced,
    kept_data,
    look_once_more,
    new_case,
    open_case,
    seen,
    vetoed,
)
from spotwarden.governance.cases.remedy import remediate
from spotwarden.governance.cases.warning import may_act, warn, withdraw
from spotwarden.governance.units import units
from spotwarden.model.action import CaseStep, FileCase, LabelInstance, Ripe, Tell
from spotwarden.model.case import Approval, Case, CaseFacts, CaseState, Remediation
from spotwarden.model.finding import Finding, Reading
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick

SETTLING = timedelta(minutes=5)
"""How long a VM may take to be gone after Compute Engine has taken the remedy."""

Rule = Callable[[CaseFacts, Policy, Tick], CaseStep | None]


def next_step(facts: CaseFacts, policy: Policy, tick: Tick) -> CaseStep | None:
    """The next thing to do about this case, if there is anything to do now."""
    finding = facts.finding
    if _is_newer(facts, tick):
        return None
    if finding is None:
        return None if facts.hidden else without_finding(facts, policy, tick)
    if finding.reading is Reading.UNKNOWN:
        return doubt(facts, finding, policy, tick)
    if finding.exempt:
        return clear(facts, f"exempt: {finding.exempt}", policy, tick)
    return next((step for rule in _ORDER if (step := rule(facts, policy, tick)) is not None), None)


def _is_newer(facts: CaseFacts, tick: Tick) -> bool:
    """Whether a sweep that began later has looked at the case meanwhile: what this one saw is older."""
    return facts.filed is not None and facts.filed.case.looked > tick.now


def _open(facts: CaseFacts, _policy: Policy, tick: Tick) -> CaseStep | None:
    """A case for a new finding, and for one of which nothing was known until now."""
    finding, filed = facts.finding, facts.filed
    if finding is None or (filed is not None and filed.case.state is not CaseState.UNKNOWN):
        return None
    state = follow(CaseState.UNKNOWN, CaseEvent.SUSPECT)
    case = new_case(facts, finding, state, tick)
    if filed is None:
        return FileCase(reason=finding.reason, case=case, generation=0)
    return FileCase(reason=finding.reason, case=_answered(case, filed.case), generation=filed.generation)


def _answered(case: Case, before: Case) -> Case:
    """The new case with what a person has answered to the one before it."""
    return replace(
        case,
        keep_until=before.keep_until,
        kept_by=before.kept_by,
        kept_why=before.kept_why,
        extended=before.extended,
        answered=before.answered,
    )


def _label(facts: CaseFacts, policy: Policy, tick: Tick) -> CaseStep | None:
    """Put the rule's label on its VMs, once it was told and only in earnest."""
    case, finding, generation = open_case(facts)
    wanted = finding.labels and finding.subject.ours and enforced(finding, policy)
    if not wanted or case.labels or not counting(case):
        return None
    for target in finding.subject.targets:
        if target.id not in facts.labelled:
            return LabelInstance(
                reason=finding.reason,
                job=finding.subject.job,
                node=target.name,
                zone=target.zone,
                instance_id=target.id,
                labels=finding.labels,
            )
    labelled = seen(case, finding, tick, labels=tuple(sorted(finding.labels)))
    return FileCase(reason="labelled", case=labelled, generation=generation)


def _act(facts: CaseFacts, policy: Policy, tick: Tick) -> CaseStep | None:
    """Apply the remedy, once everything that speaks for waiting has been heard."""
    case, finding, generation = open_case(facts)
    if case.state is CaseState.ACTED:
        return _look_after(facts, case, finding, policy, tick)
    if not may_act(case, finding, policy, tick):
        return None
    if facts.budget is not None:
        return _ask(facts, facts.budget, policy, tick)
    if not facts.permitted:
        return Ripe(case=seen(case, finding, tick))
    if facts.planned:
        return remediate(facts, case, finding, policy, tick)
    planned = tuple(_plan(case, unit, tick) for unit in units(finding.subject.targets))
    state = follow(case.state, CaseEvent.PLAN)
    due = seen(case, finding, tick, state=state, remediations=planned)
    word = f", approved by {case.approval.by}" if case.approval and case.approval.by else ""
    return FileCase(reason=f"due{word}: {finding.reason}", case=due, generation=generation)


def _ask(facts: CaseFacts, budget: int, policy: Policy, tick: Tick) -> CaseStep | None:
    """Ask ops once for what is more than a sweep may do, and write down what they were asked."""
    case, finding, generation = open_case(facts)
    wanted = seen(case, finding, tick)
    if is_asked(wanted, tick.now):
        return None
    notice = ops_notices.approval(wanted, budget, policy, tick)
    if notice.id not in facts.told:
        return Tell(reason=notice.what, notice=notice)
    asked = Approval(
        notice=notice.id,
        asked=tick.now,
        remedy=wanted.remedy,
        targets=tuple(target.id for target in wanted.subject.targets),
        since=wanted.since,
    )
    return FileCase(
        reason=f"ops were asked to approve it: {finding.reason}",
        case=replace(wanted, approval=asked),
        generation=generation,
    )


def _withhold(facts: CaseFacts, policy: Policy, tick: Tick) -> CaseStep | None:
    """Tell ops once of a stop that is due and not tried, since the policy keeps what it would discard."""
    case, finding, generation = open_case(facts)
    why = kept_data(finding, policy) if finding.ripe and enforced(finding, policy) else ""
    if not why or vetoed(case, tick) or case.looks < finding.limits.looks:
        return None
    notice = ops_notices.withheld(case, why, policy, tick)
    if notice.id in case.told:
        return None
    if notice.id not in facts.told:
        return Tell(reason=why, notice=notice)
    told = seen(case, finding, tick, told=(*case.told, notice.id))
    return FileCase(reason=f"not stopped: {why}", case=told, generation=generation)


def _plan(case: Case, target: str, tick: Tick) -> Remediation:
    """The same try keeps its request id; one that is known to have failed gets another."""
    known = next((remediation for remediation in case.remediations if remediation.target == target), None)
    if known is not None and not known.error:
        return known
    words = f"spotwarden/{case.rule}/{case.key}/{case.opened.isoformat()}/{target}/{case.failures}"
    return Remediation(target=target, request_id=str(uuid5(NAMESPACE_URL, words)), at=tick.now)


def _look_after(
    facts: CaseFacts, case: Case, finding: Finding, policy: Policy, tick: Tick
) -> CaseStep | None:
    """A VM that is still there long after the remedy was taken: it has not worked.

    What an owner has used stays used, whatever was stopped for it: that is found on, and about other VMs.
    """
    newest = max((remediation.at for remediation in case.remediations), default=case.looked)
    if tick.now - newest < SETTLING or facts.filed is None:
        return None
    found = units(finding.subject.targets).keys()
    if found.isdisjoint(remediation.target for remediation in case.remediations):
        return without_finding(facts, policy, tick)
    minutes = (tick.now - newest).total_seconds() / 60
    failed = tuple(replace(item, error=f"still there {minutes:.0f} min later") for item in case.remediations)
    case = replace(
        case,
        state=follow(case.state, CaseEvent.FAIL),
        remediations=failed,
        failures=case.failures + 1,
        looked=tick.now,
    )
    return FileCase(reason="the remedy has not worked", case=case, generation=facts.filed.generation)


_ORDER: tuple[Rule, ...] = (_open, withdraw, look_once_more, warn, _label, _withhold, _act)
