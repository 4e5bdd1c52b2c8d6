"""Carries out what a person asks for, looking anew where somebody else was first."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import NamedTuple

from msgspec.structs import replace

from spotwarden.engine.executor import Executor
from spotwarden.model.action import Change, DeleteInstance, DropObject, StopInstance, WriteAttempt
from spotwarden.model.outcome import Done, Lost, Outcome, Rejected, Unanswered
from spotwarden.model.slice_action import DeleteGroup
from spotwarden.notify.links.reply import AnswerVerdict, OfferFacts, OfferStanding
from spotwarden.recovery.submission import is_worked_on

AT_WORK_SECONDS, EVERY_SECONDS = 20, 1
"""How long, and how often, a sweep that is at work on an attempt is waited for; most take some seconds."""
TRIES = 5
"""How often a job that changes under our hands is looked at anew."""

_ENDS = StopInstance | DeleteInstance | DeleteGroup
_GOING = "resourceNotReady"
"""What the delete of a group is refused with that is being deleted already."""


class Carried(NamedTuple):
    """The last verdict, and what was done for it.

    `unsure` is why nobody knows whether all of it was; `hidden` is what the last look could not see;
    `refusal` is what Compute Engine refused, its reason word first.
    """

    verdict: AnswerVerdict
    done: tuple[Change, ...] = ()
    unsure: str = ""
    hidden: str = ""
    refusal: str = ""


def look_at_rest(look: Callable[[], OfferFacts], now: datetime, pause: Callable[[float], None]) -> OfferFacts:
    """What a restart hangs on, once no sweep is at work on the job's attempt, or that takes too long."""
    for _ in range(0, AT_WORK_SECONDS, EVERY_SECONDS):
        offer_facts = look()
        if offer_facts.job is None or not is_worked_on(offer_facts.job, now):
            return offer_facts
        pause(EVERY_SECONDS)
    return look()


def carry_out(
    executor: Executor,
    verdict: AnswerVerdict,
    consider: Callable[[], AnswerVerdict],
    newest: Callable[[], int] = int,
) -> Carried:
    """Do what the verdict says; `consider` gives a new one where it rests on what is no longer so.

    `newest` lists the number of the job's newest record: behind the verdict's `head` another one tells of
    what that has not seen. A verdict without a head needs none.
    """
    done: list[Change] = []
    for _ in range(TRIES):
        if verdict.standing is OfferStanding.SETTLED and _is_behind(verdict, newest):
            verdict = consider()
            continue
        if verdict.standing is not OfferStanding.OPEN:
            return Carried(replace(verdict, changed=changed(done)), tuple(done))
        outcomes = apply_steps(executor, verdict, newest)
        done += [step for step, lost in zip(verdict.steps, outcomes, strict=False) if isinstance(lost, Done)]
        if silent := next((outcome for outcome in outcomes if isinstance(outcome, Unanswered)), None):
            return Carried(verdict, tuple(done), silent.detail)
        if rejected := rejections(outcomes):
            first = f"{rejected[0].code}: {rejected[0].message}"
            barred = replace(refused(verdict, rejected), changed=changed(done))
            return Carried(barred, tuple(done), refusal=first)
        lost = any(isinstance(outcome, Lost) for outcome in outcomes)
        asked = frozenset() if lost else asked_of(verdict)
        if not (lost or asked):
            return Carried(verdict, tuple(done))
        newer = consider()
        if asked and (newer.standing is OfferStanding.SETTLED or asked & asked_of(newer)):
            return Carried(verdict, tuple(done))
        verdict = newer
    return Carried(verdict, tuple(done), "it changes too fast")


def asked_of(verdict: AnswerVerdict) -> frozenset[int]:
    """The numbers of the attempts that recovery has begun, and that a person asks for by this verdict.

    A stop writes a record after theirs, and does not touch them: only another look shows who was first.
    """
    return frozenset(
        step.record.number
        for step in verdict.steps
        if isinstance(step, WriteAttempt) and step.generation and step.record.asked is not None
    )


def apply_steps(executor: Executor, verdict: AnswerVerdict, newest: Callable[[], int] = int) -> list[Outcome]:
    """What came of each step; where one was lost, the others rest on what is no longer so."""
    outcomes: list[Outcome] = []
    for step in verdict.steps:
        if isinstance(step, _ENDS) and _is_behind(verdict, newest):
            return [*outcomes, Lost(detail="the job has a newer attempt")]
        outcome = executor.apply(step)
        if isinstance(step, DeleteGroup) and isinstance(outcome, Rejected) and outcome.code == _GOING:
            outcome = Done()
        outcomes.append(outcome)
        if isinstance(outcomes[-1], Lost | Unanswered):
            break
    return outcomes


def _is_behind(verdict: AnswerVerdict, newest: Callable[[], int]) -> bool:
    """Whether somebody has written a record since the look that the verdict rests on."""
    return verdict.head is not None and newest() > verdict.head


def rejections(outcomes: Sequence[Outcome]) -> list[Rejected]:
    """What Compute Engine has refused; a VM that is gone already is as it should be."""
    return [outcome for outcome in outcomes if isinstance(outcome, Rejected) and outcome.code != "notFound"]


def changed(done: Sequence[Change]) -> str:
    """What was done before something barred the rest; "" for nothing."""
    gone = dict.fromkeys(
        attempt.node for attempt in done if isinstance(attempt, StopInstance | DeleteInstance)
    )
    slices = [step.group for step in done if isinstance(step, DeleteGroup)]
    closed = [step.record.job for step in done if isinstance(step, WriteAttempt) and step.record.closed]
    said = [f"{job} is closed as stopped, so that nothing restarts it." for job in closed]
    said += [f"{', '.join(gone)} is stopping."] if gone else []
    said += [f"The TPU slice {', '.join(slices)} is being deleted."] if slices else []
    if said:
        return " ".join(said)
    return (
        "The job's last status was removed."
        if any(isinstance(write_attempt, DropObject) for write_attempt in done)
        else ""
    )


def refused(verdict: AnswerVerdict, rejected: Sequence[Rejected]) -> AnswerVerdict:
    """The verdict that the other side does not do it."""
    why = "; ".join(dict.fromkeys(refusal.message for refusal in rejected))
    ends = any(isinstance(step, _ENDS) for step in verdict.steps)
    runs = " What was to be stopped may still run, and cost money." if ends else ""
    title, says = "Compute Engine refused it", f"{why.rstrip('.')}.{runs}"
    return replace(verdict, standing=OfferStanding.BARRED, code=409, says=says, notes=(), title=title)
