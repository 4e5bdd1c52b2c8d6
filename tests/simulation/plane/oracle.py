"""What must hold at every moment, judged from the world's own record.

Nothing here knows how the product decides: what befell each VM, what people said and which mails arrived are
written down as they happen, and each call of a function is held against that.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from spotwarden.layout import MARKERS, InstanceId
from spotwarden.model.instance import Status
from spotwarden.model.notice import Notice, Way
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.request import Request
from spotwarden.ports import Stored
from tests.fakes.creating import machine_of
from tests.fakes.vms import Vm
from tests.fakes.wanted import read
from tests.simulation.commands import Kind
from tests.simulation.guests import NOTICE
from tests.simulation.jobs import FAR, STOPPED, is_back, nodes_in
from tests.simulation.plane.commands import Spell
from tests.simulation.plane.jobs import MACHINE, ODD, PlaneJob
from tests.simulation.plane.judged import JudgedWorld
from tests.simulation.plane.mailroom import Arrived
from tests.simulation.plane.mails import GIVEN_UP, MailJudge
from tests.simulation.process import Process, deleted

LEASE, SKEW = timedelta(minutes=5), timedelta(seconds=60)
ASIDE = {Status.TERMINATED, Status.STOPPED, Status.SUSPENDED}
UP = {Status.PROVISIONING, Status.STAGING, Status.RUNNING}
LEDGER = "/metadata/attempts/"
NEVER_OURS = ("/create-instance.sh", "/status-code", "/my-code.tar", "/job.toml")
COMMANDED = "its owner has stopped it with a command"
GOVERNED = "it was stopped after a warning"
RULES: Mapping[str, tuple[str, ...]] = {
    "reap_vms": ("orphan", "stall", "early_stop"),
    "flag_idle_gpus": ("idle",),
    "cap_runtime": ("job_cap", "instance_cap", "owner_cap"),
    "check_compliance": ("compliance",),
}
"""Which rules each function may act for."""
REACTION = timedelta(minutes=21)
"""A sign of life that is newer may not have reached anybody: metrics are late, heartbeats come each 5 min."""
ROUNDED = timedelta(minutes=1)
CLOSED = {"ended", "stopped", "gave up"}
UNHEARD = timedelta(minutes=12)
"""For so long recovery may wait to hear of a loss."""
LOST = timedelta(seconds=1)


class Wish(msgspec.Struct, kw_only=True):
    """What somebody asked for, by a command or a click; `wrote` once something came of it, `stopped` a stop.

    `asked` once it is on record that a person asks for the attempt that recovery has begun; `typed` is when.
    """

    job: PlaneJob | None
    ends: bool = False
    opens: bool = False
    mail: Arrived | None = None
    way: Way | None = None
    wrote: bool = False
    stopped: bool = False
    asked: bool = False
    typed: datetime = datetime.min.replace(tzinfo=UTC)


class Removal(msgspec.Struct, frozen=True, kw_only=True):
    """One VM that a function stopped or deleted."""

    at: datetime
    function: str
    call: str
    vm: str


class Oracle:
    """Sees every change of the cloud and everything that is asked of it; `broken` says what was wrong."""

    def __init__(self, world: JudgedWorld) -> None:
        self._world = world
        self.broken: list[str] = []
        self.moves = False
        self.policies: dict[str, Policy] = {}
        self.starts: dict[str, datetime] = {}
        self.ticks: list[datetime] = []
        self.new_policy: datetime | None = None
        self.new_mode: datetime | None = None
        self.removals: list[Removal] = []
        self.lost: dict[str, datetime] = {}
        self.seen: dict[str, Vm] = {}
        self.ended: dict[str, datetime] = {}
        self.began: dict[str, datetime] = {}
        self.down: dict[str, datetime] = {}
        self.keeps: dict[tuple[str, str], datetime] = {}
        self.extensions: dict[str, tuple[str, datetime, timedelta]] = {}
        self.notices: dict[str, tuple[datetime, Notice]] = {}
        self.judge = MailJudge(world, self)
        self._wishes: dict[Process, Wish] = {}
        self._opening: dict[str, int] = {}
        self._answered_mails: set[tuple[str, str]] = set()
        self._requests: set[str] = set()
        self._carried_out: set[str] = set()
        self._removal_of: dict[str, str] = {}
        self.ran: set[str] = set()
        self.ran_since: set[str] = set()
        self._asked_to_go: dict[str, datetime] = {}

    def fault(self, what: str) -> None:
        """Note that something is wrong."""
        self.broken.append(f"{self._world.now():%H:%M:%S} {what}")

    # What the world tells.

    def taken(self, vm: Vm) -> None:
        """Compute Engine takes it."""
        self.lost[vm.seen.id] = self._world.now()

    def by_person(self, vm: Vm, verb: str) -> None:
        """A person does something to it."""
        self._world.note(f"    a person: {verb} {vm.seen.name} {vm.seen.id[-4:]}")

    def asked_for(self, process: Process, job: PlaneJob, spell: Spell) -> None:
        """An owner has typed a command."""
        ends = spell in {Spell.STOP, Spell.DELETE}
        job.told_by_person |= ends
        self._wish(process, Wish(job=job, ends=ends, opens=not ends))

    def clicked(self, process: Process, job: PlaneJob | None, mail: Arrived, way: Way) -> None:
        """Somebody has clicked a link."""
        if job is not None:
            job.told_by_person |= way is Way.STOP
        wish = Wish(job=job, ends=way is Way.STOP, opens=way is Way.RESTART, mail=mail, way=way)
        self._wish(process, wish)

    def _wish(self, process: Process, wish: Wish) -> None:
        self._wishes[process], wish.typed = wish, process.tick.now
        if wish.opens and wish.job is not None:
            self._opening[wish.job.name] = process.began

    def over(self, process: Process) -> None:
        """What somebody wished for has been done, or nobody knows."""
        wish = self._wishes.pop(process, None)
        if wish is None or wish.job is None:
            return
        if wish.ends and self._opening.get(wish.job.name, process.began) > process.began:
            # A stop that slept while its owner has asked for the job again: the newer word holds, but nobody
            # knows which was first of two that came to an end.
            wish.job.doubtful |= "was restarted after this stop" not in str(process.failure)
            return
        done = process.swept is True or process.swept == 200
        if wish.ends and process.swept is True:
            self._all_down(wish.job, process)
        # A link that finds nothing to stop says so, and how the job itself is ended; it changes nothing.
        heard = wish.stopped if wish.mail else wish.wrote or not wish.job.over
        if wish.ends and done and heard:
            self._world.close(wish.job, COMMANDED)
        elif (wish.ends or wish.opens) and wish.wrote and not done:
            wish.job.doubtful = True
        is_first = wish.opens and done and self._is_first(wish)
        if is_first and not wish.wrote and self._is_under_way(wish.job):
            # Whoever was told that it is on its way may rely on it as on a claim.
            self._asked_again(wish, wish.job)
        wish.job.extended |= wish.way is Way.EXTEND
        if wish.way in {Way.KEEP, Way.EXTEND} and done:
            self._grant()

    def _is_first(self, wish: Wish) -> bool:
        """Whether it is a command, or the first answer to this mail: another one is told of the first."""
        key = (wish.mail.notice.id, wish.mail.to) if wish.mail else None
        first = key not in self._answered_mails
        if key:
            self._answered_mails.add(key)
        return first

    def _is_under_way(self, job: PlaneJob) -> bool:
        """Whether its newest record is of an attempt that is being made."""
        return self._newest(job)["state"] in {"claimed", "placing", "backing off"}

    def is_replaced(self, job: PlaneJob, vm: Vm) -> bool:
        """Whether it is at rest, and its owner has asked for an attempt in its place: it goes in any case."""
        newest = self._newest(job)
        return vm.seen.status not in UP and vm.seen.id in newest["replaces"].values()

    def is_on_no_record(self, job: PlaneJob, vm: Vm) -> bool:
        """Whether somebody has made it by running the script again, and it is neither registered nor seen."""
        newest = self._newest(job)
        if not newest["state"] or " by hand " not in vm.launch or vm.seen.id in newest["instances"].values():
            return False
        name = self._world.layout.build(InstanceId(job=job.name, node=vm.node))
        registered = self._world.cloud.store.read(name)
        return registered is None or registered.data.decode() != vm.seen.id

    def is_left_over(self, job: PlaneJob, ids: Collection[str]) -> bool:
        """Whether an attempt is under way that has, or stands in for, none of these VMs."""
        newest = self._newest(job)
        if not self._is_under_way(job):
            return False
        its = {*newest["replaces"].values(), *newest["instances"].values()}
        requests = {tried["request_id"] for tried in newest["tries"]}
        its |= {vm.seen.id for vm in self.seen.values() if vm.launch in requests}
        return its.isdisjoint(ids)

    def _newest(self, job: PlaneJob) -> dict[str, Any]:
        """Its newest record."""
        store = self._world.cloud.store
        read = [store.read(entry.name) for entry in store.entries(f"{job.name}{LEDGER}")]
        records = [msgspec.json.decode(stored.data) for stored in read if stored]
        nothing: dict[str, Any] = {"state": "", "replaces": {}, "instances": {}, "tries": []}
        return max(records, key=lambda record: int(record["number"]), default=nothing)

    def _all_down(self, job: PlaneJob, process: Process) -> None:
        """Whoever is told that his job is stopped has no VM of it that runs."""
        stopped = {removal.vm: removal.at for removal in self.removals}
        running = [
            vm
            for vm in self.there(job)
            if vm.seen.status in {Status.RUNNING, Status.PENDING}
            and not _started_since(vm, stopped.get(vm.seen.id))
        ]
        if running:
            self.fault(f"{process.tick.sweep} has stopped {job.name}, and it goes on: {_told(running)}")

    def _grant(self) -> None:
        """Whoever was told that his answer is taken may rely on it."""
        store = self._world.cloud.store
        for entry in store.entries("spotwarden/answers/"):
            stored = store.read(entry.name)
            said = msgspec.json.decode(stored.data) if stored else {}
            offer = said.get("offer", {})
            if not said.get("outcome") or not (case := offer.get("case")):
                continue
            at, span = datetime.fromisoformat(said["at"]), timedelta(hours=offer["hours"])
            if offer.get("way") == Way.KEEP.value:
                key = (case["rule"], case["key"])
                self.keeps[key] = max(at + span, self.keeps.get(key, at))
            elif offer.get("way") == Way.EXTEND.value:
                self.extensions[entry.name] = (case["key"], at, span)
                self._opened_by_hours(case["key"])

    def _opened_by_hours(self, name: str) -> None:
        """Whoever grants a job more time than it was given up for may have it back."""
        for job in self._world.jobs:
            if job.name == name and job.over == GIVEN_UP:
                self._world.reopen(job)

    def extended(self, job: PlaneJob) -> timedelta:
        """How much more time its owner was told that it has, since it was last opened."""
        since = job.opened or datetime.min.replace(tzinfo=UTC)
        granted = (span for key, at, span in self.extensions.values() if key == job.name and at > since)
        return sum(granted, timedelta(0))

    def published(self, data: bytes) -> None:
        """A notice is on its way."""
        notice = msgspec.json.decode(data, type=Notice)
        if notice.id not in self.notices:
            self.notices[notice.id] = (self._world.now(), notice)
            self.judge.published(notice)

    def read_mail(self) -> None:
        """Judge what has arrived."""
        for mail in self._world.mailroom.collect(self._world.now()):
            self.judge.arrived(mail)

    def there(self, job: PlaneJob) -> list[Vm]:
        """The VMs of a job that may still write, but for those that a successor may already replace."""
        vms = self._world.compute.vms.living.values()
        mine = [vm for vm in vms if self._world.mine.get(vm.seen.id) is job]
        aside = job.doomed | job.beside | job.leaving
        return [vm for vm in mine if vm.seen.id not in aside and vm.seen.status not in ASIDE]

    def changed(self, vm: Vm, before: Status | None) -> None:
        """No job ever has two live attempts, and no node two live instances."""
        self._write_down(vm, before)
        if vm.seen.status not in UP and (request_id := self._removal_of.pop(vm.seen.id, "")):
            # A request that was refused may come again, and is judged anew.
            self._carried_out.add(request_id)
        self._world.note(f"    {vm.seen.name} {vm.seen.id[-4:]} in {vm.seen.zone} is {vm.seen.status.value}")
        job = self._world.mine.get(vm.seen.id)
        if job is None:
            return
        if vm.seen.status not in UP:
            if vm.seen.status is Status.PENDING:
                self._alone(job)
            if self._asked_to_go.pop(vm.seen.id, None) == self._world.now() and not job.over:
                self._world.close(job, GOVERNED)
            return
        if before in ASIDE:
            job.doomed.discard(vm.seen.id)  # It was stopped after the notice, and is started again.
        repaired = before is Status.REPAIRING
        stopped = {other.launch for other in self.seen.values() if other.seen.id in job.touched}
        is_new = vm.seen.status is Status.RUNNING and not repaired and vm.launch not in stopped
        if is_new and job.over == STOPPED:
            # It was asked for before its owner ended the former one: the job lives again.
            job.over, job.over_since = "", None
        if before not in UP and not repaired:
            self._alone(job)

    def _write_down(self, vm: Vm, before: Status | None) -> None:
        """Since when it has had room, whether it ran, and when it was down and went."""
        self.seen[vm.seen.id] = vm
        if vm.seen.status is Status.RUNNING:
            self.ran.add(vm.seen.id)
            self.ran_since.add(vm.seen.id)
        elif before in ASIDE:
            self.ran_since.discard(vm.seen.id)  # It has another life, which has not run yet.
        if before is Status.RUNNING:
            self.down[vm.seen.id] = self._world.now()
        if vm.seen.status in UP:
            self.began.setdefault(vm.seen.id, self._world.now())
            self.ended.pop(vm.seen.id, None)  # It has another life.
        if vm.seen.status in ASIDE or vm.seen.status is Status.DEPROVISIONING:
            self.ended[vm.seen.id] = self._world.now()

    def _alone(self, job: PlaneJob) -> None:
        there = self.there(job)
        if len({other.launch for other in there}) > 1 and job.kind is not Kind.BENT:
            self.fault(f"{job.name} has two live attempts: {_told(there)}")
        names = [other.node for other in there]
        if len(set(names)) < len(names):
            self.fault(f"{job.name} has two live instances of one node: {_told(there)}")

    # What a process asks for.

    def asking(self, process: Process, call: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Judge what is about to be asked for."""
        if self._world.verbose:
            self._world.note(f"    {process.tick.sweep} {call} {_about(arguments)}")
        self._asked_to_go.clear()
        if (before := named.get("before")) and self._world.now() >= before:
            return  # The port refuses to send it.
        if (wish := self._wishes.get(process)) is not None:
            wish.wrote = True
            wish.stopped |= call == "stop"
        if call == "write":  # Most calls are that: it need not be matched against all others.
            self._writing(process, wish, *arguments, **named)
        else:
            self._changing(process, call, arguments, named)

    def _changing(
        self, process: Process, call: str, arguments: tuple[Any, ...], named: Mapping[str, Any]
    ) -> None:
        match call, arguments:
            case "launch", (request, request_id):
                self._launching(process, request, request_id)
            case "start", (zone, vm_id, request_id):
                self._starting(process, zone, vm_id, request_id)
            case (("delete" | "stop"), (str(zone), str(vm_id), str(request_id))):
                self._removing(process, call, zone, vm_id, request_id)
            case (("delete" | "delete_all"), _):
                self._deleting(process, deleted(arguments, named))
            case "label", (zone, vm_id, *_):
                self._labelling(process, zone, vm_id)
            case "publish" | "publish_all" | "send", _:
                return
            case _:
                self.fault(f"{process.tick.sweep}: nobody watches {call}{arguments}")

    def asked(self, process: Process, call: str, arguments: tuple[Any, ...], before: Any) -> None:
        """A job whose move was refused has one VM, and no second one beside it from now on.

        A gang that bends is made anew where fewer than enough ran for all that this sweep has seen.
        """
        del before
        if call != "write" or LEDGER not in arguments[0]:
            return
        record = msgspec.json.decode(arguments[1])
        job = next((job for job in self._world.jobs if job.name == record["job"]), None)
        if job is None:
            return
        if job.leaving and record["state"] == "running":
            job.leaving -= {*record["instances"].values()}
        if job.kind is Kind.BENT and record["state"] == "claimed":
            seen = self._up(job, before=self.starts.get(process.tick.sweep))
            job.made_anew = record["number"] if len(seen) < job.least else job.made_anew

    def _writing(
        self,
        process: Process,
        wish: Wish | None,
        name: str,
        data: bytes,
        *,
        generation: int | None = None,
        **_said: object,
    ) -> None:
        """Nobody changes the ledger blindly, nor what is the job's own."""
        if name.endswith(NEVER_OURS) and wish is None:
            self.fault(f"{process.tick.sweep} wrote {name}")
        if LEDGER not in name:
            return
        if generation is None:
            self.fault(f"{name} is written without a generation")
        if wish is None or wish.job is None:
            return
        if wish.ends:
            wish.job.doubtful = True  # Until the command is over: then it is closed, or nobody knows.
        if wish.opens:
            self._opens(wish, wish.job, msgspec.json.decode(data))

    def _opens(self, wish: Wish, job: PlaneJob, record: dict[str, Any]) -> None:
        """A claim is its owner's word, and so is what is noted of an attempt that recovery has begun."""
        if record["asked"] and not wish.asked:
            self._asked_again(wish, job)
        elif record["state"] == "claimed" and not record["asked"]:
            self._asked_again(wish, job, ended=True)
        wish.asked |= bool(record["asked"])

    def _asked_again(self, wish: Wish, job: PlaneJob, *, ended: bool = False) -> None:
        """It is open by the newer word; where its owner ended it meanwhile nobody knows which that is."""
        by_command = job.over_since if job.over == COMMANDED else None
        at_once = bool(job.over) and any(said and said >= wish.typed for said in (job.said, by_command))
        self._world.reopen(job, ended=ended)
        job.doubtful |= at_once

    def _launching(self, process: Process, request: Request, request_id: str) -> None:
        """A new launch is of one job, open when the sweep began, of which nothing lives any more."""
        names = nodes_in(read(request))
        job = next((job for job in self._world.jobs if names[0] in job.nodes), None)
        if job is None or not set(names) <= set(job.nodes):
            self.fault(f"VMs that are no job's are asked for: {', '.join(names)}")
            return
        self._world.launched[request_id] = job
        if request_id in self._requests:
            return
        self._requests.add(request_id)
        self._may_start(process, job)
        job.beside |= {vm.seen.id for vm in self.there(job) if _stood_still(process, vm)}
        self._of_allowed_type(job, request)
        if again := job.less & set(names):
            self.fault(f"{job.name} has {', '.join(again)} made again, which a person has removed")
        if self._is_move(job, request):
            job.leaving |= {vm.seen.id for vm in self.there(job)}
        # What is missing of a gang that bends is made beside the others, and nothing twice.
        beside = [vm for vm in self.there(job) if job.kind is not Kind.BENT or vm.node in names]
        there = [vm for vm in beside if vm.launch != request_id]
        if there and self._cannot_know(process, job):
            return
        if there:
            who = process.tick.sweep
            self.fault(f"a launch of {job.name} was asked for while it lives, by {who}: {_told(there)}")

    def _cannot_know(self, process: Process, job: PlaneJob) -> bool:
        """Whether somebody has run the script by hand since this process last listed VMs: both VMs run."""
        if job.name not in process.unaware:
            return False
        job.beside |= {vm.seen.id for vm in self.there(job)}
        job.doubtful = True
        return True

    def _of_allowed_type(self, job: PlaneJob, request: Request) -> None:
        """It is of the machine type that its script names, or of one that its owner has ever allowed."""
        machine = machine_of(read(request).body)
        if machine not in {ODD if job.odd else MACHINE, *job.machines, *job.allowed}:
            self.fault(f"a {machine} is asked for, and the owner of {job.name} allows none")

    def _is_move(self, job: PlaneJob, request: Request) -> bool:
        """Whether a job that hands over goes from its one VM, and no move before, to where it costs less."""
        living = self._world.compute.vms.living
        left = [vm_id for vm_id in job.leaving if vm_id in living and living[vm_id].seen.status in UP]
        there = self.there(job)
        away = f"/zones/{FAR}/" in request.path or is_back(job, read(request), there)
        return self.moves and job.kind is Kind.EARLY and away and len(there) == 1 and not left

    def _may_start(self, process: Process, job: PlaneJob) -> None:
        if self.policies.get(process.tick.sweep, _ENFORCING).mode is Mode.OBSERVE:
            self.fault(f"{job.name} is started by {process.tick.sweep}, which only observes")
        if (wish := self._wishes.get(process)) is not None:
            if not wish.opens:
                self.fault(f"{job.name} is started by {process.tick.sweep}, which nobody asked for that")
            self._world.reopen(job, ended=True)
        elif job.doubtful:
            return
        elif self._is_unheard(job, process) or self._is_hidden(job):
            job.doubtful = True  # It comes back, or is closed once the log tells: docs/recovery.md.
        elif job.over and process.began > job.over_at:
            self.fault(f"{job.name} is started again, though {job.over}")
        elif job.over_since and self._world.now() > job.over_since + LEASE + SKEW:
            self.fault(f"{job.name} is started by a sweep that slept, long after {job.over}")

    def _is_unheard(self, job: PlaneJob, process: Process) -> bool:
        """Whether the log a sweep read told of a preemption, and not yet of a person's word since.

        Or of a request without room, whose VM a person deleted in the seconds that it was there.
        """
        if job.over != STOPPED or job.said is None or process.tick.now >= job.said + self._world.compute.lag:
            return False
        mine = [vm_id for vm_id in self.seen if self._world.mine.get(vm_id) is job]
        # Of a gang it may have been another node that was taken.
        taken = any(at <= job.said for vm_id in mine if (at := self.lost.get(vm_id)))
        return taken or any(vm_id in job.touched - self.ran_since for vm_id in mine[-1:])

    def _is_hidden(self, job: PlaneJob) -> bool:
        """Whether its owner removed VMs that never ran, in zones of which no sweep hears now."""
        unheard = {*self._world.compute.hidden, *self._world.compute.dark}
        mine = [vm for vm in self.seen.values() if self._world.mine.get(vm.seen.id) is job]
        newest = [vm for vm in mine if vm.launch == mine[-1].launch and vm.seen.id in job.touched - self.ran]
        return job.over == STOPPED and any(vm.seen.zone in unheard for vm in newest)

    def _starting(self, process: Process, zone: str, vm_id: str, request_id: str) -> None:
        """Only a job's own stopped VM is started, and only while nothing else of the job lives."""
        vm = self._world.compute.find(zone, vm_id)
        if vm is None or request_id in self._requests:
            return
        self._requests.add(request_id)
        job = self._world.mine.get(vm_id)
        if job is None:
            self.fault(f"a VM that is no job's was started: {vm.seen.name}")
            return
        self._may_start(process, job)
        job.beside.discard(vm_id)
        others = [other for other in self.there(job) if other.launch != vm.launch]
        others = [other for other in others if job.kind is not Kind.BENT or other.node == vm.node]
        if others and not self._cannot_know(process, job):
            self.fault(f"{vm.seen.name} is started while another attempt of {job.name} lives")

    def _labelling(self, process: Process, zone: str, vm_id: str) -> None:
        vm = self._world.compute.find(zone, vm_id)
        if vm is not None and vm_id not in self._world.mine:
            self.fault(f"{process.tick.sweep} labels {vm.seen.name}, which is no job's")

    def _removing(self, process: Process, call: str, zone: str, vm_id: str, request_id: str) -> None:
        """A VM goes by its owner's word, by an arrived warning, or with what Compute Engine took."""
        vm = self._world.compute.find(zone, vm_id)
        if vm is None or request_id in self._carried_out:
            return
        if request_id in self._requests and vm.seen.status not in UP:
            return
        self._requests.add(request_id)
        self._removal_of[vm_id] = request_id
        job, function = self._world.mine.get(vm_id), process.tick.function
        who = f"{call} of {vm.seen.name} {vm_id[-4:]} by {process.tick.sweep}"
        if job is None:
            self.fault(f"{who}: it is no job's")
            return
        if self.policies.get(process.tick.sweep, _ENFORCING).mode is Mode.OBSERVE:
            self.fault(f"{who}, which only observes")
        why = self._unjustified(process, job, vm, call)
        if call == "stop" and vm.seen.status is Status.PENDING:
            why = "Compute Engine stops nothing that waits for room, and it runs later"
        if why:
            self.fault(f"{who} of {job.name}: {why}")
        at = self._world.now()
        self.removals.append(Removal(at=at, function=function, call=call, vm=vm_id))
        # A person may have gone back to a VM of an earlier launch, once the newest was lost. The reaper takes
        # what is left over as well: that is its job only where the record says so.
        its = function != "reap_vms" or vm_id in self._newest(job)["instances"].values()
        alone = its and {other.launch for other in self.there(job)} <= {vm.launch}
        rules = function in RULES and not self.is_replaced(job, vm)
        if rules and (self.is_newest(job, vm) or alone) and not job.over:
            self._governed(job, vm)

    def _governed(self, job: PlaneJob, vm: Vm) -> None:
        """What a rule removes ends its job; one that is being made refuses to be stopped, and runs on."""
        if vm.seen.status in UP:
            self._asked_to_go[vm.seen.id] = self._world.now()
        else:
            self._world.close(job, GOVERNED)

    def up_for(self, job: PlaneJob) -> timedelta:
        """How long the job has been up at most: each launch from its first VM to the end of its last one.

        The wait of a Flex-start VM for room is none of it. Where the script is run again before any sweep has
        seen the loss, nobody knows when that was: the job counts as up until then.
        """
        now, spans = self._world.now(), dict[str, tuple[datetime, datetime]]()
        for vm in self.seen.values():
            began = self.began.get(vm.seen.id)
            if self._world.mine.get(vm.seen.id) is job and began:
                first, last = spans.get(vm.launch, (began, began))
                ended = now if vm.seen.status in UP else self.ended.get(vm.seen.id, now)
                spans[vm.launch] = min(first, began), max(last, ended)
        up = sum((last - first for first, last in spans.values()), timedelta(0))
        return up + _between(spans)

    def is_newest(self, job: PlaneJob, vm: Vm) -> bool:
        """Whether it is of the newest launch of its job, and no person went back to an older VM since."""
        mine = [other for other in self.seen.values() if self._world.mine.get(other.seen.id) is job]
        if job.kind is Kind.BENT:  # Its nodes are made one by one: each is compared with those of its name.
            mine = [other for other in mine if other.node == vm.node]
        if job.kind is Kind.EARLY:  # One that was refused a move stays where it was, as the next attempt.
            mine = [other for other in mine if other.seen.id in self.ran or other.seen.status in UP]
        if not mine or mine[-1].launch != vm.launch:
            return False
        older = any(other.seen.status in UP and other.launch != vm.launch for other in mine)
        return vm.seen.status in UP or not older

    def _unjustified(self, process: Process, job: PlaneJob, vm: Vm, call: str) -> str:
        """Why the VM must not go; "" where it may."""
        if (wish := self._wishes.get(process)) is not None:
            if wish.job is not job:
                return "somebody asked for something about another job"
            if not wish.ends:
                # It may go on with what recovery has begun, as recovery would; any other VM runs by right.
                at_rest = vm.seen.status not in UP or _stood_still(process, vm)
                return "" if at_rest else self._not_replaced(job, vm)
            named = wish.mail is None or vm.seen.id in {one.id for one in wish.mail.notice.instances}
            return "" if named else "the mail whose link was clicked did not name it"
        function = process.tick.function
        if function == "recover_spot":
            return "" if _stood_still(process, vm) else self._not_replaced(job, vm)
        policy = self.policies[process.tick.sweep]
        return self.judge.unwarned(job, vm, RULES.get(function, ()), policy, call)

    def _not_replaced(self, job: PlaneJob, vm: Vm) -> str:
        """Recovery removes what Compute Engine has taken or stopped, and the rest of that gang.

        Of a gang that bends the rest goes only where it is not enough any more, or was not as it was claimed.
        """
        up = self._up(job)
        enough = job.kind is Kind.BENT and vm.node in up and len(up) >= job.least and not job.over
        newest = self._newest(job)
        if enough and (newest["state"] == "running" or newest.get("number") != job.made_anew):
            return "enough of a gang that bends runs, and it is one of these"
        if vm.seen.status in ASIDE or vm.seen.id in job.doomed or job.doubtful:
            return ""
        bends, mine = job.kind is Kind.BENT, self._world.mine
        launched = [
            one
            for one in self.seen.values()
            if one.launch == vm.launch or (bends and mine.get(one.seen.id) is job)
        ]
        if any(one.seen.id in self.lost for one in launched):
            return ""
        if job.over and not any(one.seen.id in job.touched for one in launched):
            return ""
        if self._short(vm) or self._is_wanted_anew(job, vm, launched):
            return ""
        return "nothing that Compute Engine did made it go, and nobody was warned"

    def _is_wanted_anew(self, job: PlaneJob, vm: Vm, launched: Sequence[Vm]) -> bool:
        """Whether a person removed a node of its gang, then asked for the job: it is made anew."""
        newest = self._newest(job)
        stands_in = bool(newest.get("asked")) and vm.seen.id in newest["replaces"].values()
        return stands_in and any(one.seen.id in job.touched for one in launched)

    def _up(self, job: PlaneJob, before: datetime | None = None) -> set[str]:
        """The nodes that run, but for those that have handed over, and have not gone on (before then)."""
        late = {vm_id for vm_id, at in job.back.items() if before is not None and at >= before}
        return {vm.node for vm in self.there(job) if vm.seen.status in UP and vm.seen.id not in late}

    def _short(self, vm: Vm) -> bool:
        """Whether its launch never got all its VMs: then all of them are made anew elsewhere."""
        job = self._world.mine[vm.seen.id]
        if job.kind is Kind.BENT:
            return False
        made = {one.node for one in self.seen.values() if one.launch == vm.launch}
        return made < set(job.nodes)

    def _deleting(self, process: Process, generations: Mapping[str, int | None]) -> None:
        for name, generation in generations.items():
            self._erasing(process, name, generation)

    def _erasing(self, process: Process, name: str, generation: int | None) -> None:
        """Markers go only when they are answered; nothing else of a job's goes at all."""
        stored = self._world.cloud.store.read(name)
        if stored is None or stored.generation != generation:
            return
        if name.startswith(f"{MARKERS}/"):
            if not self._answered(name.removeprefix(f"{MARKERS}/"), stored):
                self.fault(f"the marker {name}, generation {stored.generation}, is cleared without an answer")
        elif not name.startswith("spotwarden/") and process not in self._wishes:
            self.fault(f"{process.tick.sweep} deleted {name}")

    def _answered(self, node: str, marker: Stored) -> bool:
        """Put aside, of a job that is over, of a node that lives, or named in the ledger.

        A VM that still runs long after it was said to be taken lives: another VM may have said it. So does
        one that runs on after a reboot, in which its marker says nothing of an end to come.
        """
        store, generation = self._world.cloud.store, marker.generation
        kept = store.entries("spotwarden/quarantine/")
        if any(entry.name.endswith(f"@{generation}") for entry in kept):
            return True
        job = next((job for job in self._world.jobs if node in job.nodes), None)
        if job is None:
            return False
        wrote = self._world.guests.wrote.get(generation, "-")
        # One that is being repaired comes back by itself.
        up = UP | {Status.REPAIRING}
        old = self._world.now() - marker.updated > NOTICE + ROUNDED or b'"early":true' not in marker.data
        mine, vms = self._world.mine, self._world.compute.vms.living.values()
        there = [vm for vm in vms if mine.get(vm.seen.id) is job] if old else self.there(job)
        alive = any(vm.seen.status in up for vm in there if vm.node == node)
        if job.over or job.doubtful or alive:
            return True
        stored = [store.read(entry.name) for entry in store.entries(f"{job.name}{LEDGER}")]
        records = [msgspec.json.decode(record.data) for record in stored if record]
        records.sort(key=lambda record: int(record["number"]))
        named = any(
            generation in record["markers"].values() or wrote in _answers(record) for record in records
        )
        # What a gang that bends lacks is asked for again, whatever else befalls it.
        named |= bool(records) and node in records[-1].get("lacking", {})
        # Of what was launched by hand after a job was closed the log tells, as `verdict` sees.
        anew = wrote in self.seen and " by hand " in self.seen[wrote].launch
        named |= anew and bool(records) and records[-1]["state"] in CLOSED
        # What a person launched anew takes the place of all that was before.
        past = (records[place] for place, later in enumerate(records[1:]) if _is_over(records[place], later))
        return named or any(wrote in record["instances"].values() for record in past)


def _between(spans: Mapping[str, tuple[datetime, datetime]]) -> timedelta:
    """The time between the end of each launch and the next one by hand, where no sweep need have seen it."""
    ends, between = datetime.max.replace(tzinfo=UTC), timedelta(0)
    for launch, (first, last) in sorted(spans.items(), key=lambda item: item[1]):
        gap = first - ends
        between += gap if " by hand " in launch and timedelta(0) < gap < UNHEARD else timedelta(0)
        ends = last
    return between


def _is_over(record: dict[str, Any], later: dict[str, Any]) -> bool:
    """Whether it had ended, or a person has launched the job by hand since, which the next record says."""
    return record["state"] in {"ended", "stopped"} or (later["seen"] and not later["tries"])


def _answers(record: dict[str, Any]) -> set[str]:
    """The ids that a record stands in for, or says were removed: that its own VM ran is no answer."""
    return {*record["replaces"].values(), *(gone["instance_id"] for gone in record["removed"].values())}


_ENFORCING = Policy(version="-", mode=Mode.ENFORCE)


def _started_since(vm: Vm, stopped: datetime | None) -> bool:
    """Whether somebody has started it since it was stopped."""
    return stopped is not None and vm.seen.started is not None and vm.seen.started > stopped


def _stood_still(process: Process, vm: Vm) -> bool:
    """Whether its calls just before showed the VM at rest: no request takes that as a condition."""
    found = process.looked.get(vm.seen.id) or {}
    return found.get("status") in {status.value for status in ASIDE}


def _told(vms: Sequence[Vm]) -> str:
    return ", ".join(f"{vm.seen.name} {vm.seen.id[-4:]} {vm.seen.status.value}" for vm in vms)


def _about(arguments: tuple[Any, ...]) -> str:
    """What a call is about, short."""
    match arguments:
        case (Request() as request, request_id):
            return f"{request.path.partition('/zones/')[2]} {request_id[:8]}"
        case (str(name), bytes(data), *_) if LEDGER in name or "/cases/" in name:
            return f"{name} {data.decode()[:1500]}"
        case (str(name), *rest):
            return f"{name} {' '.join(one for one in rest if isinstance(one, str))}"
        case (bytes(data), *_):
            return data.decode()[:600]
    return str(arguments)[:200]
