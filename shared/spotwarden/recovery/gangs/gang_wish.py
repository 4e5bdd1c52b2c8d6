"""What a gang should have: a node that somebody has removed is not missed, nor is the rest touched for it.

The removal is written into the attempt's record, for the operation log is not read back for ever: a node
whose removal was forgotten would look like one that was lost, and the whole gang be made again for it.
"""

from datetime import datetime

from msgspec.structs import replace

from spotwarden.model.action import Step, Tell, WriteAttempt
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.tick import Tick
from spotwarden.recovery.instances.removal import removal_of
from spotwarden.recovery.observed.fates import alive
from spotwarden.recovery.requests.slice_groups import newest_group
from spotwarden.recovery.steps.ending import clear, stop
from spotwarden.recovery.telling import gang_notices, notices
from spotwarden.recovery.telling.gang_notices import BROKEN_FOR


def follow_wish(facts: JobFacts, tick: Tick) -> Step | None:
    """Bring the record of a gang that runs up to date with who removed or started which node."""
    newest = facts.ledger[-1] if facts.ledger else None
    if newest is None or newest.attempt.state is not AttemptState.RUNNING:
        return None
    attempt = newest.attempt
    never_seen = _removed_unseen(facts, attempt)
    ids = {**attempt.instances, **never_seen}
    own = [node for node in facts.nodes if ids.get(node.node) == node.instance_id]
    lost = {node.node: removal for node in own if _is_gone(node) and (removal := removal_of(facts, node))}
    back = {node.node for node in own if node.instance and alive(node.instance)} & attempt.removed.keys()
    if new := {node: removal for node, removal in lost.items() if node not in attempt.removed}:
        slices = newest_group(attempt) is not None
        told = gang_notices.slice_broken if slices else notices.node_removed
        notice = told(facts, attempt, new, tick)
        if notice.id not in facts.told:
            return Tell(reason=notice.what, notice=notice)
    if new or back:
        kept = {node: removal for node, removal in attempt.removed.items() if node not in back}
        changed = replace(attempt, instances=ids, removed={**kept, **new}, updated=tick.now)
        names = ", ".join([*(f"without {node}" for node in new), *(f"with {node} again" for node in back)])
        return WriteAttempt(
            reason=f"the gang continues {names}", record=changed, generation=newest.generation
        )
    answered = (node for node in own if node.marker is not None and node.node in attempt.removed)
    return next((clear(node, f"{node.node} was removed on purpose") for node in answered), None)


def end_broken(facts: JobFacts, tick: Tick) -> Step | None:
    """Close a slice of which somebody has removed a VM a while ago: the rest of it can't go on.

    Its other VMs are left alone: whoever removed one decides about them, or the rule for orphans does.
    """
    newest = facts.ledger[-1] if facts.ledger else None
    if newest is None or newest.attempt.state is not AttemptState.RUNNING or not newest_group(newest.attempt):
        return None
    removed = newest.attempt.removed
    if not removed or tick.now < closes_at(newest.attempt):
        return None
    return stop(facts, newest, f"a slice without {', '.join(removed)} can't continue", tick)


def closes_at(attempt: Attempt) -> datetime:
    """When a slice of which somebody has removed VMs is closed."""
    return min(removal.at or attempt.updated for removal in attempt.removed.values()) + BROKEN_FOR


def _removed_unseen(facts: JobFacts, attempt: Attempt) -> dict[str, str]:
    """The ids of nodes, by their markers, that were removed before any sweep saw the launch they are of."""
    return {
        node.node: node.instance_id
        for node in facts.nodes
        if attempt.seen
        and node.marker is not None
        and node.instance_id
        and node.node not in attempt.instances
        and _is_gone(node)
        and (removal := removal_of(facts, node))
        and removal.at is not None
        and removal.at >= attempt.created
    }


def _is_gone(node: NodeFacts) -> bool:
    return node.instance is None or not alive(node.instance)
