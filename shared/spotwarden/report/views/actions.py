"""What was done, in words."""

import re

from spotwarden.report.model.trust import AuditedAction

_OUTCOMES = {
    "Done": "done",
    "Lost": "not done: someone else was first",
    "Rejected": "refused by Google Cloud",
    "Unanswered": "no answer: we can't tell whether it was done",
    "Observed": "not done: the mode is observe",
}
_BOUND = re.compile(r"(?<=[a-z])(?=[A-Z])")


def action(entry: AuditedAction) -> str:
    """`DeleteInstance` as "Delete instance"."""
    words = _BOUND.sub(" ", entry.action)
    return words[:1].upper() + words[1:].lower() if words else "unknown"


def outcome(entry: AuditedAction) -> str:
    """What came of it."""
    return _OUTCOMES.get(entry.outcome, entry.outcome or "unknown")
