"""What each command of a history does to the world."""

import sys
from collections.abc import Sequence
from datetime import timedelta

import msgspec
from msgspec.structs import replace

from spotwarden.layout import (
    CreateScript,
    Heartbeat,
    JobFileName,
    MarkerName,
    MetricsFile,
    NodeHeartbeat,
    StatusCode,
)
from spotwarden.model.instance import Status
from spotwarden.model.watch import Watch, Watched
from spotwarden.recovery.places.moving import turns
from tests.fakes.beats import kit_beat
from tests.fakes.fate import is_flexible
from tests.fakes.vms import Vm
from tests.simulation import commands as c
from tests.simulation.guests import MARGIN
from tests.simulation.jobs import CRASHED, ENDED, FAR, MACHINES, SECOND, ZONES, cornered
from tests.simulation.plane import commands as p
from tests.simulation.plane.google import REPAIR
from tests.simulation.plane.guests import GUEST, NOTICE
from tests.simulation.plane.jobs import MACHINE, ODD, PlaneJob, new_job
from tests.simulation.plane.product import changed
from tests.simulation.plane.reruns import Reruns
from tests.simulation.plane.verdict import ledger_of
from tests.simulation.product import CHEAPER, CORNERED, PRICES

NO_EVENTS = (c.Pass, c.Run, p.Sweep, p.Tick)
MOMENT = timedelta(milliseconds=1)
BELIEVED = timedelta(minutes=12)
"""For so long a sweep may act upon an early marker: `early_notice`, the lease, and clocks that are off."""
UP = {Status.PROVISIONING, Status.STAGING, Status.RUNNING, Status.REPAIRING}
AT_REST = {Status.TERMINATED, Status.STOPPED, Status.SUSPENDED}


class PlaneWorld(Reruns):
    """One history in the making."""

    def do(self, command: c.Command) -> None:
        """Let this happen, if there is something that it can happen to."""
        self.sequence += 1
        if self.verbose:
            self.note(c.told(command))
        self.count.events += not isinstance(command, NO_EVENTS)
        getattr(self, f"_{type(command).__name__.lower()}")(command)

    def _launch(self, command: p.Launch) -> None:
        job = new_job(len(self.jobs), command)
        waits = command.typed or job.kind is c.Kind.FLEX
        if not waits and not self.compute.has_room(job.zone, ODD if job.odd else MACHINE):
            return
        self.jobs.append(job)
        if job.settings:
            self.store(self.layout.build(JobFileName(job=job.name)), job.settings)
        if command.typed:
            job.over_at, job.hurt = sys.maxsize, True
            self.type_now(p.Spell.SUBMIT, job)
            return
        job.over = ""
        if job.kind is not c.Kind.BARE:
            self.store(self.layout.build(CreateScript(job=job.name)), job.script)
        self.by_hand(job)

    def by_hand(self, job: PlaneJob) -> None:
        """An owner's own gcloud makes the VMs; ticks come each minute, so that they are seen."""
        self.launch_by_hand(job)
        self.pass_time(timedelta(seconds=40))
        if not self.broken_policy:
            self.sweep_now(p.Function.RECOVER)

    def _behave(self, command: p.Behave) -> None:
        if vm := self.pick_vm(command.vm):
            for other in self.running(self.mine[vm.seen.id]) if command.whole else [vm]:
                self.guests.behave(other, command.mood)

    def _end(self, command: p.End) -> None:
        if job := self.pick_job(command.job):
            self.close(job, ENDED)
            # While it is moved, its end is told anew by the VM that it moves to, if that comes so far.
            job.doubtful |= any(vm.seen.id in job.leaving for vm in self.running(job))
            self.guests.end(job)
            for vm in self.running(job) if command.leave else ():
                self.compute.owner_deletes(vm.seen.id, user=GUEST)

    def _collapse(self, command: p.Collapse) -> None:
        """A gang that has lost a node often ends so, and who was told of its end may: the job goes on."""
        if job := self.pick_job(command.job):
            if len([vm for vm in self.running(job) if vm.seen.id not in job.doomed]) == len(job.nodes):
                self.close(job, CRASHED)
            else:
                job.doubtful = True
            # The VM that it moves to begins anew.
            job.doubtful |= any(vm.seen.id in job.leaving for vm in self.running(job))
            for vm in self.running(job):
                self.guests.shut_down(vm, command.word)
                self.compute.power_off(vm.seen.id)

    def _gcloud(self, command: p.Gcloud) -> None:
        down = command.verb in {p.Verb.DELETE, p.Verb.STOP, p.Verb.SUSPEND}
        jobs = self.jobs if down else [job for job in self.jobs if job.kind is not c.Kind.BENT]
        vms = [vm for job in jobs for vm in (self.up(job) if down else self.at_rest(job))]
        if command.verb is not p.Verb.DELETE:
            # Compute Engine refuses anything else while a VM waits for room.
            vms = [vm for vm in vms if vm.seen.status is not Status.PENDING]
        if not down:
            still = Status.SUSPENDED if command.verb is p.Verb.RESUME else Status.TERMINATED
            vms = [vm for vm in vms if vm.seen.status is still]
        if command.verb is p.Verb.DELETE and command.late:
            late = (job for job in self.jobs if job.kind is not c.Kind.BENT)
            vms = [vm for job in late for vm in self.stopping(job)] or vms
        if not vms:
            return
        vm = vms[command.vm % len(vms)]
        job = self.mine[vm.seen.id]
        some = [vm]
        if command.whole:
            # Whoever starts a gang again starts the VMs of one attempt, not those of all.
            whole = [other for other in vms if self.mine[other.seen.id] is job]
            some = [other for other in whole if down or other.launch == vm.launch]
        # Nobody types in the very instant of something else: nothing would tell which was first.
        self.pass_time(MOMENT)
        if down:
            ids = [other.seen.id for other in some]
            job.partly |= any(other.seen.id not in ids for other in self.up(job))
            self.person_ends(job, ids)
        again = bool(job.over or job.started) or not self.up(job)
        is_second = not down and self._starts_beside(job, some)
        for other in some:
            self.person_does(command.verb, other, command.word)
        if not down:
            self.reopen(job)
            job.started = {other.seen.id for other in self.up(job)} if again else set()
            # Of a gang that was stopped and started in part, the rest stays removed: docs/recovery.md.
            job.doubtful |= is_second or (again and len(self.up(job)) < len(job.nodes))
            # What has handed over deletes itself, before or after a sweep counts on it again.
            job.doubtful |= self._has_handed_over(job, some)

    def _has_handed_over(self, job: PlaneJob, some: Sequence[Vm]) -> bool:
        """Whether a move has taken the job from one of these VMs."""
        moves = (record for record in ledger_of(self, job) if record["planned"])
        gone = {vm_id for record in moves for vm_id in record["replaces"].values()}
        return any(vm.seen.id in gone for vm in some)

    def _starts_beside(self, job: PlaneJob, some: Sequence[Vm]) -> bool:
        """Whether a person starts VMs of a former attempt while another one lives: nothing forbids it."""
        ids = {vm.seen.id for vm in some}
        launches = {vm.launch for vm in some}
        is_second = any(vm.launch not in launches for vm in self.oracle.there(job))
        job.beside = job.beside | ids if is_second else job.beside - ids
        return is_second

    def _namesake(self, command: p.Namesake) -> None:
        if not self.jobs:
            return
        job, zone = self.jobs[command.job % len(self.jobs)], ZONES[command.zone % len(ZONES)]
        if job.cornered and zone == job.zone and not command.second:
            return  # The job could go nowhere else, and would wait for ever.
        name = f"{job.nodes[0]}{SECOND}" if command.second else job.nodes[0]
        if any(vm.seen.name == name and vm.seen.zone == zone for vm in self.compute.vms.living.values()):
            return
        labels = {"spotwarden-job": job.name, "goog-gke-node": ""} if command.managed else {}
        if command.managed:
            name = f"{job.name}-mig-{len(self.strangers)}"
        made = self.compute.add(name, zone=zone, machine_type=MACHINE, labels=labels)
        self.strangers.append(made)

    def _preempt(self, command: c.Preempt) -> None:
        vm = self.pick_vm(command.vm)
        if vm is None:
            return
        job = self.mine[vm.seen.id]
        if job.cornered and not vm.is_spot:
            # Compute Engine takes no on-demand VM; its host may fail.
            self.hurt(vm)
            self.compute.fail_host(vm.seen.id)
            return
        if is_flexible(vm.body):
            self.live_long(vm)
        if (job.kind is c.Kind.EARLY or job.parts) and command.word is not c.Word.NONE:
            job.doomed.add(vm.seen.id)
            self.guests.announce(vm)
            if job.parts:
                self.guests.part(vm)
            self.compute.vms.later(NOTICE, lambda: self.take(vm, command.word))
        else:
            self.take(vm, command.word)

    def _failhost(self, command: c.FailHost) -> None:
        if vm := self.pick_vm(command.vm):
            self.hurt(vm)
            self.compute.fail_host(vm.seen.id)

    def _reboot(self, command: c.Reboot) -> None:
        if vm := self.pick_vm(command.vm):
            self.guests.shut_down(vm, command.word)

    def _repair(self, command: p.Repair) -> None:
        if vm := self.pick_vm(command.vm):
            self.compute.vms.become(vm.seen.id, Status.REPAIRING)
            self.compute.vms.later(REPAIR, lambda: self._repaired(vm))

    def _repaired(self, vm: Vm) -> None:
        if vm.seen.id in self.compute.vms.living and vm.seen.status is Status.REPAIRING:
            self.compute.vms.become(vm.seen.id, Status.RUNNING)

    def _stray(self, command: c.Stray) -> None:
        job = self.jobs[command.job % len(self.jobs)] if self.jobs else None
        node = job.nodes[0] if job and command.broken else "nobody"
        self.store(self.layout.build(MarkerName(node=node)), b"{" if command.broken else b"")

    def _deceive(self, command: p.Deceive) -> None:
        """All of it may be written by any job VM: no condition of the bucket can tell jobs apart."""
        lying, about = self.pick_job(command.by), self.pick_job(command.about)
        if command.lie is p.Lie.STATUS_AS and lying is not None:
            self._forge(command.about, lying)
            return
        if lying is None or about is None or lying is about:
            return
        vm = self.running(about)[0]
        self.note(f"    about {about.name}")
        if command.lie is p.Lie.LATE:
            self._write_late(about, vm)
            return
        about.deceived = True
        self._lie(command.lie, about, vm)

    def _forge(self, number: int, lying: PlaneJob) -> None:
        """Write the end of another open job's newest attempt: it is the very word by which a job says so."""
        others = [job for job in self.jobs if not job.over and job is not lying and ledger_of(self, job)]
        if not others:
            return
        about = others[number % len(others)]
        self.note(f"    about {about.name}")
        newest = ledger_of(self, about)[-1]
        about.deceived = True
        self.close(about, ENDED)
        about.doubtful = about.forged = True
        vm_id = next(iter(newest["instances"].values()), "1")
        said = {"attempt": str(newest["number"]), "instance_id": vm_id}
        self.cloud.store.put(self.layout.build(StatusCode(job=about.name)), b"0", said)

    def _rewrite(self, command: p.Rewrite) -> None:
        jobs = [job for job in self.jobs if job.kind is not c.Kind.BARE]
        if jobs:
            job = jobs[command.job % len(jobs)]
            job.version += 1
            self.store(self.layout.build(CreateScript(job=job.name)), job.script)

    def _announce(self, command: c.Announce) -> None:
        """A VM of a job that wants no early successor is told that it is taken, says so, and is not taken."""
        vm = self.pick_vm(command.vm)
        if vm is not None and self.mine[vm.seen.id].parts:
            # It is called off before its job kit has handed over, or after that.
            self.guests.announce(vm)
            if command.times > 1:
                self.guests.part(vm)
                self.compute.vms.later(NOTICE + MARGIN, lambda: self.guests.go_back(vm))
        elif vm is not None and self.mine[vm.seen.id].kind is not c.Kind.EARLY:
            for time in range(command.times):
                self.compute.vms.later(time * NOTICE / 2, lambda: self.guests.announce(vm))

    def _write_late(self, about: PlaneJob, vm: Vm) -> None:
        """Nothing at all may come of this one: it says that it is of an attempt before."""
        name, before = self.layout.build(StatusCode(job=about.name)), (vm.seen.attempt or 1) - 1
        if before and self.cloud.store.read(name) is None:
            self.cloud.store.put(name, b"0", {"attempt": str(before), "instance_id": "1"})

    def _may_be_believed(self, about: PlaneJob, vm: Vm) -> None:
        """Nothing but a marker tells of a notice: for a while a job that hands over may have a successor."""
        about.doomed.add(vm.seen.id)
        self.compute.vms.later(BELIEVED, lambda: self._is_believed_no_more(about, vm))

    def _is_believed_no_more(self, about: PlaneJob, vm: Vm) -> None:
        # An attempt that started it again in place stands in for it, and has it.
        others = [one for one in ledger_of(self, about) if vm.seen.id not in one["instances"].values()]
        if not any(vm.seen.id in record["replaces"].values() for record in others):
            about.doomed.discard(vm.seen.id)

    def _lie_of_beats(self, lie: p.Lie, about: PlaneJob, vm: Vm) -> None:
        node, build, now = vm.node, self.layout.build, self.now()
        old = {"at": now, "progress_at": now - timedelta(hours=9), "step": 1, "instance_id": vm.seen.id}
        match lie:
            case p.Lie.BEAT:
                self.guests.tell(about, node, old)
            case p.Lie.BEAT_END:
                self.guests.tell(about, node, {"at": now, "status": "0", "instance_id": vm.seen.id})
            case p.Lie.FUTURE:
                later = now + timedelta(days=365)
                self.guests.tell(about, node, {**old, "at": later, "progress_at": later})
            case p.Lie.NAMESAKE:
                kit_beat(self.cloud.store, node, layout=self.layout, job="another", **old)
            case p.Lie.JUNK:
                self.store(build(Heartbeat(job=about.name, node=node)), b"\xff{" * 40)
                junk = {"job": about.name, "step": "1e999", "attempt": "x", "metrics": "[" * 8_000}
                self.cloud.store.put(build(NodeHeartbeat(node=node)), b"{", junk)
                metrics = build(MetricsFile(job=about.name, node=node, attempt=vm.seen.attempt or 1))
                self.store(metrics, b'{"step": 1e999}\n\xff\n' * 20)

    def _lie(self, lie: p.Lie, about: PlaneJob, vm: Vm) -> None:
        node, build = vm.node, self.layout.build
        marker = build(MarkerName(node=node))
        metrics = build(MetricsFile(job=about.name, node=node, attempt=vm.seen.attempt or 1))
        said = {"job": about.name, "node": node, "instance_id": vm.seen.id, "zone": vm.seen.zone}
        match lie:
            case p.Lie.MARKER:
                self.store(marker, b"")
            case p.Lie.MARKER_AS:
                self.store(marker, msgspec.json.encode(said))
            case p.Lie.EARLY:
                self.store(marker, msgspec.json.encode({**said, "early": True}))
                if about.kind is c.Kind.EARLY:
                    self._may_be_believed(about, vm)
            case p.Lie.BEAT | p.Lie.FUTURE | p.Lie.NAMESAKE | p.Lie.JUNK | p.Lie.BEAT_END:
                self._lie_of_beats(lie, about, vm)
            case p.Lie.UNREAL:
                self.store(metrics, b'{"step": 7, "metrics": {"loss": "nan"}}\n')
            case p.Lie.STATUS:
                # It is the very word by which a job says that it has ended: nobody can know better.
                self.close(about, ENDED)
                about.doubtful = about.forged = True
                self.store(build(StatusCode(job=about.name)), b"0")

    def _allow(self, command: c.Allow) -> None:
        if job := self.pick_job(command.job):
            job.machines = MACHINES[: 1 + command.machines % len(MACHINES)]
            job.allowed.update(job.machines)
            self.store(self.layout.build(JobFileName(job=job.name)), job.settings)

    def _runout(self, command: c.RunOut) -> None:
        change = self.compute.run_out_of if command.out else self.compute.have_again
        change(MACHINES[command.machine % len(MACHINES)], ZONES[command.zone % len(ZONES)])

    def _cheaper(self, command: c.Cheaper) -> None:
        """From now on a running job may be moved to where it costs less; its turn comes soon."""
        self.settings = replace(self.settings, prices_file=PRICES)
        limits = CORNERED if any(job.cornered for job in self.jobs) else CHEAPER
        self.policy = replace(self.policy, placement=limits.placement)
        self.oracle.moves = True
        if command.left is None:
            self.compute.restock(FAR)
        else:
            self.compute.stock_out(FAR, left=command.left)
        early = [job for job in self.jobs if job.kind is c.Kind.EARLY and not job.over]
        if early:
            job = early[command.job % len(early)].name
            entry = Watched(watch=Watch(job=job, movable=True), generation=1, since=self.now())
            while not turns([entry], self.now(), 1) and not self.oracle.broken:
                self.ticks(timedelta(minutes=1))

    def _corner(self, command: c.Corner) -> None:
        # Not while a VM was told of its end: an early successor that may go nowhere any more waits for that.
        early = [job for job in self.jobs if job.kind is c.Kind.EARLY and not job.over and not job.doomed]
        if early:
            job = early[command.job % len(early)]
            self.policy = replace(self.policy, placement=CORNERED.placement)
            job.regional = command.regional
            job.cornered = cornered(self.now(), ladder=command.ladder, regional=job.regional)
            self.store(self.layout.build(JobFileName(job=job.name)), job.settings)

    def _spotroom(self, command: c.SpotRoom) -> None:
        act = self.compute.have_no_spot if command.out else self.compute.have_spot
        for job in self.jobs:
            if job.cornered or not command.out:
                for zone in job.spot_zones:
                    act(zone)

    def _stock(self, command: c.Stock) -> None:
        zone = ZONES[command.zone % len(ZONES)]
        if command.left is None:
            self.compute.restock(zone)
        else:
            self.compute.stock_out(zone, left=command.left)

    def _hide(self, command: c.Hide) -> None:
        act = self.compute.hide if command.hidden else self.compute.show
        act(ZONES[command.zone % len(ZONES)])

    def _forget(self, command: c.Forget) -> None:
        self.compute.forget_operations(requests=command.requests)

    def _forbid(self, command: c.Forbid) -> None:
        self.compute.forbid(forbidden=command.forbidden)

    def _lag(self, command: p.Lag) -> None:
        self.compute.lag = timedelta(seconds=command.seconds)

    def _others(self, command: p.Others) -> None:
        self.settings = replace(self.settings, share_from=command.above)

    def _pace(self, _command: p.Pace) -> None:
        self.paced = True

    def _hidelog(self, command: p.HideLog) -> None:
        act = self.compute.dark.add if command.hidden else self.compute.dark.discard
        act(ZONES[command.zone % len(ZONES)])

    def _outage(self, command: p.Outage) -> None:
        self.troubles[command.port] = (self.now() + timedelta(seconds=command.seconds), command.fault)

    def _topic(self, command: p.Topic) -> None:
        self.late, self.twice = timedelta(seconds=command.late), command.twice

    def _setpolicy(self, command: p.SetPolicy) -> None:
        if command.change in {p.PolicyChange.BREAK, p.PolicyChange.MEND}:
            self.broken_policy = command.change is p.PolicyChange.BREAK
        self.set_policy(changed(self.policy, command.change))

    def _pass(self, command: c.Pass) -> None:
        self.pass_time(timedelta(seconds=command.seconds))

    def _tick(self, command: p.Tick) -> None:
        self.ticks(timedelta(minutes=command.minutes))

    def _sweep(self, command: p.Sweep) -> None:
        if self.broken_policy:
            return
        nodes = sorted(node for job in self.jobs for node in job.nodes)
        about = nodes[command.about % len(nodes)] if command.about is not None and nodes else ""
        if command.function not in {p.Function.RECOVER, p.Function.COMPLY}:
            about = ""
        process = self.sweep_process(
            command.function, skew=timedelta(seconds=command.skew), about=about, patient=not about
        )
        self.admit(process)
        self.run_on(process, command.calls, command.then, changes=command.changes)
        self.deliver_messages()

    def _run(self, command: c.Run) -> None:
        if self.processes:
            self.count.switches += 1
            process = self.processes[command.sweep % len(self.processes)]
            self.run_on(process, command.calls, command.then, changes=command.changes)
            self.deliver_messages()
