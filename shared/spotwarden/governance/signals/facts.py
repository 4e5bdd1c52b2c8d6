"""What `reap_vms` sees: the VMs that may be a job's, and what is on record of each such job."""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from spotwarden.governance.signals.table import SignalTable
from spotwarden.governance.signals.training import Training
from spotwarden.model.attempt import AttemptState
from spotwarden.model.fleet import Leftover, Machine
from spotwarden.model.jobfile import JobFile


class JobRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What is on record of one job that has a VM, or that left something behind.

    `exists` is false where the bucket holds nothing of it, `past` are then the ids that the list of open jobs
    still has. `status_code` is None while it is open, `ended` is when it was written. `attempt`, `state`,
    `claimed` (when its launch began), `began` and `updated` are its newest attempt's, 0 and None where there
    is none; `instances` are that attempt's ids by node. `signals` is what was last seen of it, by node and
    attempt. `past` are the ids that other attempts had or stood in for, `outlived` those of them that were
    said to be taken and were replaced while they ran, `registered` those in the job's metadata; all are read
    only where a VM of the job is not explained without them. `removed` are those of the newest attempt that
    somebody has removed on purpose, `lacking` the names of the nodes that its gang asks for again. `nodes`
    are those of VMs that were asked for under another name, by that. `training` is what it measures, where
    something hangs on that. `had` are the ids of the disks, and the addresses, that its VMs are on record
    with, read only where it has left something behind. `problem` says why the record could not be read.
    """

    job: str
    exists: bool = True
    status_code: str | None = None
    ended: datetime | None = None
    attempt: int = 0
    state: AttemptState | None = None
    claimed: datetime | None = None
    began: datetime | None = None
    updated: datetime | None = None
    instances: Mapping[str, str] = {}
    past: frozenset[str] = frozenset()
    outlived: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    lacking: frozenset[str] = frozenset()
    nodes: Mapping[str, str] = {}
    registered: frozenset[str] = frozenset()
    owner: str = ""
    file: JobFile = JobFile()
    signals: SignalTable = SignalTable()
    training: Training = Training()
    had: frozenset[str] = frozenset()
    problem: str = ""


class ReapFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One look of `reap_vms`.

    `whose` says by instance id whose VM it is, by its label or by an id on record; `namesakes` are VMs that
    have no more than the name of a job; on the others a Google service has put our label. Of a job without a
    record in `jobs` nothing had to be asked. `bare` says that the whole bucket holds no job at all.
    `leftovers` is None where they were not looked at; with a scope in `unlisted`, one that is missing may
    still be there.
    """

    machines: tuple[Machine, ...] = ()
    unreachable: tuple[str, ...] = ()
    whose: Mapping[str, str] = {}
    namesakes: Mapping[str, str] = {}
    jobs: Mapping[str, JobRecord] = {}
    bare: bool = False
    leftovers: tuple[Leftover, ...] | None = None
    unlisted: tuple[str, ...] = ()

    def machines_of(self) -> dict[str, list[Machine]]:
        """The VMs of each job."""
        found: dict[str, list[Machine]] = {}
        for machine in self.machines:
            if job := self.whose.get(machine.id):
                found.setdefault(job, []).append(machine)
        return found
