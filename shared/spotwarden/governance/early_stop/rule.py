"""Trainings that cannot come to anything any more, by what their heartbeats measure."""

from collections.abc import Iterator, Sequence
from typing import cast

from spotwarden.governance.early_stop import text as words
from spotwarden.governance.early_stop.trouble import aim_of, find_trouble
from spotwarden.governance.signals.facts import JobRecord, ReapFacts
from spotwarden.governance.signals.since import first_seen
from spotwarden.governance.signals.text import begun, owner_of, runs, subject
from spotwarden.governance.signals.training import Aim
from spotwarden.model.attempt import AttemptState
from spotwarden.model.brief import Brief
from spotwarden.model.case import CaseState
from spotwarden.model.exemptions import exempt
from spotwarden.model.finding import Finding, Reading
from spotwarden.model.fleet import Machine
from spotwarden.model.policy import Policy
from spotwarden.model.precedence import limits
from spotwarden.model.rule_limits import EarlyStopLimits

RULE = "early_stop"


def judge(facts: ReapFacts, brief: Brief) -> Iterator[Finding]:
    """Every job that is to end by its own measure; what no heartbeat says is held against nobody."""
    mine = facts.machines_of()
    for job, record in facts.jobs.items():
        nodes = _nodes(record, mine.get(job, ()))
        if finding := _left_over(record, nodes, brief) or _finding(record, nodes, facts, brief):
            yield finding


def wanted(record: JobRecord, machines: Sequence[Machine], policy: Policy) -> Aim | None:
    """What is to be read of the job's metrics; None where nothing hangs on them, or it does not run."""
    allowed = _limits(record, machines, policy)
    if not _watches(allowed) or record.problem or not _open(record) or not _nodes(record, machines):
        return None
    return aim_of(allowed)


def _watches(allowed: EarlyStopLimits) -> bool:
    return bool(allowed.unreal or allowed.over or allowed.under or allowed.patience is not None)


def _half(allowed: EarlyStopLimits) -> str:
    """What is asked for by half, and so holds nothing; the policy is refused for it, a job is told."""
    if allowed.patience is not None and not allowed.metric:
        return "early_stop has patience, but no metric; name the metric that should improve"
    if allowed.metric and allowed.patience is None:
        return f"an early stop names the metric {allowed.metric}, but no patience"
    return ""


def _open(record: JobRecord) -> bool:
    return record.status_code is None and record.state in {AttemptState.RUNNING, None}


def _nodes(record: JobRecord, machines: Sequence[Machine]) -> list[Machine]:
    """The VMs of the newest attempt that run."""
    ids = set(record.instances.values())
    return [machine for machine in machines if machine.id in ids and runs(machine)]


def _limits(record: JobRecord, machines: Sequence[Machine], policy: Policy) -> EarlyStopLimits:
    owner = owner_of(record, machines)
    return cast("EarlyStopLimits", limits(policy, RULE, owner=owner, job_file=record.file))


def _finding(record: JobRecord, nodes: Sequence[Machine], facts: ReapFacts, brief: Brief) -> Finding | None:
    allowed = _limits(record, nodes, brief.policy)
    missing = len(record.instances) - len(nodes)
    half = _half(allowed)
    if not (_watches(allowed) or half) or record.problem or not _open(record) or not nodes:
        return None
    if missing and not facts.unreachable:
        # A gang that has lost a node is recovery's to bring back.
        return None
    trouble = find_trouble(record, allowed)
    if trouble and missing:
        doubt = f"{missing} of its VMs can't be checked: the list of VMs is incomplete"
    else:
        doubt = "" if trouble else half or _doubt(record, nodes, allowed, brief)
    if not trouble and not doubt:
        return None
    return Finding(
        rule=RULE,
        subject=subject(record.job, record, nodes),
        reading=Reading.UNKNOWN if doubt else Reading.BAD,
        reason=doubt or (trouble.reason if trouble else ""),
        title=trouble.title if trouble and not doubt else "",
        todo=words.LOOK if trouble else words.HOW_TO_MEASURE,
        evidence=words.evidence(record.training, allowed),
        ripe=not doubt,
        since=None if doubt else first_seen(brief, RULE, record.job),
        exempt=_exempt(record, nodes, brief),
        limits=allowed,
    )


def _doubt(record: JobRecord, nodes: Sequence[Machine], allowed: EarlyStopLimits, brief: Brief) -> str:
    """Why nobody can tell; "" while it is too early to say so, or where all that is asked for is measured."""
    case = brief.cases.get((RULE, record.job))
    if case is not None and record.training.problem:
        return f"the job's metrics can't be read: {record.training.problem}"
    if case is not None and case.state is not CaseState.UNKNOWN:
        # The trouble that it was opened for is over, and that is to be told first.
        return ""
    begins = [at for node in nodes if (at := begun(node)) is not None]
    if not begins or brief.tick.now - max(begins) < words.FIRST or record.training.problem:
        return ""
    if not record.training.measures:
        return "the job asks for an early stop, but its heartbeats report no metrics"
    if allowed.patience is not None and allowed.metric and not record.training.tracks:
        return (
            f"the job should end when {allowed.metric} stops improving, but it has never reported that"
            " metric with a step"
        )
    return ""


def _exempt(record: JobRecord, nodes: Sequence[Machine], brief: Brief) -> str:
    """One node that is to be kept keeps its whole gang."""
    owner = owner_of(record, nodes)
    said = (
        exempt(brief.policy, RULE, brief.tick, labels=node.labels, owner=owner, job_file=record.file)
        for node in nodes
    )
    return next((why for why in said if why), "")


def _left_over(record: JobRecord, nodes: Sequence[Machine], brief: Brief) -> Finding | None:
    """A job that was closed for this already and whose VMs still run: what was begun is carried on."""
    case = brief.cases.get((RULE, record.job))
    begun_already = case is not None and case.state in {CaseState.DUE, CaseState.ACTED}
    if case is None or not begun_already or record.state is not AttemptState.STOPPED or not nodes:
        return None
    return Finding(
        rule=RULE,
        subject=subject(record.job, record, nodes),
        reason=case.reason,
        title=case.title,
        todo=words.LOOK,
        evidence=case.evidence,
        ripe=True,
        since=first_seen(brief, RULE, record.job),
        exempt=_exempt(record, nodes, brief),
        limits=_limits(record, nodes, brief.policy),
    )
