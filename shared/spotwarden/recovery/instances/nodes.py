"""A job's nodes: its markers, its ledger and its registrations, held against what Compute Engine shows."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec.structs import replace

from spotwarden.model.attempt import CLOSED, Attempt, AttemptState, Removal
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.instance import Operation
from spotwarden.model.marker import Marker
from spotwarden.recovery.observed.fates import alive
from spotwarden.recovery.observed.inserts import of_requests
from spotwarden.recovery.observed.reopening import is_open_again, is_persons_start, last_closed, startable
from spotwarden.recovery.observed.shown import ShownInstances
from spotwarden.recovery.requests.second_name import as_nodes, done_to_nodes, with_second_names
from spotwarden.recovery.requests.slice_groups import groups_of, made_by_group, spoken


def with_nodes(facts: JobFacts, markers: Sequence[Marker], shown: ShownInstances) -> JobFacts:
    """The facts with everything that Compute Engine shows of the job's nodes."""
    told = [(marker.node, _id_of(facts, marker), marker) for marker in markers]
    said = {(node, instance_id) for node, instance_id, _ in told}
    silent = [(node, name, None) for node, name in _expected(facts) if (node, name) not in said]
    nodes: list[tuple[str, str, Marker | None]] = [*told, *silent]
    nodes += [(node, item, None) for node, item in _unseen(facts, shown) if (node, item) not in said]
    nodes += [(node, item, None) for node, item in _unseen_beside(facts, shown, nodes)]
    names = with_second_names(facts, _names(facts, markers))
    there = shown.instances(job=facts.job, names=names, ids=_ids(facts, markers))
    labelled = [instance.id for instance in there if instance.job == facts.job]
    facts = replace(facts, instances=as_nodes(facts, there))
    facts = replace(
        facts,
        inserts=done_to_nodes(facts, shown.inserts(job=facts.job, names=names, ids=labelled)),
        unsure=shown.unsure,
        group_log=shown.done_to({group.name for _, _, group in groups_of(facts)}),
    )
    over = last_closed(facts)
    former = [] if over is None else [(node, name) for name, node in startable(over).items()]
    former = [key for key in former if key not in {known[:2] for known in nodes}]
    again = [_node(facts, shown, node, each, None) for node, each in former]
    facts = replace(facts, nodes=(*(_node(facts, shown, *node) for node in nodes), *again))
    return replace(
        facts,
        nodes=tuple(node for node in facts.nodes if node not in again or is_open_again(facts, node)),
        outlived=tuple(
            _node(facts, shown, node, another, None)
            for node, another in (*_outlived(facts), *_gone_back_to(facts, shown), *_launched_anew(facts))
        ),
        predecessors=tuple(_node(facts, shown, node, one, None) for node, one in _predecessors(facts)),
        tried=tuple(_node(facts, shown, node, tried, None) for node, tried in _tried(facts)),
        lacking=tuple(_lacking(facts, shown)),
    )


def _id_of(facts: JobFacts, marker: Marker) -> str:
    """The id that the marker speaks of: its own word, else the one that was registered last.

    A registration that the ledger knows as past is one that nobody has brought up to date.
    """
    known = facts.newest.instances.get(marker.node, "") if facts.newest else ""
    registered = facts.registrations.get(marker.node, "")
    past = {recorded.attempt.instances.get(marker.node) for recorded in facts.ledger[:-1]}
    past |= {fact.attempt.replaces.get(marker.node) for fact in facts.ledger}
    if registered in past:
        registered = known or registered
    return marker.body.instance_id or registered or known


def _expected(facts: JobFacts) -> list[tuple[str, str]]:
    """The instances that matter: by the ledger, or where there is none by the registrations.

    Of an attempt under way it is those that it replaces: their owner may remove them meanwhile.
    """
    newest = facts.newest
    if newest is None:
        return list(facts.registrations.items())
    if newest.state is AttemptState.RUNNING:
        return list(newest.instances.items())
    return [] if newest.state in CLOSED else [(node, name) for node, name in newest.replaces.items() if name]


def _outlived(facts: JobFacts) -> list[tuple[str, str]]:
    """Instances that were replaced while they ran, unless the attempt that did so is still under way."""
    newest = facts.newest
    if newest is None or newest.state in CLOSED:
        return []
    early = [recorded.attempt for recorded in facts.ledger[-3:] if recorded.attempt.early]
    past = [instance for instance in early if instance is not newest or newest.state is AttemptState.RUNNING]
    return [(node, name) for attempt in past for node, name in attempt.replaces.items()]


def _gone_back_to(facts: JobFacts, shown: ShownInstances) -> Iterator[tuple[str, str]]:
    """Instances of earlier attempts that a person has started since the newest one began to run."""
    newest = facts.newest
    if newest is None or newest.state is not AttemptState.RUNNING or newest.started is None:
        return
    own = set(newest.instances.values())
    for recorded in facts.ledger[:-1]:
        for node, name in recorded.attempt.instances.items():
            history = shown.history(name, node, None, frozenset()) if name not in own else ()
            if any(is_persons_start(done) and done.at and done.at > newest.started for done in history):
                yield node, name


def _launched_anew(facts: JobFacts) -> Iterator[tuple[str, str]]:
    """Instances that registered, are on no record, and run no more: launched by hand since the last loss."""
    running = {instance.id for instance in facts.instances if alive(instance)}
    known = _recorded(facts) | running
    sent = {asked.request_id for recorded in facts.ledger for asked in recorded.attempt.tries}
    ours = {insert.target_id for insert in of_requests(facts.inserts, sent)}
    made = {insert.target_id for insert in facts.inserts if insert.kind == "insert"} - known - ours
    for node, instance_id in facts.registrations.items() if facts.ledger else ():
        if instance_id in made:
            yield node, instance_id


def _predecessors(facts: JobFacts) -> list[tuple[str, str]]:
    """What the newest attempts stand in for, but for what is judged as it is; none once the job is closed."""
    newest = facts.newest
    if newest is None or newest.state in CLOSED:
        return []
    last = [recorded.attempt for recorded in facts.ledger[-3:]]
    past = [item for item in last if item is not newest or newest.state is AttemptState.RUNNING]
    return [(node, name) for attempt in past for node, name in attempt.replaces.items() if name]


def _lacking(facts: JobFacts, shown: ShownInstances) -> Iterator[NodeFacts]:
    """The last instances of the nodes that a gang goes on without, each missed since that was written."""
    for name, lacking in facts.newest.lacking.items() if facts.newest else ():
        if lacking.instance_id:
            node = _node(facts, shown, name, lacking.instance_id, None)
            # The record that goes on without it answers its cause; who asks for it again has to know that.
            history = shown.history(lacking.instance_id, name, None, frozenset())
            yield replace(node, missing_since=lacking.since, history=history)


def _tried(facts: JobFacts) -> list[tuple[str, str]]:
    """What the requests of an attempt under way began to make, also where they failed since."""
    newest = facts.newest
    if (
        newest is None
        or newest.state in CLOSED
        or (newest.state is AttemptState.RUNNING and not newest.lacking)
    ):
        return []
    made = of_requests(facts.inserts, {asked.request_id for asked in newest.tries})
    all_made = (*made, *made_by_group(facts, facts.inserts))
    return [(insert.target_name, insert.target_id) for insert in all_made]


def _unseen(facts: JobFacts, shown: ShownInstances) -> list[tuple[str, str]]:
    """Instances of the job's names that were taken before anybody wrote them down: launched by hand.

    Only where the ledger has nothing of our own, and for a job with a script or an id that was registered: a
    name alone is not enough.
    """
    newest = facts.newest
    if not _may_have_more(newest):
        return []
    # Without a ledger the registered ones are looked for in any case.
    known = set() if newest else set(facts.registrations.values())
    known |= _recorded(facts)
    return [
        (operation.target_name, operation.target_id)
        for operation in shown.taken(facts.job)
        if operation.target_id not in known
        and (newest is None or _since(newest, operation))
        and (
            facts.script is not None or facts.registrations.get(operation.target_name) == operation.target_id
        )
    ]


def _unseen_beside(
    facts: JobFacts, shown: ShownInstances, nodes: Sequence[tuple[str, str, Marker | None]]
) -> list[tuple[str, str]]:
    """The other nodes of a bulk launch by hand that nobody wrote down: a person may have removed one."""
    if facts.newest is not None and facts.newest.state not in CLOSED:
        return []
    inserts = [each for each in shown.inserts(job=facts.job, names=()) if each.kind == "insert"]
    # A marker that names no instance speaks of the last that was made under its name.
    last = {insert.target_name: insert.target_id for insert in inserts}
    ids = {name or last.get(node, "") for node, name, _ in nodes}
    known = {*_recorded(facts), *facts.registrations.values(), *ids}
    groups = {insert.group for insert in inserts if insert.target_id in ids} - {""}
    return [
        (insert.target_name, insert.target_id)
        for insert in inserts
        if insert.group in groups and insert.target_id not in known and not insert.error
    ]


def _recorded(facts: JobFacts) -> set[str]:
    """The ids on the chain."""
    return {
        name
        for recorded in facts.ledger
        for of in (recorded.attempt.instances, recorded.attempt.replaces)
        for name in of.values()
    }


def _may_have_more(newest: Attempt | None) -> bool:
    """Whether there may be instances that nobody wrote down: before, after, or beside what was seen."""
    return newest is None or newest.state in CLOSED or (newest.seen and newest.state is AttemptState.RUNNING)


def _since(newest: Attempt, taken: Operation) -> bool:
    """Whether it was taken after the job was closed, or is a missing node of a gang that was seen."""
    if newest.state in CLOSED:
        # The job may have been closed, and written down so, after its developer had launched it anew;
        # even that its attempt ran may have been found out only then, by a sweep that took it over.
        asked = newest.tries[-1].at if newest.tries else newest.started
        return taken.at is None or taken.at > (newest.lost or asked or newest.created)
    return taken.target_name not in newest.instances and (taken.at is None or taken.at >= newest.created)


def _names(facts: JobFacts, markers: Sequence[Marker]) -> set[str]:
    ledger = [
        name
        for recorded in facts.ledger
        for name in (*recorded.attempt.instances, *recorded.attempt.replaces)
    ]
    return {facts.job, *facts.registrations, *ledger, *(marker.node for marker in markers)}


def _ids(facts: JobFacts, markers: Sequence[Marker]) -> set[str]:
    last = [recorded.attempt for recorded in facts.ledger[-2:]]
    ids = {name for attempt in last for of in (attempt.instances, attempt.replaces) for name in of.values()}
    ids |= {lacking.instance_id for attempt in last for lacking in attempt.lacking.values()}
    said = {marker.body.instance_id for marker in markers if marker.body.instance_id}
    return {*ids, *said, *facts.registrations.values()} - {""}


def _node(
    facts: JobFacts, shown: ShownInstances, node: str, instance_id: str, marker: Marker | None
) -> NodeFacts:
    present = [instance for instance in facts.instances if instance.name == node]
    answered = frozenset(recorded.attempt.cause for recorded in facts.ledger if recorded.attempt.cause)
    history = shown.history(instance_id, node, marker.written if marker else None, answered)
    return NodeFacts(
        node=node,
        marker=marker,
        instance_id=instance_id,
        instance=next((item for item in present if item.id == instance_id), None),
        others=tuple(candidate for candidate in present if candidate.id != instance_id),
        history=_with_removal(facts, node, instance_id, spoken(facts, instance_id, history)),
        unsure=shown.unsure,
        missing_since=_missing_since(facts, node, instance_id),
        counted_since=_counted_since(facts, node, instance_id),
    )


def _with_removal(
    facts: JobFacts, node: str, instance_id: str, history: tuple[Operation, ...]
) -> tuple[Operation, ...]:
    """The history with the removal that is on record, which the log may not tell of any more.

    Only of the newest attempt's: one before it is answered by that attempt.
    """
    removal = facts.newest.removed.get(node) if facts.newest else None
    if removal is None or removal.instance_id != instance_id:
        return history
    if removal.operation in {operation.name for operation in history}:
        return history
    return (_as_operation(node, removal), *history)


def _as_operation(node: str, removal: Removal) -> Operation:
    return Operation(
        name=removal.operation,
        zone="",
        kind=removal.kind,
        target_id=removal.instance_id,
        target_name=node,
        done=True,
        user=removal.user,
        at=removal.at,
    )


def _counted_since(facts: JobFacts, node: str, instance_id: str) -> datetime | None:
    """When the ledger last wrote that it counts on this very instance."""
    newest = facts.ledger[-1] if facts.ledger else None
    return newest.written if newest and newest.attempt.instances.get(node) == instance_id else None


def _missing_since(facts: JobFacts, node: str, instance_id: str) -> datetime | None:
    """Since when this very instance has been missed, by the bucket's clock."""
    watched, newest = facts.watched, facts.newest
    if watched is None or newest is None or not watched.watch.gone:
        return None
    if watched.watch.missing and instance_id not in watched.watch.missing:
        # Another node of the gang has been missed for longer.
        return None
    mine = (newest.number, instance_id)
    return watched.since if (watched.watch.attempt, watched.watch.instances.get(node)) == mine else None
