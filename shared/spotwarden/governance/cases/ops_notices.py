"""What ops are told about cases: remedies that fail or wait, and what needs their word."""

from collections import Counter
from collections.abc import Collection, Sequence
from hashlib import sha256

from spotwarden.governance.cases.notices import (
    base_id,
    case_notice,
    name_of,
    remedy_phrases,
)
from spotwarden.model.case import Case, Remediation
from spotwarden.model.finding import Target
from spotwarden.model.governance import Remedy
from spotwarden.model.notice import Notice, Severity, Way
from spotwarden.model.policy import Policy
from spotwarden.model.spans import span
from spotwarden.model.tick import Tick
from spotwarden.model.values import written

WAITS, ASKS = "blast_radius", "approval_needed"
"""The kinds of what is beyond the budget of a sweep: it waits for the next one, or for somebody's word."""
MOST_NAMES = 20


def failing(
    case: Case, remediations: Sequence[Remediation], failures: int, policy: Policy, tick: Tick
) -> Notice:
    """Tell ops that a remedy goes on failing: the VM still runs and costs."""
    phrase = remedy_phrases(case.remedy, case)[0] or "be acted on"
    names = {
        target.unit: target.group.name if target.group else target.name for target in case.subject.targets
    }
    return case_notice(
        case,
        policy,
        tick,
        id=f"{base_id(case)}/failing-{failures}",
        kind=f"{case.rule}_failing",
        severity=Severity.URGENT,
        what=f"{name_of(case)} should {phrase.partition(' (')[0]}, but {failures} tries failed",
        why="; ".join(
            f"{names.get(item.target, item.target)}: {item.error or item.operation or 'no answer'}"
            for item in remediations
        ),
        todo=_by_hand(case),
        then="Spotwarden keeps trying. Until it succeeds, this costs money",
        evidence=case.evidence,
        owner=policy.governance.ops or case.subject.owner,
    )


def _by_hand(case: Case) -> str:
    """What ops can type instead; Spotwarden goes on trying."""
    target = case.subject.targets[0] if case.subject.targets else None
    if target is None or not target.zone or not target.id.isdecimal():
        return "fix the cause below, or delete it yourself"
    if target.group:
        return f"fix the cause below, or run `{delete_group(target)}`"
    verb = "delete" if case.remedy is Remedy.DELETE else "stop"
    return f"fix the cause below, or run `gcloud compute instances {verb} {target.name} --zone={target.zone}`"


def delete_group(target: Target) -> str:
    """How to delete the whole slice of this VM by hand."""
    name = target.group.name if target.group else target.name
    return f"gcloud compute instance-groups managed delete {name} --zone={target.zone}"


def counted(vms: int) -> str:
    """How many VMs wait, with the verb that fits."""
    return "1 VM waits" if vms == 1 else f"{vms} VMs wait"


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
        what=f"{name_of(case)} should be stopped, but the policy doesn't allow it",
        why=f"{case.reason}; {why}",
        todo=f"delete it yourself: `{delete_group(first)}`"
        if first.group
        else f"stop it yourself: `gcloud compute instances stop {first.name} --zone={first.zone}"
        " --discard-local-ssd=true`",
        then="The VM keeps running and costs money until you stop it or the policy allows it."
        " You won't be notified again",
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
        what=f"{counted(vms)} for the next sweep: {tick.function} acts on at most {budget} in one sweep",
        why="more VMs are due than one sweep may act on (governance.blast_count, blast_share, blast_least)",
        todo="No action needed, unless these VMs should be kept. To see them, run `spotwarden cases list`. To"
        " stop a wrong rule, set its mode to observe in the policy",
        then="The next sweeps act on these VMs, the clearest cases first. You won't be notified"
        " again while any"
        " of them waits",
        owner=policy.governance.ops,
        evidence={
            "waiting": ", ".join(names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else ""),
            "rules": ", ".join(f"{rule} {count}" for rule, count in sorted(rules.items())),
        },
    )


def approval(case: Case, budget: int, policy: Policy, tick: Tick) -> Notice:
    """Ask ops whether a remedy may be applied that is for more VMs than a sweep may act upon by itself."""
    phrase = remedy_phrases(case.remedy, case)[0] or "be acted on"
    count = len(case.subject.targets)
    command = f"spotwarden cases approve {case.rule} {case.key}"
    return case_notice(
        case,
        policy,
        tick,
        id=f"{base_id(case)}/approval-{_request(case)}",
        kind=ASKS,
        severity=Severity.URGENT,
        what=f"{name_of(case)} needs your approval: {counted(count)[:-5]} should {phrase.partition(' (')[0]}",
        why=f"{case.reason.rstrip('.')}. Without approval, one sweep may act on at most {budget} VMs"
        " (governance.blast_count, blast_share, blast_least)",
        todo=f"if all {count} should {phrase.partition(' (')[0]}, run `{command}`. Otherwise, run"
        f" `spotwarden cases keep {case.rule} {case.key} --for {written(policy.notify.keep)}`",
        then="Spotwarden takes no action until you approve it. You are asked once for these VMs and this"
        f" problem; an approval lasts {span(policy.governance.approval_lasts)} and covers nothing else",
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
