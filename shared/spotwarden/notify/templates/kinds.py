"""Every kind of notice: what it means, and how soon a person should look."""

from collections.abc import Mapping

import msgspec

from spotwarden.model.notice import WEEKLY, Severity
from spotwarden.model.policy import RULES


class NoticeKind(msgspec.Struct, frozen=True, kw_only=True):
    """What notices of this kind tell, in one sentence, and the severities that they may have."""

    meaning: str
    severities: tuple[Severity, ...]


def _kind(meaning: str, *severities: Severity) -> NoticeKind:
    return NoticeKind(meaning=meaning, severities=severities)


_OF_JOBS = {
    "launched": _kind("A job that was submitted runs: its first attempt.", Severity.INFO),
    "recovered": _kind("A preempted job is back, as its next attempt.", Severity.INFO),
    "not_recoverable": _kind(
        "A job was preempted and can't be restarted until something is fixed.", Severity.URGENT
    ),
    "gave_up": _kind("A job couldn't be restarted, and Spotwarden has given up.", Severity.URGENT),
    "launch_failing": _kind("Compute Engine denies permission to restart a job; for ops.", Severity.URGENT),
    "stopped": _kind("A job was stopped, or reached its limit.", Severity.WARNING),
    "node_removed": _kind("A node of a gang was removed; the gang continues without it.", Severity.WARNING),
    "end_doubted": _kind(
        "A job was preempted with a status code that may not be its own; it is not restarted.",
        Severity.URGENT,
    ),
    "script_differs": _kind(
        "A job runs on a VM that differs from its stored create script.", Severity.WARNING
    ),
    "name_taken": _kind(
        "Another VM has the name of a job's VM, so the job moves to another zone.", Severity.WARNING
    ),
    "job_toml": _kind("A job's settings can't be read; the policy's limits apply.", Severity.WARNING),
    "quarantined": _kind("A marker couldn't be used and was quarantined.", Severity.WARNING),
    "blast_radius": _kind(
        "More is due than one sweep may do; the rest waits for the next sweeps. For ops.",
        Severity.WARNING,
    ),
    "approval_needed": _kind(
        "One remedy covers more VMs than a sweep may act on; it waits for approval by ops.",
        Severity.URGENT,
    ),
    "function_silent": _kind(
        "A Spotwarden function hasn't completed a sweep for an hour; for ops.", Severity.URGENT
    ),
    WEEKLY: _kind("A week in figures: what ran, what it cost and saved, what was wasted.", Severity.INFO),
    "unreachable": _kind("A webhook rejects notifications; for ops.", Severity.WARNING),
    "unreadable": _kind(
        "The topic received an invalid notification; it is kept with the undelivered ones.", Severity.WARNING
    ),
}
_OF_CASES = {
    "warning": (
        "A VM or job {}; says what will happen when, and how to answer.",
        (Severity.WARNING, Severity.URGENT),
    ),
    "unknown": ("We couldn't check whether a VM or job {}; nothing will be done.", (Severity.INFO,)),
    "acted": ("A VM or job {}, and the remedy was applied.", (Severity.URGENT,)),
    "cleared": ("The warning that a VM or job {} no longer applies.", (Severity.INFO,)),
    "failing": ("A VM or job {}, and the remedy fails or may not be applied; for ops.", (Severity.URGENT,)),
}

KINDS: Mapping[str, NoticeKind] = {
    **_OF_JOBS,
    **{
        f"{rule}_{phase}": _kind(meaning.format(limits.TITLE), *severities)
        for rule, limits in RULES.items()
        for phase, (meaning, severities) in _OF_CASES.items()
    },
}
"""By the notice's `kind`."""
