"""What a notice says by the time at which it is sent."""

from datetime import datetime, timedelta

from msgspec.structs import replace

from spotwarden.model.delivery import Pending
from spotwarden.model.spans import moment

ABOUT_NOW = timedelta(minutes=1)
OVER = ". This message was delayed past that time, so it may already be done."


def as_of(pending: Pending, now: datetime, arrived: datetime | None) -> Pending:
    """The notice with the moment that holds if it arrives now, or where it has `arrived` at somebody already.

    What it announces comes no sooner than its grace after that, whatever was announced when it was written;
    unless an earlier warning has given that grace. A moment that is over is told as such.
    """
    notice = pending.notice
    if notice.due is None or notice.grace is None:
        return pending
    graced = (arrived or now) + notice.grace
    holds = min(graced, notice.latest or graced).replace(second=0, microsecond=0)
    due = max(notice.due, holds)
    then = notice.then.replace(moment(notice.due), moment(due))
    if due <= now - ABOUT_NOW:
        then += OVER
    return replace(pending, notice=replace(notice, due=due, then=then))
