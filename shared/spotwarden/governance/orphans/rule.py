"""VMs that nobody needs any more: their job is over, is gone, goes on without them, or never knew them.

A VM that only has our label is none of ours: where a Google service, or a managed instance group, has made
it, or where its job has no folder and no request of ours is known to have made it. Ops are told of it once.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import cast

import msgspec

from spotwarden.governance.cases.observation import vetoed
from spotwarden.governance.exemptions import exempt
from spotwarden.governance.precedence import limits
from spotwarden.governance.signals.contradiction import contradiction
from spotwarden.governance.signals.facts import JobRecord, ReapFacts
from spotwarden.governance.signals.since import first_seen
from spotwarden.governance.signals.text import (
    AT_REST,
    AT_WORK,
    LEAVING,
    begun,
    labelled_by_others,
    over_since,
    owner_of,
    subject,
    target,
)
from spotwarden.layout import quarantine_key
from spotwarden.model.attempt import CLOSED, AttemptState
from spotwarden.model.brief import Brief
from spotwarden.model.case import CaseState
from spotwarden.model.finding import Finding, Reading, Subject
from spotwarden.model.fleet import JOB_LABEL, Machine
from spotwarden.model.governance import OrphanLimits, Remedy, Scope
from spotwarden.model.policy import Policy
from spotwarden.model.spans import moment, span

RULE = "orphan"
DELETE_IT = "look why it has not deleted itself, and delete it"


class OrphanFault(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a VM. `since` is when that began, None where nothing on record tells.

    It is not `ours` where nothing shows that we, or the job, have made it.
    """

    reason: str
    since: datetime | None = None
    reading: Reading = Reading.BAD
    todo: str = DELETE_IT
    evidence: Mapping[str, str] = {}
    ours: bool = True


def judge(facts: ReapFacts, brief: Brief) -> Iterator[Finding]:
    """What is wrong with each VM of a job that is old enough to be judged."""
    yield from _of_others(facts, brief)
    mine = facts.machines_of()
    for machine in facts.machines:
        job = facts.whose.get(machine.id) or facts.namesakes.get(machine.id, "")
        record = facts.jobs.get(job)
        if record is None or machine.status in LEAVING or _is_young(machine, brief):
            continue
        if _is_being_stopped(machine, record, brief):
            continue
        if machine.id in facts.whose:
            foreign = _limits(machine, record, brief).foreign
            fault = fault_of(
                machine, record, mine.get(job, ()), brief.policy, bare=facts.bare, foreign=foreign
            )
            finding = _finding(machine, record, fault, brief) if fault else None
        else:
            finding = _namesake(machine, record, brief)
        if finding is not None:
            yield finding


def _is_young(machine: Machine, brief: Brief) -> bool:
    """Whether it has just begun to run; one of unknown age is never judged."""
    began = begun(machine)
    return began is None or brief.tick.now - began < brief.policy.governance.launch_grace


def _is_being_stopped(machine: Machine, record: JobRecord, brief: Brief) -> bool:
    """Whether its early stop has closed the job and is still to stop it: that case goes on."""
    case = brief.cases.get(("early_stop", record.job))
    if case is None or record.state is not AttemptState.STOPPED or machine.status in AT_REST:
        return False
    return case.state in {CaseState.DUE, CaseState.ACTED} or vetoed(case, brief.tick)


def fault_of(
    machine: Machine,
    record: JobRecord,
    others: Sequence[Machine],
    policy: Policy,
    *,
    bare: bool = False,
    foreign: bool = False,
) -> OrphanFault | None:
    """Compare a VM of a job with the job's record; None where it is as it should be.

    With `foreign` one that only has our label counts as the job's.
    """
    if record.problem:
        return OrphanFault(
            reason=f"what is on record of the job {record.job} cannot be read: {record.problem}",
            reading=Reading.UNKNOWN,
            todo="mend or remove what cannot be read",
        )
    if not record.exists:
        return _gone(record, bare=bare, made=foreign or _is_made_by_us(machine, record))
    if record.state in AT_WORK:
        return None
    if left := _left_of_gang(machine, record):
        return left
    if record.status_code is not None or record.state in CLOSED:
        return _over(machine, record, contradiction(record, others, policy))
    if machine.id in record.instances.values():
        return None
    if record.state is AttemptState.RUNNING and (fault := _replaced(machine, record)):
        return fault
    if record.state is None and machine.attempt > max(record.attempt, 1):
        return _lost_record(machine, record)
    return None if machine.id in record.registered else _unknown_to_its_job(record)


def _is_made_by_us(machine: Machine, record: JobRecord) -> bool:
    """Whether a request of ours has made it, which stamps its attempt on it, or a list of ours has its id."""
    return machine.attempt > 0 or machine.id in record.past


def _gone(record: JobRecord, *, bare: bool, made: bool) -> OrphanFault:
    if bare:
        return OrphanFault(
            reason="its label names a job, and the bucket holds no job at all: it may be the wrong bucket",
            reading=Reading.UNKNOWN,
            todo="compare the function's bucket and prefix with those that the jobs write to",
        )
    if not made:
        return OrphanFault(
            reason=f"its label names the job {record.job}, of which the bucket holds nothing, and nothing"
            " shows that it was ever a job's VM",
            reading=Reading.UNKNOWN,
            todo=f"take the label {JOB_LABEL} off it; if it was the job's, delete it",
            ours=False,
        )
    return OrphanFault(
        reason=f"nothing is left of the job {record.job} in the bucket, and its VM is still there",
        todo="delete it",
    )


def _over(machine: Machine, record: JobRecord, contradicted: str) -> OrphanFault:
    """The job has ended, or it was closed: nothing of it should be left."""
    if record.status_code is not None:
        over, what = record.ended, f"has ended with status {record.status_code}"
    else:
        over, what = record.updated, f"was closed ({record.state.value if record.state else ''})"
    evidence = {"over since": moment(over)}
    if contradicted:
        # Every job VM may write every job's status: what one says and the other denies is not known.
        return OrphanFault(
            reason=f"its job {what}, and it seems to go on: {contradicted}",
            since=over,
            reading=Reading.UNKNOWN,
            todo="if it runs, remove the job's status-code, which may not be its own; else delete the VM",
            evidence={**evidence, "sign from after its end": contradicted},
        )
    began = begun(machine)
    if over is not None and began is not None and began > over:
        return OrphanFault(
            reason=f"it began to run after its job {what}: somebody may be using it",
            since=began,
            reading=Reading.UNKNOWN,
            todo="if it is a new run, remove the job's status-code; if it is not needed, delete it",
            evidence=evidence,
        )
    if record.status_code is None and machine.status in AT_REST:
        return OrphanFault(
            reason=f"its job {what}, and the VM is stopped: its disks are paid for, perhaps on purpose",
            since=over,
            reading=Reading.UNKNOWN,
            todo="delete it where its disks are not needed any more",
            evidence=evidence,
        )
    state = "stopped, and its disks are paid for" if machine.status in AT_REST else "still there"
    return OrphanFault(reason=f"its job {what}, and the VM is {state}", since=over, evidence=evidence)


def _left_of_gang(machine: Machine, record: JobRecord) -> OrphanFault | None:
    """A gang was closed for what somebody did to another of its nodes; of this one nobody has said a word."""
    closed = record.state is AttemptState.STOPPED and record.status_code is None
    began = begun(machine)
    if not closed or not record.removed or machine.id in record.removed or machine.status in AT_REST:
        return None
    if record.updated is None or began is None or began > record.updated:
        return None
    return OrphanFault(
        reason="its job was closed when other nodes of it were removed or lost, and it runs on",
        since=record.updated,
        reading=Reading.UNKNOWN,
        todo=f"`spotwarden stop {record.job}` if it is not needed; then `spotwarden restart {record.job}`"
        " makes all nodes again",
        evidence={"closed": moment(record.updated)},
    )


def _replaced(machine: Machine, record: JobRecord) -> OrphanFault | None:
    """The job goes on, with other VMs."""
    evidence = {"running attempt": str(record.attempt), "its attempt": str(machine.attempt or "")}
    if machine.id in record.outlived:
        # That it would be taken only its marker said, which any job VM can write; it was not.
        return OrphanFault(
            reason=f"it was announced to be taken, attempt {record.attempt} of the job runs, and it runs on",
            since=record.began,
            reading=Reading.UNKNOWN,
            todo="look which of the two works, and stop the other",
            evidence=evidence,
        )
    if machine.id in record.past or 0 < machine.attempt < record.attempt:
        if _started_again(machine, record):
            return OrphanFault(
                reason=f"it was started again after attempt {record.attempt} began: somebody may be using it",
                since=begun(machine),
                reading=Reading.UNKNOWN,
                evidence=evidence,
            )
        return OrphanFault(
            reason=f"attempt {record.attempt} of the job runs in its stead, and it is still there",
            since=record.began,
            todo="delete it",
            evidence=evidence,
        )
    if machine.attempt > record.attempt:
        return _lost_record(machine, record)
    return None


def _started_again(machine: Machine, record: JobRecord) -> bool:
    """Whether somebody has started an old VM anew; one that was only just made came late."""
    made, began = machine.created, begun(machine)
    return bool(record.began and made and began and made <= record.began < began)


def _lost_record(machine: Machine, record: JobRecord) -> OrphanFault:
    return OrphanFault(
        reason=f"its label says attempt {machine.attempt}, and the ledger ends with {record.attempt}",
        reading=Reading.UNKNOWN,
        todo="look whether somebody has removed records below metadata/attempts/",
        evidence={"running attempt": str(record.attempt), "its attempt": str(machine.attempt)},
    )


def _unknown_to_its_job(record: JobRecord) -> OrphanFault:
    return OrphanFault(
        reason=f"its label names the job {record.job}, and its id is nowhere on the job's record",
        todo=f"if it is the job's, write its id to {record.job}/metadata/NODE-instance-id; else delete it",
        evidence={"running attempt": str(record.attempt or "")},
    )


def _finding(machine: Machine, record: JobRecord, fault: OrphanFault, brief: Brief) -> Finding | None:
    """The finding, once the fault has lasted; one without a date counts from when it was first seen."""
    owner, now = owner_of(record, (machine,)), brief.tick.now
    allowed = _limits(machine, record, brief)
    since = fault.since or _first_seen(machine, brief)
    lasted = now - since
    if fault.since is not None and lasted < allowed.after:
        return None
    if allowed.remedy is Remedy.STOP and machine.status in AT_REST:
        # Where the policy only stops, a VM that is stopped is as it should be.
        return None
    known = fault.reading is Reading.BAD
    return Finding(
        rule=RULE,
        subject=subject(machine.id, record, (machine,), ours=fault.ours),
        reading=fault.reading,
        reason=fault.reason,
        todo=fault.todo,
        evidence=_evidence(machine, fault, brief),
        ripe=known and lasted >= allowed.after,
        since=since if known else None,
        due=since + allowed.after if known else None,
        exempt=exempt(
            brief.policy, RULE, brief.tick, labels=machine.labels, owner=owner, job_file=record.file
        ),
        limits=allowed,
    )


def _limits(machine: Machine, record: JobRecord, brief: Brief) -> OrphanLimits:
    owner = owner_of(record, (machine,))
    return cast("OrphanLimits", limits(brief.policy, RULE, owner=owner, job_file=record.file))


def _first_seen(machine: Machine, brief: Brief) -> datetime:
    """Since when we have seen it so, without a gap in our own sweeps."""
    return first_seen(brief, RULE, machine.id)


def _evidence(machine: Machine, fault: OrphanFault, brief: Brief) -> dict[str, str]:
    began = begun(machine)
    up = span(brief.tick.now - began) if began else ""
    said = {"status": machine.status.value, "since it began": up, **fault.evidence}
    return {key: value for key, value in said.items() if value}


def _of_others(facts: ReapFacts, brief: Brief) -> Iterator[Finding]:
    """VMs that have our label and are a Google service's: told to ops, once for each label and service."""
    groups: dict[tuple[str, str], list[Machine]] = defaultdict(list)
    for machine in facts.machines:
        if labelled_by_others(machine) and machine.id not in facts.whose:
            groups[machine.labels[JOB_LABEL], machine.manager].append(machine)
    for (label, manager), machines in sorted(groups.items()):
        yield _of_a_service(label, manager, machines, brief)


def _of_a_service(label: str, manager: str, machines: Sequence[Machine], brief: Brief) -> Finding:
    first = machines[0]
    return Finding(
        rule=RULE,
        subject=Subject(
            key=quarantine_key(f"{label} {manager}"), targets=tuple(map(target, machines)), ours=False
        ),
        reading=Reading.UNKNOWN,
        reason=f"{manager} has made {first.name} and makes it anew, and it has the label {JOB_LABEL}={label}:"
        " it is no job's VM of ours, and nothing is ever done to it",
        todo=f"take the label {JOB_LABEL} off what {manager} makes its VMs from",
        evidence={"VMs with this label": str(len(machines))},
        limits=limits(brief.policy, RULE),
    )


def _namesake(machine: Machine, record: JobRecord, brief: Brief) -> Finding | None:
    """A VM with no more than the name of a job that is over: told where the whole project is looked at."""
    over = over_since(record)
    if brief.policy.governance.scope is not Scope.PROJECT or over is None or record.problem:
        return None
    allowed = cast("OrphanLimits", limits(brief.policy, RULE))
    if brief.tick.now - over < allowed.after:
        return None
    return Finding(
        rule=RULE,
        subject=subject(machine.id, record, (machine,), ours=False),
        reading=Reading.UNKNOWN,
        reason=f"it has the name of the job {record.job}, which is over, and no record knows its id",
        todo="delete it if it was the job's",
        evidence=_evidence(machine, OrphanFault(reason=""), brief),
        limits=allowed,
    )
