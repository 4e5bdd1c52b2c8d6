"""What runs: its entry in the list of open jobs, its ids, and once the whole of it, written down."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from spotwarden.create_script.request.compare import differences
from spotwarden.model.action import (
    Fetch,
    KeepWatch,
    RecordLaunched,
    RegisterInstance,
    Step,
    Tell,
    WriteAttempt,
)
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Status
from spotwarden.model.launch import Launch
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watch
from spotwarden.recovery.folder.registering import registration, unregistered
from spotwarden.recovery.kinds.flexible import is_flexible, waiting
from spotwarden.recovery.places.movable import is_movable
from spotwarden.recovery.requests.slice_groups import newest_group
from spotwarden.recovery.telling import notices

RECORDED = 20
"""Jobs of one message of a crowd whose VMs are read and written down: some 400 a minute of all messages."""


def settle(facts: JobFacts, tick: Tick) -> Step | None:
    """For a job that runs: bring its watch up to date, and write down once what was launched."""
    newest = facts.newest
    if newest is None or newest.state is not AttemptState.RUNNING:
        return None
    if began := _has_room(facts, newest):
        running = replace(newest, started=began, updated=tick.now)
        reason = "the Flex-start VM got capacity and runs"
        return WriteAttempt(reason=reason, record=running, generation=facts.head)
    wanted = watch_of(facts, newest)
    if newest.bent or newest_group(newest):
        # No launch could be made of what runs of a slice: that is VMs without their group and policy.
        return _on_record(facts, wanted, "the gang continues" if newest.bent else "the slice runs")
    watched = facts.watched.watch if facts.watched else None
    if watched and facts.may_move:
        wanted = replace(wanted, moving=watched.moving)
    if facts.recorded and not newest.seen:
        return _on_record(facts, wanted, "the job runs")
    behind: Step | None = None
    if watched is None or replace(watched, recorded=False) != wanted:
        generation = facts.watched.generation if facts.watched else 0
        behind = KeepWatch(reason="the job runs", job=facts.job, watch=wanted, generation=generation)
    if behind and (watched is None or not tick.patient):
        return behind
    if unregistered := _unregistered(facts, newest):
        return behind or unregistered
    if watched is None or (watched.recorded and not behind) or not tick.patient:
        return None
    # What runs is written down first, so that its entry is written once: an object takes a write a second.
    return (_record(facts, newest, tick) if _is_due(facts.job, tick) else None) or behind


def _unregistered(facts: JobFacts, newest: Attempt) -> RegisterInstance | None:
    """The id of an instance of our own launch that was stopped before anybody had registered it.

    What a developer has launched by hand registers itself, or nothing does.
    """
    ours = {instance.id for instance in facts.instances if instance.job is not None}
    for node, instance_id in unregistered(facts, newest.instances if newest.seen else {}):
        if instance_id in ours:
            reason = f"{node} was started again, and is instance {instance_id}"
            return registration(facts, node, instance_id, reason)
    return None


def _is_due(job: str, tick: Tick) -> bool:
    """Whether what runs of the job is to be read now: of a crowd, a few of each message, others each minute.

    Compute Engine answers 1,500 reads of one resource a minute and region, and each VM takes two or more. In
    a storm whoever waits for one keeps jobs that are down waiting.
    """
    if not tick.batch or job not in tick.jobs:
        return True
    place = tick.jobs.index(job) - tick.now.minute * RECORDED
    return place % len(tick.jobs) < RECORDED


def _on_record(facts: JobFacts, wanted: Watch, reason: str) -> KeepWatch | None:
    """The entry of a job of which nothing is to be read: what its VMs were launched as is on record."""
    wanted = replace(wanted, recorded=True)
    if facts.watched is not None and facts.watched.watch == wanted:
        return None
    generation = facts.watched.generation if facts.watched else 0
    return KeepWatch(reason=reason, job=facts.job, watch=wanted, generation=generation)


def watch_of(facts: JobFacts, newest: Attempt) -> Watch:
    """The entry in the list of open jobs that says what the ledger says."""
    past = {name for recorded in facts.ledger[-10:] for name in recorded.attempt.replaces.values() if name}
    past |= {removal.instance_id for removal in newest.removed.values()}
    past |= {lacking.instance_id for lacking in newest.lacking.values()} - {""}
    return Watch(
        job=facts.job,
        attempt=newest.number,
        instances=newest.wanted,
        past=tuple(sorted(past)),
        lacks=bool(newest.lacking) or bool(newest.removed and newest_group(newest)),
        movable=is_movable(facts),
    )


def _has_room(facts: JobFacts, newest: Attempt) -> datetime | None:
    """When the last of its VMs began to run, of those that had not when they were seen first."""
    if newest.started is not None or not newest.seen or not is_flexible(facts):
        return None
    ids = set(newest.wanted.values())
    began = [instance.started for instance in facts.instances if instance.id in ids]
    there = [moment for moment in began if moment is not None]
    waits = waiting(facts.instances, ids)
    return None if waits or not there or len(there) < len(ids) else max(there)


def _record(facts: JobFacts, newest: Attempt, tick: Tick) -> Step | None:
    """Fetch what runs, say where the script differs from it, and write it down."""
    there = {instance.id: instance for instance in facts.instances if instance.status is Status.RUNNING}
    for node, instance_id in newest.instances.items():
        if instance_id not in facts.fetched:
            item = there.get(instance_id)
            return Fetch(node=node, zone=item.zone, instance_id=instance_id) if item else None
    ran = {node: facts.fetched[instance_id] for node, instance_id in newest.instances.items()}
    if not all(map(_is_whole, ran.values())):
        return None
    launch = facts.launch
    if newest.seen and isinstance(launch, Launch) and not launch.gang:
        first = next(iter(ran.values()))["instance"]
        found = () if _is_of_script(launch, facts, newest) else differences(launch.request, first)
        if found:
            notice = notices.differs(facts, newest, found, tick)
            if notice.id not in facts.told:
                return Tell(reason="the stored script differs from what runs", notice=notice)
    if not facts.recorded:
        return RecordLaunched(reason="seen for the first time", job=facts.job, attempt=newest.number, ran=ran)
    if facts.watched is None:
        return None
    noted = replace(watch_of(facts, newest), recorded=True)
    return KeepWatch(
        reason="what runs is on record", job=facts.job, watch=noted, generation=facts.watched.generation
    )


def _is_of_script(launch: Launch, facts: JobFacts, newest: Attempt) -> bool:
    """Whether a request of ours for the script as it stands made what runs, on whichever machine had room."""
    ids = set(newest.instances.values())
    makers = (known.attempt for known in facts.ledger if ids & set(known.attempt.instances.values()))
    return any(not made.seen and made.script == launch.script for made in makers)


def _is_whole(found: Mapping[str, Any] | None) -> bool:
    """Whether the instance and each of its disks were there: without a boot disk it is lost."""
    return found is not None and None not in found["disks"].values()
