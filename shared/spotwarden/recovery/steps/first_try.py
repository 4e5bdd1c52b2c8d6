"""The claim with the first try in it: one write where there were two, for an object takes one write a second.

What the claim would be followed by is looked up first. A look at the instances is taken before the claim, so
that the try can stand in it; whatever else must come first leaves the claim alone. Between the reading of the
chain and the write nobody else went on with it, or the write does not succeed.
"""

from collections.abc import Callable

from msgspec.structs import replace

from spotwarden.model.action import Step, Survey, Wait, WriteAttempt
from spotwarden.model.attempt import Attempt, AttemptState, Recorded
from spotwarden.model.facts import JobFacts
from spotwarden.recovery.steps.progress import UNANSWERED_AT_MOST


def with_first_try(
    facts: JobFacts, step: Step | None, follow: Callable[[JobFacts], Step | None]
) -> Step | None:
    """The step; a claim with the first try in it, or what the try waits for, where that would `follow` it."""
    if not isinstance(step, WriteAttempt) or step.generation or step.record.state is not AttemptState.CLAIMED:
        return step
    if facts.unanswered >= UNANSWERED_AT_MOST:
        return Wait(reason="Compute Engine does not answer")
    return _tried(facts, step, step.record, follow) or step


def _tried(
    facts: JobFacts, claim: WriteAttempt, record: Attempt, follow: Callable[[JobFacts], Step | None]
) -> Step | None:
    """The claim with the try that follows its `record`, or the look before that; None where neither does."""
    match follow(replace(facts, ledger=(*facts.ledger, Recorded(attempt=record, generation=0)))):
        case Survey() as survey:
            return survey
        case WriteAttempt(record=following) as tried if following.state is AttemptState.PLACING:
            return replace(claim, reason=f"{claim.reason}; {tried.reason}", record=following)
        case WriteAttempt(record=following) if following.lease is not None and record.lease is None:
            # A gang's claim has no lease yet: it is taken where nothing of it is left to be cleared away.
            return _tried(facts, claim, following, follow)
    return None
