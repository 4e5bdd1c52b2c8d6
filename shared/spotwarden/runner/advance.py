"""Step by step: decide, apply, learn, until there is nothing to do or nothing to do now."""

from collections.abc import Callable

from spotwarden.model.action import Change, Lost, Outcome, Question, Rejected, Step, Unanswered, Wait
from spotwarden.model.facts import JobFacts

STEPS_AT_MOST = 2000
"""More steps than any job needs, a gang of some hundred nodes included; more is a fault of ours."""


def advance(
    facts: JobFacts,
    *,
    next_step: Callable[[JobFacts], Step | None],
    after: Callable[[JobFacts, Step, Outcome], JobFacts | None],
    apply: Callable[[Change | Question], Outcome],
) -> Wait | None:
    """Take a job as far as it goes now; gives what it waits for, None where it waits for nothing."""
    for _ in range(STEPS_AT_MOST):
        step = next_step(facts)
        if step is None:
            return None
        if isinstance(step, Wait):
            return Wait(reason=f"{facts.job}: {step.reason}", soon=step.soon)
        outcome = apply(step)
        learnt = after(facts, step, outcome)
        if learnt is None:
            return _stopped(facts.job, outcome)
        facts = learnt
    raise RuntimeError(f"{facts.job}: no end after {STEPS_AT_MOST} steps; the last was {step!r}")


def _stopped(job: str, outcome: Outcome) -> Wait | None:
    """Observing is an end; everything else wants another look."""
    match outcome:
        case Lost():
            return Wait(reason=f"{job}: another sweep was first")
        case Rejected():
            return Wait(reason=f"{job}: {outcome.code}: {outcome.message}")
        case Unanswered():
            return Wait(reason=f"{job}: no answer: {outcome.detail}")
        case _:
            return None
