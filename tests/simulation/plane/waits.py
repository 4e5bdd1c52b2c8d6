"""Whether a job waits for room, as the judge knows it."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from spotwarden.model.instance import Status
from spotwarden.model.notice import Notice
from tests.simulation.commands import Kind
from tests.simulation.plane.jobs import PlaneJob
from tests.simulation.plane.judged import JudgedWorld

APART = timedelta(minutes=2)
"""How far two clocks may be apart."""
UP = {Status.PROVISIONING, Status.STAGING, Status.RUNNING, Status.REPAIRING}


def down_since(job: PlaneJob, world: JudgedWorld) -> datetime:
    """Since when none of its VMs has run: it was asked for, or its last one went."""
    return _last_down(job, world, world.oracle.down)


def _idle_since(job: PlaneJob, world: JudgedWorld) -> datetime:
    """Since when its program has run nowhere: a VM that went before it began has ended no wait."""
    began, down = world.oracle.began, world.oracle.down
    return _last_down(
        job,
        world,
        {vm: at for vm, at in down.items() if vm in began and world.guests.moved_between(vm, began[vm], at)},
    )


def _last_down(job: PlaneJob, world: JudgedWorld, down: Mapping[str, datetime]) -> datetime:
    vms = [vm for vm in world.oracle.seen.values() if world.mine.get(vm.seen.id) is job]
    born = min((vm.seen.created for vm in vms if vm.seen.created), default=world.now())
    return max([born, *(down[vm.seen.id] for vm in vms if vm.seen.id in down)])


def not_waiting(notice: Notice, job: PlaneJob, world: JudgedWorld) -> str:
    """Why it is not true that a job waits for room for as long as a notice says; "" where it is."""
    if job.kind is not Kind.FLEX and not job.climbs:
        return ""  # A gang, for one, may run in part before Compute Engine undoes it.
    began = world.oracle.began
    for vm in world.oracle.there(job):
        runs = vm.seen.status in UP and began.get(vm.seen.id, notice.at) < notice.at - APART
        if runs and world.oracle.is_newest(job, vm):
            return f"{vm.seen.name} {vm.seen.id[-4:]} has room since {began[vm.seen.id]:%H:%M}"
    waited, said = notice.at - _idle_since(job, world), int(notice.id.rpartition("/")[2])
    return f"it was down for {waited} only" if waited < timedelta(seconds=said) - APART else ""
