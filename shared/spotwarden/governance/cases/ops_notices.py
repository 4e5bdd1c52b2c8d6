"""What ops are told about cases: remedies that fail or wait, and what needs their word."""

from collections import Counter
from collections.abc import Collection, Sequence
from hashlib import sha256

from spotwarden.governance.cases.notices import (
    REMEDY_PHRASES,
    base_id,
    case_notice,
    name_of,
    remedy_phrases,
)
from spotwarden.model.case import Case, Remediation
from spotwarden.model.notice import Notice, Severity, Way
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.model.values import written

WAITS, ASKS = "blast_radius", "approval_needed"
"""The kinds of what is beyond the budget of a sweep: it waits for the next one, or for somebody's word."""
MOST_NAMES = 20


def failing(
    case: Case, remediations: Sequence[Remediation], failures: int, policy: Policy, tick: Tick
) -> Notice:
    """Tell ops that a remedy goes on failing: the VM still runs and costs."""
    phrase = REMEDY_PHRASES[case.remedy][0] or "be acted upon"
    return case_notice(
        case,
        policy,
        tick,
        id=f"{base_id(case)}/failing-{failures}",
        kind=f"{case.rule}_failing",
        severity=Severity.URGENT,
        what=f"{name_of(case)} should {phrase.partition(' (')[0]}, and cannot, after {failures} tries",
        why="; ".join(
            f"{remediation.target}: {remediation.error or remediation.operation or 'no answer'}"
            for remediation in remediations
        ),
        todo="handle it by hand: it is still running and costs money. Spotwarden will try again.",
        evidence=case.evidence,
        owner=policy.governance.ops or case.subject.owner,
    )


def withheld(case: Case, why: str, policy: Policy, tick: Tick) -> Notice:
    """Tell ops once that a stop is due and not tried, and how to do it by hand."""
    first = case.subject.targets[0]
    return case_notice(
        case,
        policy,
        tick,
        id=f"{base_id(case)}/withheld",
        kind=f"{case.rule}_failing",
        severity=Severity.URGENT,
        what=f"{name_of(case)} should be stopped, but wasn't",
        why=f"{case.reason}; {why}",
        todo=f"stop it by hand: `gcloud compute instances stop {first.name} --zone={first.zone}"
        " --discard-local-ssd=true`; it still runs and costs",
        then="No action is taken until the policy allows it or the case is closed. You won't be "
        "notified again.",
        owner=policy.governance.ops or case.subject.owner,
    )


def waiting(cases: Collection[Case], budget: int, policy: Policy, tick: Tick) -> Notice:
    """Tell ops once that more is due than a sweep may act upon, and that the rest waits for the next one."""
    names = sorted(name_of(case) for case in cases)
    rules = Counter(case.rule for case in cases)
    vms = len({target.id for case in cases for target in case.subject.targets})
    return Notice(
        id=f"blast-radius/{tick.function}/{tick.now:%Y%m%dT%H%M%S}",
        kind=WAITS,
        severity=Severity.WARNING,
        job="",
        at=tick.now,
        what=f"{vms} VMs wait: {tick.function} acts on {budget} in one sweep at most",
        why="more is due than one sweep may do (governance.blast_count, blast_share, blast_least)",
        todo="No action needed, unless a rule or its facts are wrong: then keep these VMs"
        " (`spotwarden cases list`) or set the rule to observe in the policy",
        then="the next sweeps act on them, the most certain and most harmless first; you are not told again"
        " while any of them waits",
        owner=policy.governance.ops,
        evidence={
            "waiting": ", ".join(names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else ""),
            "rules": ", ".join(f"{rule} {count}" for rule, count in sorted(rules.items())),
        },
    )


def approval(case: Case, budget: int, policy: Policy, tick: Tick) -> Notice:
    """Ask ops whether a remedy may be applied that is for more VMs than a sweep may act upon by itself."""
    phrase = remedy_phrases(case.remedy, case)[0] or "be acted upon"
    count = len(case.subject.targets)
    command = f"spotwarden cases approve {case.rule} {case.key}"
    return case_notice(
        case,
        policy,
        tick,
        id=f"{base_id(case)}/approval-{_request(case)}",
        kind=ASKS,
        severity=Severity.URGENT,
        what=f"{name_of(case)} waits for your approval: {count} VMs should {phrase.partition(' (')[0]}",
        why=f"{case.reason}; at most {budget} VMs may be acted upon in one sweep without it"
        " (governance.blast_count, blast_share, blast_least)",
        todo=f"if all {count} may {phrase}, approve it: `{command}`; if not,"
        f" `spotwarden cases keep {case.rule} {case.key} --for {written(policy.notify.keep)}`",
        then="nothing is done until somebody approves it or it is over, and you are not told again; an"
        f" approval counts for {written(policy.governance.approval_lasts)}, for these VMs in this trouble",
        evidence=case.evidence,
        owner=policy.governance.ops,
        ways=(Way.APPROVE, Way.KEEP),
    )


def _request(case: Case) -> str:
    """What tells one request for an approval from another: what would be done to whom, and for what trouble.

    One that has expired, or that somebody has taken back, is asked anew: so the request before it and what
    people have answered are a part of its name.
    """
    ids = sorted(target.id for target in case.subject.targets)
    before = str(case.approval.asked) if case.approval else ""
    said = (case.remedy.value, ids, str(case.since), before, str(case.keep_until), case.extended)
    return sha256(repr(said).encode()).hexdigest()[:8]
