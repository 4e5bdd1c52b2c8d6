"""The subject of a message: what happened to which job, short enough for a phone."""

import re
from collections.abc import Sequence
from datetime import datetime

from spotwarden.model.notice import Notice, Severity
from spotwarden.notify.templates.text import clean, clock, count, cut, is_over

LONGEST = 200
_LONGEST_NAME = 120
_VERB = re.compile(r"it will ([a-z ]{1,30}[a-z])")


def subject(notices: Sequence[Notice], now: datetime) -> str:
    """One line without control characters, of at most 200; a job's name is never cut."""
    return _one(notices[0], now) if len(notices) == 1 else _many(notices)


def title(notice: Notice, most: int = 300) -> str:
    """What happened, with the job's name before it where the sentence does not hold it."""
    what = clean(notice.what, most) or clean(notice.kind, most) or "A notice without words"
    job = clean(notice.job, _LONGEST_NAME)
    if not job or re.search(rf"(?<![\w-]){re.escape(job)}(?!\w)", what):
        return what
    return f"{job}: {what}"


def jobs(notices: Sequence[Notice]) -> list[str]:
    """The names of the jobs that they are about, each one time."""
    return sorted({notice.job for notice in notices if notice.job})


def _one(notice: Notice, now: datetime) -> str:
    end = ""
    if notice.due is not None:
        verbs = _VERB.match(notice.then)
        when, over = clock(notice.due, now), is_over(notice.due, now)
        what = f"{'may' if over else 'will'} {verbs[1]}" if verbs else "due"
        end = f", {what}{' since' if over else ''} {when}"
    return cut(title(notice), LONGEST - len(end)) + end


def _many(notices: Sequence[Notice]) -> str:
    named = jobs(notices)
    about = f" about {count(len(named), 'job')}" if named else ""
    if len(named) == 1:
        about = f" about {clean(named[0], _LONGEST_NAME)}"
    urgent = sum(notice.severity is Severity.URGENT for notice in notices)
    warnings = sum(notice.severity is Severity.WARNING for notice in notices)
    most = f"{urgent:,} urgent" if urgent else count(warnings, "warning") if warnings else ""
    return f"{count(len(notices), 'notice')}{about}{f': {most}' if most else ''}"
