"""From the verdicts on its instances to one on the job: however many nodes fell, there is one answer."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import msgspec
from msgspec.structs import replace

from spotwarden.model.attempt import CLOSED, Attempt
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.launch import Launch
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.tick import Tick
from spotwarden.recovery.instances.ownership import made_by_chain
from spotwarden.recovery.instances.removal import asked_since, is_behind, on_purpose, removed_beside
from spotwarden.recovery.kinds.flexible import expired_in_line, is_flexible
from spotwarden.recovery.observed.actors import Actor, actor
from spotwarden.recovery.observed.fates import Fate, Now, alive, cause_of, lost_at
from spotwarden.recovery.observed.reopening import is_before_stop, is_open_again, startable
from spotwarden.recovery.observed.truth_table import Judgement, LossVerdict, judge
from spotwarden.recovery.places.handover import succeeds_early
from spotwarden.recovery.requests.slice_groups import made_while_open, newest_group

BY_WEIGHT = (
    LossVerdict.RECOVER,
    LossVerdict.REPLACE,
    LossVerdict.CLEAR,
    LossVerdict.WAIT,
    LossVerdict.LEAVE,
    LossVerdict.CLOSE,
)
"""Which verdict on a node is the job's: the first of these that any of them has."""
RESTARTED_WITHIN = timedelta(hours=1)
"""How long Compute Engine has to restart a slice whose host failed."""


class LossFinding(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done about the job, and the node that it is about."""

    node: NodeFacts
    judgement: Judgement


def find(facts: JobFacts, limits: RecoveryLimits, tick: Tick) -> LossFinding | None:
    """The one finding that matters; None for a job of which nothing is known to have run.

    One lost node is a lost gang, unless a person has removed another one of it, or what still ran beside
    it; where the log does not tell yet what stopped another node, that is waited for. Not knowing comes
    before everything else, and a job is stopped by its owner only once nothing of it is left.
    """
    early = succeeds_early(facts, limits) and not _announced_in_vain(facts)
    judged = [
        LossFinding(
            node=node,
            judgement=judge(
                node,
                limits,
                tick,
                early=early,
                flexible=is_flexible(facts),
                began=_has_begun(facts, node),
            ),
        )
        for node in facts.nodes
        if not closed(facts, node)
    ]
    found = [_unless_restarted(facts, _unless_asked(facts, finding), tick) for finding in judged]
    unknown = [match for match in found if match.judgement.now is Now.HIDDEN]
    if unknown:
        return unknown[0]
    ours = _own_ids(facts.newest) if facts.newest else [match.node.instance_id for match in found]
    closing = [
        match
        for match in found
        if match.judgement.verdict is LossVerdict.CLOSE and on_purpose(facts, match.node)
    ]
    if any(match.judgement.verdict is LossVerdict.RECOVER for match in found):
        beside = (*closing, *(match for match in found if _may_be_removed(facts, match)))
        if held := [match for match in beside if match.node.instance_id in ours]:
            return held[0]
    for verdict in BY_WEIGHT:
        # The loss that came first, in whatever order markers and events name the nodes.
        matches = [match for match in found if match.judgement.verdict is verdict]
        if matches:
            return _unless_removed(facts, min(matches, key=lambda match: lost_at(match.node, tick)), tick)
    return None


def _own_ids(newest: Attempt) -> Collection[str]:
    """The ids of the attempt that was started again, where its record only says that the job was over."""
    return startable(newest) if newest.closed else newest.instances.values()


def _has_begun(facts: JobFacts, node: NodeFacts) -> bool:
    """Whether it may have run; one that its developer launched, and that was seen in line only, has not.

    Unless it went at another moment than that at which its request expired.
    """
    newest = facts.newest
    in_line = newest is not None and newest.seen and newest.started is None
    registered = bool(node.instance_id) and facts.registrations.get(node.node) == node.instance_id
    if not in_line or registered or node.marker is not None:
        return True
    cause = cause_of(node)
    if newest is None or cause is None or actor(cause.user) is not Actor.GOOGLE:
        return False
    return not expired_in_line(facts, newest.created, cause.at)


def _unless_asked(facts: JobFacts, finding: LossFinding) -> LossFinding:
    """The finding, but a recovery where its owner has asked for this attempt since the VM was removed."""
    newest = facts.newest
    stopped = finding.judgement.verdict is LossVerdict.CLOSE
    if not stopped or newest is None or not _is_asked_since(finding.node, newest):
        return finding
    why = "its owner has asked for it again since the VM was deleted or stopped"
    return replace(finding, judgement=replace(finding.judgement, verdict=LossVerdict.RECOVER, why=why))


def _is_asked_since(node: NodeFacts, newest: Attempt) -> bool:
    """Whether its owner has asked for the attempt since the VM was removed, or the stop was typed."""
    return is_behind(node, newest) or (newest.asked is not None and asked_since(node, newest))


def _unless_restarted(facts: JobFacts, finding: LossFinding, tick: Tick) -> LossFinding:
    """The finding, but a wait where Compute Engine itself restarts the VM of a slice that is no spot slice.

    After a host error it restarts all of the slice on other hosts ("Failure recovery of TPU instances"). One
    that stays down for long has found none, and is made anew like any other.
    """
    judgement = finding.judgement
    named = newest_group(facts.newest)
    spot = isinstance(facts.launch, Launch) and facts.launch.spot and named and named[0].spot
    there = judgement.now in {Now.KEPT, Now.GOING}
    late = tick.now - lost_at(finding.node, tick) >= RESTARTED_WITHIN
    if named is None or spot or judgement.fate is not Fate.HOST_ERROR or not there or late:
        return finding
    why = "its host failed, and Compute Engine restarts the slice"
    return replace(finding, judgement=replace(judgement, verdict=LossVerdict.WAIT, why=why, soon=False))


def _may_be_removed(facts: JobFacts, finding: LossFinding) -> bool:
    """Whether it no longer runs, and the log has not had time to say why.

    Without a marker it is the watch that says since when; where there is none, nobody could end the wait.
    """
    bounded = finding.node.marker is not None or (facts.newest is not None and facts.watched is not None)
    down = finding.judgement.now in {Now.GOING, Now.KEPT, Now.GONE}
    return bounded and down and finding.judgement.fate is Fate.UNTOLD


def _announced_in_vain(facts: JobFacts) -> bool:
    """Whether a VM that was announced to be taken runs on beside its successor: the next is not believed."""
    return any(node.instance is not None and alive(node.instance) for node in facts.outlived)


def _unless_removed(facts: JobFacts, finding: LossFinding, tick: Tick) -> LossFinding:
    """The finding, but no recovery of what its owner has ended by removing the VM beside it."""
    lost = finding.judgement.verdict is LossVerdict.RECOVER
    if not lost or not removed_beside(facts, lost_at(finding.node, tick)):
        return finding
    why = "the VM that it still ran on was deleted or stopped on purpose"
    return replace(finding, judgement=replace(finding.judgement, verdict=LossVerdict.CLOSE, why=why))


def answered(facts: JobFacts, node: NodeFacts) -> str:
    """Why the ledger has an answer to this node's marker already; "" where it has none."""
    if node.marker is None:
        return ""
    replaced = _replaced(facts, node)
    for attempt in (recorded.attempt for recorded in facts.ledger):
        stands_in = replaced and attempt.replaces.get(node.node) == node.instance_id
        if stands_in or attempt.markers.get(node.node) == node.marker.generation:
            return f"answered by attempt {attempt.number}"
    return f"instance {node.instance_id} has a successor" if replaced else closed(facts, node)


def _replaced(facts: JobFacts, node: NodeFacts) -> bool:
    """Whether the instance has a successor; one that was started again in place is its own."""
    ours: Sequence[str] = tuple(facts.newest.instances.values()) if facts.newest else ()
    # A marker that names no instance may be about the newest one, whatever was registered last.
    if node.marker is None or not node.marker.body.instance_id or node.instance_id in ours:
        return False
    if is_open_again(facts, node):
        return False
    replaced = [recorded.attempt.replaces.get(node.node) for recorded in facts.ledger]
    # An attempt that its developer launched by hand replaces nothing, and yet the one before it is past.
    past = [fact.attempt.instances.get(node.node) for fact in facts.ledger[:-1]]
    return node.instance_id in (*replaced, *past)


def closed(facts: JobFacts, node: NodeFacts) -> str:
    """A closed job stays closed, unless an instance was started or launched by hand since."""
    newest = facts.newest
    if newest is None or newest.state not in CLOSED or is_open_again(facts, node):
        return ""
    chain = [
        of for recorded in facts.ledger for of in (recorded.attempt.instances, recorded.attempt.replaces)
    ]
    past = {instance_id for ids in chain for instance_id in ids.values()}
    launched = bool(node.instance_id) and node.instance_id not in past and known(facts, node)
    made = _made_at(facts, node) if launched else None
    if launched and made is None and (node.unsure or facts.unsure):
        # Where it ran is not shown, so neither is whether it was launched by hand.
        return ""
    # What a request of the chain has made was never on record where the stop came first; nobody launched it.
    # Nor has anybody launched anew what came with what was closed, or what the log no longer tells of: it
    # reaches back beyond the last sweep.
    relaunched = made is not None and not (
        made_by_chain(facts, node.instance_id)
        or made_while_open(facts, node.instance_id)
        or _made_beside(facts, node, past)
        or is_before_stop(facts, made)
    )
    return "" if relaunched else f"the job is closed: {newest.reason or newest.state.value}"


def _made_at(facts: JobFacts, node: NodeFacts) -> datetime | None:
    """When its insert was asked for, as far as the lists tell."""
    there = [instance.created for instance in facts.instances if instance.id == node.instance_id]
    told = [insert.at for insert in facts.inserts if insert.target_id == node.instance_id]
    return next((moment for moment in (*there, *told) if moment is not None), None)


def _made_beside(facts: JobFacts, node: NodeFacts, past: Collection[str]) -> bool:
    """Whether the bulk request that made it has made others of the job that are on record."""
    groups = {insert.target_id: insert.group for insert in facts.inserts if insert.kind == "insert"}
    own = groups.get(node.instance_id)
    return bool(own) and any(own == group for name, group in groups.items() if name in past)


def known(facts: JobFacts, node: NodeFacts) -> bool:
    """Whether somebody else knows of the instance than a marker, which alone says anything."""
    registered = facts.registrations.get(node.node)
    return bool(node.instance or node.history or (registered and registered == node.instance_id))
