"""Caps on a job over all its attempts, and on each VM."""

from collections.abc import Sequence
from datetime import timedelta
from typing import cast

from msgspec.structs import replace

from spotwarden.governance.caps.facts import CapFacts, JobAttempts
from spotwarden.governance.caps.findings import judged, misdated, spare, targets, unknown, unread, up_since
from spotwarden.governance.caps.job_measures import JobAccount, is_limited, least, longest, measures
from spotwarden.governance.caps.measures import LimitUse, hours, in_words, long, told_from
from spotwarden.governance.fixed_end import fixed_end, go_on, why_not
from spotwarden.model import precedence
from spotwarden.model.brief import Brief
from spotwarden.model.case import Case
from spotwarden.model.finding import Finding, Reading, Subject
from spotwarden.model.fleet import Machine
from spotwarden.model.jobfile import JobFile
from spotwarden.model.rule_limits import InstanceCap, JobCap
from spotwarden.model.values import written

JOB, INSTANCE = "job_cap", "instance_cap"
NOTHING = JobAttempts()


def of_job(job: str, machines: Sequence[Machine], facts: CapFacts, brief: Brief) -> Finding | None:
    """What is to be said about a job that has VMs running; None where it has no limit or is far from it.

    A job that has ended is left to the rule about orphans, unless its limit is reached: that rule takes a VM
    that works after the end for a contradiction and lets it be, and a status is written by the VM itself.
    What was granted is not taken back by it: the finding stays, at level 0.
    """
    records = facts.records.get(job, NOTHING)
    if records.ended and records.problem:
        return None
    account = _account(job, machines, records, facts, brief)
    plain = Finding(
        rule=JOB,
        subject=Subject(key=job, job=job, owner=records.owner, targets=targets(machines)),
        reason="",
        todo="check that it saves checkpoints, or stop it. To give it more time, run"
        f" `spotwarden extend {job} --by {written(brief.policy.notify.extend)}`",
        limits=account.limits,
    )
    if records.problem:
        return unread(plain, records)
    if not is_limited(account):
        return None
    if why := misdated(machines, brief):
        return None if records.ended else spare(unknown(plain, why), machines, records, brief)
    found = judged(plain, measures(account), account.limits.warn, brief, f"job {job}")
    if records.ended and not (found and found.ripe):
        found = replace(found, level=0) if found and account.more else None
    return spare(
        found and _without_extending(_of_this_run(found, machines, records.file, brief), brief),
        machines,
        records,
        brief,
    )


def _without_extending(found: Finding, brief: Brief) -> Finding:
    """The finding without the advice to extend, where Compute Engine ends a VM before that would help."""
    ends = fixed_end(found.subject.targets, found.due, brief.policy.notify.extend)
    if ends is None:
        return found
    todo = f"save a checkpoint: {why_not(ends)}. {go_on(found.subject.job)}"
    return replace(found, todo=todo)


def _of_this_run(found: Finding, machines: Sequence[Machine], file: JobFile, brief: Brief) -> Finding:
    """The finding about the VMs as they run now: what was warned of before they were started is past.

    A gang that bends goes on as its nodes come and go: it runs since the first of them was started.
    """
    began = (min if file.nodes else max)(map(up_since, machines))
    young = brief.tick.now - began < brief.policy.governance.launch_grace
    return replace(found, ripe=found.ripe and not young, since=max(found.since or began, began))


def _account(
    job: str, machines: Sequence[Machine], records: JobAttempts, facts: CapFacts, brief: Brief
) -> JobAccount:
    limits = precedence.limits(brief.policy, JOB, owner=records.owner, job_file=records.file)
    case = brief.cases.get((JOB, job))
    return JobAccount(
        records=records,
        machines=tuple(machines),
        limits=cast("JobCap", limits),
        table=facts.prices,
        more=case.extended if case else 0.0,
        now=brief.tick.now,
        old=brief.policy.governance.prices_old,
    )


def at_rest(case: Case, brief: Brief) -> Finding | None:
    """What keeps the case of a job none of whose VMs runs: hours that were granted outlive a preemption.

    They do so for as long as a veto may last, from the last look at a VM of the job.
    """
    kept = case.extended > 0 and not case.remediations
    if not kept or brief.tick.now - case.looked > brief.policy.governance.longest_keep:
        return None
    return Finding(
        rule=JOB,
        subject=replace(case.subject, targets=()),
        reading=Reading.UNKNOWN,
        reason=f"no VM of {case.subject.job} runs, and it was granted {in_words(case.extended)} more",
        limits=precedence.limits(brief.policy, JOB, owner=case.subject.owner),
    )


def extendable(case: Case, more: float, limits: JobCap, file: JobFile) -> str:
    """Why a person cannot grant a job so many hours more; "" where they can."""
    if more <= 0:
        return "an extension must be longer than 0"
    if (ends := fixed_end(case.subject.targets, case.due, timedelta(hours=more))) is not None:
        return f"{why_not(ends)}. {go_on(case.subject.job)}"
    bound, most = least(file.max_runtime, limits.max_runtime), longest(limits)
    if bound is not None and most is not None and hours(bound) + case.extended + more > hours(most):
        room = max(0.0, hours(most) - hours(bound) - case.extended)
        return f"it may run for {in_words(hours(most))} in total; {in_words(room)} can still be granted"
    if bound is None and limits.budget is not None and limits.dearest is None and file.budget is None:
        return "the policy has no limit for extending its budget (job_cap.dearest)"
    return ""


def of_instance(machine: Machine, facts: CapFacts, brief: Brief) -> Finding | None:
    """What is to be said about how long one VM has been up; None where it has no limit or is far from it."""
    job = facts.jobs.get(machine.id, "")
    records = facts.records.get(job, NOTHING)
    found = precedence.limits(brief.policy, INSTANCE, owner=records.owner, job_file=records.file)
    limits = cast("InstanceCap", found)
    if limits.max_uptime is None:
        return None
    wrong, up = misdated([machine], brief), brief.tick.now - up_since(machine)
    told = told_from((*limits.warn, 1.0)) * limits.max_uptime
    sure = not wrong and not records.problem
    if sure and (up < told or up < brief.policy.governance.launch_grace):
        return None
    plain = Finding(
        rule=INSTANCE,
        subject=Subject(
            key=machine.id, job=job, owner=records.owner, targets=targets([machine]), ours=bool(job)
        ),
        reason="",
        todo=f"save a checkpoint, then stop the {'job' if machine.group else 'VM'}",
        limits=limits,
    )
    if records.problem:
        return unread(plain, records)
    if wrong:
        return spare(unknown(plain, wrong), [machine], records, brief)
    name = f"VM {machine.name} in {machine.zone}"
    judgement = judged(plain, [_uptime(up, limits.max_uptime)], limits.warn, brief, name)
    return spare(judgement, [machine], records, brief)


def _uptime(up: timedelta, most: timedelta) -> LimitUse:
    used, limit = hours(up), hours(most)
    return LimitUse(
        what="time up since it was started",
        used=used,
        limit=limit,
        said=long(used),
        allowed=long(limit),
    )
