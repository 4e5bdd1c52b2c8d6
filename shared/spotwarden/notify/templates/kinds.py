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
        "A job was preempted and cannot be started again until something is mended.", Severity.URGENT
    ),
    "gave_up": _kind("A job could not be started again, and will not be tried again.", Severity.URGENT),
    "launch_failing": _kind("Compute Engine forbids us to start a job again; for ops.", Severity.URGENT),
    "stopped": _kind("A job is over, since somebody stopped it or its limit was reached.", Severity.WARNING),
    "node_removed": _kind(
        "Somebody has removed a node of a gang, which goes on without it.", Severity.WARNING
    ),
    "end_doubted": _kind(
        "A job was taken long after, or before, its status code was written, and is not brought back.",
        Severity.URGENT,
    ),
    "script_differs": _kind(
        "A job runs on another VM than its stored create script makes.", Severity.WARNING
    ),
    "name_taken": _kind(
        "Somebody else's VM has a name of a job's, so that the job goes to another zone.", Severity.WARNING
    ),
    "job_toml": _kind("A job's own settings cannot be read; the policy's hold.", Severity.WARNING),
    "quarantined": _kind("A marker could not be used and was put aside.", Severity.WARNING),
    "blast_radius": _kind(
        "More is due than one sweep may act upon: the rest waits for the next ones; for ops.",
        Severity.WARNING,
    ),
    "approval_needed": _kind(
        "One remedy is for more VMs than a sweep may act upon: nothing is done until ops approve it.",
        Severity.URGENT,
    ),
    "function_silent": _kind("A function of ours has not swept for an hour; for ops.", Severity.URGENT),
    WEEKLY: _kind("The figures of a week: what ran, what it cost and saved, what was wasted.", Severity.INFO),
    "unreachable": _kind("A web hook takes no notices; for ops.", Severity.WARNING),
    "unreadable": _kind("A message on the topic is no notice; kept among the undelivered.", Severity.WARNING),
}
_OF_CASES = {
    "warning": (
        "A VM or job {}; says what will happen when, and how to answer.",
        (Severity.WARNING, Severity.URGENT),
    ),
    "unknown": ("Nobody can tell whether a VM or job {}; nothing will be done.", (Severity.INFO,)),
    "acted": ("A VM or job {}, and the remedy was applied.", (Severity.URGENT,)),
    "cleared": ("The warning that a VM or job {} no longer holds.", (Severity.INFO,)),
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
