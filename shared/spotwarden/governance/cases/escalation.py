"""One finding, one look, one step at a time: suspected, warned, due, acted, or cleared.

Nothing is done to a VM without a warning that arrived at least the grace earlier; what nobody knows,
what is exempt and what a person wants to keep is never acted upon.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

from msgspec.structs import replace

from spotwarden.governance.calendar import open_at
from spotwarden.governance.cases import notices, ops_notices
from spotwarden.governance.cases.approval import is_approved, is_asked
from spotwarden.governance.cases.closing import clear, doubt, without_finding
from spotwarden.governance.cases.life import CaseEvent, follow
from spotwarden.governance.cases.observation import (
    APART,
    counting,
    enforced,
    fitting,
    graced,
    hindrance,
    kept_data,
    look_once_more,
    new_case,
    open_case,
    past,
    remedy_of,
    seen,
    vetoed,
)
from spotwarden.governance.cases.remedy import remediate
from spotwarden.governance.units import units
from spotwarden.model.action import CaseStep, FileCase, LabelInstance, Ripe, Tell
from spotwarden.model.case import Approval, Case, CaseFacts, CaseState, Remediation, Warned
from spotwarden.model.finding import Finding, Reading
from spotwarden.model.governance import Remedy
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick

SETTLING = timedelta(minutes=5)
"""How long a VM may take to be gone after Compute Engine has taken the remedy."""
LOST_AFTER = 2
"""A warning is lost when so many times as long has passed as a sender tries to bring it."""

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


def _withdraw(facts: CaseFacts, _policy: Policy, tick: Tick) -> CaseStep | None:
    """Let warnings of a remedy count no more where it is off: its owner is told so, and later warned anew."""
    case, finding, generation = open_case(facts)
    promised = any(warned.remedy is not Remedy.NONE for warned in counting(case))
    if not promised or finding.level == 0 or remedy_of(finding) is not Remedy.NONE or vetoed(case, tick):
        return None
    withdrawn = seen(case, finding, tick, warnings=past(case))
    return FileCase(reason=f"no longer announced: {finding.reason}", case=withdrawn, generation=generation)


def _warn(facts: CaseFacts, policy: Policy, tick: Tick) -> CaseStep | None:
    """Tell the owner, then write down that it was told: only a warning that was accepted counts."""
    case, finding, generation = open_case(facts)
    if finding.level == 0 or case.state is CaseState.ACTED:
        return None
    if vetoed(case, tick) or case.looks < finding.limits.looks:
        return None
    if _is_promised(case, finding, policy, tick):
        return None
    hindered = hindrance(finding, policy)
    given = case.warnings if hindered else _given(case, finding, policy, tick)
    if any(part.level >= finding.level for part in given):
        return None
    due, latest = soonest(case, finding, tick), min(_graces(case, finding), default=None)
    fresh = seen(case, finding, tick)
    asks = 0 if is_approved(fresh, tick.now) else _beyond(finding, facts.most)
    notice = notices.warning(
        fresh, finding, policy, tick, hindered=hindered, asks=asks, due=due, latest=latest
    )
    if notice.id not in facts.told:
        if notice.id not in case.told:
            # Before it is told: a sweep that is killed then has told, and its owner is to hear of the end.
            about_to = replace(case, told=(*case.told, notice.id))
            return FileCase(reason="its owner is about to be warned", case=about_to, generation=generation)
        return Tell(reason=f"warning {finding.level}: {finding.reason}", notice=notice)
    at = max(tick.now, facts.told[notice.id])
    told = Warned(
        level=finding.level,
        at=at,
        notice=notice.id,
        counts=not hindered,
        remedy=fresh.remedy,
        targets=tuple(target.id for target in finding.subject.targets),
        due=due,
        delivered=None if policy.tells else at,
        grace=finding.limits.grace,
    )
    warned = replace(
        fresh,
        state=follow(case.state, CaseEvent.WARN),
        warnings=(*case.warnings, told),
        told=tuple(name for name in case.told if name != notice.id),
    )
    return FileCase(reason=f"warned: {finding.reason}", case=warned, generation=generation)


def _is_promised(case: Case, finding: Finding, policy: Policy, tick: Tick) -> bool:
    """Whether an earlier warning has had its grace: another would name a moment that is over by then."""
    if remedy_of(finding) is Remedy.NONE or not enforced(finding, policy) or not _graces(case, finding):
        return False
    named = finding.due is not None and soonest(case, finding, tick) <= tick.now + APART
    return named or may_act(case, finding, policy, tick)


def _beyond(finding: Finding, most: int | None) -> int:
    """How many VMs it is about, where those are more than a sweep acts upon by itself; 0 for none."""
    vms = sum(bool(target.zone) for target in finding.subject.targets)
    return vms if most is not None and vms > most else 0


def _given(case: Case, finding: Finding, policy: Policy, tick: Tick) -> tuple[Warned, ...]:
    """What was told already: once the remedy is due, only what it may follow; before, VMs come and go.

    What has not arrived long after it would have been given up was lost on its way, and is told anew.
    """
    lost = tick.now - LOST_AFTER * policy.notify.give_up
    told = fitting(case, finding) if finding.ripe else counting(case)
    return tuple(warned for warned in told if warned.delivered is not None or warned.at > lost)


def soonest(case: Case, finding: Finding, tick: Tick) -> datetime:
    """When the remedy may be applied at the earliest, to the minute: after a grace, when the rule says so."""
    grace = finding.limits.grace
    first = min([tick.now + grace, *_graces(case, finding)])
    return max(first, finding.due or first).replace(second=0, microsecond=0)


def _graces(case: Case, finding: Finding) -> list[datetime]:
    """From when on the remedy may follow each of the warnings that have arrived."""
    over = (graced(warned, finding.limits.grace) for warned in fitting(case, finding))
    return [at for at in over if at is not None]


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


def may_act(case: Case, finding: Finding, policy: Policy, tick: Tick) -> bool:
    """Whether the remedy may be applied now, as far as this one case goes."""
    if not finding.ripe or remedy_of(finding) is Remedy.NONE or not enforced(finding, policy):
        return False
    if vetoed(case, tick) or case.looks < finding.limits.looks or kept_data(finding, policy):
        return False
    warned = any(tick.now >= at for at in _graces(case, finding))
    return warned and not open_at(policy.governance.calendar, tick.now)


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


_ORDER: tuple[Rule, ...] = (_open, _withdraw, look_once_more, _warn, _label, _withhold, _act)
