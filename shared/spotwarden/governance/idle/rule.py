"""Which VMs let all their GPUs idle, which do not, and of which nobody knows.

Time without work counts, not the percentage: in the published traces a threshold of 10 instead of 0 percent
changes the share of idle samples by a few points only. One busy GPU makes the whole VM busy.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import cast

from spotwarden.governance.costs import basis, bill, kind_of, words
from spotwarden.governance.idle.facts import IdleFacts
from spotwarden.governance.idle.gangs import as_one, gangs, with_cases
from spotwarden.governance.idle.loads import CONTENT, LoadState, able_from, last_work, verdict
from spotwarden.governance.idle.text import RULE, bad, blind, only_told, unknown, unread
from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.motion import OWN, last_progress, moves
from spotwarden.governance.signals.text import target
from spotwarden.model import precedence
from spotwarden.model.accelerators import is_tpu
from spotwarden.model.brief import Brief
from spotwarden.model.case import Case, CaseState
from spotwarden.model.exemptions import exempt
from spotwarden.model.finding import Finding, Judged, Subject
from spotwarden.model.fleet import OWNER_LABEL, Machine
from spotwarden.model.governance import Scope
from spotwarden.model.jobfile import JobFile
from spotwarden.model.load import Buckets
from spotwarden.model.policy import Policy
from spotwarden.model.rule_limits import IdleLimits

NAMES = (RULE,)
QUIET = 2
"""So many buckets without work make a VM worth a closer look."""
REACH = timedelta(minutes=50)
"""So far back metrics are asked for at least: a case's last look is on record only each 20 minutes, a tick
may come late, and metrics do."""
STEPS = tuple(timedelta(minutes=minutes) for minutes in (10, 5, 2))


def grid(policy: Policy, now: datetime) -> Buckets:
    """The buckets to ask for: they reach back as far as anybody's longest first warning, at least `REACH`.

    A bucket is at most a third of the shortest one, and never under two minutes: agents report each minute.
    """
    firsts = [limits.warn[0] for limits in _all_limits(policy)]
    fitting = [step for step in STEPS if step * 3 <= min(firsts)]
    step = fitting[0] if fitting else STEPS[-1]
    return Buckets(end=now.replace(second=0, microsecond=0), step=step, count=-(-max(*firsts, REACH) // step))


def suspects(facts: IdleFacts, policy: Policy) -> frozenset[str]:
    """The ids of the VMs that need a closer look: nothing says that they work, under anybody's limits.

    A job's own higher threshold therefore holds up to the highest of the policy and its teams.
    """
    threshold = max(limits.threshold for limits in _all_limits(policy))
    oldest = facts.loads.grid.end - policy.governance.launch_grace
    return frozenset(
        machine.id
        for machine in facts.machines
        if not _works(facts, machine.id, threshold)
        and not facts.problem_of(machine)
        and _in_scope(facts, machine, policy)
        and (machine.started or machine.created or facts.loads.grid.end) <= oldest
    )


def judge(facts: IdleFacts, brief: Brief) -> Judged:
    """A finding for each VM whose GPUs idle, or of which nobody knows; none for the others.

    GPUs and TPUs are judged apart: where the metrics of one kind can't be read, the cases of its VMs wait.
    """
    threshold = max(limits.threshold for limits in _all_limits(brief.policy))
    quiet = [machine for machine in facts.machines if not _works(facts, machine.id, threshold)]
    together = gangs(facts, brief, {facts.jobs.get(machine.id) for machine in quiet})
    found = as_one(tuple(_findings(facts, with_cases(brief, together), quiet)), together)
    unread = [machine for machine in facts.machines if facts.problem_of(machine)] if facts.blind else []
    return Judged(
        rules=NAMES,
        findings=(*_blind(facts, brief), *found),
        hidden=facts.hidden,
        present=frozenset(machine.id for machine in facts.machines),
        fleet=facts.running,
        repaired=facts.repaired.union(machine.id for machine in unread),
    )


def _blind(facts: IdleFacts, brief: Brief) -> Iterator[Finding]:
    """Where no metric of a kind can be read at all there is one thing to tell, not one for each VM."""
    for tpus, problem in ((False, facts.loads.problem), (True, facts.tpu_problem)):
        if problem and any(
            _in_scope(facts, machine, brief.policy)
            for machine in facts.machines
            if is_tpu(machine.gpu) is tpus
        ):
            yield blind(problem, brief.policy.idle, tpus=tpus)


def _findings(facts: IdleFacts, brief: Brief, quiet: Iterable[Machine]) -> Iterator[Finding]:
    for machine in quiet:
        if facts.problem_of(machine) or not _in_scope(facts, machine, brief.policy):
            continue
        if found := _finding(facts, machine, brief):
            yield found


def _finding(facts: IdleFacts, machine: Machine, brief: Brief) -> Finding | None:
    now, policy = brief.tick.now, brief.policy
    job = facts.jobs.get(machine.id, "")
    file = facts.files.get(job, precedence.NOBODY)
    owner = file.owner or machine.labels.get(OWNER_LABEL, "")
    limits = limits_of(policy, file, owner)
    able = able_from(machine, policy.governance.launch_grace)
    seen = verdict(machine, facts.loads, limits, now, able) if able else CONTENT
    if able is None or seen.state is LoadState.CONTENT:
        return None
    subject = Subject(key=machine.id, job=job, owner=owner, targets=(target(machine),), ours=bool(job))
    if file.problem:
        return unread(machine, subject, limits, file.problem)
    spared = exempt(policy, RULE, brief.tick, labels=machine.labels, owner=owner, job_file=file)
    if seen.since is None:
        return unknown(machine, subject, limits, gap=seen.gap, spared=spared)
    began = _began(seen.since, brief.cases.get((RULE, machine.id)), able, limits)
    record = _record(facts, machine, job)
    moved = last_progress(record, *OWN) if record else None
    loads_data = record is not None and gets_on(record, limits, policy, now)
    if moved is not None and not loads_data:
        began = max(began, moved)
    began = max([began, *_lost_work(facts, job, limits.threshold)])
    cost = _cost(facts, machine, began, brief)
    finding = bad(machine, subject, limits, began=began, now=now, top=seen.top, cost=cost, spared=spared)
    return only_told(finding, moved) if finding and moved and loads_data else finding


def _lost_work(facts: IdleFacts, job: str, threshold: float) -> Iterator[datetime]:
    """When the job's other VMs worked last: where the one that worked is lost, the rest has waited for it."""
    for lost in facts.lost.get(job, ()):
        if (at := last_work(facts.loads.rows.get(lost), facts.loads.grid, threshold)) is not None:
            yield at


def limits_of(policy: Policy, file: JobFile, owner: str = "") -> IdleLimits:
    """The limits that hold for a job of this owner."""
    return cast("IdleLimits", precedence.limits(policy, RULE, owner=owner or file.owner, job_file=file))


def gets_on(record: JobRecord, limits: IdleLimits, policy: Policy, now: datetime) -> bool:
    """Whether its program says that it gets on, though its GPUs idle: it may be loading data.

    It may be still for as long as GPUs may before anybody is warned, or longer by its own longest gap.
    """
    after = limits.warn[0]
    most = max(after, precedence.ceiling(policy, "stall", "after") or after)
    return moves(record, after=after, most=most, now=now)


def _record(facts: IdleFacts, machine: Machine, job: str) -> JobRecord | None:
    """What is on record of the VM's job, unless others are the VMs of its present attempt."""
    record = facts.records.get(job)
    if record is None or (record.instances and machine.id not in record.instances.values()):
        return None
    return record


def _began(since: datetime, case: Case | None, able: datetime, limits: IdleLimits) -> datetime:
    """Since when it idles: since its case says so, if no moment went unseen between the two looks.

    The metrics of this look show it idle since `since`; those of the last one reached up to its own lag.
    """
    if case is None or case.since is None or case.state is CaseState.UNKNOWN:
        return since
    seen_through = since <= case.looked - limits.lag
    return max(able, min(case.since, since)) if seen_through else since


def _cost(facts: IdleFacts, machine: Machine, began: datetime, brief: Brief) -> dict[str, str]:
    """What the idle time of the whole VM has cost, as far as its price is known."""
    now = brief.tick.now
    spent = bill([(kind_of(machine), (now - began) / timedelta(hours=1))], facts.prices)
    old = brief.policy.governance.prices_old
    return {"cost while idle": words(spent), "prices": basis(spent, facts.prices, now, old)}


def _works(facts: IdleFacts, instance_id: str, threshold: float) -> bool:
    """Whether one of its GPUs was busy in the newest buckets."""
    row = facts.loads.rows.get(instance_id)
    if row is None or not row.top:
        return False
    # Most work, and the newest bucket says so.
    return row.top[-1] >= threshold or max(row.top[-QUIET:]) >= threshold


def _in_scope(facts: IdleFacts, machine: Machine, policy: Policy) -> bool:
    return machine.id in facts.jobs or policy.governance.scope is Scope.PROJECT


def _all_limits(policy: Policy) -> tuple[IdleLimits, ...]:
    """The policy's limits and those of each team."""
    return cast("tuple[IdleLimits, ...]", precedence.everybodys(policy, RULE))
