"""What is known after a step, so that the next one need not read the world again."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec.structs import replace

from spotwarden.model.action import (
    ClearMarker,
    DeleteInstance,
    EndWatch,
    Fetch,
    KeepWatch,
    LaunchInstances,
    Look,
    Quarantine,
    RecordLaunched,
    RegisterInstance,
    StartInstance,
    Step,
    Survey,
    Tell,
    WriteAttempt,
)
from spotwarden.model.attempt import Attempt, AttemptState, Recorded
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.instance import Instances, Operation, Operations, Status
from spotwarden.model.outcome import Done, Outcome, Rejected, Unanswered
from spotwarden.model.slice_action import LookAtGroup, SliceChange
from spotwarden.model.watch import Watched
from spotwarden.recovery.observed.inserts import of_requests
from spotwarden.recovery.observed.reopening import is_open_again
from spotwarden.recovery.requests.second_name import as_nodes, done_to_nodes
from spotwarden.recovery.requests.slice_groups import group_operations, made_by_group, newest_group, spoken
from spotwarden.recovery.requests.slice_progress import after_slice

UNANSWERED_AT_MOST = 3
"""How often one sweep repeats a request that got no answer; the request id makes that safe."""
NOT_YET_READ = datetime.max.replace(tzinfo=UTC)


def after(facts: JobFacts, step: Step, outcome: Outcome) -> JobFacts | None:
    """The facts with this outcome in them; None where the world must be read anew before the next step."""
    learnt = _after(facts, step, outcome)
    # Who creates a record knows it for the newest; one that is written anew may have a stop behind it.
    created = isinstance(step, WriteAttempt) and not step.generation and isinstance(outcome, Done)
    return learnt if learnt is None or learnt.fresh is created else replace(learnt, fresh=created)


def _after(facts: JobFacts, step: Step, outcome: Outcome) -> JobFacts | None:
    if isinstance(step, SliceChange | LookAtGroup):
        return after_slice(facts, step, outcome)
    if isinstance(step, LaunchInstances | StartInstance) and isinstance(outcome, Rejected):
        return _with_error(facts, f"{outcome.code}: {outcome.message}")
    if isinstance(step, LaunchInstances | StartInstance) and isinstance(outcome, Unanswered):
        return replace(facts, unanswered=facts.unanswered + 1)
    if isinstance(step, Survey) and isinstance(outcome, Unanswered):
        return replace(facts, unanswered=UNANSWERED_AT_MOST)
    if isinstance(outcome, Rejected) and outcome.code == "notFound":
        return _not_there(facts, step)
    if not isinstance(outcome, Done) or type(step) not in _LEARN:
        return None
    return _LEARN[type(step)](facts, step, outcome)


def _not_there(facts: JobFacts, step: Step) -> JobFacts | None:
    """An instance to be deleted that is gone, or an operation that nobody knows: then the lists must tell."""
    match step:
        case DeleteInstance():
            return _without_instance(facts, step)
        case Look():
            return replace(facts, forgotten=True, surveyed=False)
    return None


def _record(facts: JobFacts, step: WriteAttempt, outcome: Done) -> JobFacts:
    recorded = Recorded(attempt=step.record, generation=outcome.generation)
    kept = tuple(fact for fact in facts.ledger if fact.attempt.number != recorded.attempt.number)
    asked = step.record.state is AttemptState.PLACING and bool(step.record.tries[-1].operation)
    same = not _new_try(facts, step.record)
    learnt = replace(
        facts,
        ledger=(*kept, recorded),
        operation=facts.operation if asked else None,
        forgotten=facts.forgotten and same,
        surveyed=facts.surveyed and same,
        registered=frozenset(),
        # What the group before has made is nothing of the new one.
        tried=facts.tried if same or not newest_group(step.record) else (),
        parts=facts.parts if same else frozenset(),
        unmade=facts.unmade if same else "",
    )
    runs = step.record.state is AttemptState.RUNNING and not _is_note(facts, step.record)
    return _only_answered(learnt, step.record) if runs else learnt


def _is_note(facts: JobFacts, record: Attempt) -> bool:
    """Whether nothing is new but what its owner was told: nothing runs since, and no marker is answered."""
    return facts.newest is not None and replace(facts.newest, told=record.told) == record


def _new_try(facts: JobFacts, record: Attempt) -> bool:
    """Whether more may have been made since the instances were listed; what was gone then stays gone."""
    known = facts.newest
    return known is None or (known.number, known.tries) != (record.number, record.tries)


def _only_answered(facts: JobFacts, running: Attempt) -> JobFacts:
    """Of the nodes only the markers that this attempt answers: the others were seen before it ran.

    So was the rest of what these nodes say; without an id nothing of it is judged once the marker is gone.
    """
    kept = [
        node
        for node in facts.nodes
        if node.marker is not None and running.markers.get(node.node) == node.marker.generation
    ]
    outdated = any(node.marker is not None and node not in kept for node in facts.nodes)
    return replace(
        facts, nodes=tuple(replace(recorded, instance_id="") for recorded in kept), outdated=outdated
    )


def _operation(facts: JobFacts, _step: Step, outcome: Done) -> JobFacts:
    return replace(facts, operation=outcome.operation)


def _survey(facts: JobFacts, _step: Survey, outcome: Done) -> JobFacts:
    """The job's instances as they are now: what was listed before no longer counts."""
    seen, log = outcome.instances or Instances(), outcome.operations or Operations()
    missing = sorted({*seen.unreachable, *log.unreachable})
    made = [operation for operation in log.items if operation.kind in {"insert", "bulkInsert"}]
    inserts = tuple({insert.name: insert for insert in (*facts.inserts, *made)}.values())
    groups = {done.name: done for done in (*facts.group_log, *group_operations(facts, log.items))}
    facts = replace(facts, group_log=tuple(groups.values()), instances=as_nodes(facts, seen.items))
    inserts = done_to_nodes(facts, inserts)
    return replace(
        facts,
        nodes=tuple(_with_log(facts, node, log.items) for node in facts.nodes),
        outlived=tuple(_with_log(facts, fact, log.items) for fact in facts.outlived),
        tried=tuple(_with_log(facts, node, log.items) for node in _tried(facts, inserts)),
        inserts=inserts,
        unsure=f"unreachable: {', '.join(missing)}" if missing else "",
        surveyed=True,
    )


def _tried(facts: JobFacts, inserts: Sequence[Operation]) -> Sequence[NodeFacts]:
    """What the tries of the newest attempt have begun to make, with what only the newer log tells of.

    A request for a Flex-start VM may be hours old, and a sweep reads no more of the log than it needs.
    """
    known = {node.instance_id for node in facts.tried}
    requests = {tried.request_id for tried in facts.newest.tries} if facts.newest else set()
    made = (*of_requests(inserts, requests), *made_by_group(facts, inserts))
    more = (insert for insert in made if insert.target_id not in known)
    return (
        *facts.tried,
        *(NodeFacts(node=insert.target_name, instance_id=insert.target_id) for insert in more),
    )


def _with_log(facts: JobFacts, node: NodeFacts, log: Sequence[Operation]) -> NodeFacts:
    """The node with what the newer log adds to its history; what an attempt has answered stays out."""
    if not node.instance_id:
        return node
    answered = {recorded.attempt.cause for recorded in facts.ledger}
    known = {operation.name: operation for operation in spoken(facts, node.instance_id, node.history)}
    mine = tuple(
        candidate
        for candidate in log
        if candidate.target_id == node.instance_id and candidate.name not in answered
    )
    newer = {item.name: item for item in spoken(facts, node.instance_id, mine)}
    return replace(node, history=tuple({**known, **newer}.values()))


def _fetched(facts: JobFacts, step: Fetch, outcome: Done) -> JobFacts:
    return replace(facts, fetched={**facts.fetched, step.instance_id: outcome.resource})


def _watch(facts: JobFacts, step: KeepWatch, outcome: Done) -> JobFacts:
    since = facts.watched.since if facts.watched else NOT_YET_READ
    return replace(facts, watched=Watched(watch=step.watch, generation=outcome.generation, since=since))


def _without_instance(facts: JobFacts, step: DeleteInstance) -> JobFacts:
    return replace(
        facts, instances=tuple(instance for instance in facts.instances if instance.id != step.instance_id)
    )


def _going(facts: JobFacts, step: DeleteInstance, _outcome: Done) -> JobFacts:
    seen = tuple(
        replace(instance, status=Status.STOPPING) if instance.id == step.instance_id else instance
        for instance in facts.instances
    )
    return replace(facts, instances=seen)


def _registered(facts: JobFacts, step: RegisterInstance, outcome: Done) -> JobFacts:
    at = {**facts.registered_at, step.node: outcome.generation}
    return replace(facts, registered=facts.registered | {step.node}, registered_at=at)


def _aside(facts: JobFacts, step: Quarantine, _outcome: Done) -> JobFacts:
    cleared = _without_marker(facts, step.name, step.generation)
    return replace(cleared, registered=facts.registered | {step.name})


def _without_marker(facts: JobFacts, node: str, generation: int) -> JobFacts:
    """The node is judged once more without its marker, as far as the ledger speaks of its instance."""
    ours = set(facts.newest.instances.values()) if facts.newest else set()
    kept = []
    for fact in facts.nodes:
        if fact.node == node and fact.marker is not None and fact.marker.generation == generation:
            # A gang that a person has started again is judged with all of its nodes.
            if fact.instance_id in ours or is_open_again(facts, fact):
                kept.append(replace(fact, marker=None))
        else:
            kept.append(fact)
    return replace(facts, nodes=tuple(kept))


def _with_error(facts: JobFacts, error: str) -> JobFacts:
    newest = facts.ledger[-1]
    tries = newest.attempt.tries
    noted = replace(newest.attempt, tries=(*tries[:-1], replace(tries[-1], error=error)))
    return replace(facts, ledger=(*facts.ledger[:-1], replace(newest, attempt=noted)))


_LEARN: Mapping[type, Callable[[JobFacts, Any, Done], JobFacts]] = {
    WriteAttempt: _record,
    LaunchInstances: _operation,
    StartInstance: _operation,
    DeleteInstance: _going,
    Look: _operation,
    Survey: _survey,
    Fetch: _fetched,
    KeepWatch: _watch,
    EndWatch: lambda facts, _step, _done: replace(facts, watched=None),
    RecordLaunched: lambda facts, _step, _done: replace(facts, recorded=True),
    RegisterInstance: _registered,
    Tell: lambda facts, step, _done: replace(facts, told=facts.told | {step.notice.id}),
    ClearMarker: lambda facts, step, _done: _without_marker(facts, step.node, step.generation),
    Quarantine: _aside,
}
