"""The subject of a message: the job, then what happened, short enough for a phone.

Gmail breaks a conversation where the subject changes (Gmail Help, "Group emails into conversations"); other
programs follow the headers. So a subject has no moment and no figure, and who wants one conversation for each
job gets a subject that says no more than its name.
"""

import re
from collections.abc import Sequence
from datetime import UTC, tzinfo

from spotwarden.model.notice import TEST, Notice, Severity
from spotwarden.model.threads import Threads
from spotwarden.notify.templates.kinds import subject_of
from spotwarden.notify.templates.text import brief_clock, clean, count, cut, cut_middle

LONGEST = 60
_LONGEST_NAME = 120
_LONGEST_TITLE = 34
"""Of what is wrong: a job's name has room beside it, and what was done."""
_DONE = re.compile(r" (?:was|should be) (stopped|deleted)")
_TEST = "[test] "
_OF_JOB = ": job updates"
"""What the one subject of all mails about a job ends with."""
_SENDER = "Spotwarden"
"""What a subject begins with where no job and no VM can."""


def subject(notices: Sequence[Notice], threads: Threads = Threads.NEWS) -> str:
    """One line without control characters, of at most 60."""
    if threads is Threads.JOB and (job := only_job(notices)):
        said = f"{cut_middle(clean(job, _LONGEST_NAME), LONGEST - len(_OF_JOB) - len(_TEST))}{_OF_JOB}"
    else:
        said = _one(notices[0]) if len(notices) == 1 else _many(notices)
    if all(map(is_test, notices)):
        said = f"{_TEST}{said}"
    return cut(said, LONGEST)


def is_test(notice: Notice) -> bool:
    """Whether it is a sample, which nothing in the world stands behind."""
    return notice.id.startswith(TEST)


def title(notice: Notice, most: int = 300) -> str:
    """What happened, with the job's name before it where the sentence does not hold it."""
    what = clean(notice.what, most) or clean(notice.kind, most) or "A notice without words"
    job = clean(notice.job, _LONGEST_NAME)
    if not job or re.search(rf"(?<![\w-]){re.escape(job)}(?!\w)", what):
        return what
    begun = what[:1].lower() + what[1:] if what.startswith(("We ", "The ")) else what
    return f"{job}: {begun}"


def announced(notice: Notice, zone: tzinfo = UTC) -> str:
    """What is wrong and when something will come of it, in one line: for what there is no room for."""
    when = f", due {brief_clock(notice.due, zone)}" if notice.due is not None else ""
    return f"{title(notice, 150)}{when}"


def jobs(notices: Sequence[Notice]) -> list[str]:
    """The names of the jobs that they are about, each one time."""
    return sorted({notice.job for notice in notices if notice.job})


def only_job(notices: Sequence[Notice]) -> str:
    """The one job that all of them are about; "" where they are about several, or one is about none."""
    named = jobs(notices)
    return named[0] if len(named) == 1 and all(notice.job for notice in notices) else ""


def _one(notice: Notice) -> str:
    said = subject_of(notice.kind, cut(clean(notice.title, _LONGEST_NAME), _LONGEST_TITLE))
    if not said:
        return title(notice)
    vm = notice.instances[0].name if len(notice.instances) == 1 else ""
    name = clean(notice.job or vm, _LONGEST_NAME) or _SENDER
    done = _DONE.search(notice.what)
    what = said.replace("done (", f"{done[1]} (", 1) if done else said
    room = LONGEST - len(what) - len(": ") - (len(_TEST) if is_test(notice) else 0)
    return f"{cut_middle(name, room)}: {what}"


def _many(notices: Sequence[Notice]) -> str:
    named = jobs(notices)
    urgent = sum(notice.severity is Severity.URGENT for notice in notices)
    warnings = sum(notice.severity is Severity.WARNING for notice in notices)
    most = f"{urgent:,} urgent" if urgent else count(warnings, "warning") if warnings else ""
    much, of_it = count(len(notices), "notice"), f", {most}" if most else ""
    if job := only_job(notices):
        room = LONGEST - len(f": {much}{of_it}")
        return f"{cut_middle(clean(job, _LONGEST_NAME), room)}: {much}{of_it}"
    about = f" about {count(len(named), 'job')}" if named else ""
    return f"{_SENDER}: {much}{about}{of_it}"
