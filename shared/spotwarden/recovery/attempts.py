"""The next step of a job, from what is known now; taken again and again until there is none.

Every step is safe to repeat and every stop between two steps can be continued by another sweep:
a claim is created once, a try is written down before it is asked, the first as a rule in the claim, and ids
are stored before a marker goes.
"""

from datetime import timedelta
from functools import partial

from msgspec.structs import replace

from spotwarden.model.action import KeepWatch, LaunchInstances, StartInstance, Step, Wait, WriteAttempt
from spotwarden.model.attempt import CLOSED, Attempt, AttemptState
from spotwarden.model.facts import JobFacts
from spotwarden.model.instance import Status
from spotwarden.model.launch import Launch
from spotwarden.model.policy import Mode, Policy
from spotwarden.model.tick import Tick
from spotwarden.model.watch import Watch, Watched
from spotwarden.recovery import placing
from spotwarden.recovery.adopting import adopt, still_there
from spotwarden.recovery.gangs.bending import bend
from spotwarden.recovery.gangs.gang_wish import end_broken, follow_wish
from spotwarden.recovery.instances import ownership
from spotwarden.recovery.instances.doubted_end import is_old, own_nodes, runs_on
from spotwarden.recovery.instances.elastic import as_wished
from spotwarden.recovery.instances.removal import by_person, told_late
from spotwarden.recovery.markers import strays
from spotwarden.recovery.observed.fates import Fate, Now, alive
from spotwarden.recovery.observed.identity import CLOCKS_APART
from spotwarden.recovery.observed.truth_table import LossVerdict, judge
from spotwarden.recovery.requests.slice_groups import left_over
from spotwarden.recovery.steps.begun import unrecorded
from spotwarden.recovery.steps.claiming import claim, record
from spotwarden.recovery.steps.ending import clear, close, end_watch, ended, stop
from spotwarden.recovery.steps.first_try import with_first_try
from spotwarden.recovery.steps.judging import LossFinding, answered, closed, find
from spotwarden.recovery.steps.planned import move
from spotwarden.recovery.steps.settling import settle, watch_of
from spotwarden.recovery.telling.waits import tell_if_pending

IN_FLIGHT = {AttemptState.CLAIMED, AttemptState.PLACING, AttemptState.BACKING_OFF}
OVERSLEPT = timedelta(minutes=10)
"""No sweep lives this long; an attempt that is further ahead of us was dated by a clock that is wrong."""


def next_step(facts: JobFacts, policy: Policy, tick: Tick) -> Step | None:
    """What to do next for this job; None where nothing is left to do."""
    facts = as_wished(facts)
    step = with_first_try(facts, _step(facts, policy, tick), partial(_step, policy=policy, tick=tick))
    if facts.fresh and not _moves(facts) and isinstance(step, WriteAttempt | LaunchInstances | StartInstance):
        return replace(step, fresh=True)
    return step


def _moves(facts: JobFacts) -> bool:
    """Whether its newest attempt is a move: its job runs, so its owner may stop it at any time."""
    return facts.newest is not None and bool(facts.newest.planned)


def _step(facts: JobFacts, policy: Policy, tick: Tick) -> Step | None:
    """The next step, a claim without what follows it."""
    if facts.status_code is not None:
        return (
            _over_before_seen(facts, policy, tick) or _wait_for_end(facts, policy, tick) or ended(facts, tick)
        )
    if not _is_answered(facts) and (step := ownership.unsettled(facts, policy.recovery, tick)):
        return step
    return _next_step(ownership.sift(facts, policy.recovery, tick), policy, tick)


def _over_before_seen(facts: JobFacts, policy: Policy, tick: Tick) -> Step | None:
    """Write down the VMs that no sweep had seen when their job ended: or no rule knew whose they are."""
    if not facts.instances or (facts.ledger and not _is_gone(facts)):
        return None
    if step := ownership.unsettled(facts, policy.recovery, tick):
        return step
    return adopt(ownership.sift(facts, policy.recovery, tick), tick)


def _is_gone(facts: JobFacts) -> bool:
    """Whether an attempt is said to run, and no VM of it does: its developer may have launched it anew."""
    newest = facts.newest
    return newest is not None and newest.state is AttemptState.RUNNING and not still_there(facts, newest)


def _is_answered(facts: JobFacts) -> bool:
    """Whether an operation tells of a single VM what came of the newest try: no list is needed then."""
    newest = facts.newest
    if newest is None or newest.state is not AttemptState.PLACING or facts.forgotten:
        return False
    gang = isinstance(facts.launch, Launch) and facts.launch.gang
    return bool(newest.tries[-1].operation) and not gang


def _next_step(facts: JobFacts, policy: Policy, tick: Tick) -> Step | None:
    """The next step of an open job, of whose instances only its own are left."""
    if facts.newest and CLOCKS_APART < facts.newest.created - tick.now <= OVERSLEPT:
        return Wait(reason=f"attempt {facts.newest.number} is newer than what this sweep has seen")
    if late := told_late(facts):
        who = "a person" if by_person(late) else "a rule"
        why = f"{who} removed {late.node} before this attempt, which the log reported late"
        return stop(facts, facts.ledger[-1], why, tick)
    if facts.newest and facts.newest.state in IN_FLIGHT:
        if facts.watched is None:
            return KeepWatch(
                reason="the job is open", job=facts.job, watch=Watch(job=facts.job), generation=0
            )
        return placing.carry_on(facts, facts.ledger[-1], policy, tick)
    if stray := strays.put_aside(facts, tick) or strays.foreign(facts, policy.recovery, tick):
        return stray
    if strange := [node for node in ownership.foreign(facts) if not answered(facts, node)]:
        own = replace(facts, nodes=tuple(node for node in facts.nodes if node not in strange))
        names = ", ".join(node.node for node in strange)
        return _judged(own, policy, tick) or Wait(reason=f"a marker of {names} names an unknown instance")
    return _judged(facts, policy, tick)


def _judged(facts: JobFacts, policy: Policy, tick: Tick) -> Step | None:
    for node in facts.nodes:
        if past := answered(facts, node):
            return clear(node, past)
    if seen := adopt(facts, tick):
        return seen
    if step := bend(facts, policy, tick):
        return step
    finding = find(facts, policy.recovery, tick) if _open(facts) else None
    if finding is None:
        return _nothing_found(facts, tick)
    return _found(facts, finding, policy, tick)


def _wait_for_end(facts: JobFacts, policy: Policy, tick: Tick) -> Step | None:
    """Wait while a status that is not new cannot be compared yet with how its VMs went; None where it can."""
    if runs_on(facts) or not is_old(facts, tick.now):
        return None
    found = [
        LossFinding(node=node, judgement=judge(node, policy.recovery, tick)) for node in own_nodes(facts)
    ]
    waiting = (match for match in found if match.judgement.verdict is LossVerdict.WAIT)
    return next((_wait(facts, match) for match in waiting), None)


def _open(facts: JobFacts) -> bool:
    """A closed job has nothing to be judged but instances it never knew."""
    over = facts.newest is not None and facts.newest.state in CLOSED
    return not over or any(not closed(facts, node) for node in facts.nodes)


def _nothing_found(facts: JobFacts, tick: Tick) -> Step | None:
    if facts.outdated:
        return Wait(reason="a marker arrived meanwhile")
    if step := unrecorded(facts, tick):
        return step
    if not _open(facts):
        return left_over(facts) or end_watch(facts, "the job is closed")
    return settle(facts, tick) if _runs_whole(facts) else None


def _runs_whole(facts: JobFacts) -> bool:
    """Whether all that our own newest attempt has runs, by the list: it was finished in this very sweep.

    Of what a developer has launched by hand more nodes may come yet, and what is on record stays so.
    """
    own = facts.newest is not None and not facts.newest.seen and not facts.nodes
    wanted = facts.newest.wanted if facts.newest and own else {}
    running = {instance.id for instance in facts.instances if instance.status is Status.RUNNING}
    return bool(wanted) and set(wanted.values()) <= running


def _found(facts: JobFacts, finding: LossFinding, policy: Policy, tick: Tick) -> Step | None:
    judgement = finding.judgement
    match judgement.verdict:
        case LossVerdict.LEAVE:
            return (
                tell_if_pending(facts, policy, tick)
                or follow_wish(facts, tick)
                or end_broken(facts, tick)
                or settle(facts, tick)
                or move(facts, policy, tick)
            )
        case LossVerdict.WAIT:
            return _wait(facts, finding)
        case LossVerdict.CLEAR:
            return clear(finding.node, judgement.why)
        case LossVerdict.CLOSE:
            return close(facts, record(facts, finding, tick), judgement.why, AttemptState.STOPPED, tick)
        case LossVerdict.RECOVER | LossVerdict.REPLACE:
            unseen = strays.never_seen(facts, finding.node, tick)
            return unseen or _observed(facts, finding, policy) or claim(facts, finding, policy, tick)


def _wait(facts: JobFacts, finding: LossFinding) -> Step | None:
    """Wait; for an instance that is missing without a word, or long in stopping, write down since when.

    Of a job that is on no list any more, since it cannot be launched again, nothing is waited for.
    """
    unsaid = finding.judgement.fate is Fate.UNTOLD or finding.judgement.now is Now.GOING
    missing = unsaid and finding.node.marker is None
    if missing and facts.watched is None:
        return None
    noted = _note(facts, finding) if missing else None
    return noted or Wait(reason=finding.judgement.why, soon=finding.judgement.soon)


def _observed(facts: JobFacts, finding: LossFinding, policy: Policy) -> KeepWatch | None:
    """Note a loss that no claim records while recovery only observes.

    Once it enforces, the log is read from before the loss, and the job's time counts up to it.
    """
    unrecorded = policy.mode is Mode.OBSERVE and finding.node.marker is None
    return _note(facts, finding) if unrecorded else None


def _note(facts: JobFacts, finding: LossFinding) -> KeepWatch | None:
    """The watch that says since when the instance is missing; None where it says so already."""
    if facts.watched is None or facts.newest is None or finding.node.missing_since is not None:
        return None
    noted = _missing(facts, facts.newest, facts.watched)
    if finding.judgement.now is not Now.HIDDEN:
        down = (node for node in facts.nodes if node.instance is None or not alive(node.instance))
        missing = {node.instance_id for node in down} & {*facts.newest.wanted.values()}
        noted = replace(noted, gone=True, missing=tuple(sorted(missing)))
    if noted == facts.watched.watch:
        return None
    generation = facts.watched.generation
    return KeepWatch(reason="an instance is missing", job=facts.job, watch=noted, generation=generation)


def _missing(facts: JobFacts, newest: Attempt, watched: Watched) -> Watch:
    """The watch that says from when on the operation log must be read for what befell the attempt.

    An attempt that no sweep has seen whole may have been lost at any time since it was asked for.
    """
    watch = watched.watch
    if watch.attempt == newest.number and watch.instances == newest.wanted:
        return watch if watch.whole else replace(watch, whole=facts.last_sweep or watched.since)
    return replace(watch_of(facts, newest), whole=newest.created)
