"""Whose an instance is: the one rule, and the only one.

An instance is a job's by its id on the job's own record; or by our labels and an insert that a request of
the job's chain made; or, where a developer launched it by hand, by the name, in the place that the stored
script names, inserted after the script was stored, with the request that the script makes. Whatever else has
the name is a namesake: never alive for the job, never adopted, stopped or deleted.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from spotwarden.create_script.request.compare import contradictions
from spotwarden.model.action import Fetch, Wait
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.instance import Instance
from spotwarden.model.launch import Launch
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.slice_action import LookAtGroup
from spotwarden.model.tick import Tick
from spotwarden.recovery.kinds.machines import launches
from spotwarden.recovery.observed.identity import (
    CLOCKS_APART,
    OURS,
    JobIdentity,
    Ownership,
    fits,
    is_labelled,
    recorded_or_labelled,
)
from spotwarden.recovery.requests.second_name import second_name
from spotwarden.recovery.requests.slice_groups import member_ids, unseen_group


def identity_of(facts: JobFacts) -> JobIdentity:
    """What tells which instances are this job's."""
    launch = facts.launch if isinstance(facts.launch, Launch) and facts.launch.script else None
    answered = (facts.operation,) if facts.operation and facts.operation.kind == "insert" else ()
    return JobIdentity(
        job=facts.job,
        ids=recorded_ids(facts),
        attempts={recorded.attempt.number: recorded.attempt for recorded in facts.ledger},
        inserts=(*answered, *facts.inserts),
        launch=launch,
        stored=facts.script.stored if facts.script and launch else None,
        fetched=facts.fetched,
        grouped=member_ids(facts),
    )


def recorded_ids(facts: JobFacts) -> frozenset[str]:
    """The ids on the job's own record: of its chain, and those that were registered."""
    chain = (
        name
        for recorded in facts.ledger
        for ids in (recorded.attempt.instances, recorded.attempt.replaces)
        for name in ids.values()
    )
    return frozenset((*facts.registrations.values(), *chain)) - {""}


def whose(instance: Instance, identity: JobIdentity, now: datetime, lag: timedelta) -> Ownership:
    """What an instance is to the job; the operation log may be `lag` behind."""
    if instance.id not in identity.ids and _has_unasked_name(instance, identity):
        return Ownership.NAMESAKE
    if instance.id in identity.ids or is_labelled(instance):
        return recorded_or_labelled(instance, identity, now, lag)
    return _by_hand(instance, identity)


def _has_unasked_name(instance: Instance, identity: JobIdentity) -> bool:
    """Whether it bears a second name that no try has asked for: whoever has copied our labels made it."""
    nodes = identity.launch.nodes if identity.launch else ()
    return instance.name not in nodes and instance.name in map(second_name, nodes)


def _by_hand(instance: Instance, identity: JobIdentity) -> Ownership:
    if not _named_so(identity, instance.name, instance.zone, instance.created):
        return Ownership.NAMESAKE
    if instance.id not in identity.fetched:
        return Ownership.UNSEEN
    found = identity.fetched[instance.id]
    if found is None or identity.launch is None or contradictions(identity.launch.request, found["instance"]):
        return Ownership.NAMESAKE
    return Ownership.BY_HAND


def _named_so(identity: JobIdentity, name: str, zone: str, made: datetime | None) -> bool:
    """Whether the stored script makes an instance of this name, there, and was stored by then."""
    launch, stored = identity.launch, identity.stored
    if launch is None or stored is None or made is None:
        return False
    return name in launch.nodes and fits(zone, launch.place) and made >= stored - CLOCKS_APART


def was_ours(node: str, instance_id: str, identity: JobIdentity) -> bool:
    """Whether an instance that is gone was the job's: by record, else by the insert that the log tells of."""
    if instance_id in identity.ids:
        return True
    insert = identity.insert_of(instance_id)
    if insert is None or insert.error:
        return False
    gang = identity.launch is not None and identity.launch.gang
    by_hand = gang or (not insert.group and insert.target_name == node)
    return bool(identity.requested(insert)) or (by_hand and _named_so(identity, node, insert.zone, insert.at))


def made_by_chain(facts: JobFacts, instance_id: str) -> bool:
    """Whether a request of the job's own chain made it, as far as its labels or the operation log tell."""
    if any(instance.id == instance_id and instance.job == facts.job for instance in facts.instances):
        return True
    identity = identity_of(facts)
    insert = identity.insert_of(instance_id)
    return insert is not None and bool(identity.requested(insert))


def unsettled(facts: JobFacts, limits: RecoveryLimits, tick: Tick) -> Fetch | LookAtGroup | Wait | None:
    """Look at an instance of which nobody knows whose it is, or wait for the log; None where all is known."""
    identity = identity_of(facts)
    if look := unseen_group(facts, identity.ids):
        return look
    for instance in facts.instances:
        match whose(instance, identity, tick.now, limits.log_delay):
            case Ownership.UNSEEN:
                return Fetch(node=instance.name, zone=instance.zone, instance_id=instance.id)
            case Ownership.UNTOLD:
                return Wait(reason=f"the operation log doesn't show yet who created {instance.name}")
    return None


def sift(facts: JobFacts, limits: RecoveryLimits, tick: Tick) -> JobFacts:
    """The facts with the job's own instances only; the others are its namesakes."""
    identity = identity_of(facts)
    held = {
        instance.id: whose(instance, identity, tick.now, limits.log_delay) for instance in facts.instances
    }
    own = tuple(fact for fact in facts.instances if held[fact.id] in OURS)
    return replace(
        facts,
        instances=own,
        namesakes=tuple(item for item in facts.instances if held[item.id] is Ownership.NAMESAKE),
        nodes=tuple(_node(facts, node, identity, own) for node in facts.nodes),
    )


def _node(facts: JobFacts, node: NodeFacts, identity: JobIdentity, own: Sequence[Instance]) -> NodeFacts:
    if not node.instance_id and facts.newest is None:
        found = _only_one(node.node, identity, own)
        history = tuple(operation for operation in node.history if found and operation.target_id == found)
        node = replace(node, instance_id=found, history=history)
    present = [instance for instance in own if instance.name == node.node]
    return replace(
        node,
        instance=next((item for item in present if item.id == node.instance_id), None),
        others=tuple(candidate for candidate in present if candidate.id != node.instance_id),
    )


def _only_one(name: str, identity: JobIdentity, own: Sequence[Instance]) -> str:
    """The id that a marker without one speaks of, where nothing is on record: the last launch by hand."""
    there = [
        (instance.created, instance.id)
        for instance in own
        if instance.name == name and instance.created is not None
    ]
    gone = [
        (operation.at, operation.target_id)
        for operation in identity.inserts
        if operation.target_name == name
        and operation.at is not None
        and was_ours(name, operation.target_id, identity)
    ]
    return max((*there, *gone), default=(None, ""))[1]


def foreign(facts: JobFacts) -> Iterator[NodeFacts]:
    """Nodes whose marker names an instance that is not the job's; the facts are sifted."""
    identity = identity_of(facts)
    there = {instance.id for instance in facts.instances}
    for node in facts.nodes:
        unseen = node.instance_id and node.instance_id not in there
        if unseen and not was_ours(node.node, node.instance_id, identity):
            yield node


def blocking(facts: JobFacts) -> list[Instance]:
    """Namesakes that hold a name of the job's where it may be launched.

    One with the labels of this very attempt may be what a sweep has made that knows more of it than we do.
    """
    if not isinstance(facts.launch, Launch) or facts.newest is None:
        return []
    nodes = facts.launch.nodes
    places = {choice.place for launch in launches(facts) for choice in launch.choices}
    number = facts.newest.number
    return [
        instance
        for instance in facts.namesakes
        if instance.name in nodes
        and any(fits(instance.zone, place) for place in places)
        and not (instance.job == facts.job and (instance.attempt or 0) >= number)
    ]
