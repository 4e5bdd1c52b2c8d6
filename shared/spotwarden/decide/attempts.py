"""The next step of a job, from what is known now; taken again and again until there is none.

Every step is safe to repeat and every stop between two steps can be continued by another sweep:
a claim is created once, a try is written down before it is asked, ids are stored before a marker goes.
"""

from msgspec.structs import replace

from spotwarden.decide import notices, placing
from spotwarden.decide.lifecycle import Event, follow
from spotwarden.decide.placing import lease
from spotwarden.decide.recovery import Judgement, Verdict, judge
from spotwarden.model.action import ClearMarker, Quarantine, Step, Tell, Wait, WriteAttempt
from spotwarden.model.attempt import Attempt, State
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.launch import Launch, NoLaunch
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.tick import Tick

IN_FLIGHT = {State.CLAIMED, State.PLACING, State.BACKING_OFF}
CLOSED = {State.ENDED, State.STOPPED, State.GAVE_UP}


def next_step(facts: JobFacts, limits: RecoveryLimits, tick: Tick) -> Step | None:
    """What to do next for this job; None where nothing is left to do."""
    if facts.status_code is not None:
        return _clear_first(facts, f"the job has ended with status {facts.status_code}")
    if facts.ledger and facts.ledger[-1].attempt.state in IN_FLIGHT:
        return placing.carry_on(facts, facts.ledger[-1], limits, tick)
    for node in facts.nodes:
        if past := _settled(facts, node):
            return _clear(node, past)
        return _judged(facts, node, judge(node, limits, tick), limits, tick)
    return None


def _clear_first(facts: JobFacts, reason: str) -> Step | None:
    for node in facts.nodes:
        return _clear(node, reason)
    return None


def _clear(node: NodeFacts, reason: str) -> ClearMarker:
    return ClearMarker(reason=reason, node=node.node, generation=node.marker.generation)


def _settled(facts: JobFacts, node: NodeFacts) -> str:
    """Why the ledger has an answer to this marker already; "" where it has none."""
    for recorded in facts.ledger:
        attempt = recorded.attempt
        answered = attempt.markers.get(node.node) == node.marker.generation
        if answered or (node.instance_id and attempt.replaces.get(node.node) == node.instance_id):
            return f"answered by attempt {attempt.number}"
    return _closed(facts, node)


def _closed(facts: JobFacts, node: NodeFacts) -> str:
    """A closed job stays closed, unless its developer has launched an instance that the ledger never saw."""
    newest = facts.ledger[-1].attempt if facts.ledger else None
    if newest is None or newest.state not in CLOSED:
        return ""
    relaunched = node.instance_id and node.instance_id not in newest.instances.values()
    return "" if relaunched else f"the job is closed: {newest.reason or newest.state.value}"


def _judged(
    facts: JobFacts, node: NodeFacts, judgement: Judgement, limits: RecoveryLimits, tick: Tick
) -> Step:
    match judgement.verdict:
        case Verdict.WAIT:
            return Wait(reason=judgement.why)
        case Verdict.CLEAR:
            return _clear(node, judgement.why)
        case Verdict.CLOSE:
            return _close(facts, node, judgement.why, State.STOPPED, tick)
        case Verdict.RECOVER:
            return _claim(facts, node, judgement.why, limits, tick)


def _claim(facts: JobFacts, node: NodeFacts, why: str, limits: RecoveryLimits, tick: Tick) -> Step:
    """Create the record of the next attempt: exactly one sweep can."""
    if not isinstance(facts.launch, Launch):
        return _set_aside(facts, node, tick)
    number = _latest(facts) + 1
    if number > limits.max_restarts + 1:
        return _close(facts, node, f"restarted {limits.max_restarts} times, the limit", State.GAVE_UP, tick)
    record = _record(facts, node, number, why, tick)
    leased = replace(record, lease=lease(limits, tick), script=facts.launch.script)
    return WriteAttempt(reason=why, record=leased, generation=0)


def _set_aside(facts: JobFacts, node: NodeFacts, tick: Tick) -> Step:
    """A marker whose job cannot be launched again is kept, with the reason, for a person."""
    reason = facts.launch.reason if isinstance(facts.launch, NoLaunch) else "the job has no create script"
    if not facts.told:
        return Tell(reason=reason, notice=notices.not_recoverable(facts, node, reason, tick))
    return Quarantine(
        reason=reason, name=node.node, generation=node.marker.generation, data=node.marker.data, job=facts.job
    )


def _close(facts: JobFacts, node: NodeFacts, why: str, state: State, tick: Tick) -> Step:
    """Write down that the job is over, so that no later sweep starts it again."""
    if not facts.told:
        return Tell(reason=why, notice=notices.closed(facts, node, why, state, tick))
    newest = facts.ledger[-1] if facts.ledger else None
    if newest and newest.attempt.state is State.RUNNING and state is State.STOPPED:
        stopped = replace(
            newest.attempt, state=follow(newest.attempt.state, Event.STOP), reason=why, updated=tick.now
        )
        return WriteAttempt(reason=why, record=stopped, generation=newest.generation)
    number = _latest(facts) + bool(newest or state is State.GAVE_UP)
    record = replace(_record(facts, node, number, why, tick), state=state)
    return WriteAttempt(reason=why, record=record, generation=0)


def _latest(facts: JobFacts) -> int:
    """The newest attempt's number; a job without a ledger was launched once, by its developer."""
    return facts.ledger[-1].attempt.number if facts.ledger else 1


def _record(facts: JobFacts, node: NodeFacts, number: int, why: str, tick: Tick) -> Attempt:
    """A new record, claimed, that answers this marker."""
    return Attempt(
        job=facts.job,
        number=number,
        state=State.CLAIMED,
        created=tick.now,
        updated=tick.now,
        reason=why,
        replaces={node.node: node.instance_id},
        markers={node.node: node.marker.generation},
        owner=facts.ledger[-1].attempt.owner if facts.ledger else "",
    )
