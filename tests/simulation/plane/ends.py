"""Whether each warning of a remedy came to an end of which its owner was told, once."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from spotwarden.layout import CaseRecord, notice_key
from spotwarden.model.case import Case, CaseState
from spotwarden.model.notice import CaseRef, Notice
from spotwarden.model.policy import Mode
from tests.simulation.plane.jobs import PlaneJob

if TYPE_CHECKING:
    from tests.simulation.plane.world import PlaneWorld

WARNING, ENDS = "_warning", ("_acted", "_cleared")
OVERDUE = timedelta(minutes=30)
"""A remedy follows within a few sweeps of the moment that was named, or there is a word why not."""


def loose_ends(world: "PlaneWorld") -> list[str]:
    """Each warning that nothing followed, or of whose end nobody was told, or of which two were."""
    told: dict[CaseRef, list[tuple[datetime, Notice]]] = defaultdict(list)
    for at, notice in world.oracle.notices.values():
        if notice.case is not None and notice.kind.endswith((WARNING, *ENDS)):
            told[notice.case].append((at, notice))
    return [fault for case, notices in told.items() for fault in _of(world, case, notices)]


def _of(world: "PlaneWorld", case: CaseRef, notices: list[tuple[datetime, Notice]]) -> Iterator[str]:
    # In the order in which they were written: several may be of one moment.
    warned = max(
        (place for place, (_, notice) in enumerate(notices) if notice.kind.endswith(WARNING)), default=-1
    )
    if warned < 0:
        return
    last, warning = notices[warned]
    if warning.due is None:
        return  # Nothing was announced, or it was told to be off.
    ends = [notice.kind for _, notice in notices[warned:] if notice.kind.endswith(ENDS)]
    filed = _filed(world, case)
    if len(ends) > 1 and not _is_started_again(world, warning, ends):
        yield f"{warning.id} ({warning.what}) was told to have ended more than once: {', '.join(ends)}"
    elif not ends and filed is None and not _goes_on(world, warning, last):
        yield f"{warning.id} ({warning.what}) was never told to have ended"
    elif not ends and filed is not None and _is_overdue(world, filed):
        yield f"{warning.id} ({warning.what}) was due at {filed.due}, and nothing followed"


def _filed(world: "PlaneWorld", case: CaseRef) -> Case | None:
    """The case as it is on record, if it is still this one."""
    stored = world.cloud.store.read(world.layout.build(CaseRecord(rule=case.rule, key=case.key)))
    filed = msgspec.json.decode(stored.data, type=Case) if stored else None
    return filed if filed is not None and filed.opened == case.opened else None


def _goes_on(world: "PlaneWorld", warning: Notice, last: datetime) -> bool:
    """Whether another case of the rule has its VMs since: single VMs that turned out to be a gang."""
    mine = {target.id for target in warning.instances}
    return any(
        notice.case != warning.case and at >= last and mine & {target.id for target in notice.instances}
        for at, notice in world.oracle.notices.values()
        if notice.kind == warning.kind
    )


def _is_started_again(world: "PlaneWorld", warning: Notice, ends: Sequence[str]) -> bool:
    """Whether its owner has read of the remedy, then that the warning is over of a VM started since."""
    vms = {target.id for target in warning.instances}
    done = {removal.vm: removal.at for removal in world.oracle.removals if removal.vm in vms}
    seen = world.oracle.seen
    started = any((seen[vm_id].seen.started or at) > at for vm_id, at in done.items())
    return started and [end.rpartition("_")[2] for end in ends] == ["acted", "cleared"]


def _is_overdue(world: "PlaneWorld", case: Case) -> bool:
    """Whether its remedy is long due, and nobody and nothing speaks for waiting."""
    job = next((job for job in world.jobs if job.name == case.subject.job), None)
    if job is None or case.state is not CaseState.WARNED or _is_spared(job):
        return False
    kept = case.keep_until is not None and case.keep_until > world.now()
    held = any(notice.kind == "blast_radius" for _, notice in world.oracle.notices.values())
    if kept or held or case.extended or world.policy.mode is not Mode.ENFORCE or _never_arrived(world, case):
        return False
    due = [warned.due for warned in case.warnings if warned.counts and warned.due]
    # Nothing is done while ops only observe, nor before the functions have had time to act again.
    since = [moment for moment in (case.due, world.oracle.new_mode) if moment]
    # What is no longer known to hold is not looked at again: its case stays as it is, and nothing may follow.
    return bool(due) and case.looked - max(*due, *since) > OVERDUE


def _never_arrived(world: "PlaneWorld", case: Case) -> bool:
    """Whether the mail server has confirmed no copy of any warning, and they were given up as undelivered."""
    counting = [warned for warned in case.warnings if warned.counts]
    given_up = {
        entry.name.rpartition("/")[2] for entry in world.cloud.store.entries("spotwarden/undelivered/")
    }
    return all(
        warned.delivered is None and f"{notice_key(warned.notice)}.json" in given_up for warned in counting
    )


def _is_spared(job: PlaneJob) -> bool:
    """Whether nobody can tell what holds of it, so that it is only told about."""
    return job.deceived or job.doubtful or job.forged or job.partly
