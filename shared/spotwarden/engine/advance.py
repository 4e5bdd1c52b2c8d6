"""Step by step: decide, apply, learn, until there is nothing to do or nothing to do now."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

from spotwarden.model.action import Change, ClearMarker, Question, Step, Survey, Wait, WriteAttempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.outcome import Lost, Outcome, Rejected, Unanswered

STEPS_AT_MOST = 2000
"""More steps than any job needs, a gang of some hundred nodes included; more is a fault of ours."""


class Named(Protocol):
    """What is known of one job or case; `job` is what a log calls it."""

    @property
    def job(self) -> str: ...  # noqa: D102 — said above


Facts = TypeVar("Facts", bound=Named)
End = TypeVar("End")


class Parked(NamedTuple):
    """A job whose next step is made for many at once, a list or the clearing of a marker, or for later."""

    facts: JobFacts
    step: Survey | ClearMarker | WriteAttempt


def advance(
    facts: JobFacts,
    *,
    next_step: Callable[[JobFacts], Step | None],
    after: Callable[[JobFacts, Step, Outcome], JobFacts | None],
    apply: Callable[[Change | Question], Outcome],
    park: bool = False,
) -> Wait | Parked | None:
    """Take a job as far as it goes now; gives what it waits for, None where it waits for nothing.

    With `park` it goes no further than its next survey or marker to clear, or its next write for later; the
    caller makes them.
    """

    def end(facts: JobFacts, step: Step) -> Wait | Parked | None:
        if isinstance(step, Wait):
            return Wait(reason=f"{facts.job}: {step.reason}", soon=step.soon)
        if park and isinstance(step, Survey | ClearMarker):
            return Parked(facts, step)
        if park and isinstance(step, WriteAttempt) and step.later:
            return Parked(facts, step)
        return None

    return step_by_step(facts, next_step=next_step, after=after, apply=apply, end=end)


def step_by_step(
    facts: Facts,
    *,
    next_step: Callable[[Facts], Any],
    after: Callable[[Facts, Any, Outcome], Facts | None],
    apply: Callable[[Any], Outcome],
    end: Callable[[Facts, Any], End | None],
) -> End | Wait | None:
    """Go on until there is no next step, until `end` makes one of it, or until an outcome stops it."""
    for _ in range(STEPS_AT_MOST):
        step = next_step(facts)
        if step is None:
            return None
        if (ended := end(facts, step)) is not None:
            return ended
        outcome = apply(step)
        learnt = after(facts, step, outcome)
        if learnt is None:
            return stopped(facts.job, outcome)
        facts = learnt
    raise RuntimeError(f"{facts.job}: no end after {STEPS_AT_MOST} steps; the last was {step!r}")


def stopped(job: str, outcome: Outcome) -> Wait | None:
    """Observing is an end; everything else wants another look."""
    match outcome:
        case Lost():
            return Wait(reason=f"{job}: another sweep changed it first", broken_off=True)
        case Rejected():
            return Wait(reason=f"{job}: {outcome.code}: {outcome.message}")
        case Unanswered():
            return Wait(reason=f"{job}: no answer: {outcome.detail}", broken_off=True)
        case _:
            return None
