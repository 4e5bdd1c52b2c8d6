"""A project with jobs and strangers, in which the commands of a history happen."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from spotwarden.layout import CreateScript, JobFile, Layout, MarkerName
from spotwarden.model.instance import Status
from spotwarden.model.tick import Tick
from spotwarden.ports import Cloud
from tests.fakes.cloud import MemoryCloud, memory_cloud
from tests.fakes.vms import Vm
from tests.simulation import commands as c
from tests.simulation.guests import GUEST, NOTICE, Guests
from tests.simulation.jobs import CRASHED, ENDED, STOPPED, ZONES, Job, new_job, stranger
from tests.simulation.process import Count, Process
from tests.simulation.product import POLICY, SETTINGS, cold_start, recover_spot
from tests.simulation.watch import Watch

WAITING_AT_MOST = 3
"""How many sweeps may stand still at once; Cloud Run starts no more of this function."""
Wrap = Callable[[Cloud], Cloud]


def as_it_is(cloud: Cloud) -> Cloud:
    """The ports, with nothing between them and the sweep."""
    return cloud


class World:
    """One history in the making. `wrap` stands between every sweep and the ports, to break the protocol."""

    def __init__(self, *, wrap: Wrap = as_it_is, blind: bool = False, verbose: bool = False) -> None:
        cold_start()
        self.cloud: MemoryCloud = memory_cloud()
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
        self._verbose = verbose
        self._wrap = wrap
        self._sequence = 0
        self._processes: list[Process] = []
        self._ports = self.cloud.ports()
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

    def do(self, command: c.Command) -> None:
        """Let this happen, if there is something that it can happen to."""
        self._sequence += 1
        if self._verbose:
            self.note(c.told(command))
        self.count.events += not isinstance(command, c.Pass | c.Sweep | c.Run)
        getattr(self, f"_{type(command).__name__.lower()}")(command)

    def _submit(self, command: c.Submit) -> None:
        """A developer whose zone has no room is told so by gcloud; there is no job then."""
        job = new_job(len(self.jobs), command.kind, command.zone, command.nodes)
        if not self.cloud.compute.has_room(job.zone):
            return
        self.jobs.append(job)
        self.nodes.update(dict.fromkeys(job.nodes, job))
        if job.kind is not c.Kind.BARE:
            self._store(self.layout.build(CreateScript(job=job.name)), job.script)
        if job.kind is c.Kind.EARLY:
            self._store(self.layout.build(JobFile(job=job.name)), b"make_before_break = true\n")
        self._launch(job)
        self.pass_time(timedelta(seconds=40))
        if command.seen:
            self.sweep_now()

    def _launch(self, job: Job) -> None:
        job.launches += 1
        self.cloud.compute.launch(job.request, f"{job.name} by hand {job.launches}")

    def _store(self, name: str, data: bytes) -> None:
        self.cloud.store.write(name, data, generation=None)

    def _finish(self, command: c.Finish) -> None:
        if job := self._pick_job(command.job):
            self._close(job, ENDED)
            self.guests.end(job)
            for vm in self.running(job) if command.leave else ():
                self._go(vm, command.word)
                self.cloud.compute.owner_deletes(vm.seen.id, user=GUEST)

    def _remove(self, command: c.Remove) -> None:
        if job := self._pick_job(command.job):
            self._close(job, STOPPED)
            for vm in self.running(job):
                self._go(vm, command.word)
                act = self.cloud.compute.owner_stops if command.keep else self.cloud.compute.owner_deletes
                act(vm.seen.id)

    def _relaunch(self, command: c.Relaunch) -> None:
        """Only where nothing of the job is left that a launch by hand could meet."""
        over = [job for job in self.jobs if job.over == STOPPED]
        job = over[command.job % len(over)] if over else None
        if job and not self._vms(job) and self.cloud.compute.has_room(job.zone):
            job.over, job.hurt = "", False
            self._launch(job)

    def _close(self, job: Job, why: str) -> None:
        job.over, job.over_at = why, self._sequence

    def _go(self, vm: Vm, word: c.Word) -> None:
        self.guests.shut_down(vm, word)

    def _crash(self, command: c.Crash) -> None:
        """A gang that has lost a node often ends so, and who was told of its end may: the job goes on."""
        if job := self._pick_job(command.job):
            if self.whole(job):
                self._close(job, CRASHED)
            for vm in self.running(job):
                self._go(vm, command.word)
                self.cloud.compute.power_off(vm.seen.id)

    def _preempt(self, command: c.Preempt) -> None:
        vm = self._pick_vm(command.vm)
        if vm is None:
            return
        job = self.nodes[vm.seen.name]
        if job.kind is c.Kind.EARLY and command.word is not c.Word.NONE:
            job.doomed.add(vm.seen.id)
            self.guests.announce(vm)
            self.cloud.compute.vms.later(NOTICE, lambda: self._take(vm, command.word))
        else:
            self._take(vm, command.word)

    def _take(self, vm: Vm, word: c.Word) -> None:
        if vm.seen.status is Status.RUNNING:
            self.nodes[vm.seen.name].hurt = True
            self._go(vm, word)
            self.cloud.compute.preempt(vm.seen.id)

    def _failhost(self, command: c.FailHost) -> None:
        if vm := self._pick_vm(command.vm):
            self.nodes[vm.seen.name].hurt = True
            self.cloud.compute.fail_host(vm.seen.id)

    def _reboot(self, command: c.Reboot) -> None:
        if vm := self._pick_vm(command.vm):
            self._go(vm, command.word)

    def _stray(self, command: c.Stray) -> None:
        node = self.jobs[command.job % len(self.jobs)].nodes[0] if command.broken and self.jobs else "nobody"
        self._store(self.layout.build(MarkerName(node=node)), b"{" if command.broken else b"")

    def _stock(self, command: c.Stock) -> None:
        zone = ZONES[command.zone % len(ZONES)]
        if command.left is None:
            self.cloud.compute.restock(zone)
        else:
            self.cloud.compute.stock_out(zone, left=command.left)

    def _hide(self, command: c.Hide) -> None:
        act = self.cloud.compute.hide if command.hidden else self.cloud.compute.show
        act(ZONES[command.zone % len(ZONES)])

    def _pass(self, command: c.Pass) -> None:
        self.pass_time(timedelta(seconds=command.seconds))

    def pass_time(self, span: timedelta) -> None:
        """Let time pass, and everything happen at its moment."""
        vms, until = self.cloud.compute.vms, self.now() + span
        while (due := vms.next_due()) and due <= until:
            self.cloud.clock.advance(max(due - self.now(), timedelta(0)))
            vms.catch_up()
        self.cloud.clock.advance(until - self.now())

    def _sweep(self, command: c.Sweep) -> None:
        if len(self._processes) >= WAITING_AT_MOST:
            self._processes.pop(0).kill()
            self.count.kills += 1
        process = self._new_process(timedelta(seconds=command.skew), self._node(command.about))
        self._processes.append(process)
        self._run_on(process, command.calls, command.then, changes=command.changes)

    def _node(self, about: int | None) -> str:
        nodes = sorted(self.nodes)
        return nodes[about % len(nodes)] if about is not None and nodes else ""

    def _new_process(self, skew: timedelta, about: str = "") -> Process:
        self.count.sweeps += 1
        sweep = f"sweep-{self.count.sweeps:04}"
        now = self.now() + skew
        tick = Tick(function="recover_spot", sweep=sweep, now=now, patient=not about, about=about)
        process = Process(tick, self._sequence, self.watch)
        process.begin(
            lambda cloud: recover_spot().sweep(cloud, SETTINGS, POLICY, tick), self._ports, self._wrap
        )
        return process

    def _run(self, command: c.Run) -> None:
        if self._processes:
            self.count.switches += 1
            process = self._processes[command.sweep % len(self._processes)]
            self._run_on(process, command.calls, command.then, changes=command.changes)

    def _run_on(self, process: Process, calls: int, then: c.Then, *, changes: bool = False) -> None:
        calls_before, lost_before = process.calls, process.lost
        process.run(calls, then, changes=changes)
        self.count.calls += process.calls - calls_before
        self.count.faults += process.lost - lost_before
        if process.alive:
            return
        if self._verbose:
            self.note(f"    {process.tick.sweep} ends: {process.failure or process.swept or 'killed'}")
        self._processes = [one for one in self._processes if one is not process]
        self.count.kills += process.swept is None and process.failure is None
        self.failures += expected_only(process)

    def sweep_now(self, skew: timedelta = timedelta(0)) -> Process:
        """One sweep from its beginning to its end."""
        self._sequence += 1
        process = self._new_process(skew)
        self._run_on(process, 0, c.Then.GO_ON)
        return process

    def let_go(self) -> None:
        """Let all sweeps that wait go on to their ends."""
        for process in list(self._processes):
            self._run_on(process, 0, c.Then.GO_ON)

    def _pick_job(self, number: int) -> Job | None:
        """An open job of which a VM runs."""
        found = [job for job in self.jobs if not job.over and self.running(job)]
        return found[number % len(found)] if found else None

    def _pick_vm(self, number: int) -> Vm | None:
        """A running VM of a job, its end not yet announced; that of a job that has ended may still run."""
        vms = [vm for job in self.jobs for vm in self.running(job) if vm.seen.id not in job.doomed]
        return vms[number % len(vms)] if vms else None

    def whole(self, job: Job) -> bool:
        """Whether all its nodes run, and none was told of its end."""
        return len([vm for vm in self.running(job) if vm.seen.id not in job.doomed]) == len(job.nodes)

    def running(self, job: Job) -> Sequence[Vm]:
        """Its VMs that run."""
        return [vm for vm in self._vms(job) if vm.seen.status is Status.RUNNING]

    def _vms(self, job: Job) -> Sequence[Vm]:
        vms = self.cloud.compute.vms.living.values()
        return [vm for vm in vms if self.nodes.get(vm.seen.name) is job]


def expected_only(process: Process) -> list[str]:
    """What a sweep raised that no trouble of the cloud explains."""
    from spotwarden.ports import ConflictError, RejectedError, UnansweredError  # noqa: PLC0415

    raised = [*([process.failure] if process.failure else []), *getattr(process.swept, "failures", ())]
    known = (ConflictError, RejectedError, UnansweredError)
    return [f"{process.tick.sweep} raised {one!r}" for one in raised if not isinstance(one, known)]
