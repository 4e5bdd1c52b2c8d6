"""What is wrong with a job's TPU slice by the job's record: its VMs are of use together, or not at all."""

from collections.abc import Sequence

from spotwarden.governance.orphans.faults import (
    OrphanFault,
    began_after,
    ended,
    goes_on,
    lost_record,
    unreadable,
)
from spotwarden.governance.signals.contradiction import contradiction
from spotwarden.governance.signals.facts import JobRecord
from spotwarden.governance.signals.text import AT_REST, AT_WORK, begun
from spotwarden.model.attempt import CLOSED
from spotwarden.model.fleet import Machine
from spotwarden.model.policy import Policy
from spotwarden.model.spans import moment

DELETE_IT = "no action needed, unless you want to keep this slice"


def fault_of_slice(
    machines: Sequence[Machine], record: JobRecord, others: Sequence[Machine], policy: Policy
) -> OrphanFault | None:
    """Compare all VMs that are there of a slice with its job's record; None where it is as it should be."""
    if record.problem:
        return unreadable(record)
    if not record.exists or record.state in AT_WORK:
        return None
    if record.status_code is not None or record.state in CLOSED:
        return _over(machines, record, contradiction(record, others, policy))
    if not {machine.id for machine in machines}.isdisjoint(record.instances.values()):
        return None
    newest = max(machine.attempt for machine in machines)
    if newest > record.attempt:
        return lost_record(newest, record)
    return OrphanFault(
        reason=f"attempt {record.attempt} of {record.job} runs on other VMs, but this slice still exists",
        since=record.began if newest < record.attempt else None,
        todo=DELETE_IT,
        evidence={"running attempt": str(record.attempt), "its attempt": str(newest or "")},
    )


def _over(machines: Sequence[Machine], record: JobRecord, contradicted: str) -> OrphanFault:
    """The job has ended, or it was closed; what somebody has left of its slice comes to nothing by itself."""
    over, what = ended(record)
    evidence = {"over since": moment(over)}
    if contradicted:
        return goes_on(what, over, contradicted, "slice")
    running = [machine for machine in machines if machine.status not in AT_REST]
    began = max((at for machine in running or machines if (at := begun(machine))), default=None)
    if running and over is not None and began is not None and began > over:
        return began_after(what, over, began, "slice")
    return OrphanFault(
        reason=f"its job {what}, but {_what_is_left(machines, running, record)}",
        since=over,
        todo=DELETE_IT,
        evidence=evidence,
    )


def _what_is_left(machines: Sequence[Machine], running: Sequence[Machine], record: JobRecord) -> str:
    """What is there of the slice, in words that fit one VM as well."""
    left, whole = len(machines), len(record.instances)
    state = "still exists" if running else "is stopped and its disks still cost money"
    if left >= whole:
        return f"its TPU slice {state}"
    vms = f"{left} of the {whole} VMs"
    some = "still exist" if left > 1 else "still exists"
    if not running:
        some = f"{'are' if left > 1 else 'is'} stopped and cost{'' if left > 1 else 's'} money by its disks"
    return f"{vms} of its TPU slice {some}. A slice can't run without all of its VMs"
