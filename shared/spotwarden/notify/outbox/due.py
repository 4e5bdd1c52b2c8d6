"""What goes out to one recipient now, as which messages; everything else waits.

Three classes. What is urgent or names a moment goes as soon as it has settled, at any hour. Any other
warning goes then too, but not in quiet hours, and not within `apart` of the message before. What is only for
information is gathered: when the oldest of it is due, all of it goes as one message. Nothing is taken along
before it is due itself. The weekly report is a message by itself, at the first hour that is not quiet.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from spotwarden.model.delivery import Channel, Pace, Pending
from spotwarden.model.limits import NotifyLimits
from spotwarden.model.notice import TEST, WEEKLY, Notice, Severity
from spotwarden.model.opening import clock_of, hours_of, zone_of
from spotwarden.notify.outbox.model import DueQuestion, Waiting

MOST_IN_ONE = 1_000
"""Notices in one message."""
MOST_IN_POST = 15
"""The same where a post to a chat is all the warning that there is: it has no room to name more VMs."""
HOURLY = timedelta(hours=1)
_DAY = timedelta(days=1)
_RANK = {Severity.URGENT: 0, Severity.WARNING: 1, Severity.INFO: 2}

Messages = tuple[tuple[Waiting, ...], ...]


def due(waiting: Sequence[Waiting], wanted: DueQuestion) -> Messages:
    """The messages that go out now, each as the notices that it tells, the most pressing first."""
    settled = sorted((notice for notice in waiting if _settled(notice, wanted)), key=_order)
    reports = [pending for pending in settled if _report(pending) and not quiet(wanted.limits, wanted.now)]
    alone = [*(delivery for delivery in settled if _trial(delivery)), *reports]
    real = [candidate for candidate in settled if not (_trial(candidate) or _report(candidate))]
    news = [another for another in real if _news(another, wanted)]
    told = [one for one in real if one not in news and _pressing(one, wanted)]
    if not any(_gathered(item, wanted) for item in news):
        news = []
    each = tuple((one,) for one in alone)
    if len(told) + len(news) > wanted.limits.flood:
        return (*each, *_slices([*told, *news]))
    return (*each, *((one,) for one in told), *_slices(news))


def asks_pace(waiting: Sequence[Waiting]) -> bool:
    """Whether it matters how often the recipient wants to hear of what is not urgent."""
    news = (notice for notice in waiting if not (_trial(notice) or _report(notice)))
    return any(_class(item.pending.notice) is Severity.INFO for item in news)


def quiet(limits: NotifyLimits, now: datetime) -> bool:
    """Whether it is an hour at which only what is urgent may disturb."""
    if not limits.quiet:
        return False
    hours, local = hours_of(limits.quiet), now.astimezone(zone_of(limits.timezone))
    minute = local.hour * 60 + local.minute
    if hours.overnight:
        return minute >= hours.start or minute < hours.end
    return hours.start <= minute < hours.end


def _settled(pending: Waiting, wanted: DueQuestion) -> bool:
    return wanted.now - pending.pending.since >= wanted.limits.settle


def _trial(pending: Waiting) -> bool:
    return pending.pending.notice.id.startswith(TEST)


def _report(pending: Waiting) -> bool:
    return pending.pending.notice.kind == WEEKLY and not _trial(pending)


def _class(notice: Notice) -> Severity:
    """What names a moment cannot wait for a better hour."""
    return Severity.URGENT if notice.due else notice.severity


def _news(pending: Waiting, wanted: DueQuestion) -> bool:
    return _class(pending.pending.notice) is Severity.INFO and wanted.pace is not Pace.NOW


def _pressing(pending: Waiting, wanted: DueQuestion) -> bool:
    """Whether it goes by itself now. Who gets message after message waits no longer than `apart` either."""
    if _class(pending.pending.notice) is Severity.URGENT:
        return True
    limits, now = wanted.limits, wanted.now
    rested = wanted.last is None or now - wanted.last >= limits.apart
    return (rested or now - pending.pending.since >= limits.apart) and not quiet(limits, now)


def _gathered(pending: Waiting, wanted: DueQuestion) -> bool:
    limits, now = wanted.limits, wanted.now
    if quiet(limits, now):
        return False
    if wanted.pace is Pace.DAILY:
        return now >= _next_daily(pending.pending.since, limits)
    return now - pending.pending.since >= (HOURLY if wanted.pace is Pace.HOURLY else limits.digest)


def _next_daily(since: datetime, limits: NotifyLimits) -> datetime:
    zone = zone_of(limits.timezone)
    day = since.astimezone(zone).date()
    first = datetime.combine(day, clock_of(limits.daily_at), tzinfo=zone)
    return first if first >= since else datetime.combine(day + _DAY, first.time(), tzinfo=zone)


def _order(pending: Waiting) -> tuple[int, float, float, str]:
    notice = pending.pending.notice
    by = notice.due.timestamp() if notice.due else float("inf")
    return _RANK[notice.severity], by, pending.pending.since.timestamp(), pending.key


def _slices(some: Sequence[Waiting]) -> Messages:
    most = MOST_IN_POST if any(_warns_in_chat(item.pending) for item in some) else MOST_IN_ONE
    return tuple(tuple(some[first : first + most]) for first in range(0, len(some), most))


def _warns_in_chat(pending: Pending) -> bool:
    return pending.recipient.channel is Channel.HOOK and pending.notice.due is not None and not pending.copy
