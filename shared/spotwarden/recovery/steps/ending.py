"""What is left to do for a job that is over."""

from collections.abc import Mapping

from msgspec.structs import replace

from spotwarden.model.action import ClearMarker, EndWatch, Step, Tell, WriteAttempt
from spotwarden.model.attempt import CLOSED, Attempt, AttemptState, Recorded, Removal, TryKind
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.tick import Tick
from spotwarden.recovery.folder.lifecycle import AttemptEvent, follow
from spotwarden.recovery.instances.doubted_end import doubt, runs_on
from spotwarden.recovery.instances.removal import removals
from spotwarden.recovery.observed.ended_by import who_ended
from spotwarden.recovery.observed.fates import alive
from spotwarden.recovery.requests.slice_groups import left_over
from spotwarden.recovery.steps.begun import unrecorded
from spotwarden.recovery.steps.finishing import made_and_gone
from spotwarden.recovery.telling import notices
from spotwarden.recovery.telling.told_once import untold, with_told


def ended(facts: JobFacts, tick: Tick) -> Step | None:
    """The next step of a job that has a status: its markers go, and once no VM of it runs its record ends.

    Where Compute Engine's facts do not agree with the status its owner is told first: nothing is launched
    against a status, but nobody may end another's job by one either without a word.
    """
    why = f"the job has ended with status {facts.status_code}"
    if step := _tell_doubt(facts, tick):
        return step
    for node in facts.nodes:
        if node.marker is not None:
            return clear(node, why)
    if runs_on(facts):
        return None
    if facts.newest and facts.newest.state not in CLOSED:
        had = _had(facts, facts.newest)
        over = replace(
            facts.newest,
            state=follow(facts.newest.state, AttemptEvent.END),
            lease=None,
            updated=tick.now,
            instances=had,
            removed=removals(facts, replace(facts.newest, instances=had)),
        )
        return WriteAttempt(reason=why, record=over, generation=facts.ledger[-1].generation)
    if step := unrecorded(facts, tick):
        # Its end stands until whoever launches it again has taken it back.
        return step
    return left_over(facts) or end_watch(facts, why)


def end_watch(facts: JobFacts, why: str) -> EndWatch | None:
    """Take the job off the list of open jobs, if it is on it."""
    if facts.watched is None:
        return None
    return EndWatch(reason=why, job=facts.job, generation=facts.watched.generation)


def _tell_doubt(facts: JobFacts, tick: Tick) -> Step | None:
    """Tell that the status may be another's, once, though nodes of the job may run on for hours."""
    newest = facts.newest
    if newest is None or newest.state in CLOSED or not (why_not := doubt(facts)):
        return None
    notice = notices.end_doubted(facts, newest, why_not, tick)
    if untold(facts, newest, notice):
        return Tell(reason=why_not, notice=notice)
    noted = with_told(newest, notice)
    if noted == newest or not runs_on(facts):
        return None
    return WriteAttempt(
        reason="its owner was told that its status is doubted",
        record=replace(noted, updated=tick.now),
        generation=facts.ledger[-1].generation,
    )


def clear(node: NodeFacts, reason: str) -> ClearMarker:
    """Delete the node's marker, the one that was read."""
    if node.marker is None:
        raise ValueError(f"{node.node} has no marker")
    return ClearMarker(reason=reason, node=node.node, generation=node.marker.generation)


def stop(facts: JobFacts, newest: Recorded, why: str, tick: Tick) -> Step:
    """Tell, then write into an attempt under way that its owner has stopped it."""
    attempt = newest.attempt
    had = attempt.instances or _made_unrecorded(facts, attempt)
    gone = removals(facts, replace(attempt, instances=had))
    why = _by_whom(why, gone)
    notice = notices.closed(facts, attempt, why, AttemptState.STOPPED, tick)
    if notice.id not in facts.told:
        return Tell(reason=why, notice=notice)
    stopped = replace(
        attempt,
        state=follow(attempt.state, AttemptEvent.STOP),
        reason=why,
        lease=None,
        updated=tick.now,
        instances=had,
        removed=gone,
    )
    return WriteAttempt(reason=why, record=stopped, generation=newest.generation)


def _by_whom(why: str, gone: Mapping[str, Removal]) -> str:
    """Why it is over, and who removed its VMs, as far as the log tells."""
    who = who_ended(gone)
    return f"{why}: {who}" if who else why


def _had(facts: JobFacts, attempt: Attempt) -> dict[str, str]:
    """Its instances, by node; of one under way what its newest try has made, and what runs that it replaces.

    Where a VM goes on after a status that another one wrote, this tells that it is the job's.
    """
    if attempt.instances:
        return dict(attempt.instances)
    running = {instance.id for instance in facts.instances if alive(instance)}
    there = {node: name for node, name in attempt.replaces.items() if name in running}
    return {**there, **_made_unrecorded(facts, attempt)}


def _made_unrecorded(facts: JobFacts, attempt: Attempt) -> dict[str, str]:
    """What its newest request had made, by node: its owner may start that, and the log forgets it."""
    asked = attempt.tries[-1] if attempt.tries else None
    return made_and_gone(facts, attempt) if asked and asked.kind is TryKind.CREATE else {}


def close(facts: JobFacts, blank: Attempt, why: str, state: AttemptState, tick: Tick) -> Step:
    """Tell, then write down that the job is over, so that no later sweep starts it again.

    `blank` is the next record, which answers the job's markers: whoever claims that number comes second.
    """
    gone = removals(facts, blank)
    why = _by_whom(why, gone)
    notice = notices.closed(facts, blank, why, state, tick)
    if notice.id not in facts.told:
        return Tell(reason=why, notice=notice)
    # The developer's own launch is attempt 1; whatever is over after it is the one that follows.
    number = 1 if facts.newest is None and state is AttemptState.STOPPED else blank.number
    over = replace(blank, number=number, state=state, reason=why, removed=gone)
    return WriteAttempt(reason=why, record=over, generation=0, after=facts.head)
