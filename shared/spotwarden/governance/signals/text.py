"""How `reap_vms` says moments and spans, and whom it speaks about."""

from collections.abc import Iterable
from datetime import datetime

from spotwarden.governance.signals.facts import JobRecord
from spotwarden.model.attempt import CLOSED, AttemptState
from spotwarden.model.finding import Subject, Target
from spotwarden.model.fleet import JOB_LABEL, OWNER_LABEL, Machine
from spotwarden.model.instance import Status

LEAVING = frozenset((Status.PENDING_STOP, Status.STOPPING, Status.SUSPENDING, Status.DEPROVISIONING))
"""It is on its way out: whatever was to be done about it is being done."""
AT_REST = frozenset((Status.STOPPED, Status.TERMINATED, Status.SUSPENDED))
"""It does not run, but its disks are paid for."""
AT_WORK = frozenset((AttemptState.CLAIMED, AttemptState.PLACING, AttemptState.BACKING_OFF))
"""Recovery is bringing the job back: a VM may be just being made, or just being cleared away."""


def runs(machine: Machine) -> bool:
    """Whether the VM runs, or is about to; a Flex-start VM that waits for room, PENDING, is not."""
    return machine.status not in {*LEAVING, *AT_REST, Status.PENDING}


def labelled_by_others(machine: Machine) -> bool:
    """Whether it has our label although a Google service, or a managed instance group, has made it."""
    return bool(machine.manager and machine.labels.get(JOB_LABEL))


def begun(machine: Machine) -> datetime | None:
    """When it last began to run; None where Compute Engine does not tell."""
    return max((at for at in (machine.created, machine.started) if at is not None), default=None)


def over_since(record: JobRecord) -> datetime | None:
    """When the job came to its end, or was closed; None while it is open."""
    if record.state in AT_WORK:
        return None
    return record.ended or (record.updated if record.state in CLOSED else None)


def target(machine: Machine) -> Target:
    """The VM, addressed by its id."""
    return Target(
        id=machine.id,
        name=machine.name,
        zone=machine.zone,
        local_ssds=machine.local_ssds,
        manager=machine.manager,
        ends=machine.ends,
        group=machine.group,
        spot=machine.spot,
    )


def owner_of(record: JobRecord, machines: Iterable[Machine]) -> str:
    """Whoever the job names; where nothing is left of it, whoever its VMs' own label names."""
    labelled = (machine.labels.get(OWNER_LABEL, "") for machine in machines)
    return record.owner or next((owner for owner in labelled if owner), "")


def subject(key: str, record: JobRecord, machines: Iterable[Machine], *, ours: bool = True) -> Subject:
    """Whom a finding about these VMs of a job is about."""
    machines = tuple(machines)
    return Subject(
        key=key,
        job=record.job,
        owner=owner_of(record, machines),
        targets=tuple(target(machine) for machine in machines),
        ours=ours,
    )
