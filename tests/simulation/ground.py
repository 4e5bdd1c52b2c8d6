"""A project with strangers in it, in which time passes, jobs come and go, and sweeps run."""

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from spotwarden.engine.context import SweepContext
from spotwarden.engine.trigger import open_tick
from spotwarden.layout import Layout
from spotwarden.model.instance import Status
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud, ConflictError, RejectedError, UnansweredError
from tests.fakes.cloud import MemoryCloud, memory_cloud
from tests.fakes.topic import MemoryTopic
from tests.fakes.vms import Vm
from tests.simulation import commands as c
from tests.simulation.guests import Guests
from tests.simulation.jobs import FAR, ZONES, Job, job_of, stranger
from tests.simulation.process import Count, Process
from tests.simulation.product import POLICY, SETTINGS, cold_start, recover_spot
from tests.simulation.watch import UP, Watch

WAITING_AT_MOST = 3
"""How many sweeps may stand still at once; Cloud Run starts no more of this function."""
KNOWN = (ConflictError, RejectedError, UnansweredError)
"""What the trouble of the cloud explains."""
Wrap = Callable[[Cloud], Cloud]


def as_it_is(cloud: Cloud) -> Cloud:
    """The ports, with nothing between them and the sweep."""
    return cloud


class Ground:
    """The world before its history; `wrap` stands between sweeps and ports, to break the protocol."""

    def __init__(self, *, wrap: Wrap = as_it_is, blind: bool = False, verbose: bool = False) -> None:
        cold_start()
        memory = memory_cloud()
        self.wakeups = MemoryTopic(memory.clock)
        self.settings, self.policy = SETTINGS, POLICY
        memory.compute.zones += (FAR,)
        self.cloud: MemoryCloud = replace(memory, wakeups=self.wakeups)
        self.layout = Layout()
        self.jobs: list[Job] = []
        self.nodes: dict[str, Job] = {}
        self.guests = Guests(self.cloud, self.layout, self.nodes)
        self.watch = Watch(
            self.cloud, self.guests, self.nodes, blind=blind, note=self.note if verbose else None
        )
        self.count = Count()
        self.strangers: list[str] = []
        self.failures: list[str] = []
        self.log: list[str] = []
        self.verbose = verbose
        self.wrap = wrap
        self.sequence = 0
        self.processes: list[Process] = []
        self.ports = self.cloud.ports()
        self.cloud.compute.vms.watchers += [self.guests.changed, self.watch.changed]
        for zone in ZONES[:2]:
            made = self.cloud.compute.launch(stranger(f"notebook-{zone[-1]}", zone), f"stranger-{zone}")
            self.strangers.append(made.target_id)

    def note(self, what: str) -> None:
        """Keep a line for whoever reads this history."""
        self.log.append(f"{self.now():%H:%M:%S} {what}")

    def now(self) -> datetime:
        """The moment, by the cloud's clock."""
        return self.cloud.clock.now()

    def pass_time(self, span: timedelta) -> None:
        """Let time pass, and everything happen at its moment."""
        vms, until = self.cloud.compute.vms, self.now() + span
        while (due := vms.next_due()) and due <= until:
            self.cloud.clock.advance(max(due - self.now(), timedelta(0)))
            vms.catch_up()
        self.cloud.clock.advance(until - self.now())

    def admit(self, process: Process) -> None:
        """Have one process more; where there are too many, the oldest is killed."""
        if len(self.processes) >= WAITING_AT_MOST:
            self.processes.pop(0).kill()
            self.count.kills += 1
        self.processes.append(process)

    def new_process(
        self, skew: timedelta, about: str = "", message: Mapping[str, Any] | None = None
    ) -> Process:
        """A sweep that has not begun, by a clock that is off by so much.

        It is about one node, about the jobs that a message of another sweep names, or everything.
        """
        self.count.sweeps += 1
        sweep = f"sweep-{self.count.sweeps:04}"
        now = self.now() + skew
        tick = Tick(function="recover_spot", sweep=sweep, now=now, patient=not about, about=about)
        if message is not None:
            tick = replace(open_tick("recover_spot", message, self.layout), sweep=sweep, now=now)
        settings, policy = self.settings, self.policy
        process = Process(tick, self.sequence, self.watch)
        process.begin(
            lambda cloud: recover_spot().sweep(SweepContext.open(cloud, settings, policy, tick)),
            self.ports,
            self.wrap,
        )
        return process

    def run_on(self, process: Process, calls: int, then: c.Then, *, changes: bool = False) -> None:
        """Let a process make so many calls, and keep its books."""
        calls_before, lost_before = process.calls, process.lost
        process.run(calls, then, changes=changes)
        self.count.calls += process.calls - calls_before
        self.count.faults += process.lost - lost_before
        if process.alive:
            return
        if self.verbose:
            self.note(f"    {process.tick.sweep} ends: {process.failure or process.swept or 'killed'}")
        self.processes = [one for one in self.processes if one is not process]
        self.count.kills += process.swept is None and process.failure is None
        self.failures += expected_only(process)

    def sweep_now(self, skew: timedelta = timedelta(0)) -> Process:
        """One sweep from its beginning to its end."""
        self.sequence += 1
        process = self.new_process(skew)
        self.run_on(process, 0, c.Then.GO_ON)
        return process

    def take_message(self, number: int, *, keep: bool = False) -> Mapping[str, Any] | None:
        """One of the messages for other instances that wait, as it is pushed."""
        waiting = self.wakeups.messages
        if not waiting:
            return None
        index = number % len(waiting)
        found = waiting[index] if keep else waiting.pop(index)
        data = b64encode(found.data).decode()
        return {"attributes": found.attributes, "data": data, "messageId": found.id}

    def deliver_all(self) -> list[Process]:
        """Deliver what waits, each to a sweep that comes to its end."""
        delivered: list[Process] = []
        while message := self.take_message(0):
            self.sequence += 1
            delivered.append(self.new_process(timedelta(0), message=message))
            self.run_on(delivered[-1], 0, c.Then.GO_ON)
        return delivered

    def let_go(self) -> None:
        """Let all sweeps that wait go on to their ends."""
        for process in list(self.processes):
            self.run_on(process, 0, c.Then.GO_ON)

    def pick_job(self, number: int) -> Job | None:
        """An open job of which a VM runs."""
        found = [job for job in self.jobs if not job.over and self.running(job)]
        return found[number % len(found)] if found else None

    def pick_vm(self, number: int) -> Vm | None:
        """A running VM of a job, its end not yet announced; that of a job that has ended may still run."""
        vms = [vm for job in self.jobs for vm in self.running(job) if vm.seen.id not in job.doomed]
        return vms[number % len(vms)] if vms else None

    def whole(self, job: Job) -> bool:
        """Whether all its nodes run, and none was told of its end."""
        return len([vm for vm in self.running(job) if vm.seen.id not in job.doomed]) == len(job.nodes)

    def running(self, job: Job) -> Sequence[Vm]:
        """Its VMs that run."""
        return [vm for vm in self.vms_of(job) if vm.seen.status is Status.RUNNING]

    def up(self, job: Job) -> Sequence[Vm]:
        """Its VMs that run or are being made."""
        return [vm for vm in self.vms_of(job) if vm.seen.status in UP]

    def vms_of(self, job: Job) -> Sequence[Vm]:
        """All its VMs, however they stand."""
        vms = self.cloud.compute.vms.living.values()
        return [vm for vm in vms if job_of(self.nodes, vm) is job]

    def store(self, name: str, data: bytes) -> None:
        """Write an object as a developer or a VM does."""
        self.cloud.store.write(name, data, generation=None)


def expected_only(process: Process) -> list[str]:
    """What a sweep raised that no trouble of the cloud explains."""
    raised = [*([process.failure] if process.failure else []), *getattr(process.swept, "failures", ())]
    return [f"{process.tick.sweep} raised {one!r}" for one in raised if not isinstance(one, KNOWN)]
