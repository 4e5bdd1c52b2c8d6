"""What runs inside the VMs: the startup script registers the VM, the shutdown script writes the marker."""

from collections.abc import Sequence
from datetime import timedelta

import msgspec

from spotwarden.layout import Heartbeat, InstanceId, Layout, MarkerName, StatusCode
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.instance import Status
from tests.fakes.beats import kit_beat
from tests.fakes.cloud import MemoryCloud
from tests.fakes.vms import Vm
from tests.simulation.commands import Word
from tests.simulation.jobs import Job, job_of

BOOT = timedelta(seconds=10)
SHUTDOWN = timedelta(seconds=2)
AGAIN = timedelta(seconds=7)
NOTICE = timedelta(seconds=120)
"""How long before a preemption it is announced, where the VM has asked for that."""
RESERVE = timedelta(seconds=28)
"""How long before its end a node of a gang that was told has stopped, and says so."""
MARGIN = timedelta(seconds=60)
"""How long after its notice a VM begins to believe that it is not taken."""
LOOK = timedelta(seconds=30)
MOVE_WAIT = timedelta(minutes=10)
UNBELIEVED = timedelta(minutes=5)
FOLLOWED = timedelta(hours=1)
"""How long a node that went on looks whether a record leaves it out: no sweep sleeps for longer."""
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
        self.moves = False
        self.overlaps: list[str] = []
        self._handed: set[str] = set()
        self._computing: dict[str, set[str]] = {}

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
        job = self._jobs[vm.node]
        if self._cloud.store.read(self._layout.build(StatusCode(job=job.name))):
            self._cloud.compute.owner_deletes(vm.seen.id, user=GUEST)
        elif self._registered(job, vm) != vm.seen.id:
            name = self._layout.build(InstanceId(job=job.name, node=vm.node))
            self._cloud.store.write(name, vm.seen.id.encode(), generation=None)
        if job.kind.name in {"EARLY", "WIDE"}:
            self._beat(job, vm)
            if self.moves:
                self._await(job, vm, timedelta(0))

    def _beat(self, job: Job, vm: Vm) -> None:
        """Tell which attempt it is: nobody is moved whose job kit does not."""
        name = self._layout.build(Heartbeat(job=job.name, node=vm.node))
        said = msgspec.json.encode({"attempt": self._number(job, vm)})
        self._cloud.store.write(name, said, generation=None)

    def expect_moves(self, jobs: Sequence[Job]) -> None:
        """Have the VMs of these jobs that run look for a move from now on."""
        for vm in [*self._cloud.compute.vms.living.values()]:
            job = job_of(self._jobs, vm)
            if (
                job is not None
                and job in jobs
                and vm.seen.status is Status.RUNNING
                and vm.seen.id not in self._all_computing()
            ):
                self._begin(job, vm)

    def _all_computing(self) -> set[str]:
        return {vm_id for ids in self._computing.values() for vm_id in ids}

    def _records(self, job: Job) -> list[Attempt]:
        entries = self._cloud.store.entries(self._layout.attempts(job.name))
        read = [self._cloud.store.read(entry.name) for entry in entries]
        return sorted(
            (msgspec.json.decode(one.data, type=Attempt) for one in read if one), key=lambda one: one.number
        )

    def _number(self, job: Job, vm: Vm) -> int:
        """Which attempt a VM is: by the newest record that names it, else by its label."""
        named = [one.number for one in self._records(job) if vm.seen.id in one.instances.values()]
        return max([vm.seen.attempt or 1, *named])

    def _await(self, job: Job, vm: Vm, waited: timedelta) -> None:
        """Begin once the VM that it moves from has handed over, is gone, or was waited for in vain."""
        if vm.seen.status is not Status.RUNNING:
            return
        own = next((one for one in self._records(job) if one.number == vm.seen.attempt), None)
        before = own.replaces.get(vm.node, "") if own and own.planned else ""
        old = self._cloud.compute.vms.living.get(before)
        runs = old is not None and old.seen.status is Status.RUNNING
        if runs and before not in self._handed and waited < MOVE_WAIT:
            self._cloud.compute.vms.later(LOOK, lambda: self._await(job, vm, waited + LOOK))
            return
        if waited >= MOVE_WAIT:
            # Its heartbeat, under the generation of the other's, is what that one reads before each write.
            self._computing.get(job.name, set()).discard(before)
            self._cloud.compute.vms.later(LOOK, lambda: self._leave(old))
        self._begin(job, vm)
        self._one_computes(job)

    def _one_computes(self, job: Job) -> None:
        """Of the VMs of a job that moves, no two ever train side by side."""
        living = self._cloud.compute.vms.living
        there = (living[vm_id] for vm_id in self._computing[job.name] if vm_id in living)
        up = [
            vm.seen.id[-4:]
            for vm in there
            if vm.seen.status is Status.RUNNING and vm.seen.id not in job.doomed
        ]
        if len(up) > 1:
            self.overlaps.append(f"two VMs of {job.name} compute: {', '.join(sorted(up))}")

    def _begin(self, job: Job, vm: Vm) -> None:
        self._computing.setdefault(job.name, set()).add(vm.seen.id)
        self._cloud.compute.vms.later(LOOK, lambda: self._look(job, vm))

    def _look(self, job: Job, vm: Vm) -> None:
        """Look for a move every half minute: hand over once the new VM is there, stop for what is no move."""
        mine = self._computing.setdefault(job.name, set())
        if vm.seen.status is not Status.RUNNING or vm.seen.id not in mine:
            mine.discard(vm.seen.id)
            return
        newer = [one for one in self._records(job) if one.number > self._number(job, vm)]
        if newer and newer[0].planned and vm.seen.id in newer[0].replaces.values() and len(newer) == 1:
            if newer[0].state is AttemptState.RUNNING:
                self._cloud.compute.vms.later(NOTICE, lambda: self._hand_over(job, vm))
                return
        elif newer and not newer[0].early:
            mine.discard(vm.seen.id)
            return
        self._beat(job, vm)
        self._cloud.compute.vms.later(LOOK, lambda: self._look(job, vm))

    def _hand_over(self, job: Job, vm: Vm) -> None:
        """Write nothing more, and go."""
        self._handed.add(vm.seen.id)
        self._computing[job.name].discard(vm.seen.id)
        self._leave(vm)

    def _leave(self, vm: Vm | None) -> None:
        if vm is not None and vm.seen.status is Status.RUNNING:
            self._cloud.compute.owner_deletes(vm.seen.id, user=GUEST)

    def _registered(self, job: Job, vm: Vm) -> str:
        stored = self._cloud.store.read(self._layout.build(InstanceId(job=job.name, node=vm.node)))
        return stored.data.decode() if stored else ""

    def end(self, job: Job) -> None:
        """Write the status code of a job."""
        self._cloud.store.write(self._layout.build(StatusCode(job=job.name)), b"0", generation=None)

    def shut_down(self, vm: Vm, word: Word) -> None:
        """Run the shutdown script of a VM."""
        job = self._jobs[vm.node]
        if word is Word.NONE or job.kind.name == "MUTE":
            return
        late = word in {Word.LATE, Word.LATE_EMPTY}
        body = b"" if word in BY_NAME else self._body(job, vm)
        moments = [LATE] if late else [SHUTDOWN, AGAIN] if word is Word.TWICE else [SHUTDOWN]
        for moment in moments:
            self._cloud.compute.vms.later(moment, lambda: self._mark(vm, body))

    def announce(self, vm: Vm) -> None:
        """Write the early marker: the VM was told of its end, and runs on."""
        body = self._body(self._jobs[vm.node], vm, early=True)
        self._cloud.compute.vms.later(SHUTDOWN, lambda: self._mark(vm, body))

    def part(self, vm: Vm) -> None:
        """Hand over shortly before the end of the notice: the others of its gang go on without it."""
        body = self._body(self._jobs[vm.seen.name], vm, early=True, handed_over=True)
        self._cloud.compute.vms.later(NOTICE - RESERVE, lambda: self._part(vm, body))

    def _part(self, vm: Vm, body: bytes) -> None:
        if vm.seen.status is Status.RUNNING:
            self._mark(vm, body)

    def go_back(self, vm: Vm, waited: timedelta = timedelta(0)) -> None:
        """Go on, since it was not taken: as a member, or it says that it waits until a record names it."""
        job = job_of(self._jobs, vm)
        newest = next(reversed(self._records(job)), None) if job else None
        if job is None or newest is None or vm.seen.status is not Status.RUNNING or waited > FOLLOWED:
            return
        lacking = newest.lacking.get(vm.seen.name)
        waits = lacking is not None and lacking.instance_id == vm.seen.id
        if waits:
            said = {"job": job.name, "instance_id": vm.seen.id, "status": "waiting"}
            kit_beat(self._cloud.store, vm.seen.name, layout=self._layout, **said)
        elif not waited:
            self._mark(vm, self._body(job, vm, early=True))
        more = timedelta(seconds=1) if waits else LOOK
        self._cloud.compute.vms.later(LOOK, lambda: self.go_back(vm, waited + more))

    def outlive(self, vm: Vm, after: timedelta, waited: timedelta = timedelta(0)) -> None:
        """Let the job kit of a VM that is not taken go once another one is registered as its node.

        Where none follows, and none can any more, it trains again: it is no VM that was told of its end.
        """
        self._cloud.compute.vms.later(after, lambda: self._outlive(vm, waited))

    def _outlive(self, vm: Vm, waited: timedelta) -> None:
        if vm.seen.status is not Status.RUNNING:
            return
        job = self._jobs[vm.node]
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

    def is_fenced(self, job: Job, vm: Vm) -> bool:
        """Whether its job kit finds, as it begins, that an attempt was begun when the VM was told of its end.

        It runs nothing then; its owner may have started it just before the attempt had a VM.
        """
        later = [record for record in self._records(job) if record.number > self._number(job, vm)]
        return any(record.early and vm.seen.id in record.replaces.values() for record in later)

    def _body(self, job: Job, vm: Vm, **said: bool) -> bytes:
        whose = {"job": job.name, "node": vm.node, "instance_id": vm.seen.id, "zone": vm.seen.zone}
        return msgspec.json.encode({**whose, "attempt": vm.seen.attempt, **said})

    def _mark(self, vm: Vm, body: bytes) -> None:
        name = self._layout.build(MarkerName(node=vm.node))
        generation = self._cloud.store.write(name, body, generation=None)
        self.wrote[generation] = vm.seen.id
