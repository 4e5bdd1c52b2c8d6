"""What runs inside the VMs of jobs: it registers them, works or does not, says so, and writes the markers."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from spotwarden.layout import Heartbeat, InstanceId, Layout, MarkerName, StatusCode
from spotwarden.model.instance import Status
from tests.fakes.beats import kit_beat
from tests.fakes.cloud import MemoryCloud
from tests.fakes.vms import Vm
from tests.simulation.commands import Kind, Word
from tests.simulation.guests import (
    AGAIN,
    BOOT,
    BY_NAME,
    FOLLOWED,
    GUEST,
    LATE,
    LOOK,
    NOTICE,
    RESERVE,
    SHUTDOWN,
)
from tests.simulation.plane.commands import Mood
from tests.simulation.plane.google import PlaneMetrics
from tests.simulation.plane.handover import Handover, number_of, records_of
from tests.simulation.plane.jobs import PlaneJob

__all__ = ["GUEST", "NOTICE", "Guests", "Program"]

BEAT = timedelta(minutes=5)
LOADS = {
    Mood.WORK: (92.0, 60.0),
    Mood.IDLE: (0.5, 20.0),
    Mood.HANG: (0.5, 0.5),
    Mood.DARK: (-1.0, -1.0),
    Mood.SPIN: (99.0, 70.0),
}
MOVES = {Mood.WORK, Mood.IDLE}
READERS = {Kind.EARLY, Kind.BENT}
"""Jobs whose VMs go on from one attempt into the next."""
BEATS = {Mood.WORK, Mood.IDLE, Mood.HANG, Mood.SPIN}


def has_kit(job: PlaneJob) -> bool:
    """Whether the VMs of a job run the job kit."""
    return job.name[-1] in "02468"


class Program(msgspec.Struct, kw_only=True):
    """What runs in a VM: `moved` is when it last got on, None while it does so now."""

    vm: Vm
    job: PlaneJob
    started: datetime
    mood: Mood = Mood.WORK
    moved: datetime | None = None
    steps: int = 0


class Guests:
    """All guests, by the ids of their VMs. `wrote` tells which instance wrote a marker, by its generation."""

    def __init__(
        self, cloud: MemoryCloud, metrics: PlaneMetrics, layout: Layout, mine: dict[str, PlaneJob]
    ) -> None:
        self._cloud = cloud
        self._metrics = metrics
        self._layout = layout
        self._mine = mine
        self.wrote: dict[int, str] = {}
        self.programs: dict[str, Program] = {}
        self._left: dict[str, datetime] = {}
        self._moves: dict[str, list[list[datetime | None]]] = {}
        metrics.progress = self.progress
        self._kit = Handover(cloud, layout, self.programs, self._begin, self._silence, self._say_ready)
        self.overlaps = self._kit.overlaps

    def changed(self, vm: Vm, _before: Status | None) -> None:
        """Boot a VM that has just begun to run; one that does not run says nothing."""
        job = self._mine.get(vm.seen.id)
        if job is None:
            return
        if vm.seen.status is Status.RUNNING:
            started = vm.seen.started
            self._cloud.compute.vms.later(
                BOOT, lambda: self._boot(vm, job) if vm.seen.started == started else None
            )
        else:
            self._silence(vm)

    def _silence(self, vm: Vm) -> None:
        """Its program is over, and nothing comes from it any more."""
        if (program := self.programs.pop(vm.seen.id, None)) is not None:
            self._metrics.work(vm.seen.id, -1.0, -1.0)
            self._left[vm.seen.id] = program.moved or self._cloud.clock.now()
            self._moving(vm.seen.id, moves=False)

    def _whose(self, job: PlaneJob, seen: Vm) -> dict[str, Any]:
        """What a heartbeat says of its VM; the kit of a job that hands over, or bends, reads the ledger."""
        number = seen.seen.attempt or 1
        if job.kind in READERS:
            number = number_of(records_of(self._cloud, self._layout, job), seen)
        return {"attempt": number, "instance_id": seen.seen.id}

    def _boot(self, vm: Vm, job: PlaneJob) -> None:
        """Register the id; where the job has ended there is nothing to do but to go."""
        if vm.seen.status is not Status.RUNNING or vm.seen.id in self.programs:
            return
        status = self._cloud.store.read(self._layout.build(StatusCode(job=job.name)))
        if status is not None and int(status.metadata.get("attempt", "999")) >= (vm.seen.attempt or 1):
            self._cloud.compute.owner_deletes(vm.seen.id, user=GUEST)
            return
        if not job.shy:
            name = self._layout.build(InstanceId(job=job.name, node=vm.node))
            stored = self._cloud.store.read(name)
            if stored is None or stored.data.decode() != vm.seen.id:
                self._cloud.store.write(name, vm.seen.id.encode(), generation=None)
        self._metrics.cards[vm.seen.id] = job.gpus
        if job.kind is Kind.EARLY:
            self._metrics.work(vm.seen.id, *LOADS[Mood.IDLE])
            self._kit.wait(job, vm)
        elif job.kind is Kind.BENT:
            self._kit.join(job, vm)
        else:
            self._begin(vm, job)

    def _say_ready(self, job: PlaneJob, vm: Vm) -> None:
        """The job kit alone says that it is set up, and waits for its turn."""
        if has_kit(job) and not job.mute:
            said = {**self._whose(job, vm), "at": self._cloud.clock.now(), "status": "waiting"}
            self.tell(job, vm.node, said)

    def _begin(self, vm: Vm, job: PlaneJob) -> None:
        """Let its program run."""
        program = Program(vm=vm, job=job, started=self._cloud.clock.now())
        self.programs[vm.seen.id] = program
        self._moving(vm.seen.id, moves=True)
        self._metrics.work(vm.seen.id, *LOADS[program.mood])
        if job.finished and job.kind is Kind.EARLY:
            self.end(job)  # The VM that it has moved from had come to its end before it handed over.
        else:
            self._beat(program)

    def behave(self, vm: Vm, mood: Mood) -> None:
        """From now on the program does this."""
        if (program := self.programs.get(vm.seen.id)) is None or program.mood is mood:
            return
        if program.mood in MOVES and mood not in MOVES:
            program.moved = self._cloud.clock.now()
        elif mood in MOVES:
            program.moved = None
        program.mood = mood
        self._moving(vm.seen.id, moves=mood in MOVES)
        self._metrics.work(vm.seen.id, *LOADS[mood])
        self._write(program)

    def _moving(self, vm_id: str, *, moves: bool) -> None:
        spells, now = self._moves.setdefault(vm_id, []), self._cloud.clock.now()
        runs = bool(spells) and spells[-1][1] is None
        if moves and not runs:
            spells.append([now, None])
        elif runs and not moves:
            spells[-1][1] = now

    def moved_between(self, vm_id: str, since: datetime, until: datetime) -> bool:
        """Whether the program in a VM got on at any moment in that time."""
        spells = self._moves.get(vm_id, ())
        return since < until and any(
            begin < until and (end is None or end > since) for begin, end in spells if begin is not None
        )

    def progress(self, vm_id: str) -> datetime | None:
        """When the program in a VM last got on; None where none ever ran there."""
        program = self.programs.get(vm_id)
        if program is None:
            return self._left.get(vm_id)
        return program.moved or self._cloud.clock.now()

    def _beat(self, program: Program) -> None:
        if self.programs.get(program.vm.seen.id) is not program:
            return
        self._write(program)
        self._cloud.compute.vms.later(BEAT, lambda: self._beat(program))

    def _write(self, program: Program) -> None:
        if program.job.mute or program.job.finished or program.mood not in BEATS:
            return
        now = self._cloud.clock.now()
        program.steps += program.mood in MOVES
        figures = {"step": program.steps, "metrics": {"loss": 1.0 / (1 + program.steps)}}
        moments = {"at": now, "progress_at": program.moved or now}
        whose = self._whose(program.job, program.vm)
        self.tell(program.job, program.vm.node, {**whose, **figures, **moments})

    def tell(self, job: PlaneJob, node: str, said: Mapping[str, Any]) -> None:
        """Write a heartbeat: half of the jobs have the kit, the others write their own."""
        if has_kit(job):
            kit_beat(self._cloud.store, node, layout=self._layout, job=job.name, **said)
        else:
            name = self._layout.build(Heartbeat(job=job.name, node=node))
            self._cloud.store.put(name, msgspec.json.encode(said), {})

    def end(self, job: PlaneJob) -> None:
        """Write the status code of a job; its programs have ended, and say nothing more."""
        told = {}
        for program in list(self.programs.values()):
            if program.job is job:
                self.behave(program.vm, Mood.HANG)
                if has_kit(job) and not job.mute:
                    now = self._cloud.clock.now()
                    whose = self._whose(job, program.vm)
                    said = {**whose, "at": now, "progress_at": now, "status": "0"}
                    self.tell(job, program.vm.node, said)
                if program.vm.seen.attempt:
                    whose = self._whose(job, program.vm)
                    told = {name: str(value) for name, value in whose.items()}
        job.finished = True
        self._cloud.store.put(self._layout.build(StatusCode(job=job.name)), b"0", told)

    def shut_down(self, vm: Vm, word: Word) -> None:
        """Run the shutdown script of a VM."""
        job = self._mine[vm.seen.id]
        if word is Word.NONE or job.kind.name == "MUTE":
            return
        late = word in {Word.LATE, Word.LATE_EMPTY}
        body = b"" if word in BY_NAME else self._body(job, vm)
        moments = [LATE] if late else [SHUTDOWN, AGAIN] if word is Word.TWICE else [SHUTDOWN]
        for moment in moments:
            self._cloud.compute.vms.later(moment, lambda: self._mark(vm, body))

    def announce(self, vm: Vm) -> None:
        """Write the early marker: the VM was told of its end, and runs on."""
        body = self._body(self._mine[vm.seen.id], vm, early=True)
        self._cloud.compute.vms.later(SHUTDOWN, lambda: self._mark(vm, body))

    def part(self, vm: Vm) -> None:
        """Hand over shortly before the end of the notice: the others of its gang go on without it."""
        self._cloud.compute.vms.later(NOTICE - RESERVE, lambda: self._part(vm))

    def _part(self, vm: Vm) -> None:
        job = self._mine[vm.seen.id]
        if vm.seen.status is Status.RUNNING:
            job.doomed.add(vm.seen.id)
            self._silence(vm)
            self._mark(vm, self._body(job, vm, early=True, handed_over=True))

    def go_back(self, vm: Vm, waited: timedelta = timedelta(0)) -> None:
        """Go on, since it was not taken: as a member, or once a record names it.

        Where the whole gang is made anew its job kit finds that record, and trains no more.
        """
        job = self._mine[vm.seen.id]
        newest = next(reversed(records_of(self._cloud, self._layout, job)), None)
        made_anew = newest is not None and not newest.bent and vm.seen.id in newest.replaces.values()
        if vm.seen.status is not Status.RUNNING or waited > FOLLOWED or made_anew:
            return
        if vm.seen.id in job.doomed:
            job.doomed.discard(vm.seen.id)
            job.back[vm.seen.id] = self._cloud.clock.now()
        lacking = newest.lacking.get(vm.node) if newest else None
        if lacking is not None and lacking.instance_id == vm.seen.id:
            self._silence(vm)
            self._kit.join(job, vm)
            return
        if not waited:
            self._mark(vm, self._body(job, vm, early=True))
            if vm.seen.id not in self.programs:
                self._begin(vm, job)
        self._cloud.compute.vms.later(LOOK, lambda: self.go_back(vm, waited + LOOK))

    def _body(self, job: PlaneJob, vm: Vm, **said: bool) -> bytes:
        whose = {"job": job.name, "node": vm.node, "instance_id": vm.seen.id, "zone": vm.seen.zone}
        return msgspec.json.encode({**whose, "attempt": vm.seen.attempt, **said})

    def _mark(self, vm: Vm, body: bytes) -> None:
        name = self._layout.build(MarkerName(node=vm.node))
        generation = self._cloud.store.write(name, body, generation=None)
        self.wrote[generation] = vm.seen.id
