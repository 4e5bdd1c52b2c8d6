"""Step by step: decide, apply, learn, until there is nothing to do or nothing to do now."""

from collections.abc import Callable

from spotwarden.model.action import Change, Look, Lost, Outcome, Rejected, Step, Unanswered, Wait
from spotwarden.model.facts import JobFacts

STEPS_AT_MOST = 100
"""More steps than any job needs; reaching it is a fault of ours, not of the world."""


def advance(
    facts: JobFacts,
    *,
    next_step: Callable[[JobFacts], Step | None],
    after: Callable[[JobFacts, Step, Outcome], JobFacts | None],
    apply: Callable[[Change | Look], Outcome],
) -> str:
    """Take a job as far as it goes now; gives the reason to look again soon, "" where there is none."""
    for _ in range(STEPS_AT_MOST):
        step = next_step(facts)
        if step is None:
            return ""
        if isinstance(step, Wait):
            return f"{facts.job}: {step.reason}"
        outcome = apply(step)
        learnt = after(facts, step, outcome)
        if learnt is None:
            return _stopped(facts.job, outcome)
        facts = learnt
    raise RuntimeError(f"{facts.job}: no end after {STEPS_AT_MOST} steps; the last was {step!r}")


def _stopped(job: str, outcome: Outcome) -> str:
    """Observing is an end; everything else wants another look."""
    match outcome:
        case Lost():
            return f"{job}: another sweep was first"
        case Rejected():
            return f"{job}: {outcome.code}: {outcome.message}"
        case Unanswered():
            return f"{job}: no answer: {outcome.detail}"
        case _:
            return ""
