"""A case as it is looked at: what was found goes into it, and what in it counts."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from spotwarden.governance.units import all_slices
from spotwarden.model.action import FileCase
from spotwarden.model.case import Case, CaseFacts, CaseState, Warned
from spotwarden.model.finding import Finding
from spotwarden.model.governance import Mode, Remedy
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick

APART = timedelta(minutes=1)
"""Two looks that count as two: a doubled tick is one."""
REFRESH = timedelta(minutes=20)
"""How old a case's last look may be on record; more often would only cost writes."""


def remedy_of(finding: Finding) -> Remedy:
    """What may be done in the end: nothing to a VM that is not ours, nor where there is none.

    Nor to one that a Google service would make anew, nor to the others of its gang: a gang goes whole. A
    slice can't be stopped: where the policy would stop it, it is deleted.
    """
    subject, remedy = finding.subject, finding.limits.remedy
    if not subject.targets or not subject.ours or any(target.manager for target in subject.targets):
        return Remedy.NONE
    return Remedy.DELETE if remedy is Remedy.STOP and all_slices(subject.targets) else remedy


def enforced(finding: Finding, policy: Policy) -> bool:
    """Whether the rule may act on this subject: the policy as a whole and its own limits both say so."""
    return policy.mode is Mode.ENFORCE and finding.limits.mode is Mode.ENFORCE


def hindrance(finding: Finding, policy: Policy) -> str:
    """Why nothing would follow a warning; "" where the remedy would. What reaches nobody warns nobody."""
    if not enforced(finding, policy):
        return "this rule only observes"
    if not finding.subject.owner and not policy.governance.ops:
        return "it has no owner, and the policy names no governance.ops to notify"
    return kept_data(finding, policy)


def kept_data(finding: Finding, policy: Policy) -> str:
    """Why a stop is not even tried: the policy keeps what it would discard; "" where it would nothing."""
    ssds = any(target.local_ssds for target in finding.subject.targets)
    nothing = remedy_of(finding) is Remedy.NONE or finding.limits.remedy is not Remedy.STOP
    if nothing or policy.governance.discard_local_ssd or not ssds:
        return ""
    return "the policy keeps the data on local SSDs, and a stop discards it (governance.discard_local_ssd)"


def counting(case: Case) -> tuple[Warned, ...]:
    """The warnings in earnest that were given after any veto was over, and that were not taken back."""
    return tuple(
        warning
        for warning in case.warnings
        if warning.counts and (case.keep_until is None or warning.at >= case.keep_until)
    )


def past(case: Case) -> tuple[Warned, ...]:
    """The warnings so far, none of which counts any more: nothing may follow them."""
    return tuple(replace(warning, counts=False) for warning in case.warnings)


def fitting(case: Case, finding: Finding) -> tuple[Warned, ...]:
    """Those of them that the remedy may follow: they said so of each of its VMs, in this very trouble."""
    remedy, ids = remedy_of(finding), {target.id for target in finding.subject.targets}
    if remedy is Remedy.NONE:
        return counting(case)
    return tuple(
        warned
        for warned in counting(case)
        if warned.remedy is remedy and ids.issubset(warned.targets) and _is_of(warned, finding.since)
    )


def graced(warned: Warned, grace: timedelta) -> datetime | None:
    """From when on a remedy may follow this warning: its grace is over, and so is what it promised.

    None while it is not known to have reached anybody.
    """
    return None if warned.delivered is None else max(warned.delivered + grace, warned.due or warned.at)


def acts_from(case: Case) -> datetime | None:
    """From when on the remedy may be applied, by the record; None while no warning of it has arrived."""
    if case.remedy is Remedy.NONE or case.state is CaseState.ACTED:
        return None
    ids = {target.id for target in case.subject.targets}
    over = [
        at
        for warned in counting(case)
        if warned.remedy is case.remedy and ids.issubset(warned.targets) and _is_of(warned, case.since)
        if (at := graced(warned, warned.grace or timedelta(0))) is not None
    ]
    return max(min(over), case.due or min(over)) if over else None


def _is_of(warned: Warned, since: datetime | None) -> bool:
    """Whether it was given in the trouble that began then."""
    return since is not None and warned.at > since - APART


def open_case(facts: CaseFacts) -> tuple[Case, Finding, int]:
    """The case and what was found; only for rules that stand behind `_open`."""
    if facts.filed is None or facts.finding is None:
        raise ValueError(f"{facts.job}: there is no open case")
    return facts.filed.case, facts.finding, facts.filed.generation


def new_case(facts: CaseFacts, finding: Finding, state: CaseState, tick: Tick) -> Case:
    """The case of a finding that has none yet."""
    return Case(
        rule=facts.rule,
        subject=finding.subject,
        state=state,
        opened=tick.now,
        looked=tick.now,
        since=finding.since,
        reason=finding.reason,
        title=finding.title,
        evidence=finding.evidence,
        remedy=remedy_of(finding),
        due=finding.due,
    )


def seen(case: Case, finding: Finding, tick: Tick, **changes: object) -> Case:
    """The case with what was found this time."""
    found = {
        "subject": finding.subject,
        "looked": tick.now,
        "looks": case.looks + (tick.now - case.looked >= APART),
        "since": finding.since,
        "reason": finding.reason,
        "title": finding.title,
        "evidence": finding.evidence,
        "remedy": remedy_of(finding),
        "due": finding.due,
    }
    return replace(case, **{**found, **changes})


def vetoed(case: Case, tick: Tick) -> bool:
    """Whether a person wants nothing done for now."""
    return case.keep_until is not None and tick.now < case.keep_until


def look_once_more(facts: CaseFacts, _policy: Policy, tick: Tick) -> FileCase | None:
    """Write down that it was looked at: while looks are being counted, and now and then after that."""
    case, finding, generation = open_case(facts)
    waited = tick.now - case.looked
    needed = case.looks < finding.limits.looks and waited >= APART
    if not needed and waited < REFRESH:
        return None
    return FileCase(reason="looked at again", case=seen(case, finding, tick), generation=generation)
