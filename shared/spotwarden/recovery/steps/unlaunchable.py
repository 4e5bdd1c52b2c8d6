"""A job that was lost and cannot be launched again: its owner is told once, and its markers are kept."""

from spotwarden.model.action import Quarantine, Step, Tell, WriteAttempt
from spotwarden.model.facts import JobFacts, NodeFacts
from spotwarden.model.launch import NoLaunch
from spotwarden.model.notice import Notice
from spotwarden.model.tick import Tick
from spotwarden.recovery.steps.ending import end_watch
from spotwarden.recovery.telling import notices
from spotwarden.recovery.telling.told_once import with_told


def set_aside(facts: JobFacts, node: NodeFacts, tick: Tick) -> Step | None:
    """Keep its markers, with the reason, for a person.

    Where none was written one is made up, so that `spotwarden quarantine retry` has something to put back.
    That its owner was told is noted: the log shows the loss to more sweeps, though nothing else does.
    """
    reason = facts.launch.reason if isinstance(facts.launch, NoLaunch) else "the job has no create script"
    notice = notices.not_recoverable(facts, node, reason, tick)
    if facts.newest is None or notice.id not in facts.newest.told:
        if notice.id not in facts.told:
            return Tell(reason=reason, notice=notice)
        if noted := _noted(facts, notice):
            return noted
    for fact in facts.nodes:
        if fact.marker is not None:
            return _aside(facts, fact.node, fact.marker.generation, fact.marker.data, reason)
    if facts.watched is None:
        return None
    if node.node not in facts.registered:
        return _aside(facts, node.node, facts.watched.generation, b"", reason)
    return end_watch(facts, reason)


def _noted(facts: JobFacts, notice: Notice) -> WriteAttempt | None:
    """The newest record with the note; None where there is none.

    One that is made up would keep its developer from launching the job anew.
    """
    if facts.newest is None:
        return None
    record, reason = with_told(facts.newest, notice), "its owner was told that it can't be restarted"
    return WriteAttempt(reason=reason, record=record, generation=facts.head)


def _aside(facts: JobFacts, node: str, generation: int, data: bytes, reason: str) -> Quarantine:
    return Quarantine(reason=reason, name=node, generation=generation, data=data, job=facts.job)
