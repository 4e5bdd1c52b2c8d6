"""Every kind of notice: what it means, and how soon a person should look."""

from collections.abc import Mapping

import msgspec

from spotwarden.model.notice import WEEKLY, Severity
from spotwarden.model.policy import RULES


class NoticeKind(msgspec.Struct, frozen=True, kw_only=True):
    """What notices of this kind tell, in one sentence, and the severities that they may have.

    `subject` follows the job's name in the subject of a mail; "" for what has a subject of its own. It never
    changes: Gmail starts a new conversation when a subject does.
    """

    meaning: str
    severities: tuple[Severity, ...]
    subject: str = ""


def _kind(subject: str, meaning: str, *severities: Severity) -> NoticeKind:
    return NoticeKind(subject=subject, meaning=meaning, severities=severities)


_OF_JOBS = {
    "launched": _kind("launched", "A submitted job runs its first attempt.", Severity.INFO),
    "recovered": _kind("running again", "A job runs again, as its next attempt.", Severity.INFO),
    "moved": _kind("moved", "A running job goes on where it costs less.", Severity.INFO),
    "not_recoverable": _kind(
        "preempted, can't restart",
        "A job was preempted and can't be restarted until something is fixed.",
        Severity.URGENT,
    ),
    "gave_up": _kind(
        "couldn't be started",
        "A job couldn't be launched or restarted, and Spotwarden has given up.",
        Severity.URGENT,
    ),
    "launch_failing": _kind(
        "restart denied", "Compute Engine denies permission to restart a job; for ops.", Severity.URGENT
    ),
    "stopped": _kind("stopped, won't restart", "A job was stopped, or reached its limit.", Severity.WARNING),
    "waits_for_room": _kind(
        "waits for a VM",
        "A job has waited 30 minutes, 4 hours or a day for a VM, because no zone has capacity.",
        Severity.WARNING,
    ),
    "gang_changed": _kind(
        "continues on other nodes",
        "A gang that bends lost nodes and continues on the others, or missing nodes joined it again.",
        Severity.INFO,
    ),
    "node_removed": _kind(
        "continues without a node", "A gang continues after one of its nodes was removed.", Severity.WARNING
    ),
    "slice_broken": _kind(
        "TPU slice lacks VMs",
        "Somebody removed VMs of a TPU slice, which needs all of them: its job is closed half an hour later.",
        Severity.WARNING,
    ),
    "end_doubted": _kind(
        "not restarted, check its end",
        "A job was preempted and not restarted, because its status code may belong to another run.",
        Severity.URGENT,
    ),
    "script_differs": _kind(
        "VM differs from its script",
        "A job runs on a VM that differs from its stored create script.",
        Severity.WARNING,
    ),
    "name_taken": _kind(
        "VM name is taken",
        "Another VM has the name of a job's VM, so the job goes to another zone, or waits for the name.",
        Severity.WARNING,
    ),
    "treadmill": _kind(
        "loses its work at each restart",
        "Several attempts in a row repeated the same work.",
        Severity.URGENT,
    ),
    "job_toml": _kind(
        "job.toml is invalid",
        "A job's settings can't be read, so only the policy's limits apply.",
        Severity.WARNING,
    ),
    "quarantined": _kind(
        "marker quarantined", "A marker couldn't be used and was quarantined.", Severity.WARNING
    ),
    "blast_radius": _kind(
        "VMs wait for the next sweep",
        "More VMs are due than one sweep may act on; the rest wait. For ops.",
        Severity.WARNING,
    ),
    "approval_needed": _kind(
        "needs your approval",
        "One remedy covers more VMs than a sweep may act on; it waits for approval by ops.",
        Severity.URGENT,
    ),
    "function_silent": _kind(
        "a function has stopped running",
        "A Spotwarden function hasn't completed a sweep for an hour; for ops.",
        Severity.URGENT,
    ),
    WEEKLY: _kind("", "The week in figures: what ran, its cost, savings and waste.", Severity.INFO),
    "unreachable": _kind(
        "a webhook rejects messages", "A webhook rejects notifications; for ops.", Severity.WARNING
    ),
    "unreadable": _kind(
        "received an invalid notice",
        "The topic received an invalid notification; it is kept with the undelivered ones.",
        Severity.WARNING,
    ),
}
_SUBJECTS = {
    "orphan": ("VM is no longer needed", "VM not needed", "can't tell if its VM is needed"),
    "leftover": ("unused resource left", "unused resource", "can't tell if it's unused"),
    "stall": ("no progress", "no progress", "can't check its progress"),
    "early_stop": ("early-stop condition met", "early stop", "can't check its metrics"),
    "idle": ("GPUs are idle", "idle GPUs", "can't check its GPUs"),
    "job_cap": ("time or cost limit is near", "time or cost limit", "can't check its limit"),
    "instance_cap": ("VM's time limit is near", "VM's time limit", "can't check its time limit"),
    "owner_cap": ("owner's limit is near", "owner's limit", "can't check its owner's limit"),
    "compliance": ("violates the policy", "policy violation", "can't check it against the policy"),
}
"""By rule: what is wrong, the same as a cause, and that nobody could tell; as short as a subject must be."""
_TITLED = {"has idle TPUs": ("TPUs are idle", "idle TPUs", "can't check its TPUs")}
"""The same by a notice's `title`, where the rule's words would not be true."""
_OF_CASES = {
    "warning": (
        "{}",
        "A VM or job {}; says what will happen when, and how to answer.",
        (Severity.WARNING, Severity.URGENT),
    ),
    "unknown": (
        "{unclear}",
        "We couldn't check whether a VM or job {}; no action is taken.",
        (Severity.INFO,),
    ),
    "acted": ("done ({cause})", "A VM or job {}, and the remedy was applied.", (Severity.URGENT,)),
    "cleared": ("resolved ({cause})", "The warning that a VM or job {} no longer applies.", (Severity.INFO,)),
    "failing": (
        "can't be done ({cause})",
        "A VM or job {}, and the remedy fails or isn't allowed; for ops.",
        (Severity.URGENT,),
    ),
}


def _subject(form: str, rule: str, title: str = "") -> str:
    named = _SUBJECTS.get(rule, (rule, rule, f"can't check {rule}"))
    wrong, cause, unclear = _TITLED.get(title, (title, _brief(title), named[2]) if title else named)
    return form.format(wrong, cause=cause, unclear=unclear)


def _brief(title: str) -> str:
    """What a case is about where the words around it are about its remedy."""
    return title.removeprefix("reports ").removeprefix("an ")


PHASES: Mapping[str, NoticeKind] = {
    phase: _kind("", meaning.format("has what the rule looks for"), *severities)
    for phase, (_, meaning, severities) in _OF_CASES.items()
}
"""What the endings of a rule's kinds mean."""
OF_RULES: Mapping[str, NoticeKind] = {
    f"{rule}_{phase}": _kind(_subject(subject, rule), meaning.format(limits.TITLE), *severities)
    for rule, limits in RULES.items()
    for phase, (subject, meaning, severities) in _OF_CASES.items()
}
KINDS: Mapping[str, NoticeKind] = {**_OF_JOBS, **OF_RULES}
"""By the notice's `kind`."""


def subject_of(kind: str, title: str) -> str:
    """What follows the job's name in the subject of such a notice; "" for what has a subject of its own."""
    rule, _, phase = kind.rpartition("_")
    if title and kind in OF_RULES:
        return _subject(_OF_CASES[phase][0], rule, title)
    return KINDS[kind].subject if kind in KINDS else ""
