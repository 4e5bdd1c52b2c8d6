"""Warnings: when one is due, what it promises, when it is taken back, and whether the remedy may follow."""

from datetime import datetime

from msgspec.structs import replace

from spotwarden.governance.calendar import open_at
from spotwarden.governance.cases import notices
from spotwarden.governance.cases.approval import is_approved
from spotwarden.governance.cases.life import CaseEvent, follow
from spotwarden.governance.cases.observation import (
    APART,
    counting,
    enforced,
    fitting,
    graced,
    hindrance,
    kept_data,
    open_case,
    past,
    remedy_of,
    seen,
    vetoed,
)
from spotwarden.model.action import CaseStep, FileCase, Tell
from spotwarden.model.case import Case, CaseFacts, CaseState, Warned
from spotwarden.model.finding import Finding
from spotwarden.model.governance import Remedy
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick

LOST_AFTER = 2
"""A warning is lost when so many times as long has passed as a sender tries to bring it."""


def withdraw(facts: CaseFacts, _policy: Policy, tick: Tick) -> CaseStep | None:
    """Let warnings of a remedy count no more where it is off: its owner is told so, and later warned anew."""
    case, finding, generation = open_case(facts)
    promised = any(warned.remedy is not Remedy.NONE for warned in counting(case))
    if not promised or finding.level == 0 or remedy_of(finding) is not Remedy.NONE or vetoed(case, tick):
        return None
    withdrawn = seen(case, finding, tick, warnings=past(case))
    return FileCase(reason=f"no longer announced: {finding.reason}", case=withdrawn, generation=generation)


def warn(facts: CaseFacts, policy: Policy, tick: Tick) -> CaseStep | None:
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
    due, latest = soonest(case, finding, tick), min(graces_of(case, finding), default=None)
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
    if remedy_of(finding) is Remedy.NONE or not enforced(finding, policy) or not graces_of(case, finding):
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
    first = min([tick.now + grace, *graces_of(case, finding)])
    return max(first, finding.due or first).replace(second=0, microsecond=0)


def graces_of(case: Case, finding: Finding) -> list[datetime]:
    """From when on the remedy may follow each of the warnings that have arrived."""
    over = (graced(warned, finding.limits.grace) for warned in fitting(case, finding))
    return [at for at in over if at is not None]


def may_act(case: Case, finding: Finding, policy: Policy, tick: Tick) -> bool:
    """Whether the remedy may be applied now, as far as this one case goes."""
    if not finding.ripe or remedy_of(finding) is Remedy.NONE or not enforced(finding, policy):
        return False
    if vetoed(case, tick) or case.looks < finding.limits.looks or kept_data(finding, policy):
        return False
    warned = any(tick.now >= at for at in graces_of(case, finding))
    return warned and not open_at(policy.governance.calendar, tick.now)
