"""Whether a warning that was taken back no longer held."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from spotwarden.model.instance import Status
from spotwarden.model.notice import Notice
from tests.fakes.vms import Vm
from tests.simulation.plane.jobs import PlaneJob, violates
from tests.simulation.plane.judged import JudgedWorld

if TYPE_CHECKING:
    from tests.simulation.plane.oracle import Oracle

BUSY = 5.0
MOMENT = timedelta(seconds=1)
SEEN_LATE = timedelta(minutes=31)
"""What happened so long before a warning may be seen after it: metrics and heartbeats are late."""


class _Kept(msgspec.Struct, frozen=True):
    """What tells of a case that a person keeps it."""

    keep_until: datetime | None = None


def still_holds(notice: Notice, job: PlaneJob, world: JudgedWorld, oracle: "Oracle") -> str:
    """What holds as it did when it was warned of; "" where something changed, or nobody can tell."""
    rule, now = notice.kind.removesuffix("_cleared"), world.now()
    first = _warned(notice, rule, oracle)
    if first is None or job.deceived or job.doubtful:
        return ""
    since = first - SEEN_LATE
    if oracle.new_policy and oracle.new_policy > since:
        return ""
    if job.over and (job.over_since is None or job.over_since > since):
        # What is to become of the VM of a job that is over is another rule's to say.
        return ""
    # A gang is closed for the node that somebody had removed.
    closed = any(
        told.kind == "stopped" and told.job == job.name and at > since for at, told in oracle.notices.values()
    )
    if closed or _gang_is_kept(notice, rule, job, world, now):
        return ""
    vms = [vm for target in notice.instances if (vm := oracle.seen.get(target.id))]
    if not vms or not all(_runs_since(vm, first) for vm in vms) or (job.opened and job.opened > first):
        return ""
    worked = any(world.metrics.busy_between(vm.seen.id, since, now, BUSY) for vm in vms)
    # What began this very moment is seen by this very sweep.
    moved = any(world.guests.moved_between(vm.seen.id, since, now + MOMENT) for vm in oracle.there(job))
    extended = any(key == job.name and at > since for key, at, _ in oracle.extensions.values())
    over = bool(job.over) and job.over_since is not None and job.over_since < since
    # A gang is as old as its youngest node: docs/governance/caps.md.
    refilled = any(vm.seen.started and vm.seen.started > first for vm in oracle.there(job))
    holds = {
        "compliance": (all(violates(vm) for vm in vms), "the VM still violates the policy"),
        "instance_cap": (not extended and not refilled, "the VM is still up"),
        "job_cap": (job.capped and not extended, "its job still runs"),
        "idle": (not worked and not moved, "its GPUs have done nothing since"),
        "stall": (not moved, "its job has made no progress since"),
        "orphan": (over and not moved and not worked, "its job is still over"),
    }
    holds_on, why = holds.get(rule, (False, ""))
    return why if holds_on else ""


def _gang_is_kept(notice: Notice, rule: str, job: PlaneJob, world: JudgedWorld, now: datetime) -> bool:
    """Whether a person keeps the gang, so that nothing comes of a warning about one VM of it.

    By its case: an answer may be cut off once that is written.
    """
    stored = world.cloud.store.read(f"spotwarden/cases/{rule}/{job.name}.json")
    if stored is None or notice.case is None or notice.case.key == job.name:
        return False
    until = msgspec.json.decode(stored.data, type=_Kept).keep_until
    return until is not None and until > now


def _warned(notice: Notice, rule: str, oracle: "Oracle") -> datetime | None:
    """When this case was first warned about."""
    told = [
        at
        for at, other in oracle.notices.values()
        if other.kind == f"{rule}_warning" and other.case == notice.case
    ]
    return min(told, default=None)


def _runs_since(vm: Vm, moment: datetime) -> bool:
    return vm.seen.status is Status.RUNNING and (vm.seen.started or moment) < moment
