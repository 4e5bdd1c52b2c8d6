"""What its developer launched without us, and what runs: written down when it is first seen."""

from collections.abc import Collection, Mapping
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
from spotwarden.model.attempt import CLOSED, Attempt, AttemptState
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance, Status
from spotwarden.model.launch import Launch
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watch
from spotwarden.recovery import notices
from spotwarden.recovery.fates import alive
from spotwarden.recovery.flexible import is_flexible, waiting
from spotwarden.recovery.movable import is_movable
from spotwarden.recovery.reopening import is_before_stop, is_open_again, opened_at
from spotwarden.recovery.slice_groups import newest_group

RECORDED = 20
"""Jobs of one message of a crowd whose VMs are read and written down: some 400 a minute of all messages."""


def strangers(facts: JobFacts) -> list[Instance]:
    """Instances of the job's own that carry no label of ours and that no attempt knows."""
    known = {
        name
        for recorded in facts.ledger
        for ids in (recorded.attempt.instances, recorded.attempt.replaces)
        for name in ids.values()
    }
    return [
        instance
        for instance in facts.instances
        if instance.job is None
        and alive(instance)
        and instance.id not in known
        and not is_before_stop(facts, instance.created)
    ]


def adopt(facts: JobFacts, tick: Tick) -> WriteAttempt | KeepWatch | None:
    """Write down an attempt that its developer launched by hand; None where there is none."""
    older = _older_started(facts)
    again = _open_again(facts) | older
    new = again | {stranger.name: stranger for stranger in strangers(facts)}
    if not new:
        return None
    if facts.watched is None:
        # On the list before anything else: nobody would miss an instance of a job that nobody watches.
        return KeepWatch(reason="a job was seen", job=facts.job, watch=Watch(job=facts.job), generation=0)
    newest = facts.ledger[-1] if facts.ledger else None
    ids = {name: instance.id for name, instance in new.items()}
    if newest and _another_node(newest.attempt, ids):
        more = replace(newest.attempt, instances={**newest.attempt.instances, **ids}, updated=tick.now)
        return WriteAttempt(reason="another node was seen", record=more, generation=newest.generation)
    if newest and newest.attempt.state not in CLOSED and not older and _still_there(facts, newest.attempt):
        return None
    ids = {**(_lost_since(facts) if again else _made_with(facts, ids)), **ids}
    first = min((again or new).values(), key=lambda item: item.created or tick.now)
    began = _opened(facts, again) or first.started or first.created or tick.now
    record = Attempt(
        job=facts.job,
        number=newest.attempt.number + 1 if newest else 1,
        state=AttemptState.RUNNING,
        created=began if again else first.created or tick.now,
        updated=tick.now,
        reason="started again by a person, and seen" if again else "launched by its developer, and seen",
        instances=ids,
        started=None if _has_not_begun(facts, new.values()) else began,
        seen=True,
        owner=facts.owner,
        registered={
            node: facts.registered_at.get(node, 0)
            for node, name in ids.items()
            if facts.registrations.get(node) == name
        },
    )
    return WriteAttempt(reason=record.reason, record=record, generation=0, after=facts.head)


def _has_not_begun(facts: JobFacts, seen: Collection[Instance]) -> bool:
    """Whether a VM of these waits for room, or has just got it: its wait is no run time."""
    made = is_flexible(facts) and any(instance.started is None for instance in seen)
    return made or waiting(seen, {instance.id for instance in seen})


def _made_with(facts: JobFacts, ids: Mapping[str, str]) -> dict[str, str]:
    """The other nodes that the bulk request of these has made, by the log: one may be lost unseen."""
    nodes = facts.launch.nodes if isinstance(facts.launch, Launch) else ()
    seen = set(ids.values())
    groups = {insert.group for insert in facts.inserts if insert.target_id in seen} - {""}
    return {
        insert.target_name: insert.target_id
        for insert in facts.inserts
        if insert.kind == "insert"
        and insert.group in groups
        and insert.target_name in nodes
        and not insert.error
    }


def _open_again(facts: JobFacts) -> dict[str, Instance]:
    """What runs of the closed attempt since a person has opened the job again, and is not counted yet."""
    counted = _counted(facts)
    return {
        node.node: node.instance
        for node in facts.nodes
        if node.instance is not None
        and node.instance_id not in counted
        and alive(node.instance)
        and is_open_again(facts, node)
    }


def _older_started(facts: JobFacts) -> dict[str, Instance]:
    """The VM of an earlier attempt that was started again since, where the newest attempt's own one is down.

    Nobody but a person does that. No second VM is made beside it, so the job goes on there.
    """
    newest = facts.newest
    gang = isinstance(facts.launch, Launch) and facts.launch.gang
    if newest is None or newest.state is not AttemptState.RUNNING or newest.started is None:
        return {}
    own = set(newest.instances.values())
    if gang or facts.unsure or any(item.id in own and alive(item) for item in facts.instances):
        return {}
    past = {name for fact in facts.ledger[:-1] for name in fact.attempt.instances.values()} - own
    return {
        instance.name: instance
        for instance in facts.instances
        if instance.id in past and alive(instance) and instance.started and instance.started > newest.started
    }


def _opened(facts: JobFacts, again: Mapping[str, Instance]) -> datetime | None:
    """When the first of the instances that a person has started again began to run, as far as it shows."""
    opened = opened_at(facts) if again else None
    if opened is None:
        return None
    began = (item.started for item in again.values() if item.started and item.started >= opened)
    return min(began, default=opened)


def _lost_since(facts: JobFacts) -> dict[str, str]:
    """The ids of what ran when a person opened the job again, and was lost before this sweep."""
    return {
        node.node: node.instance_id
        for node in facts.nodes
        if (node.instance is None or not alive(node.instance)) and is_open_again(facts, node)
    }


def _counted(facts: JobFacts) -> set[str]:
    """The instances of the newest attempt, where that is open."""
    newest = facts.newest
    return set(newest.instances.values()) if newest and newest.state not in CLOSED else set()


def _unregistered(facts: JobFacts, newest: Attempt) -> RegisterInstance | None:
    """The id of an instance of our own launch that was stopped before anybody had registered it.

    What a developer has launched by hand registers itself, or nothing does.
    """
    ours = {instance.id for instance in facts.instances if instance.job is not None}
    for node, instance_id in newest.instances.items() if newest.seen else ():
        is_known = node in facts.registered or facts.registrations.get(node) == instance_id
        if instance_id in ours and not is_known:
            return RegisterInstance(
                reason=f"{node} was started again, and is instance {instance_id}",
                job=facts.job,
                node=node,
                instance_id=instance_id,
                generation=facts.registered_at.get(node, 0),
            )
    return None


def _another_node(attempt: Attempt, ids: Mapping[str, str]) -> bool:
    """Whether they are further nodes of a launch that was seen while it was still under way."""
    return attempt.seen and attempt.state is AttemptState.RUNNING and not set(ids) & set(attempt.instances)


def _still_there(facts: JobFacts, attempt: Attempt) -> bool:
    ids = set(attempt.instances.values())
    return any(instance.id in ids for instance in facts.instances)


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
