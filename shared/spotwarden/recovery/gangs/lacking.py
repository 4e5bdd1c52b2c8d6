"""The nodes that a gang goes on without: what befell each, and which of them are to be asked for again."""

from collections.abc import Mapping

from msgspec.structs import replace

from spotwarden.model.action import Step, Tell, Wait, WriteAttempt
from spotwarden.model.attempt import Attempt, Recorded, Removal
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.instance import Instance
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.recovery.instances.removal import on_purpose, removal_of
from spotwarden.recovery.kinds.flexible import is_flexible
from spotwarden.recovery.observed.fates import GOING, KEPT, Fate, alive, fate_of
from spotwarden.recovery.observed.inserts import of_requests
from spotwarden.recovery.requests.clearing import delete
from spotwarden.recovery.telling import notices


def untold(facts: JobFacts, attempt: Attempt, policy: Policy, tick: Tick) -> Wait | None:
    """Wait until it is known of each node that lacks what befell it; None once it is."""
    looked = {node.node: node for node in _gone(facts, attempt)}
    for name, lacking in attempt.lacking.items():
        if lacking.instance_id and (wait := _unknown(facts, name, looked.get(name), policy, tick)):
            return wait
    return None


def _unknown(facts: JobFacts, name: str, node: NodeFacts | None, policy: Policy, tick: Tick) -> Wait | None:
    if node is None:
        return Wait(reason=f"{name} hasn't been checked yet")
    if node.instance is not None and alive(node.instance):
        return None  # Nobody has removed it: it was told of its end, which is yet to come, or does not.
    if fate_of(node, policy.recovery, tick, flexible=is_flexible(facts)) is Fate.UNTOLD:
        return Wait(
            reason=f"it is too early for the operation log to show what happened to {name}", soon=False
        )
    return None


def unwish(facts: JobFacts, newest: Recorded, tick: Tick) -> Step | None:
    """Take a node off the wish that somebody has removed, or that left by itself; its owner is told first."""
    attempt = newest.attempt
    # A VM that was to join, and that a person has removed before, is no longer wanted either; what an earlier
    # request made is none, such as one that was refused and taken back.
    made = {
        insert.target_id
        for insert in of_requests(facts.inserts, {tried.request_id for tried in attempt.tries})
    }
    tried = (node for node in facts.tried if node.node in attempt.lacking and node.instance_id in made)
    born = [node for node in tried if on_purpose(facts, node)]
    gone = (*_gone(facts, attempt), *born)
    found = {node.node: removal for node in gone if (removal := removal_of(facts, node))}
    if not found:
        return None
    notice = notices.node_removed(facts, attempt, found, tick)
    if notice.id not in facts.told:
        return Tell(reason=notice.what, notice=notice)
    return WriteAttempt(
        reason=f"the gang continues without {', '.join(found)}",
        record=_without(attempt, found, tick),
        generation=newest.generation,
    )


def _without(attempt: Attempt, found: Mapping[str, Removal], tick: Tick) -> Attempt:
    kept = {node: lacking for node, lacking in attempt.lacking.items() if node not in found}
    return replace(attempt, lacking=kept, removed={**attempt.removed, **found}, updated=tick.now)


def _gone(facts: JobFacts, attempt: Attempt) -> list[NodeFacts]:
    """The last instances of the nodes that lack, as far as these facts have looked at them."""
    return [
        node
        for node in facts.lacking
        if (lacking := attempt.lacking.get(node.node)) and lacking.instance_id == node.instance_id
    ]


def due_nodes(
    facts: JobFacts, attempt: Attempt, policy: Policy, tick: Tick
) -> tuple[tuple[str, ...], Step | None]:
    """The nodes to ask for, of which it is known that nobody has removed them; and what is waited for."""
    due = [node for node, lacking in attempt.lacking.items() if not lacking.instance_id]
    wait: Wait | None = None
    looked = {node.node: node for node in _gone(facts, attempt)}
    for name in [name for name in attempt.lacking if name not in due]:
        node = looked.get(name)
        unknown = _unknown(facts, name, node, policy, tick)
        if node is None or unknown:
            wait = unknown
        elif (there := _holder(facts, node)) is None:
            due.append(name)
        elif there.status in KEPT:
            return (), delete(there, attempt)
        elif there.status in GOING:
            wait = Wait(reason=f"{name} must be gone first")
        else:
            wait = Wait(reason=f"{name} still runs: it is taken, or joins again", soon=False)
    return tuple(due), wait


def _holder(facts: JobFacts, node: NodeFacts) -> Instance | None:
    return next((instance for instance in facts.instances if instance.id == node.instance_id), None)
