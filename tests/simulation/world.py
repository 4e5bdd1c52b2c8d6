"""What each command of a history does to the world."""

import sys
from datetime import timedelta

import msgspec
from msgspec.structs import replace

from spotwarden.engine.executor import Executor
from spotwarden.layout import CreateScript, JobFileName, MarkerName
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.base_action import CloseJob
from spotwarden.model.instance import Status
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watch, Watched
from spotwarden.ports import RejectedError
from spotwarden.recovery.kinds.flexible import SHORTEST_FLEXIBLE_RUN
from spotwarden.recovery.places.moving import turns
from tests.fakes.vms import Vm
from tests.simulation import commands as c
from tests.simulation.ground import Ground
from tests.simulation.guests import GUEST, MARGIN, NOTICE
from tests.simulation.jobs import (
    ANYWHERE,
    CRASHED,
    ENDED,
    FAR,
    HANDS_OVER,
    MACHINES,
    NAMESAKE,
    SECOND,
    STOPPED,
    TOLD,
    UNBORN,
    ZONES,
    Job,
    cornered,
    new_job,
    stranger,
)
from tests.simulation.process import Process
from tests.simulation.product import CHEAPER, CORNERED, POLICY, PRICES
from tests.simulation.submit import submit

NO_EVENTS = (c.Pass, c.Sweep, c.Run, c.Share, c.Deliver)


class World(Ground):
    """One history in the making."""

    def do(self, command: c.Command) -> None:
        """Let this happen, if there is something that it can happen to."""
        self.sequence += 1
        if self.verbose:
            self.note(c.told(command))
        self.count.events += not isinstance(command, NO_EVENTS)
        getattr(self, f"_{type(command).__name__.lower()}")(command)

    def _submit(self, command: c.Submit) -> None:
        """A developer whose zone has no room is told so by gcloud; there is no job then."""
        job = new_job(len(self.jobs), command.kind, command.zone, command.nodes, told=command.told)
        if not self.cloud.compute.has_room(job.zone, MACHINES[0]):
            return
        self._take_in(job)
        if job.kind is not c.Kind.BARE:
            self.store(self.layout.build(CreateScript(job=job.name)), job.script)
        self._launch(job, seen=command.seen)

    def _take_in(self, job: Job) -> None:
        self.jobs.append(job)
        self.nodes.update(dict.fromkeys(job.nodes, job))
        if job.kind in TOLD:
            self.store(self.layout.build(JobFileName(job=job.name)), HANDS_OVER.encode())
        if job.kind is c.Kind.BENT:
            self.store(self.layout.build(JobFileName(job=job.name)), self._enough(job).encode())

    def _enough(self, job: Job) -> str:
        """What job.toml says of a gang that bends."""
        told = "handover = true\n" if job.told else ""
        return f'{told}nodes = "{len(job.nodes) - 1}:{len(job.nodes)}"\n'

    def _submitbyledger(self, command: c.SubmitByLedger) -> None:
        """Until a VM of it runs, its developer knows more of it than any sweep."""
        job = new_job(len(self.jobs), command.kind, command.zone, command.nodes, told=command.told)
        job.over, job.over_at, job.hurt = UNBORN, sys.maxsize, True
        self._take_in(job)
        tick = Tick(function="submit", sweep=f"submit-{len(self.jobs):04}", now=self.now())
        process = Process(tick, self.sequence, self.watch)
        process.begin(lambda cloud: submit(cloud, job, tick), self.ports, self.wrap)
        self.admit(process)
        self.run_on(process, command.calls, command.then, changes=True)

    def _launch(self, job: Job, *, seen: bool) -> None:
        """Ticks come each minute: what lives that long is seen at least once."""
        job.launches += 1
        # Its developer has rights of his own.
        compute = self.cloud.compute
        forbidden, refused = compute.forbid(forbidden=False), compute.refuse_notice(MACHINES[0], None)
        compute.launch(job.request, f"{job.name} by hand {job.launches}")
        compute.forbid(forbidden=forbidden)
        compute.refuse_notice(MACHINES[0], refused)
        self.pass_time(timedelta(seconds=40))
        if seen:
            self.sweep_now()

    def _finish(self, command: c.Finish) -> None:
        if job := self.pick_job(command.job):
            self._close(job, ENDED)
            self.guests.end(job)
            for vm in self.running(job) if command.leave else ():
                self._go(vm, command.word)
                self.cloud.compute.owner_deletes(vm.seen.id, user=GUEST)

    def _remove(self, command: c.Remove) -> None:
        if job := self.pick_job(command.job):
            if self.whole(job):
                self._close(job, STOPPED)
            else:
                self._end_by_owner(job)
            for vm in self.up(job):
                self._go(vm, command.word if vm.seen.status is Status.RUNNING else c.Word.NONE)
                self._take_down(vm, keep=command.keep)
            job.stopped = tuple(vm.seen.id for vm in self.vms_of(job)) if command.keep else ()

    def _take_down(self, vm: Vm, *, keep: bool) -> None:
        act = self.cloud.compute.owner_stops if keep else self.cloud.compute.owner_deletes
        act(vm.seen.id)

    def _interfere(self, command: c.Interfere) -> None:
        """Where the log tells of the delete later than of the preemption, nobody can know in time."""
        # Of a gang that bends it removes a node, as `RemoveNode` does, and not the job.
        jobs = [job for job in self.jobs if not job.over and job.kind not in TOLD | {c.Kind.BENT}]
        vms = [vm for job in jobs for vm in self.vms_of(job) if vm.seen.status is Status.STOPPING]
        if vms:
            vm = vms[command.vm % len(vms)]
            job = self.nodes[vm.node]
            self._end_by_owner(job)
            job.removed_late = vm.node if job.doubtful else ""
            self._take_down(vm, keep=command.keep)

    def _removenode(self, command: c.RemoveNode) -> None:
        gangs = [job for job in self.jobs if len(job.nodes) > 1 and not job.over and not job.smaller]
        whole = [job for job in gangs if self.whole(job) and self._is_on_record(job)]
        if whole:
            job = whole[command.job % len(whole)]
            node = job.nodes[command.node % len(job.nodes)]
            vm = next(vm for vm in self.running(job) if vm.node == node)
            job.smaller, job.doubtful, job.hurt = node, True, False
            self._take_down(vm, keep=command.keep)

    def _is_on_record(self, job: Job) -> bool:
        """Whether the ledger counts on the very VMs that run; nobody misses one that nobody saw."""
        entries = self.cloud.store.entries(self.layout.attempts(job.name))
        read = [self.cloud.store.read(entry.name) for entry in entries]
        records = [msgspec.json.decode(one.data, type=Attempt) for one in read if one]
        newest = max(records, key=lambda record: record.number, default=None)
        running = {vm.node: vm.seen.id for vm in self.running(job)}
        return newest is not None and newest.state is AttemptState.RUNNING and newest.instances == running

    def _startagain(self, command: c.StartAgain) -> None:
        """Only what its owner stopped as a whole, and nothing else of the job is there."""
        over = [job for job in self.jobs if job.over == STOPPED and job.stopped and not job.smaller]
        job = over[command.job % len(over)] if over else None
        if job is None or {vm.seen.id for vm in self.vms_of(job)} != set(job.stopped):
            return
        vms = self.vms_of(job)
        if len(vms) == len(job.nodes) and all(vm.seen.status is Status.TERMINATED for vm in vms):
            job.over, job.over_since, job.hurt, job.stopped = "", None, False, ()
            for vm in vms:
                self.cloud.compute.owner_starts(vm.seen.id)
                if vm.seen.id in job.doomed:
                    job.again[vm.seen.id] = self.sequence
                if not self.guests.is_fenced(job, vm):
                    job.doomed.discard(vm.seen.id)  # What it was told of was its former life.
            self.pass_time(timedelta(seconds=40))

    def _lag(self, command: c.Lag) -> None:
        self.cloud.compute.let_the_log_lag(timedelta(seconds=command.seconds))

    def _end_by_owner(self, job: Job) -> None:
        """Its owner ends it; while the log lags, a job that something befell may come back before."""
        if self.cloud.compute.lags:
            job.doubtful = True
        else:
            self._close(job, STOPPED)

    def _stop(self, command: c.Stop) -> None:
        """Its record comes behind the newest as it is now; a sweep that slept comes second."""
        if job := self.pick_job(command.job):
            tick = Tick(function="stop", sweep=f"stop-{self.sequence:04}", now=self.now())
            Executor(self.ports, self.layout, POLICY, tick).apply(CloseJob(reason="stopped", job=job.name))
            self._close(job, STOPPED)
            job.stopped = ()
            for vm in self.up(job):
                act = self.cloud.compute.owner_stops if command.keep else self.cloud.compute.owner_deletes
                act(vm.seen.id)

    def _namesake(self, command: c.Namesake) -> None:
        """Nobody's VM: it must be let be, and the job come back as if it were not there."""
        zone = ZONES[command.zone % len(ZONES)]
        if not self.jobs or not self.cloud.compute.has_room(zone, MACHINES[0]):
            return
        job = self.jobs[command.job % len(self.jobs)]
        node = job.nodes[command.job % len(job.nodes)]
        name = f"{node}{SECOND}" if command.second else node
        taken = {(vm.seen.name, vm.seen.zone) for vm in self.cloud.compute.vms.living.values()}
        # In the zone of its script it would refuse its developer's own launch, as any would one for a region.
        at_home = zone == job.zone and not command.second
        if (name, zone) in taken or at_home or job.kind in ANYWHERE:
            return
        request = stranger(name, zone)
        if command.labelled:
            labels = {"spotwarden-job": job.name, "spotwarden-attempt": "2", "spotwarden-try": "1"}
            request = replace(request, body={**request.body, "labels": labels})
        forbidden = self.cloud.compute.forbid(forbidden=False)
        made = self.cloud.compute.launch(request, f"{NAMESAKE} {self.sequence}")
        self.cloud.compute.forbid(forbidden=forbidden)
        self.strangers += [made.target_id] if made.target_id else []

    def _relaunch(self, command: c.Relaunch) -> None:
        """Only where nothing of the job is left that a launch by hand could meet."""
        over = [job for job in self.jobs if job.over == STOPPED]
        job = over[command.job % len(over)] if over else None
        if job and not self.vms_of(job) and self.cloud.compute.has_room(job.zone, MACHINES[0]):
            job.over, job.over_since, job.hurt, job.smaller = "", None, False, ""
            self._launch(job, seen=command.seen)

    def _close(self, job: Job, why: str) -> None:
        job.over, job.over_at, job.over_since = why, self.sequence, self.now()

    def _go(self, vm: Vm, word: c.Word) -> None:
        self.guests.shut_down(vm, word)

    def _crash(self, command: c.Crash) -> None:
        """A gang that has lost a node often ends so, and who was told of its end may: the job goes on."""
        if job := self.pick_job(command.job):
            if self.whole(job):
                self._close(job, CRASHED)
            else:
                job.doubtful = True
            for vm in self.running(job):
                self._go(vm, command.word)
                self.cloud.compute.power_off(vm.seen.id)

    def _preempt(self, command: c.Preempt) -> None:
        vm = self.pick_vm(command.vm)
        if vm is None:
            return
        job = self.nodes[vm.node]
        if job.cornered and not vm.is_spot:
            # Compute Engine takes no on-demand VM; its host may fail.
            self._fail(vm)
            return
        if job.kind is c.Kind.FLEX:
            self._live_long(vm)
        if (job.kind in TOLD or job.parts) and command.word is not c.Word.NONE:
            job.doomed.add(vm.seen.id)
            self.guests.announce(vm)
            if job.parts:
                self.guests.part(vm)
            self.cloud.compute.vms.later(NOTICE, lambda: self._take(vm, command.word))
        else:
            self._take(vm, command.word)

    def _live_long(self, vm: Vm) -> None:
        """No time limit of a Flex-start VM is shorter than ten minutes: ticks, and their messages, see it."""
        ran = self.now() - (vm.seen.started or self.now())
        self.pass_time(max(SHORTEST_FLEXIBLE_RUN - ran, timedelta(0)))
        self.cloud.compute.show(vm.seen.zone)
        self.sweep_now()
        self.deliver_all()

    def _announce(self, command: c.Announce) -> None:
        """Only who asked for it is told; the job kit then does what it can, and goes, or trains again."""
        vm = self.pick_vm(command.vm)
        job = self.nodes[vm.node] if vm else None
        if vm is None or job is None or not (job.kind in TOLD or job.parts):
            return
        if job.parts:
            # It is called off before its job kit has handed over, or after that.
            self.guests.announce(vm)
            if command.times > 1:
                self.guests.part(vm)
                self.cloud.compute.vms.later(NOTICE + MARGIN, lambda: self.guests.go_back(vm))
            return
        job.doomed.add(vm.seen.id)
        for time in range(command.times):
            self.cloud.compute.vms.later(time * NOTICE / 2, lambda: self.guests.announce(vm))
        self.guests.outlive(vm, NOTICE * (command.times + 1) / 2 + MARGIN)

    def _take(self, vm: Vm, word: c.Word) -> None:
        if vm.seen.status is Status.RUNNING:
            self.nodes[vm.node].hurt = True
            self._go(vm, word)
            self.cloud.compute.preempt(vm.seen.id)

    def _failhost(self, command: c.FailHost) -> None:
        if vm := self.pick_vm(command.vm):
            self._fail(vm)

    def _fail(self, vm: Vm) -> None:
        self.nodes[vm.node].hurt = True
        self.cloud.compute.fail_host(vm.seen.id)

    def _reboot(self, command: c.Reboot) -> None:
        if vm := self.pick_vm(command.vm):
            self._go(vm, command.word)

    def _stray(self, command: c.Stray) -> None:
        node = self.jobs[command.job % len(self.jobs)].nodes[0] if command.broken and self.jobs else "nobody"
        self.store(self.layout.build(MarkerName(node=node)), b"{" if command.broken else b"")

    def _stock(self, command: c.Stock) -> None:
        zone = (*ZONES, FAR)[command.zone] if command.zone == len(ZONES) else ZONES[command.zone % len(ZONES)]
        if command.left is None:
            self.cloud.compute.restock(zone)
        else:
            self.cloud.compute.stock_out(zone, left=command.left)

    def _allow(self, command: c.Allow) -> None:
        if job := self.pick_job(command.job):
            job.machines = MACHINES[: 1 + command.machines % len(MACHINES)]
            early = HANDS_OVER if job.kind in TOLD else ""
            early = self._enough(job) if job.kind is c.Kind.BENT else early
            text = f"{early}{job.cornered}machines = {msgspec.json.encode(job.machines[1:]).decode()}\n"
            self.store(self.layout.build(JobFileName(job=job.name)), text.encode())

    def _runout(self, command: c.RunOut) -> None:
        change = self.cloud.compute.run_out_of if command.out else self.cloud.compute.have_again
        change(MACHINES[command.machine % len(MACHINES)], ZONES[command.zone % len(ZONES)])

    def _hide(self, command: c.Hide) -> None:
        act = self.cloud.compute.hide if command.hidden else self.cloud.compute.show
        act(ZONES[command.zone % len(ZONES)])

    def _forget(self, command: c.Forget) -> None:
        self.cloud.compute.forget_operations(requests=command.requests)

    def _notice(self, command: c.Notice) -> None:
        machine = MACHINES[command.machine % len(MACHINES)]
        named = RejectedError("invalid", "'resource.scheduling.preemptionNoticeDuration': '120s'")
        error = named if command.named else RejectedError("unsupportedOperation", f"not for {machine}")
        self.cloud.compute.refuse_notice(machine, error if command.refused else None)

    def _forbid(self, command: c.Forbid) -> None:
        self.cloud.compute.forbid(forbidden=command.forbidden)

    def _pass(self, command: c.Pass) -> None:
        self.pass_time(timedelta(seconds=command.seconds))

    def _sweep(self, command: c.Sweep) -> None:
        process = self.new_process(timedelta(seconds=command.skew), self._node(command.about))
        self.admit(process)
        self.run_on(process, command.calls, command.then, changes=command.changes)

    def _node(self, about: int | None) -> str:
        nodes = sorted(self.nodes)
        return nodes[about % len(nodes)] if about is not None and nodes else ""

    def _run(self, command: c.Run) -> None:
        if self.processes:
            self.count.switches += 1
            process = self.processes[command.sweep % len(self.processes)]
            self.run_on(process, command.calls, command.then, changes=command.changes)

    def _share(self, command: c.Share) -> None:
        self.settings = replace(self.settings, share_from=command.above)

    def _cheaper(self, command: c.Cheaper) -> None:
        """From now on a running job may be moved there; its turn comes within ten minutes."""
        self.settings = replace(self.settings, prices_file=PRICES)
        self.policy = CORNERED if any(job.cornered for job in self.jobs) else CHEAPER
        self.guests.moves = self.watch.moves = True
        self.do(c.Stock(zone=len(ZONES), left=command.left))
        early = [job for job in self.jobs if job.kind is c.Kind.EARLY and not job.over]
        if not early:
            return
        self.guests.expect_moves(early)
        job = early[command.job % len(early)].name
        entry = Watched(watch=Watch(job=job, movable=True), generation=1, since=self.now())
        while not turns([entry], self.now(), 1):
            self.pass_time(timedelta(seconds=60))

    def _corner(self, command: c.Corner) -> None:
        # Not while a VM was told of its end: an early successor that may go nowhere any more waits for that.
        early = [job for job in self.jobs if job.kind is c.Kind.EARLY and not job.over and self.whole(job)]
        if early:
            job = early[command.job % len(early)]
            self.policy = CORNERED
            job.regional = command.regional
            job.cornered = cornered(self.now(), ladder=command.ladder, regional=job.regional)
            self.store(self.layout.build(JobFileName(job=job.name)), f"{HANDS_OVER}{job.cornered}".encode())

    def _spotroom(self, command: c.SpotRoom) -> None:
        act = self.cloud.compute.have_no_spot if command.out else self.cloud.compute.have_spot
        for job in self.jobs:
            if job.cornered or not command.out:
                for zone in job.spot_zones:
                    act(zone)

    def _deliver(self, command: c.Deliver) -> None:
        message = self.take_message(command.message, keep=command.keep)
        if message is None or command.lost:
            return
        process = self.new_process(timedelta(seconds=command.skew), message=message)
        self.admit(process)
        self.run_on(process, command.calls, command.then, changes=command.changes)
