"""Notices about what lasts: the attempt's record names those that its owner had.

What a sweep has told, `JobFacts.told`, is forgotten with it. Most notices are followed at once by a record in
another state, which no later sweep tells of. One about what stays as it is has to be noted.
"""

from msgspec.structs import replace

from spotwarden.model.attempt import Attempt
from spotwarden.model.facts import JobFacts
from spotwarden.model.notice import Notice

TOLD_KEPT = 20
"""More than one attempt has of them, however often its namesakes change."""


def untold(facts: JobFacts, attempt: Attempt, notice: Notice) -> bool:
    """Whether neither this sweep nor, by the record, an earlier one has told it."""
    return notice.id not in facts.told and notice.id not in attempt.told


def with_told(attempt: Attempt, notice: Notice) -> Attempt:
    """The attempt with the note that its owner had this notice."""
    if notice.id in attempt.told:
        return attempt
    return replace(attempt, told=(*attempt.told, notice.id)[-TOLD_KEPT:])
