"""What runs inside the VMs: the startup script registers the VM, the shutdown script writes the marker."""

from datetime import timedelta

import msgspec

from spotwarden.layout import InstanceId, Layout, MarkerName, StatusCode
from spotwarden.model.instance import Status
from tests.fakes.cloud import MemoryCloud
from tests.fakes.vms import Vm
from tests.simulation.commands import Word
from tests.simulation.jobs import Job, job_of

BOOT = timedelta(seconds=10)
SHUTDOWN = timedelta(seconds=2)
AGAIN = timedelta(seconds=7)
NOTICE = timedelta(seconds=120)
"""How long before a preemption it is announced, where the VM has asked for that."""
MARGIN = timedelta(seconds=60)
"""How long after its notice a VM begins to believe that it is not taken."""
LOOK = timedelta(seconds=30)
UNBELIEVED = timedelta(minutes=5)
LATE = timedelta(seconds=45)
GUEST = "job@p.iam.gserviceaccount.com"
BY_NAME = {Word.EMPTY, Word.LATE_EMPTY}


class Guests:
    """All guests. `wrote` tells which instance wrote a marker, by the marker's generation."""

    def __init__(self, cloud: MemoryCloud, layout: Layout, jobs: dict[str, Job]) -> None:
        self._cloud = cloud
        self._layout = layout
        self._jobs = jobs
        self.wrote: dict[int, str] = {}

    def changed(self, vm: Vm, _before: Status | None) -> None:
        """Boot a VM that has just begun to run."""
        if vm.seen.status is Status.RUNNING and job_of(self._jobs, vm) is not None:
            started = vm.seen.started
            self._cloud.compute.vms.later(
                BOOT, lambda: self._boot(vm) if vm.seen.started == started else None
            )

    def _boot(self, vm: Vm) -> None:
        """Register the id; where the job has ended there is nothing to do but to go."""
        if vm.seen.status is not Status.RUNNING:
            return
        job = self._jobs[vm.seen.name]
        if self._cloud.store.read(self._layout.build(StatusCode(job=job.name))):
            self._cloud.compute.owner_deletes(vm.seen.id, user=GUEST)
        elif self._registered(job, vm) != vm.seen.id:
            name = self._layout.build(InstanceId(job=job.name, node=vm.seen.name))
            self._cloud.store.write(name, vm.seen.id.encode(), generation=None)

    def _registered(self, job: Job, vm: Vm) -> str:
        stored = self._cloud.store.read(self._layout.build(InstanceId(job=job.name, node=vm.seen.name)))
        return stored.data.decode() if stored else ""

    def end(self, job: Job) -> None:
        """Write the status code of a job."""
        self._cloud.store.write(self._layout.build(StatusCode(job=job.name)), b"0", generation=None)

    def shut_down(self, vm: Vm, word: Word) -> None:
        """Run the shutdown script of a VM."""
        job = self._jobs[vm.seen.name]
        if word is Word.NONE or job.kind.name == "MUTE":
            return
        late = word in {Word.LATE, Word.LATE_EMPTY}
        body = b"" if word in BY_NAME else self._body(job, vm)
        moments = [LATE] if late else [SHUTDOWN, AGAIN] if word is Word.TWICE else [SHUTDOWN]
        for moment in moments:
            self._cloud.compute.vms.later(moment, lambda: self._mark(vm, body))

    def announce(self, vm: Vm) -> None:
        """Write the early marker: the VM was told of its end, and runs on."""
        body = self._body(self._jobs[vm.seen.name], vm, early=True)
        self._cloud.compute.vms.later(SHUTDOWN, lambda: self._mark(vm, body))

    def outlive(self, vm: Vm, after: timedelta, waited: timedelta = timedelta(0)) -> None:
        """Let the job kit of a VM that is not taken go once another one is registered as its node.

        Where none follows, and none can any more, it trains again: it is no VM that was told of its end.
        """
        self._cloud.compute.vms.later(after, lambda: self._outlive(vm, waited))

    def _outlive(self, vm: Vm, waited: timedelta) -> None:
        if vm.seen.status is not Status.RUNNING:
            return
        job = self._jobs[vm.seen.name]
        records = [
            self._cloud.store.read(entry.name)
            for entry in self._cloud.store.entries(self._layout.attempts(job.name))
        ]
        succeeded = any(
            vm.seen.id in msgspec.json.decode(one.data)["replaces"].values() for one in records if one
        )
        if succeeded and self._registered(job, vm) != vm.seen.id:
            self._cloud.compute.owner_deletes(vm.seen.id, user=GUEST)
        elif succeeded or waited < UNBELIEVED:
            self.outlive(vm, LOOK, waited + LOOK)
        else:
            job.doomed.discard(vm.seen.id)

    def _body(self, job: Job, vm: Vm, *, early: bool = False) -> bytes:
        said = {"job": job.name, "node": vm.seen.name, "instance_id": vm.seen.id, "zone": vm.seen.zone}
        return msgspec.json.encode({**said, "attempt": vm.seen.attempt, "early": early})

    def _mark(self, vm: Vm, body: bytes) -> None:
        name = self._layout.build(MarkerName(node=vm.seen.name))
        generation = self._cloud.store.write(name, body, generation=None)
        self.wrote[generation] = vm.seen.id
