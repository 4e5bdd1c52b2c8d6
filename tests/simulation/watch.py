"""What must hold at every moment of every history."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from spotwarden.layout import MARKERS
from spotwarden.model.instance import Status
from spotwarden.model.request import Request
from tests.fakes.cloud import MemoryCloud
from tests.fakes.vms import Vm
from tests.fakes.wanted import read
from tests.simulation import ledger
from tests.simulation.commands import Kind
from tests.simulation.guests import Guests
from tests.simulation.jobs import FAR, STOPPED, Job, is_back, job_of, nodes_in
from tests.simulation.ledger import SKEW
from tests.simulation.process import Process, deleted
from tests.simulation.product import LEASE

ASIDE = {Status.TERMINATED, Status.STOPPED, Status.SUSPENDED}
"""A VM in one of these does nothing; in any other it may still write."""
UP = {Status.PENDING, Status.PROVISIONING, Status.STAGING, Status.RUNNING}
LAUNCHED = "/metadata/attempts/"
NEVER_OURS = ("/create-instance.sh", "/status-code", "/my-code.tar")
DEVELOPER = "submit"


class Watch:
    """Sees every change of the cloud and everything that a sweep asks for; `broken` says what was wrong.

    `blind` writes to the ledger are faults too, unless a mutation is to be found out by what comes of it.
    """

    def __init__(
        self,
        cloud: MemoryCloud,
        guests: Guests,
        nodes: dict[str, Job],
        *,
        blind: bool,
        note: Callable[[str], None] | None,
    ) -> None:
        self._cloud = cloud
        self._guests = guests
        self._nodes = nodes
        self._blind = blind
        self._note = note
        self._requests: set[str] = set()
        self.moves = False
        self._arrived: set[str] = set()
        self.broken: list[str] = []

    def _fault(self, what: str) -> None:
        self.broken.append(f"{self._cloud.clock.now():%H:%M:%S} {what}")

    def there(self, job: Job) -> list[Vm]:
        """The VMs of a job that may still write, but for those that a successor may already replace."""
        vms = self._cloud.compute.vms.living.values()
        mine = [
            vm for vm in vms if job_of(self._nodes, vm) is job and vm.seen.id not in job.doomed | job.leaving
        ]
        return [vm for vm in mine if vm.seen.status not in ASIDE]

    def changed(self, vm: Vm, before: Status | None) -> None:
        """No job ever has two live attempts, and no node two live instances."""
        if self._note:
            self._note(f"    {vm.seen.name} {vm.seen.id[-4:]} in {vm.seen.zone} is {vm.seen.status.value}")
        job = job_of(self._nodes, vm)
        if job is None or vm.seen.status not in UP:
            return
        if vm.seen.status is Status.RUNNING and not job.ended:
            # It was asked for before its owner, or the job itself, ended the former one: the job lives again,
            # until the log tells that its owner had ended it.
            job.doubtful |= job.over == STOPPED
            job.over, job.over_since = "", None
        if before in UP:
            return
        self._arrived.add(job.name)
        there = self.there(job)
        if len({one.launch for one in there}) > 1 and job.kind is not Kind.BENT:
            ids = ", ".join(f"{one.seen.name} {one.seen.id[-4:]} {one.seen.status.value}" for one in there)
            self._fault(f"{job.name} has two live attempts: {ids}")
        names = [one.node for one in there]
        if len(set(names)) < len(names):
            self._fault(f"{job.name} has two live instances of one node: {', '.join(names)}")

    def asking(self, process: Process, call: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Judge what a sweep is about to ask for; give the record that it is about to change."""
        if self._note:
            self._note(f"    {process.tick.sweep} {call} {_about(arguments)}")
        if (before := named.get("before")) and self._cloud.clock.now() >= before:
            return None  # The port refuses to send it.
        match call, arguments:
            case "write", (str(name), *_):
                self._guarded(name, named)
                return self._cloud.store.read(name) if LAUNCHED in name else None
            case "launch", (request, request_id):
                self._launching(process, request, request_id)
            case "start", (zone, vm_id, request_id):
                self._starting(process, zone, vm_id, request_id)
            case "delete", (zone, vm_id, _):
                self._removing(zone, vm_id)
            case (("delete" | "delete_all"), _):
                self._deleting(deleted(arguments, named))
            case (("publish" | "publish_all"), _):
                return None
            case _:
                self._fault(f"nobody watches {call}{arguments}")
        return None

    def _deleting(self, generations: Mapping[str, int | None]) -> None:
        """What is newer, or gone, is let be."""
        for name, generation in generations.items():
            self._guarded(name, {"generation": generation})
            before = self._cloud.store.read(name)
            if before and before.generation == generation:
                self._erasing(name, before.generation)

    def _guarded(self, name: str, named: dict[str, Any]) -> None:
        """Nobody changes the ledger blindly."""
        if named.get("generation") is None and not self._blind and LAUNCHED in name:
            self._fault(f"{name} is written without a generation")

    def asked(self, process: Process, call: str, arguments: tuple[Any, ...], before: Any) -> None:
        """Judge what a sweep has written."""
        if call != "write":
            return
        name, data, *_ = arguments
        if LAUNCHED in name:
            old = None if before is None else before.data
            for fault in ledger.faults(old, data, process.tick.sweep, self._cloud.clock.now()):
                self._fault(f"{name}: {fault}")
            self._stays(process, data)
        if name.endswith(NEVER_OURS) and process.tick.function != DEVELOPER:
            self._fault(f"a sweep wrote {name}")

    def _stays(self, process: Process, data: bytes) -> None:
        """A job whose move was refused has one VM, and no second one beside it from now on.

        Nobody told a sweep that slept that a VM which was told of its end has begun another life meanwhile.
        """
        record = msgspec.json.decode(data)
        job = self._nodes.get(record["job"])
        if job is None:
            return
        if record["state"] == "running":
            job.leaving -= {*record.get("instances", {}).values()}
        if record.get("early") and not record.get("planned"):
            replaced = record["replaces"].values()
            job.doomed |= {vm for vm, at in job.again.items() if vm in replaced and process.began < at}

    def _launching(self, process: Process, request: Request, request_id: str) -> None:
        """A new launch is of one job, open when the sweep began, of which nothing lives any more."""
        if request_id in self._requests:
            return
        self._requests.add(request_id)
        names = nodes_in(read(request))
        job = self._nodes.get(names[0])
        if job is None or not set(names) <= set(job.nodes):
            self._fault(f"VMs that are no job's are asked for: {', '.join(names)}")
            return
        self._may_start(process, job)
        if job.smaller in names or (job.smaller and job.kind is not Kind.BENT):
            self._fault(f"{job.name} is made again, though its owner has removed {job.smaller}")
        if self._is_move(job, request):
            job.leaving |= {vm.seen.id for vm in self.there(job)}
            self._arrived.discard(job.name)
        elif self._left(job) and job.name not in self._arrived:
            self._fault(f"{job.name} was to be moved, and is asked for elsewhere while it runs")
        # What is missing of a gang that bends is made beside the others, and nothing twice.
        beside = [vm for vm in self.there(job) if job.kind is not Kind.BENT or vm.node in names]
        if there := [vm for vm in beside if vm.launch != request_id]:
            told = ", ".join(f"{vm.seen.name} {vm.seen.id[-4:]} {vm.seen.status.value}" for vm in there)
            self._fault(f"a launch of {job.name} was asked for while it lives: {told}")

    def _is_move(self, job: Job, request: Request) -> bool:
        """Whether a job that asked for it goes from the one VM that it has to where it costs less."""
        # What was refused with a notice is asked for once more.
        there = {vm.seen.id: vm for vm in (*self.there(job), *self._left(job))}
        asked = f"/zones/{FAR}/" in request.path or is_back(job, read(request), [*there.values()])
        return self.moves and job.kind is Kind.EARLY and asked and len(there) == 1

    def _left(self, job: Job) -> list[Vm]:
        """The VMs that run, of a job that moves away from them."""
        living = self._cloud.compute.vms.living
        there = [living[vm_id] for vm_id in job.leaving if vm_id in living]
        return [vm for vm in there if vm.seen.status is Status.RUNNING]

    def _may_start(self, process: Process, job: Job) -> None:
        if job.over and process.began > job.over_at:
            self._fault(f"{job.name} is started again, though {job.over}")
        elif job.over_since and self._cloud.clock.now() > job.over_since + LEASE + SKEW:
            self._fault(f"{job.name} is started by a sweep that slept, long after {job.over}")

    def _starting(self, process: Process, zone: str, vm_id: str, request_id: str) -> None:
        """Only a job's own stopped VM is started, and only while nothing else of the job lives."""
        vm = self._cloud.compute.find(zone, vm_id)
        if vm is None or request_id in self._requests:
            return
        self._requests.add(request_id)
        job = job_of(self._nodes, vm)
        if job is None:
            self._fault(f"a VM that is no job's was started: {vm.seen.name}")
            return
        self._may_start(process, job)
        if [one for one in self.there(job) if one.launch != vm.launch]:
            self._fault(f"{vm.seen.name} is started while another attempt of {job.name} lives")

    def _removing(self, zone: str, vm_id: str) -> None:
        """Only a VM of a job that something befell may be deleted."""
        vm = self._cloud.compute.find(zone, vm_id)
        if vm is None:
            return
        job = job_of(self._nodes, vm)
        if job is None:
            self._fault(f"a VM that is no job's is deleted: {vm.seen.name}")
        elif not (job.hurt or job.over):
            self._fault(f"a healthy VM of {job.name} is deleted: {vm.seen.name}")

    def _erasing(self, name: str, generation: int) -> None:
        """Markers go only when they are answered; nothing else of a job's goes at all."""
        if name.startswith(f"{MARKERS}/"):
            if not self._answered(name.removeprefix(f"{MARKERS}/"), generation):
                self._fault(f"the marker {name}, generation {generation}, is cleared without an answer")
        elif not name.startswith("spotwarden/"):
            self._fault(f"a sweep deleted {name}")

    def _answered(self, node: str, generation: int) -> bool:
        """Put aside, of a job that is over or may be closed, of a node that lives, or named in the ledger."""
        store, job = self._cloud.store, self._nodes.get(node)
        kept = store.entries("spotwarden/quarantine/")
        if any(entry.name.endswith(f"@{generation}") for entry in kept):
            return True
        if job is None:
            return False
        wrote = self._guests.wrote.get(generation, "-")
        if job.over or any(vm.seen.status in UP for vm in self.there(job) if vm.node == node):
            return True
        records = [store.read(entry.name) for entry in store.entries(f"{job.name}{LAUNCHED}")]
        told = [record.data for record in records if record]
        if told and job.doubtful and msgspec.json.decode(told[-1])["state"] in ledger.CLOSED:
            return True
        if told and job.kind is Kind.BENT and node in msgspec.json.decode(told[-1])["lacking"]:
            # It was taken before it had joined: what it was made for is missing anyhow, and asked for again.
            return True
        return any(str(generation).encode() in data or wrote.encode() in data for data in told)


def _about(arguments: tuple[Any, ...]) -> str:
    """What a call is about, short."""
    match arguments:
        case (Request() as request, request_id):
            return f"{request.path.partition('/zones/')[2]} {request_id[:8]}"
        case (str(name), bytes(data), *_) if LAUNCHED in name:
            return f"{name} {data.decode()[:2000]}"
        case (str(name), *rest):
            return f"{name} {' '.join(one for one in rest if isinstance(one, str))}"
    return str(arguments)[:200]
