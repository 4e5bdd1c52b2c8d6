"""What people do: with gcloud, with commands, and with the links in their mails."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial

from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request

from spotwarden.engine.context import SweepContext
from spotwarden.model.instance import Status
from spotwarden.model.notice import Way
from spotwarden.model.tick import Tick
from spotwarden.notify.links.offers import offers
from spotwarden.notify.links.tokens import VARIABLE, sign
from spotwarden.notify.links.web import respond
from tests.fakes.fate import NOBODY
from tests.fakes.vms import Vm
from tests.simulation import commands as c
from tests.simulation.jobs import STOPPED
from tests.simulation.plane import commands as p
from tests.simulation.plane.ground import PlaneGround, SleepyProcess
from tests.simulation.plane.jobs import PlaneJob
from tests.simulation.plane.product import POLICY, SECRET
from tests.simulation.plane.shell import command

UP = {Status.PENDING, Status.PROVISIONING, Status.STAGING, Status.RUNNING, Status.REPAIRING}
AT_REST = {Status.TERMINATED, Status.STOPPED, Status.SUSPENDED}


class People(PlaneGround):
    """A world with owners, colleagues and ops in it."""

    def close(self, job: PlaneJob, why: str) -> None:
        """From this moment on the job is over."""
        job.over, job.over_at, job.over_since = why, self.sequence, self.now()
        job.doubtful = False

    def person_ends(self, job: PlaneJob, ids: Sequence[str]) -> None:
        """A person removes VMs of a job: that is the person's word about all of it."""
        unclear = any(vm_id in job.doomed for vm_id in ids) or not self._newest(job) & set(ids)
        # A request, to start one too, that fails within seconds is followed by the next; of a hidden zone
        # nothing is heard.
        unclear |= any(self._is_unheard_of(vm) for vm in self.vms_of(job) if vm.seen.id in ids)
        # A name is no proof: what nobody wrote down is the job's only once it has registered.
        unclear |= any(self.oracle.is_on_no_record(job, vm) for vm in self.vms_of(job) if vm.seen.id in ids)
        # Who tidies up beside an attempt that is under way may mean that one, or not.
        unclear |= self.oracle.is_left_over(job, ids)
        job.touched.update(ids)
        job.said, job.told_by_person = self.now(), True
        left = {vm.seen.id for vm in self.up(job)} - {*ids}
        if job.kind is c.Kind.BENT and left and not job.over:
            # It goes on without them, or is closed once too few are left.
            job.less |= {vm.node for vm in self.vms_of(job) if vm.seen.id in ids}
            job.doubtful = True
            return
        if not job.over:
            self.close(job, STOPPED)
        job.doubtful |= unclear

    def _is_unheard_of(self, vm: Vm) -> bool:
        hidden = vm.seen.zone in {*self.compute.hidden, *self.compute.dark} or bool(self.compute.lag)
        return hidden and vm.seen.id not in self.oracle.ran_since

    def _newest(self, job: PlaneJob) -> set[str]:
        """The ids of the VMs of its newest launch; of a gang that bends the newest of each name."""
        vms = self.vms_of(job)
        if job.kind is c.Kind.BENT:
            return {*{vm.node: vm.seen.id for vm in vms}.values()}
        last = vms[-1].launch if vms else ""
        return {vm.seen.id for vm in vms if vm.launch == last}

    def reopen(self, job: PlaneJob, *, ended: bool = False) -> None:
        """From now on the job is open again, by a person's word; one that has `ended` only by a command."""
        if ended or not (job.ended or job.finished):
            job.over, job.over_since, job.said, job.doubtful = "", None, self.now(), False
            job.finished, job.started, job.less = False, set(), set()
            job.opened, job.told_by_person = self.now(), False
            # The command has removed the status, whoever wrote it.
            job.forged &= not ended

    def person_does(self, verb: p.Verb, vm: Vm, word: c.Word) -> None:
        """What gcloud does for them."""
        self.oracle.by_person(vm, verb.value)
        if verb in {p.Verb.DELETE, p.Verb.STOP} and vm.seen.status is Status.RUNNING:
            self.guests.shut_down(vm, word)
        match verb:
            case p.Verb.DELETE:
                self.compute.owner_deletes(vm.seen.id)
            case p.Verb.STOP:
                self.compute.owner_stops(vm.seen.id)
            case p.Verb.SUSPEND:
                self._turn(vm, "suspend", Status.SUSPENDED)
            case p.Verb.START:
                self._turn(vm, "start", Status.RUNNING)
            case p.Verb.RESUME:
                self._turn(vm, "resume", Status.RUNNING)

    def _turn(self, vm: Vm, kind: str, status: Status) -> None:
        vms = self.compute.vms
        if vm.seen.id in vms.living:
            operation = vms.begin(kind, vm.seen, NOBODY)
            vms.become(vm.seen.id, status)
            vms.end(operation)

    def type_now(
        self,
        spell: p.Spell,
        job: PlaneJob,
        *,
        calls: int = 0,
        then: c.Then = c.Then.GO_ON,
        changes: bool = False,
    ) -> None:
        """An owner types a command, which runs as far as the history lets it."""
        self.count.sweeps += 1
        name = f"cli_{spell.name.lower()}"
        tick = Tick(function=name, sweep=f"{name}-{self.count.sweeps:04}", now=self.now())
        process = SleepyProcess(tick, self.sequence, self.oracle)
        self.oracle.asked_for(process, job, spell)
        process.begin(command(spell, job), self.ports(), self.wrap)
        self.admit(process)
        self.run_on(process, calls, then, changes=changes)
        self.deliver_messages()

    def _type(self, command: p.Type) -> None:
        if self.jobs:
            job = self.jobs[command.job % len(self.jobs)]
            if command.spell is p.Spell.SUBMIT and job.kind is c.Kind.BARE:
                return
            self.type_now(command.spell, job, calls=command.calls, then=command.then, changes=command.changes)

    def _click(self, command: p.Click) -> None:
        way = Way(command.answer.value)
        mails = [mail for mail in self.mailroom.arrived if way in mail.notice.ways]
        if not mails or self.broken_policy:
            return
        mail = mails[-1 - command.mail % len(mails)]
        made = offers(mail.notice, mail.to, POLICY.notify, mail.at)
        offer = next((one for one in made if one.way is way), None)
        if offer is None or self.renderer.keys is None:
            return
        token = sign(offer, self.renderer.keys)
        process = self.spawn("answer_notice", partial(_post, token=token, pause=self._pause))
        job = next((job for job in self.jobs if job.name == mail.notice.job), None)
        self.note(f"    {mail.to} answers {mail.notice.id}")
        self.oracle.clicked(process, job, mail, way)
        self.admit(process)
        self.run_on(process, command.calls, command.then, changes=True)
        self.deliver_messages()

    def _pause(self, seconds: float) -> None:
        self.pass_time(timedelta(seconds=seconds))

    def pick_job(self, number: int) -> PlaneJob | None:
        """An open job of which a VM runs."""
        found = [job for job in self.jobs if not job.over and self.running(job)]
        return found[number % len(found)] if found else None

    def pick_vm(self, number: int) -> Vm | None:
        """A running VM of a job, its end not yet announced; that of a job that has ended may still run."""
        vms = [vm for job in self.jobs for vm in self.running(job) if vm.seen.id not in job.doomed]
        return vms[number % len(vms)] if vms else None

    def running(self, job: PlaneJob) -> Sequence[Vm]:
        """Its VMs that run."""
        return [vm for vm in self.vms_of(job) if vm.seen.status is Status.RUNNING]

    def up(self, job: PlaneJob) -> Sequence[Vm]:
        """Its VMs that run, are being made, or wait for room."""
        return [vm for vm in self.vms_of(job) if vm.seen.status in UP]

    def at_rest(self, job: PlaneJob) -> Sequence[Vm]:
        """Its VMs that stand still."""
        return [vm for vm in self.vms_of(job) if vm.seen.status in AT_REST]

    def stopping(self, job: PlaneJob) -> Sequence[Vm]:
        """Its VMs that are on their way out."""
        return [vm for vm in self.vms_of(job) if vm.seen.status is Status.STOPPING]

    def vms_of(self, job: PlaneJob) -> Sequence[Vm]:
        """All its VMs, however they stand."""
        vms = self.compute.vms.living.values()
        return [vm for vm in vms if self.mine.get(vm.seen.id) is job]


def _post(context: SweepContext, token: str, pause: Callable[[float], None]) -> int:
    builder = EnvironBuilder(method="POST", data={"t": token})
    status: int = respond(Request(builder.get_environ()), context, {VARIABLE: SECRET}, pause).status_code
    builder.close()
    return status
