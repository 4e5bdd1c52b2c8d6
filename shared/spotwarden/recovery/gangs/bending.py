"""A gang that bends: it goes on without the nodes that were lost, and with those that were refilled.

Each change of its members is the next record of the chain, which its nodes read: an attempt's number is the
epoch of its members. A node that the newest record does not name writes nothing more.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from spotwarden.model.action import KeepWatch, Step, Tell, Wait
from spotwarden.model.attempt import Attempt, AttemptState, LackingNode
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.launch import Launch
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watch
from spotwarden.recovery.gangs.joining import register, to_join
from spotwarden.recovery.gangs.lacking import untold, unwish
from spotwarden.recovery.gangs.membership import members, survey, tell_and_write
from spotwarden.recovery.gangs.refilling import conclude, refill
from spotwarden.recovery.gangs.rejoining import rejoin, returned
from spotwarden.recovery.instances.elastic import home_of, least_of, living
from spotwarden.recovery.instances.removal import on_purpose, removal_of
from spotwarden.recovery.kinds.machines import runs_on
from spotwarden.recovery.observed.fates import Fate, announced, cause_of, fate_of, lost_at
from spotwarden.recovery.observed.parting import await_others, has_handed_over, parted
from spotwarden.recovery.observed.truth_table import LossVerdict, judge
from spotwarden.recovery.steps.claiming import record
from spotwarden.recovery.steps.ending import clear, close
from spotwarden.recovery.steps.judging import LossFinding
from spotwarden.recovery.steps.settling import settle
from spotwarden.recovery.telling import notices
from spotwarden.recovery.telling.treadmill import work_of

NAMED = 3
"""Nodes that a reason names; further ones are counted."""


def bend(facts: JobFacts, policy: Policy, tick: Tick) -> Step | None:
    """What is to be done about the members of a gang that bends; None where nothing is, or for any other."""
    newest = facts.ledger[-1] if facts.ledger else None
    if not least_of(facts) or newest is None or newest.attempt.state is not AttemptState.RUNNING:
        return None
    if facts.unsure:
        return Wait(reason=f"the list of instances is incomplete ({facts.unsure})", soon=False)
    attempt, limits = newest.attempt, policy.recovery
    for node in facts.nodes:
        if node.marker is not None and _is_past(attempt, node) and not announced(node, limits, tick):
            return clear(node, f"{node.node} isn't in the gang any more")
    if wait := await_others(facts, attempt, limits, tick):
        return wait
    parts = parted(facts, attempt, limits, tick)
    left = {node: name for node, name in living(facts, attempt).items() if name not in parts}
    if len(left) < least_of(facts) and any(on_purpose(facts, node) for node in facts.tried):
        return _stopped(facts, attempt, policy, tick)
    if step := unwish(facts, newest, tick):
        return step
    if len(left) < len(attempt.instances):
        return _lost(facts, attempt, left, policy, tick)
    if step := rejoin(facts, attempt, left, tick) or _settled(facts, attempt, policy, tick):
        return step
    step = refill(facts, newest, left, policy, tick)
    return (settle(facts, tick) or step) if isinstance(step, Wait) else step


def _settled(facts: JobFacts, attempt: Attempt, policy: Policy, tick: Tick) -> Step | None:
    """Clear the marker of a member that runs on, while others are missing: it was rebooted, or not taken."""
    for node in facts.nodes:
        judgement = judge(node, policy.recovery, tick)
        if node.instance_id in attempt.instances.values() and judgement.verdict is LossVerdict.CLEAR:
            return clear(node, judgement.why)
    return None


def _is_past(attempt: Attempt, node: NodeFacts) -> bool:
    """Whether a marker is about an instance that the gang goes on without, or that never joined it."""
    if node.instance_id and not attempt.seen and node.instance_id not in attempt.instances.values():
        return True
    gone = {lacking.instance_id for lacking in attempt.lacking.values()}
    gone |= {removal.instance_id for removal in attempt.removed.values()}
    return node.instance_id in gone - {""}


def _lost(
    facts: JobFacts, attempt: Attempt, left: Mapping[str, str], policy: Policy, tick: Tick
) -> Step | None:
    """Go on without what does not run any more; None where too few are left, and the gang is made anew."""
    if not facts.surveyed:
        return survey(facts, attempt)
    gone = {node: name for node, name in attempt.instances.items() if node not in left}
    lost = [node for node in facts.nodes if gone.get(node.node) == node.instance_id]
    joins = {**to_join(facts, attempt, policy, tick), **returned(facts, attempt)}
    there = {node: instance.id for node, instance in joins.items()}
    if len(left) + len(there) < least_of(facts):
        if left and attempt.lacking and gone.keys() <= attempt.removed.keys():
            # Nothing new was lost: what lacks would be enough with what is left, and is asked for beside it.
            return refill(facts, facts.ledger[-1], left, policy, tick)
        return _too_few(facts, attempt, lost, policy, tick)
    if len(left) < least_of(facts):
        # What was to join once it is set up is needed now.
        left = {**left, **there}
        if step := register(facts, there):
            return step
    if facts.watched is None:
        watch = Watch(job=facts.job)
        return KeepWatch(reason="the job is open", job=facts.job, watch=watch, generation=0)
    # What the log tells now of a removal it may no longer tell at the next look.
    removed = {node.node: removal for node in lost if (removal := removal_of(facts, node))}
    if removed and (notice := notices.node_removed(facts, attempt, removed, tick)).id not in facts.told:
        return Tell(reason=notice.what, notice=notice)
    first = min(lost, key=lambda node: lost_at(node, tick), default=NodeFacts(node=next(iter(gone))))
    missing = {node: LackingNode(instance_id=name, since=tick.now) for node, name in gone.items()}
    lacking = {**attempt.lacking, **missing}
    size = len({*left, *attempt.lacking, *gone})
    what = _what(gone, told=any(map(has_handed_over, lost)))
    changed = replace(
        members(facts, attempt, left, tick),
        reason=f"{what}: {len(left)} of {size} nodes go on",
        replaces=gone,
        markers={node.node: node.marker.generation for node in facts.nodes if node.marker},
        lacking={node: item for node, item in lacking.items() if node not in {*left, *removed}},
        removed={**attempt.removed, **removed},
        lost=lost_at(first, tick),
        lost_in=cause.zone if (cause := cause_of(first)) else home_of(facts, left.values()),
        lost_on=runs_on(facts),
        fate=_fate(first, policy, tick).value,
        cause=cause.name if cause else "",
        lost_work=work_of(facts),
    )
    return tell_and_write(facts, changed, tick)


def _fate(node: NodeFacts, policy: Policy, tick: Tick) -> Fate:
    """What befell it; one that has handed over is as good as preempted."""
    fate = fate_of(node, policy.recovery, tick)
    return Fate.PREEMPTED if fate is Fate.UNTOLD and has_handed_over(node) else fate


def _what(gone: Mapping[str, str], *, told: bool) -> str:
    first = ", ".join([*gone][:NAMED])
    more = f" and {len(gone) - NAMED} more" if len(gone) > NAMED else ""
    if told:
        return f"{first}{more} will be preempted"
    return f"{first}{more} {'was' if len(gone) == 1 else 'were'} lost"


def _stopped(facts: JobFacts, attempt: Attempt, policy: Policy, tick: Tick) -> Step:
    """Close a gang of which too few are left, where a person has removed what was about to join."""
    node = next(node for node in facts.tried if on_purpose(facts, node))
    match = LossFinding(node=node, judgement=judge(node, policy.recovery, tick))
    why = f"{node.node} was removed on purpose, and fewer are left than the {least_of(facts)} nodes it needs"
    blank = replace(record(facts, match, tick), replaces={**attempt.instances, node.node: node.instance_id})
    return close(facts, blank, why, AttemptState.STOPPED, tick)


def _too_few(
    facts: JobFacts, attempt: Attempt, lost: list[NodeFacts], policy: Policy, tick: Tick
) -> Step | None:
    """Close a gang of which too many nodes were removed on purpose ever to be enough again."""
    removed = {node.node: removal for node in lost if (removal := removal_of(facts, node))}
    gone = {*attempt.removed, *removed}
    nodes = facts.launch.nodes if isinstance(facts.launch, Launch) else ()
    wish = {*nodes, *attempt.removed} - gone
    if not removed or len(wish) >= least_of(facts):
        # Nothing is made anew while one of its nodes may be one that somebody has removed.
        return untold(facts, attempt, policy, tick) or conclude(facts, facts.ledger[-1], tick)
    finding = next(node for node in lost if node.node in removed)
    match = LossFinding(node=finding, judgement=judge(finding, policy.recovery, tick))
    why = f"{len(gone)} nodes were removed on purpose, and fewer are left than the {least_of(facts)} it needs"
    return close(facts, record(facts, match, tick), why, AttemptState.STOPPED, tick)
