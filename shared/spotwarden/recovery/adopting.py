"""What its developer launched, or started again, without us: written down when it is first seen."""

from collections.abc import Collection, Mapping
from datetime import datetime

from msgspec.structs import replace

from spotwarden.model.action import (
    KeepWatch,
    WriteAttempt,
)
from spotwarden.model.attempt import CLOSED, Attempt, AttemptState
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance
from spotwarden.model.launch import Launch
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watch
from spotwarden.recovery.kinds.flexible import is_flexible, waiting
from spotwarden.recovery.observed.fates import alive
from spotwarden.recovery.observed.going_back import older_lost, older_started
from spotwarden.recovery.observed.reopening import is_before_stop, is_open_again, opened_at

_AGAIN = "started again by a person, and seen"


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
    older = older_started(facts)
    again = _open_again(facts) | older
    new = again | {stranger.name: stranger for stranger in strangers(facts)}
    lost = None if new else older_lost(facts)
    if not new and lost is None:
        return None
    if facts.watched is None:
        # On the list before anything else: nobody would miss an instance of a job that nobody watches.
        return KeepWatch(reason="a job was seen", job=facts.job, watch=Watch(job=facts.job), generation=0)
    if lost is not None:
        ids = {lost.node: lost.instance_id}
        return _seen(facts, tick, ids, reason=_AGAIN, created=lost.started, started=lost.started)
    newest = facts.ledger[-1] if facts.ledger else None
    ids = {name: instance.id for name, instance in new.items()}
    if newest and _another_node(newest.attempt, ids):
        more = replace(newest.attempt, instances={**newest.attempt.instances, **ids}, updated=tick.now)
        return WriteAttempt(reason="another node was seen", record=more, generation=newest.generation)
    if newest and newest.attempt.state not in CLOSED and not older and still_there(facts, newest.attempt):
        return None
    ids = {**(_lost_since(facts) if again else _made_with(facts, ids)), **ids}
    first = min((again or new).values(), key=lambda item: item.created or tick.now)
    began = _opened(facts, again) or first.started or first.created or tick.now
    return _seen(
        facts,
        tick,
        ids,
        reason=_AGAIN if again else "launched by its developer, and seen",
        created=began if again else first.created or tick.now,
        started=None if _has_not_begun(facts, new.values()) else began,
    )


def _seen(
    facts: JobFacts,
    tick: Tick,
    ids: Mapping[str, str],
    *,
    reason: str,
    created: datetime,
    started: datetime | None,
) -> WriteAttempt:
    """The next record, of what runs, or ran, without a request of ours."""
    record = Attempt(
        job=facts.job,
        number=facts.newest.number + 1 if facts.newest else 1,
        state=AttemptState.RUNNING,
        created=created,
        updated=tick.now,
        reason=reason,
        instances=ids,
        started=started,
        seen=True,
        owner=facts.owner,
        registered={
            node: facts.registered_at.get(node, 0)
            for node, name in ids.items()
            if facts.registrations.get(node) == name
        },
    )
    return WriteAttempt(reason=reason, record=record, generation=0, after=facts.head)


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


def _another_node(attempt: Attempt, ids: Mapping[str, str]) -> bool:
    """Whether they are further nodes of a launch that was seen while it was still under way."""
    return attempt.seen and attempt.state is AttemptState.RUNNING and not set(ids) & set(attempt.instances)


def still_there(facts: JobFacts, attempt: Attempt) -> bool:
    """Whether any of its instances is alive; what is at rest stands in nobody's way who launches anew."""
    ids = set(attempt.instances.values())
    return any(instance.id in ids and alive(instance) for instance in facts.instances)
