"""What the job kit does where a job is moved, or a gang bends: a new VM waits for its turn."""

from collections.abc import Callable, Mapping
from datetime import timedelta

import msgspec

from spotwarden.layout import Layout, StatusCode
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.instance import Status
from tests.fakes.cloud import MemoryCloud
from tests.fakes.vms import Vm
from tests.simulation.guests import GUEST, LOOK, MOVE_WAIT, NOTICE
from tests.simulation.plane.jobs import PlaneJob


def records_of(cloud: MemoryCloud, layout: Layout, job: PlaneJob) -> list[Attempt]:
    """The records of a job, oldest first."""
    read = [cloud.store.read(entry.name) for entry in cloud.store.entries(layout.attempts(job.name))]
    records = [msgspec.json.decode(stored.data, type=Attempt) for stored in read if stored]
    return sorted(records, key=lambda record: record.number)


def number_of(records: list[Attempt], vm: Vm) -> int:
    """Which attempt a VM is of: by the newest record that names it, else by its label."""
    named = [record.number for record in records if vm.seen.id in record.instances.values()]
    return max([vm.seen.attempt or 1, *named])


class Handover:
    """The job kits of jobs that may be moved, and of gangs that bend.

    `programs` run, by the ids of their VMs; `begin` and `end` one; `say` that a VM is ready, and waits.
    `overlaps` says where two VMs of a job have trained side by side.
    """

    def __init__(
        self,
        cloud: MemoryCloud,
        layout: Layout,
        programs: Mapping[str, object],
        begin: Callable[[Vm, PlaneJob], None],
        end: Callable[[Vm], None],
        say: Callable[[PlaneJob, Vm], None],
    ) -> None:
        self._cloud = cloud
        self._layout = layout
        self._programs = programs
        self._begin = begin
        self._end = end
        self._say = say
        self._handed: set[str] = set()
        self.overlaps: list[str] = []

    def wait(self, job: PlaneJob, vm: Vm, waited: timedelta = timedelta(0)) -> None:
        """Begin once the VM that it moves from has handed over, is gone, or was waited for in vain."""
        if vm.seen.status is not Status.RUNNING or vm.seen.id in self._programs:
            return
        records = records_of(self._cloud, self._layout, job)
        own = next((record for record in records if record.number == vm.seen.attempt), None)
        before = own.replaces.get(vm.node, "") if own and own.early else ""
        old = self._cloud.compute.vms.living.get(before)
        runs = old is not None and old.seen.status is Status.RUNNING
        if own and own.planned and runs and before not in self._handed and waited < MOVE_WAIT:
            self._cloud.compute.vms.later(LOOK, lambda: self.wait(job, vm, waited + LOOK))
            return
        if own and own.planned and old is not None and waited >= MOVE_WAIT:
            # Its heartbeat, under the generation of the other's, is what that one reads before each write.
            self._end(old)
            self._cloud.compute.vms.later(LOOK, lambda: self._leave(old))
        if runs and before in self._programs and before not in job.doomed:
            self.overlaps.append(f"two VMs of {job.name} train: {before[-4:]} and {vm.seen.id[-4:]}")
        announced = old if own and own.early and not own.planned else None
        if announced is not None and runs:
            # It stops before its next write; one that is not taken deletes itself.
            self._end(announced)
            self._cloud.compute.vms.later(NOTICE + LOOK, lambda: self._leave(announced))
        self._begin(vm, job)
        self._look_later(job, vm)

    def join(self, job: PlaneJob, vm: Vm) -> None:
        """Begin once the newest record of a gang that bends names it; until then it says that it waits."""
        if vm.seen.status is not Status.RUNNING or vm.seen.id in self._programs:
            return
        if self._cloud.store.read(self._layout.build(StatusCode(job=job.name))) is not None:
            self._leave(vm)  # The job has ended while it waited.
            return
        newest = next(reversed(records_of(self._cloud, self._layout, job)), None)
        if newest and vm.node in newest.lacking and vm.seen.id not in newest.instances.values():
            self._say(job, vm)
            self._cloud.compute.vms.later(LOOK, lambda: self.join(job, vm))
        else:
            self._begin(vm, job)

    def _look_later(self, job: PlaneJob, vm: Vm) -> None:
        self._cloud.compute.vms.later(LOOK, lambda: self._look(job, vm))

    def _look(self, job: PlaneJob, vm: Vm) -> None:
        """Look for a move every half minute: hand over once the new VM is there, stop for what is no move."""
        if vm.seen.id not in self._programs:
            return
        records = records_of(self._cloud, self._layout, job)
        newer = [record for record in records if record.number > number_of(records, vm)]
        if not newer or newer[0].early:
            mine = newer and newer[0].planned and vm.seen.id in newer[0].replaces.values()
            if mine and len(newer) == 1 and newer[0].state is AttemptState.RUNNING:
                self._cloud.compute.vms.later(NOTICE, lambda: self._hand_over(vm))
            else:
                self._look_later(job, vm)
        else:
            self._end(vm)

    def _hand_over(self, vm: Vm) -> None:
        """Write nothing more, and go."""
        if vm.seen.id in self._programs:
            self._handed.add(vm.seen.id)
            self._end(vm)
            self._leave(vm)

    def _leave(self, vm: Vm) -> None:
        if vm.seen.status is Status.RUNNING:
            self._cloud.compute.owner_deletes(vm.seen.id, user=GUEST)
