"""What is wrong with a VM by its job's record: the job is over, or goes on without it, or never knew it."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from spotwarden.governance.signals.contradiction import contradiction
from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.text import AT_REST, AT_WORK, begun
from spotwarden.model.attempt import CLOSED, AttemptState
from spotwarden.model.finding import Reading
from spotwarden.model.fleet import JOB_LABEL, Machine
from spotwarden.model.policy import Policy
from spotwarden.model.spans import moment

DELETE_IT = "find out why it didn't delete itself, then delete it"


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
        return OrphanFault(
            reason=f"what is on record of the job {record.job} cannot be read: {record.problem}",
            reading=Reading.UNKNOWN,
            todo="fix or remove what can't be read",
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
            reason="its label names a job, but the bucket has no jobs at all: it may be the wrong bucket",
            reading=Reading.UNKNOWN,
            todo="check that the function's bucket and prefix are those that the jobs write to",
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
        reason=f"the bucket has nothing left of the job {record.job}, but its VM still exists",
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
            reason=f"it began to run after its job {what}; it may be in use",
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
                reason=f"it was started again after attempt {record.attempt} began; it may be in use",
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
        todo="check whether records under metadata/attempts/ were deleted",
        evidence={"running attempt": str(record.attempt), "its attempt": str(machine.attempt)},
    )


def _unknown_to_its_job(record: JobRecord) -> OrphanFault:
    return OrphanFault(
        reason=f"its label names the job {record.job}, and its id is nowhere on the job's record",
        todo=f"if it belongs to the job, write its ID to {record.job}/metadata/NODE-instance-id; else "
        "delete it",
        evidence={"running attempt": str(record.attempt or "")},
    )
