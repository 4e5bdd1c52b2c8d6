"""VMs that wait for room, and end at their time limit: Flex-start, as it befalls the world."""

from collections.abc import Callable
from datetime import datetime, timedelta

from spotwarden.model.instance import Status
from spotwarden.model.policy import Mode
from spotwarden.ports import Cloud
from spotwarden.recovery.kinds.flexible import SHORTEST_FLEXIBLE_RUN
from tests.fakes.fate import is_flexible
from tests.fakes.vms import Vm
from tests.simulation import commands as c
from tests.simulation.ground import as_it_is
from tests.simulation.plane import commands as p
from tests.simulation.plane.ground import SleepyProcess
from tests.simulation.plane.jobs import PlaneJob
from tests.simulation.plane.people import People
from tests.simulation.plane.waits import APART, down_since

TOLD_AFTER = timedelta(minutes=30)
"""How long a job waits before its owner is told of it."""
LATE = timedelta(minutes=15)
SWEEPS = 5
"""After so many sweeps without trouble, and so long, its owner must have been told."""


class Waiting(People):
    """A world in which Compute Engine ends Flex-start VMs at their time limit, and requests expire."""

    def __init__(self, *, wrap: Callable[[Cloud], Cloud] = as_it_is, verbose: bool = False) -> None:
        super().__init__(wrap=wrap, verbose=verbose)
        self._unheard: dict[str, int] = {}
        self.compute.vms.watchers.append(self._watch)

    def hurt(self, vm: Vm) -> None:
        """Google takes it: its job must come back."""
        job = self.mine[vm.seen.id]
        job.hurt = True
        self.oracle.taken(vm)

    def take(self, vm: Vm, word: c.Word) -> None:
        """Google takes it, if it runs: preempts it, or ends it at its time limit."""
        if vm.seen.status is Status.RUNNING:
            self.hurt(vm)
            self.guests.shut_down(vm, word)
            self.compute.preempt(vm.seen.id)

    def live_long(self, vm: Vm) -> None:
        """No time limit is shorter than ten minutes, whether or not a sweep sees it run."""
        ran = self.now() - (vm.seen.started or self.now())
        self.ticks(max(SHORTEST_FLEXIBLE_RUN - ran, timedelta(0)))

    def _watch(self, vm: Vm, before: Status | None) -> None:
        if vm.seen.id not in self.mine or not is_flexible(vm.body):
            return
        if before is Status.PENDING and vm.seen.status is Status.STOPPING:
            self.note("    a person deletes it in line, or a function does")
        if before is Status.PENDING and vm.seen.status is Status.DEPROVISIONING:
            self.note("    its request has expired")
            self.hurt(vm)
        if vm.seen.status is Status.RUNNING and before is not Status.REPAIRING:
            longest = int(vm.body["scheduling"]["maxRunDuration"]["seconds"])
            started, word = vm.seen.started, (c.Word.JSON, c.Word.NONE)[int(vm.seen.id) % 2]
            self.compute.vms.later(timedelta(seconds=longest), lambda: self._at_limit(vm, started, word))

    def _at_limit(self, vm: Vm, started: datetime | None, word: c.Word) -> None:
        if vm.seen.started == started and vm.seen.id in self.compute.vms.living:
            self.note("    it has come to its time limit")
            self.take(vm, word)

    def sweep_now(self, function: p.Function) -> SleepyProcess:
        """As it is; and whoever waits for long was told of it."""
        process = super().sweep_now(function)
        if function is p.Function.RECOVER and self._is_undisturbed(process):
            for job in self.jobs:
                self._must_be_told(job)
        return process

    def _is_undisturbed(self, process: SleepyProcess) -> bool:
        late = self.late or self.messages_wait or self.compute.lag or self.compute.dark
        trouble = any(until > self.now() for until, _ in self.troubles.values())
        swept = process.swept is not None and not getattr(process.swept, "failures", None)
        return self.policy.mode is Mode.ENFORCE and swept and not (late or trouble or self.processes)

    def _must_be_told(self, job: PlaneJob) -> None:
        """A VM that has waited for long in sight of sweeps is known to its owner."""
        if job.over or job.doubtful or job.kind is c.Kind.BARE:
            return
        for vm in self.vms_of(job):
            since = vm.seen.created or self.now()
            waits = vm.seen.status is Status.PENDING and self.now() - since > TOLD_AFTER + APART
            if not waits or vm.seen.zone in self.compute.hidden:
                continue
            self._unheard[vm.seen.id] = self._unheard.get(vm.seen.id, 0) + 1
            long = self._unheard[vm.seen.id] > SWEEPS and self.now() - since > TOLD_AFTER + LATE
            if long and not self._told_since(job):
                self.oracle.fault(f"the owner of {job.name} was not told that it waits since {since:%H:%M}")

    def _told_since(self, job: PlaneJob) -> bool:
        since = down_since(job, self)
        return any(
            notice.kind == "waits_for_room" and notice.job == job.name and at >= since
            for at, notice in self.oracle.notices.values()
        )
