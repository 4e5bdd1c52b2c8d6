"""The second name of a job's VM: a zone has one VM of a name, and a job that moves within it has two.

A VM bears its node's name. The spot VM that an on-demand VM hands over to in the same zone bears that name
with a suffix, and its job kit is told the node in its metadata. The chain says which try has asked for such a
VM. Which of two VMs has which name is no matter: the next one takes the name that is free.

A name proves nothing. What bears a second name is given its node's only where the chain says which VM it is:
by the id on record, by the request that made it, or by the labels of the very try, which
`recovery.observed.identity` checks as it does those of any VM. A stranger's VM of that name
stays one whose name is no node's.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from msgspec.structs import replace

from spotwarden.model.attempt import Attempt, Try
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Instance, Operation
from spotwarden.model.launch import Launch
from spotwarden.model.request import Request
from spotwarden.recovery.requests.launching import NODE_KEY

SUFFIX = "-alt"
LONGEST = 63
"""Characters that the name of a VM may have."""
_SOURCES = ("sourceInstanceTemplate", "sourceMachineImage")
_ADDRESSES = ("networkIP", "ipv6Address", "natIP", "externalIpv6")


def second_name(node: str) -> str:
    """The other name that a VM of this node may have; "" where that would be too long."""
    name = f"{node}{SUFFIX}"
    return name if len(name) <= LONGEST else ""


def other_name(instance: Instance) -> str:
    """The name of the VM that takes over from this one in its zone, as a try names it: "" for its node's."""
    return second_name(instance.name) if instance.called == instance.name else ""


def may_be_beside(facts: JobFacts) -> bool:
    """Whether a second VM of the job may be made in the zone of its first.

    Nothing of it may be there once only. And its job kit must read which node it is, or it would say all
    under its own name.
    """
    launch = facts.launch
    if not isinstance(launch, Launch) or launch.gang or launch.slice or len(launch.nodes) != 1:
        return False
    request = launch.request
    single = "instanceProperties" not in request.body and bool(second_name(launch.nodes[0]))
    return single and _reads_node(request) and not any(_there_once(request))


def _reads_node(request: Request) -> bool:
    """Whether its startup script, which has to be in its metadata, knows a second name."""
    items = {item["key"]: str(item.get("value", "")) for item in _items(request)}
    return NODE_KEY in items.get("startup-script", "") and "startup-script-url" not in items


def _items(request: Request) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = request.body.get("metadata", {}).get("items", ())
    return found


def _there_once(request: Request) -> Iterator[bool]:
    """What a second VM could not have as well, or what nobody can see: what a template says."""
    body = request.body
    yield any(source in {*request.query, *body} for source in _SOURCES)
    yield "hostname" in body or "values" in body.get("reservationAffinity", {})
    for disk in body.get("disks", ()):
        yield "source" in disk and disk.get("mode") != "READ_ONLY"
        yield "diskName" in disk.get("initializeParams", {})
    for card in body.get("networkInterfaces", ()):
        configs = [*card.get("accessConfigs", ()), *card.get("ipv6AccessConfigs", ())]
        yield any(field in part for part in (card, *configs) for field in _ADDRESSES)


class AskedFor(Protocol):
    """An attempt on the chain, as far as it tells what was asked for."""

    @property
    def tries(self) -> Sequence[Try]:
        """The requests that were sent for it."""


def named_otherwise(attempts: Iterable[AskedFor]) -> dict[str, str]:
    """The second names that these have asked for, each with its node."""
    return {tried.vm: _node(tried.vm) for attempt in attempts for tried in attempt.tries if tried.vm}


def _node(vm: str) -> str:
    """The node of a second name that the chain has given."""
    return vm.removesuffix(SUFFIX)


def with_second_names(facts: JobFacts, names: Iterable[str]) -> tuple[str, ...]:
    """The names, with those that VMs of the job have instead of their node's."""
    return tuple(sorted({*names, *_second_names(facts)} - {""}))


def _second_names(facts: JobFacts) -> dict[str, str]:
    return named_otherwise(recorded.attempt for recorded in facts.ledger)


def as_nodes(facts: JobFacts, instances: Sequence[Instance]) -> tuple[Instance, ...]:
    """The instances, those of the job's own that have a second name under that of their node."""
    names = _second_names(facts)
    if not names:
        return tuple(instances)
    ids = _ids(facts)
    return tuple(
        replace(instance, name=names[instance.name], vm=instance.name)
        if instance.name in names and (instance.id in ids or _has_labels(facts, instance))
        else instance
        for instance in instances
    )


def done_to_nodes(facts: JobFacts, operations: Sequence[Operation]) -> tuple[Operation, ...]:
    """The operations, those on VMs of the job's own that have a second name on the node.

    Whoever has only asked for such a VM knows it by its request.
    """
    names = _second_names(facts)
    if not names:
        return tuple(operations)
    sent = {tried.request_id for tried in _tries(facts) if tried.vm}
    ids = {*_ids(facts), *(done.target_id for done in operations if done.request_id in sent)}
    ids |= {insert.target_id for insert in facts.inserts if insert.request_id in sent}
    ids |= {instance.id for instance in facts.instances if instance.vm}
    return tuple(
        replace(done, target_name=names[done.target_name])
        if done.target_name in names and done.target_id in ids - {""}
        else done
        for done in operations
    )


def node_of(attempt: Attempt, vm: str) -> str:
    """The node whose VM the newest try of an attempt has asked for under this name."""
    last = attempt.tries[-1] if attempt.tries else None
    return _node(vm) if last and last.vm == vm else vm


def _tries(facts: JobFacts) -> Iterator[Try]:
    for recorded in facts.ledger:
        yield from recorded.attempt.tries


def _ids(facts: JobFacts) -> Collection[str]:
    """The ids on the chain."""
    return {
        name
        for recorded in facts.ledger
        for ids in (recorded.attempt.instances, recorded.attempt.replaces)
        for name in ids.values()
    }


def _has_labels(facts: JobFacts, instance: Instance) -> bool:
    """Whether it is labelled as what a try has asked for under this name."""
    return instance.job == facts.job and any(
        tried.vm == instance.name and tried.turn == instance.turn and tried.place == instance.zone
        for recorded in facts.ledger
        if recorded.attempt.number == instance.attempt
        for tried in recorded.attempt.tries
    )
