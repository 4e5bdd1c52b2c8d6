"""One finding, one look, one step at a time: suspected, warned, due, acted, or cleared.

Nothing is done to a VM without a warning that was accepted at least the grace earlier; what nobody knows,
what is exempt and what a person wants to keep is never acted upon.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

from msgspec.structs import replace

from spotwarden.decide import case_notices
from spotwarden.decide.calendar import open_at
from spotwarden.decide.case_life import CaseEvent, follow
from spotwarden.decide.striking import strike
from spotwarden.model.action import CaseStep, CloseCase, FileCase, LabelInstance, Ripe, Tell
from spotwarden.model.case import Case, CaseFacts, CaseState, Strike, Warned
from spotwarden.model.finding import Finding, Reading
from spotwarden.model.governance import Mode, Remedy
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick

APART = timedelta(minutes=1)
"""Two looks that count as two: a doubled tick is one."""
REFRESH = timedelta(minutes=20)
"""How old a case's last look may be on record; more often would only cost writes."""
SETTLING = timedelta(minutes=5)
"""How long a VM may take to be gone after Compute Engine has taken the remedy."""

Rule = Callable[[CaseFacts, Policy, Tick], CaseStep | None]


def next_step(facts: CaseFacts, policy: Policy, tick: Tick) -> CaseStep | None:
    """The next thing to do about this case, if there is anything to do now."""
    finding = facts.finding
    if finding is None:
        return None if facts.hidden else _without_finding(facts, policy, tick)
    if finding.reading is Reading.UNKNOWN:
        return _doubt(facts, finding, policy, tick)
    if finding.exempt:
        return _clear(facts, f"exempt: {finding.exempt}", policy, tick)
    return next((step for rule in _ORDER if (step := rule(facts, policy, tick)) is not None), None)


def remedy_of(finding: Finding) -> Remedy:
    """What may be done in the end: nothing to a VM that is not ours, nor where there is none."""
    subject = finding.subject
    return finding.limits.remedy if subject.ours and subject.targets else Remedy.NONE


def enforced(finding: Finding, policy: Policy) -> bool:
    """Whether the rule may act on this subject: the policy, the rule and the subject's limits all say so."""
    return policy.enforces(finding.rule) and finding.limits.mode is Mode.ENFORCE


def counting(case: Case) -> tuple[Warned, ...]:
    """The warnings that a remedy may follow: those in earnest, and given after any veto was over."""
    since = case.keep_until
    return tuple(one for one in case.warnings if one.counts and (since is None or one.at >= since))


def _known(facts: CaseFacts) -> tuple[Case, Finding, int]:
    """The case and what was found; only for rules that stand behind `_open`."""
    if facts.filed is None or facts.finding is None:
        raise ValueError(f"{facts.job}: there is no open case")
    return facts.filed.case, facts.finding, facts.filed.generation


def _open(facts: CaseFacts, _policy: Policy, tick: Tick) -> CaseStep | None:
    """A case for a new finding, and for one of which nothing was known until now."""
    finding, filed = facts.finding, facts.filed
    if finding is None or (filed is not None and filed.case.state is not CaseState.UNKNOWN):
        return None
    state = follow(CaseState.UNKNOWN, CaseEvent.SUSPECT)
    case = _new(facts, finding, state, tick)
    kept = filed.case if filed else case
    case = replace(case, keep_until=kept.keep_until, kept_by=kept.kept_by, kept_why=kept.kept_why)
    return FileCase(reason=finding.reason, case=case, generation=filed.generation if filed else 0)


def _new(facts: CaseFacts, finding: Finding, state: CaseState, tick: Tick) -> Case:
    return Case(
        rule=facts.rule,
        subject=finding.subject,
        state=state,
        opened=tick.now,
        looked=tick.now,
        since=finding.since,
        reason=finding.reason,
        evidence=finding.evidence,
        remedy=remedy_of(finding),
        due=finding.due,
    )


def _seen(case: Case, finding: Finding, tick: Tick, **changes: object) -> Case:
    """The case with what was found this time."""
    return replace(
        case,
        subject=finding.subject,
        looked=tick.now,
        looks=case.looks + (tick.now - case.looked >= APART),
        since=finding.since,
        reason=finding.reason,
        evidence=finding.evidence,
        remedy=remedy_of(finding),
        due=finding.due,
        **changes,
    )


def _look_once_more(facts: CaseFacts, _policy: Policy, tick: Tick) -> CaseStep | None:
    """Write down that it was looked at: while looks are being counted, and now and then after that."""
    case, finding, generation = _known(facts)
    waited = tick.now - case.looked
    needed = case.looks < finding.limits.looks and waited >= APART
    if not needed and waited < REFRESH:
        return None
    return FileCase(reason="looked at again", case=_seen(case, finding, tick), generation=generation)


def _vetoed(case: Case, tick: Tick) -> bool:
    return case.keep_until is not None and tick.now < case.keep_until


def _warn(facts: CaseFacts, policy: Policy, tick: Tick) -> CaseStep | None:
    """Tell the owner, then write down that it was told: only a warning that was accepted counts."""
    case, finding, generation = _known(facts)
    if finding.level == 0 or case.state is CaseState.ACTED:
        return None
    if _vetoed(case, tick) or case.looks < finding.limits.looks:
        return None
    earnest = enforced(finding, policy)
    given = counting(case) if earnest else case.warnings
    if any(one.level >= finding.level for one in given):
        return None
    due = soonest(case, finding, tick)
    notice = case_notices.warning(case, finding, policy, tick, earnest=earnest, due=due)
    if notice.id not in facts.told:
        return Tell(reason=f"warning {finding.level}: {finding.reason}", notice=notice)
    told = Warned(level=finding.level, at=tick.now, notice=notice.id, counts=earnest)
    state = follow(case.state, CaseEvent.WARN)
    warned = _seen(case, finding, tick, state=state, warnings=(*case.warnings, told))
    return FileCase(reason=f"warned: {finding.reason}", case=warned, generation=generation)


def soonest(case: Case, finding: Finding, tick: Tick) -> datetime:
    """When the remedy may be applied at the earliest: at the rule's own moment, the grace after a warning."""
    given = counting(case)
    graced = (given[0].at if given else tick.now) + finding.limits.grace
    return max(graced, finding.due or graced)


def _label(facts: CaseFacts, policy: Policy, tick: Tick) -> CaseStep | None:
    """Put the rule's label on its VMs, once it was told and only in earnest."""
    case, finding, generation = _known(facts)
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
    labelled = _seen(case, finding, tick, labels=tuple(sorted(finding.labels)))
    return FileCase(reason="labelled", case=labelled, generation=generation)


def _act(facts: CaseFacts, policy: Policy, tick: Tick) -> CaseStep | None:
    """Apply the remedy, once everything that speaks for waiting has been heard."""
    case, finding, generation = _known(facts)
    if case.state is CaseState.ACTED:
        return _look_after(facts, case, tick)
    if not may_act(case, finding, policy, tick):
        return None
    if not facts.permitted:
        return Ripe(case=case)
    if facts.planned:
        return strike(facts, case, finding, policy, tick)
    planned = tuple(_plan(case, target.id, tick) for target in finding.subject.targets)
    state = follow(case.state, CaseEvent.PLAN)
    due = _seen(case, finding, tick, state=state, strikes=planned)
    return FileCase(reason=f"due: {finding.reason}", case=due, generation=generation)


def may_act(case: Case, finding: Finding, policy: Policy, tick: Tick) -> bool:
    """Whether the remedy may be applied now, as far as this one case goes."""
    if not finding.ripe or remedy_of(finding) is Remedy.NONE or not enforced(finding, policy):
        return False
    if _vetoed(case, tick) or case.looks < finding.limits.looks:
        return False
    given = counting(case)
    graced = bool(given) and tick.now - given[0].at >= finding.limits.grace
    return graced and not open_at(policy.governance.calendar, tick.now)


def _plan(case: Case, target: str, tick: Tick) -> Strike:
    """The same try keeps its request id; one that is known to have failed gets another."""
    known = next((one for one in case.strikes if one.target == target), None)
    if known is not None and not known.error:
        return known
    words = f"spotwarden/{case.rule}/{case.key}/{case.opened.isoformat()}/{target}/{case.failures}"
    return Strike(target=target, request_id=str(uuid5(NAMESPACE_URL, words)), at=tick.now)


def _look_after(facts: CaseFacts, case: Case, tick: Tick) -> CaseStep | None:
    """A VM that is still there long after the remedy was taken: it has not worked."""
    newest = max((one.at for one in case.strikes), default=case.looked)
    if tick.now - newest < SETTLING or facts.filed is None:
        return None
    minutes = (tick.now - newest).total_seconds() / 60
    failed = tuple(replace(one, error=f"still there {minutes:.0f} min later") for one in case.strikes)
    case = replace(
        case,
        state=follow(case.state, CaseEvent.FAIL),
        strikes=failed,
        failures=case.failures + 1,
        looked=tick.now,
    )
    return FileCase(reason="the remedy has not worked", case=case, generation=facts.filed.generation)


_ORDER: tuple[Rule, ...] = (_open, _look_once_more, _warn, _label, _act)


def _doubt(facts: CaseFacts, finding: Finding, policy: Policy, tick: Tick) -> CaseStep | None:
    """Tell once that nothing can be known; an open case stays as it is."""
    filed = facts.filed
    if filed is None:
        case = _new(facts, finding, CaseState.UNKNOWN, tick)
        return FileCase(reason=finding.reason, case=case, generation=0)
    case = filed.case
    if case.state is not CaseState.UNKNOWN or finding.exempt or _vetoed(case, tick):
        return None
    if case.looks < finding.limits.looks:
        return _look_once_more(facts, policy, tick)
    notice = case_notices.unknown(case, finding, policy, tick)
    if notice.id in case.told:
        return _look_once_more(facts, policy, tick)
    if notice.id not in facts.told:
        return Tell(reason=finding.reason, notice=notice)
    told = _seen(case, finding, tick, told=(*case.told, notice.id))
    return FileCase(reason="told that nothing is known", case=told, generation=filed.generation)


def _without_finding(facts: CaseFacts, policy: Policy, tick: Tick) -> CaseStep | None:
    """Nothing is wrong any more, by itself or through the remedy."""
    if facts.filed is None:
        return None
    case, generation = facts.filed.case, facts.filed.generation
    if not any(one.operation or not one.error for one in case.strikes):
        return _clear(facts, "nothing is wrong any more", policy, tick)
    notice = case_notices.acted(case, policy, tick)
    if notice.id not in case.told and notice.id not in facts.told:
        return Tell(reason=case.reason, notice=notice)
    return CloseCase(reason="the remedy has worked", case=case, generation=generation)


def _clear(facts: CaseFacts, why: str, policy: Policy, tick: Tick) -> CaseStep | None:
    """Close the case; whoever was warned is told, and our label comes off."""
    if facts.filed is None:
        return None
    case, generation = facts.filed.case, facts.filed.generation
    if facts.there and facts.finding is None and _vetoed(case, tick):
        return None
    notice = case_notices.cleared(case, why, policy, tick)
    if case.warnings and notice.id not in facts.told:
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
