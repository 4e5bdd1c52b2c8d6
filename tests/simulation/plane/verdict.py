"""What must be so in the end, once the trouble is over and the functions have come to rest."""

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from spotwarden.layout import MARKERS, InstanceId
from spotwarden.model.instance import Status
from spotwarden.model.policy import Mode
from tests.fakes.vms import Vm
from tests.simulation.commands import Kind
from tests.simulation.jobs import STOPPED
from tests.simulation.plane.commands import Mood
from tests.simulation.plane.jobs import CAP, PlaneJob, violates

if TYPE_CHECKING:
    from tests.simulation.plane.world import PlaneWorld

ENOUGH = {"not_recoverable", "gave_up", "quarantined"}
"""The kinds of notices by which an owner knows why a job does not come back."""
NOBODY = re.compile("nobody stops it|runs on")
HELD = "the blast radius holds it"


def open_ends(world: "PlaneWorld") -> list[str]:
    """What is not as it must be; some of it may only need more time."""
    found = [fault for job in world.jobs for fault in _job(world, job)]
    if any(notice.kind == "blast_radius" for _, notice in world.oracle.notices.values()):
        found = [f"{fault}; {HELD}" if NOBODY.search(fault) else fault for fault in found]
    for vm_id in world.strangers:
        vm = world.compute.vms.living.get(vm_id)
        if vm is None or vm.seen.status is not Status.RUNNING:
            found.append(f"the stranger {vm_id[-4:]} was touched")
    found += [
        f"the marker {entry.name} is never answered" for entry in world.cloud.store.entries(f"{MARKERS}/")
    ]
    return [*found, *_mail(world)]


def _mail(world: "PlaneWorld") -> Iterator[str]:
    """Whatever was published has arrived, or somebody knows that it could not."""
    if world.messages_wait:
        yield "a notice is still on its way"
    waiting = world.cloud.store.entries("spotwarden/outbox/")
    for entry in waiting:
        yield f"{entry.name} still waits to be sent"


def untold(world: "PlaneWorld") -> list[str]:
    """Every notice that was published came to somebody, or was put aside."""
    arrived = {mail.notice.id for mail in world.mailroom.arrived}
    aside = b"".join(
        stored.data
        for entry in world.cloud.store.entries("spotwarden/undelivered/")
        if (stored := world.cloud.store.read(entry.name))
    )
    found = [
        f"nobody was told {notice_id} ({notice.what})"
        for notice_id, (_, notice) in world.oracle.notices.items()
        if notice_id not in arrived and notice_id.encode() not in aside
    ]
    return [*found, *(fault for job in world.jobs for fault in _silent(world, job))]


def _silent(world: "PlaneWorld", job: PlaneJob) -> Iterator[str]:
    """Each attempt of ours that runs was told of."""
    told = {
        notice.evidence.get("attempt", "")
        for _, notice in world.oracle.notices.values()
        if notice.kind in {"recovered", "moved", "gang_changed"} and notice.job == job.name
    }
    for record in ledger_of(world, job):
        number, tries = str(record["number"]), record["tries"]
        # A move that was refused leaves everything as it was.
        ours = bool(tries) and not (record.get("planned") and tries[-1]["kind"] == "keep")
        if record["number"] > 1 and record["state"] == "running" and ours and number not in told:
            yield f"nobody was told that attempt {number} of {job.name} runs"


def _job(world: "PlaneWorld", job: PlaneJob) -> Iterator[str]:
    if job.over:
        yield from _over(world, job)
        return
    yield from _smaller(world, job)
    if job.doubtful:
        return
    vms = [vm for vm in world.running(job) if vm.seen.id not in job.doomed | job.beside]
    running = sorted(vm.node for vm in vms)
    # Who starts a gang of which a node was lost before it was over has what could be started.
    as_started = bool(vms) and {vm.seen.id for vm in vms} == job.started
    if as_started or running == sorted(job.nodes):
        yield from _running(world, job)
        return
    ours = {removal.vm for removal in world.oracle.removals}
    if any(world.mine.get(vm_id) is job for vm_id in ours) and told_of(world, job) & _ACTED:
        return
    log = world.compute.vms.log.values()
    removed = {operation.target_name for operation in log if operation.target_id in job.touched}
    if "node_removed" in told_of(world, job) and {*job.nodes} - {*running} <= removed:
        return
    if told_of(world, job) & ENOUGH or _held_by_others(world, job, vms):
        return
    records = ledger_of(world, job)
    state = records[-1]["state"] if records else "no record"
    of = f"of {len(job.nodes)} nodes {running} run; ledger: {state}"
    yield f"{job.name} ({job.kind.name}) is open, but {of}"


def _held_by_others(world: "PlaneWorld", job: PlaneJob, running: Sequence[Vm]) -> bool:
    """Whether a gang that bends lacks only nodes whose names others have where it runs, and that was told."""
    if job.kind is not Kind.BENT or "name_taken" not in told_of(world, job):
        return False
    zones = {vm.seen.zone for vm in running}
    others = (vm for vm_id in world.strangers if (vm := world.compute.vms.living.get(vm_id)))
    held = {vm.seen.name for vm in others if vm.seen.zone in zones}
    return bool(running) and {*job.nodes} - {vm.seen.name for vm in running} <= held


def _smaller(world: "PlaneWorld", job: PlaneJob) -> Iterator[str]:
    """A gang that bends, and goes on without what a person has removed, lacks nothing else."""
    lacks = {*job.nodes} - {vm.node for vm in world.running(job)} - job.less
    records = ledger_of(world, job) if job.less and lacks else []
    if records and records[-1]["state"] == "running":
        yield f"{job.name} goes on without {', '.join(sorted(lacks))}, which nobody has removed"


_ACTED = {f"{rule}_acted" for rule in ("orphan", "stall", "idle", "job_cap", "instance_cap", "compliance")}


def _running(world: "PlaneWorld", job: PlaneJob) -> Iterator[str]:
    """The ids of what runs are on record; where the policy acts, nothing hangs or idles for ever."""
    for vm in world.running(job):
        if " by hand " in vm.launch:
            continue  # Its developer's own script registers it, or nothing does.
        stored = world.cloud.store.read(world.layout.build(InstanceId(job=job.name, node=vm.node)))
        if stored is None or stored.data.decode() != vm.seen.id:
            yield f"the id of {vm.seen.name} {vm.seen.id[-4:]} was never registered"
    if world.policy.mode is not Mode.ENFORCE or job.deceived or _went_back(world, job):
        return
    odd = any(violates(vm) for vm in world.running(job))
    if world.policy.mode is Mode.ENFORCE and world.policy.compliance.remedy.value != "none" and odd:
        yield f"{job.name} violates the policy, and nobody stops it"
    if job.capped and not job.extended and any(_long_up(world, vm) for vm in world.running(job)):
        yield f"{job.name} runs beyond its cap, and nobody stops it"
    programs = [world.guests.programs.get(vm.seen.id) for vm in world.running(job)]
    moods = {program.mood for program in programs if program}
    if moods == {Mood.HANG} and not job.mute and world.policy.stall.remedy.value != "none":
        yield f"{job.name} hangs, and nobody stops it"
    if moods == {Mood.IDLE} and job.gpus and world.policy.idle.remedy.value != "none":
        yield from _idling(world, job)


def _went_back(world: "PlaneWorld", job: PlaneJob) -> bool:
    """Whether a person has started an older VM of a job that was closed: its owner is told, and it runs."""
    newest = any(world.oracle.is_newest(job, vm) for vm in world.running(job))
    return not newest and "orphan_unknown" in told_of(world, job)


def _idling(world: "PlaneWorld", job: PlaneJob) -> Iterator[str]:
    """One whose heartbeats tell of progress may be loading data: its owner is told, and it goes on."""
    if job.mute:
        yield f"the GPUs of {job.name} idle, and nobody stops it"
    elif "idle_warning" not in told_of(world, job):
        yield f"the GPUs of {job.name} idle, and nobody was told"


def _long_up(world: "PlaneWorld", vm: Vm) -> bool:
    return vm.seen.started is not None and world.now() - vm.seen.started > CAP + timedelta(hours=1)


def _over(world: "PlaneWorld", job: PlaneJob) -> Iterator[str]:
    """Nothing of a job that is over runs for ever, and what its owner ended is closed on record."""
    yield from _unheard(world, job)
    if (
        world.policy.mode is not Mode.ENFORCE
        or world.policy.orphan.remedy.value == "none"
        or job.doubtful
        or job.partly
    ):
        return
    programs = [world.guests.programs.get(vm.seen.id) for vm in world.running(job)]
    if any(program and program.mood not in {Mood.HANG, Mood.DARK} for program in programs):
        # What works after its job's end contradicts it: its owner is told, and nobody stops it.
        return
    for vm in world.running(job):
        yield f"{job.name} is over ({job.over}), and {vm.seen.name} {vm.seen.id[-4:]} runs on"


def _unheard(world: "PlaneWorld", job: PlaneJob) -> Iterator[str]:
    """A person's end of a VM that waited for room is heard: nothing goes on waiting for it."""
    records = ledger_of(world, job)
    open_still = bool(records) and records[-1]["state"] in {"claimed", "placing", "backing off", "running"}
    if job.kind is Kind.FLEX and job.over == STOPPED and open_still and not job.doubtful:
        yield f"{job.name} is over ({job.over}), and its record says {records[-1]['state']}"


def ledger_of(world: "PlaneWorld", job: PlaneJob) -> list[dict[str, Any]]:
    """All records of a job, oldest first."""
    store = world.cloud.store
    read = [store.read(entry.name) for entry in store.entries(world.layout.attempts(job.name))]
    records: list[dict[str, Any]] = [msgspec.json.decode(stored.data) for stored in read if stored]
    return sorted(records, key=lambda record: int(record["number"]))


def told_of(world: "PlaneWorld", job: PlaneJob) -> set[str]:
    """The kinds of notices about a job since a person last opened it: older ones explain nothing."""
    return {
        notice.kind
        for at, notice in world.oracle.notices.values()
        if notice.job == job.name and (job.opened is None or at >= job.opened)
    }
