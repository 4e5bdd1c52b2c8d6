"""The claim: the record of the next attempt, which exactly one sweep can create."""

from msgspec.structs import replace

from spotwarden.model.action import KeepWatch, Step, Tell, Wait, WriteAttempt
from spotwarden.model.attempt import Attempt, AttemptState
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.launch import Launch
from spotwarden.model.policy import Policy
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watch
from spotwarden.recovery.instances.removal import asked_for, asked_since
from spotwarden.recovery.kinds.bounds import exceeded
from spotwarden.recovery.kinds.machines import machine_key, runs_on
from spotwarden.recovery.observed.fates import Fate, alive, cause_of, lost_at
from spotwarden.recovery.observed.truth_table import LossVerdict
from spotwarden.recovery.steps.ending import close
from spotwarden.recovery.steps.judging import LossFinding
from spotwarden.recovery.steps.leasing import lease
from spotwarden.recovery.steps.unlaunchable import set_aside
from spotwarden.recovery.telling import delay_notices, notices
from spotwarden.recovery.telling.treadmill import is_told, treadmill, work_of


def claim(facts: JobFacts, finding: LossFinding, policy: Policy, tick: Tick) -> Step | None:
    """Claim the next attempt; where there can be none, put the marker aside or give up, and say so."""
    if not isinstance(facts.launch, Launch):
        return set_aside(facts, finding.node, tick)
    if facts.file.problem and (notice := notices.unreadable_file(facts, tick)).id not in facts.told:
        return Tell(reason=facts.file.problem, notice=notice)
    if reason := exceeded(facts, lost_at(finding.node, tick), _fate(finding), policy.recovery, tick):
        if finding.judgement.verdict is LossVerdict.REPLACE:
            return Wait(reason=f"no successor while it still runs: {reason}", soon=False)
        return close(facts, record(facts, finding, tick), reason, AttemptState.GAVE_UP, tick)
    if step := _on_treadmill(facts, finding, policy, tick):
        return step
    if facts.watched is None:
        # On the list before the claim: a claim that nobody watches could be lost with its marker.
        watch = Watch(job=facts.job)
        return KeepWatch(reason="the job is open", job=facts.job, watch=watch, generation=0)
    gang = facts.launch.gang
    claimed = replace(
        record(facts, finding, tick),
        # A gang's survivors must go first, which takes longer than one sweep and needs no lease.
        lease=None if gang else lease(policy.recovery, tick),
        script=facts.launch.script,
        machine=machine_key(facts.launch),
        gpus=facts.launch.gpus,
    )
    return WriteAttempt(reason=claimed.reason, record=claimed, generation=0, after=facts.head)


def _on_treadmill(facts: JobFacts, finding: LossFinding, policy: Policy, tick: Tick) -> Step | None:
    """Tell the owner of a job whose attempts keep no work, or give it up; None where it is to be claimed."""
    claimed, limits = record(facts, finding, tick), policy.recovery
    found = treadmill(facts, claimed)
    if found is None or len(found.attempts) < limits.treadmill_lives:
        return None
    if limits.treadmill_stops and finding.judgement.verdict is not LossVerdict.REPLACE:
        return close(facts, claimed, f"{found.words} (treadmill_stops)", AttemptState.GAVE_UP, tick)
    notice = delay_notices.on_treadmill(facts, found, tick)
    if is_told(found, limits) and notice.id not in facts.told:
        return Tell(reason=notice.why, notice=notice)
    return None


def record(facts: JobFacts, finding: LossFinding, tick: Tick) -> Attempt:
    """A new record, claimed, that answers all markers of the job and stands in for all its instances."""
    newest = facts.newest
    # The developer's own launch is attempt 1, written down or not.
    number = newest.number + 1 if newest else 2
    own = newest.instances if newest and newest.state is AttemptState.RUNNING else {}
    known = {**own, **{node.node: node.instance_id for node in facts.nodes if node.instance_id}}
    known[finding.node.node] = finding.node.instance_id
    # A marker may name another VM of a node; the one that the ledger counts on must go if it lives.
    living = {instance.id for instance in facts.instances if alive(instance)}
    known |= {node: name for node, name in own.items() if name in living}
    # A gang that bends went on without it, since it was told of its end, and it still runs.
    lacking = newest.lacking if newest else {}
    known |= {node: item.instance_id for node, item in lacking.items() if item.instance_id in living}
    return Attempt(
        job=facts.job,
        number=number,
        state=AttemptState.CLAIMED,
        created=tick.now,
        updated=tick.now,
        reason=finding.judgement.why,
        replaces=known,
        markers={node.node: node.marker.generation for node in facts.nodes if node.marker},
        owner=facts.owner,
        lost=lost_at(finding.node, tick),
        lost_in=_place_of(facts, finding.node),
        lost_on=runs_on(facts),
        fate=_fate(finding).value,
        cause=cause.name if (cause := cause_of(finding.node)) else "",
        lost_work=work_of(facts),
        early=finding.judgement.verdict is LossVerdict.REPLACE,
        # The word that takes a removal back holds for what follows it.
        asked=asked_for(newest) if newest and asked_since(finding.node, newest) else None,
        # What somebody has removed from a gang that bends is not made again with the rest.
        removed=dict(newest.removed) if newest and facts.file.nodes else {},
    )


def _fate(finding: LossFinding) -> Fate:
    """What befell the instance; one that is announced to be taken is as good as preempted."""
    return Fate.PREEMPTED if finding.judgement.verdict is LossVerdict.REPLACE else finding.judgement.fate


def _place_of(facts: JobFacts, node: NodeFacts) -> str:
    """The zone that an instance was lost in, as far as anybody says; else the place that was asked for it."""
    if cause := cause_of(node):
        return cause.zone
    if node.marker and node.marker.body.zone:
        return node.marker.body.zone
    return facts.newest.tries[-1].place if facts.newest and facts.newest.tries else ""
