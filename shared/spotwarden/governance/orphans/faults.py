"""What is wrong with a VM by its job's record: the job is over, or goes on without it, or never knew it."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from spotwarden.governance.signals.contradiction import at_work, contradiction
from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.text import AT_REST, AT_WORK, begun
from spotwarden.model.attempt import CLOSED, AttemptState
from spotwarden.model.finding import Reading
from spotwarden.model.fleet import JOB_LABEL, Machine
from spotwarden.model.instance import Status
from spotwarden.model.policy import Policy
from spotwarden.model.spans import moment

DELETE_IT = "no action needed, unless you want to keep this VM. Check why it didn't delete itself"


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
        return unreadable(record)
    if not record.exists:
        busy = at_work(record, others, policy)
        return _gone(record, busy, bare=bare, made=foreign or _is_made_by_us(machine, record))
    if record.state in AT_WORK:
        return None
    if left := _left_of_gang(machine, record):
        return left
    if record.status_code is not None or record.state in CLOSED:
        return _over(machine, record, contradiction(record, others, policy))
    if machine.id in record.instances.values():
        return None
    return _no_member(machine, record, policy)


def unreadable(record: JobRecord) -> OrphanFault:
    """The job's record can't be read."""
    return OrphanFault(
        reason=f"the records of {record.job} can't be read: {record.problem}",
        reading=Reading.UNKNOWN,
        todo="fix or remove the object that can't be read",
    )


def ended(record: JobRecord) -> tuple[datetime | None, str]:
    """When a job that is over came to its end, and how, in words."""
    if record.status_code is not None:
        return record.ended, f"ended with status {record.status_code}"
    return record.updated, f"was closed ({record.state.value if record.state else ''})"


def _no_member(machine: Machine, record: JobRecord, policy: Policy) -> OrphanFault | None:
    """An open job's newest record doesn't have it."""
    if machine.name in record.lacking and machine.id not in record.past:
        return _joins(machine, record, policy)
    if record.state is AttemptState.RUNNING and (fault := _replaced(machine, record)):
        return fault
    if machine.status is Status.PENDING:
        # Recovery writes it down once it sees it; what has no room yet costs nothing but its disks.
        return None
    if record.state is None and machine.attempt > max(record.attempt, 1):
        return lost_record(machine.attempt, record)
    return None if machine.id in record.registered else _unknown_to_its_job(record)


def _is_made_by_us(machine: Machine, record: JobRecord) -> bool:
    """Whether a request of ours has made it, which stamps its attempt on it, or a list of ours has its id."""
    return machine.attempt > 0 or machine.id in record.past


def _gone(record: JobRecord, busy: str, *, bare: bool, made: bool) -> OrphanFault:
    if bare:
        return OrphanFault(
            reason="its label names a job, but the bucket has no jobs: it may be the wrong bucket",
            reading=Reading.UNKNOWN,
            todo="check that reap_vms uses the bucket and prefix that the jobs write to",
        )
    if not made:
        return OrphanFault(
            reason=f"its label names the job {record.job}, but the bucket has no such job, and"
            " nothing shows that"
            " this VM ever belonged to one",
            reading=Reading.UNKNOWN,
            todo=f"remove its label {JOB_LABEL}. If it belonged to the job, delete it",
            ours=False,
        )
    if busy:
        return OrphanFault(
            reason=f"the bucket has nothing left of {record.job}, but its VM may be in use: {busy} lately",
            reading=Reading.UNKNOWN,
            todo="if you no longer need it, delete the VM",
        )
    return OrphanFault(
        reason=f"the bucket has nothing left of {record.job}, but its VM still exists",
        todo="no action needed, unless you want to keep this VM",
    )


def goes_on(what: str, over: datetime | None, contradicted: str, thing: str) -> OrphanFault:
    """A job that is over by one word, and not by another: every job VM may write every job's status."""
    return OrphanFault(
        reason=f"its job {what}, but seems to continue: {contradicted}",
        since=over,
        reading=Reading.UNKNOWN,
        todo=f"if the job still runs, remove its status-code object. Otherwise, delete the {thing}",
        evidence={"over since": moment(over), "activity after its end": contradicted},
    )


def began_after(what: str, over: datetime, began: datetime, thing: str) -> OrphanFault:
    """A VM, or all of a slice, that was started after the end of its job: perhaps for another run."""
    return OrphanFault(
        reason=f"it started after its job {what}, so it may be in use",
        since=began,
        reading=Reading.UNKNOWN,
        todo=f"if this is a new run, remove the job's status-code object. Otherwise, delete the {thing}",
        evidence={"over since": moment(over)},
    )


def _over(machine: Machine, record: JobRecord, contradicted: str) -> OrphanFault:
    """The job has ended, or it was closed: nothing of it should be left."""
    over, what = ended(record)
    evidence = {"over since": moment(over)}
    if contradicted:
        return goes_on(what, over, contradicted, "VM")
    began = begun(machine)
    if over is not None and began is not None and began > over:
        return began_after(what, over, began, "VM")
    if record.status_code is None and machine.status in AT_REST:
        return OrphanFault(
            reason=f"its job {what}, and the VM is stopped. Its disks still cost money, perhaps on purpose",
            since=over,
            reading=Reading.UNKNOWN,
            todo="if you no longer need its disks, delete the VM",
            evidence=evidence,
        )
    state = "is stopped and its disks still cost money" if machine.status in AT_REST else "still exists"
    return OrphanFault(reason=f"its job {what}, but the VM {state}", since=over, evidence=evidence)


def _left_of_gang(machine: Machine, record: JobRecord) -> OrphanFault | None:
    """A gang was closed for what somebody did to another of its nodes; of this one nobody has said a word."""
    closed = record.state is AttemptState.STOPPED and record.status_code is None
    began = begun(machine)
    if not closed or not record.removed or machine.id in record.removed or machine.status in AT_REST:
        return None
    if record.updated is None or began is None or began > record.updated:
        return None
    return OrphanFault(
        reason="its job was closed after other nodes were removed or lost, but this node still runs",
        since=record.updated,
        reading=Reading.UNKNOWN,
        todo=f"if you no longer need it, run `spotwarden stop {record.job}`. To launch all nodes"
        " again, then run"
        f" `spotwarden restart {record.job}`",
        evidence={"closed": moment(record.updated)},
    )


def _joins(machine: Machine, record: JobRecord, policy: Policy) -> OrphanFault | None:
    """A node that a gang has asked for again is no member before it is set up."""
    began = begun(machine)
    if began is None:
        return None
    return OrphanFault(
        reason=f"it has been waiting to join {record.job} since it started. Its gang runs without it",
        since=began + 2 * policy.governance.launch_grace,
        reading=Reading.UNKNOWN,
        todo="check its log, and that recover_spot runs. If you don't need the node, delete the VM",
        evidence={"running attempt": str(record.attempt)},
    )


def _replaced(machine: Machine, record: JobRecord) -> OrphanFault | None:
    """The job goes on, with other VMs."""
    evidence = {"running attempt": str(record.attempt), "its attempt": str(machine.attempt or "")}
    if machine.id in record.outlived:
        # That it would be taken only its marker said, which any job VM can write; it was not.
        return OrphanFault(
            reason=f"its preemption was announced and attempt {record.attempt} of the job runs, but"
            " it still runs too",
            since=record.began,
            reading=Reading.UNKNOWN,
            todo="check which of the two is working, then stop the other",
            evidence=evidence,
        )
    if machine.id in record.past or 0 < machine.attempt < record.attempt:
        if _started_again(machine, record):
            return OrphanFault(
                reason=f"it was started again after attempt {record.attempt} began, so it may be in use",
                since=begun(machine),
                reading=Reading.UNKNOWN,
                evidence=evidence,
            )
        if record.nodes.get(machine.name, machine.name) not in record.instances:
            return OrphanFault(
                reason=f"attempt {record.attempt} of the job runs without this node, and no other VM has its"
                " place",
                since=record.began,
                reading=Reading.UNKNOWN,
                todo="if you no longer need it, delete the VM. To launch all nodes again, run"
                f" `spotwarden stop {record.job}`, then `spotwarden restart {record.job}`",
                evidence=evidence,
            )
        return OrphanFault(
            reason=f"attempt {record.attempt} of the job has replaced it, but it still exists",
            since=record.began,
            todo="no action needed, unless you want to keep this VM",
            evidence=evidence,
        )
    if machine.attempt > record.attempt:
        return lost_record(machine.attempt, record)
    return None


def _started_again(machine: Machine, record: JobRecord) -> bool:
    """Whether somebody has started an old VM anew; one that was only just made came late."""
    made, began = machine.created, begun(machine)
    return bool(record.began and made and began and made <= record.began < began)


def lost_record(attempt: int, record: JobRecord) -> OrphanFault:
    """It is of an attempt that is on no record."""
    return OrphanFault(
        reason=f"its label says attempt {attempt}, but the last attempt on record is {record.attempt}",
        reading=Reading.UNKNOWN,
        todo="check whether records under metadata/attempts/ were deleted",
        evidence={"running attempt": str(record.attempt), "its attempt": str(attempt)},
    )


def _unknown_to_its_job(record: JobRecord) -> OrphanFault:
    return OrphanFault(
        reason=f"its label names {record.job}, but the job has no record of this VM",
        todo=f"if it belongs to the job, write its ID to {record.job}/metadata/NODE-instance-id."
        " Otherwise, delete"
        " it",
        evidence={"running attempt": str(record.attempt or "")},
    )
