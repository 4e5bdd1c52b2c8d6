"""What a message says, in its order, before it is set as text or as a page."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import accumulate

import msgspec

from spotwarden.model.delivery import Pending
from spotwarden.model.message import MailLinks
from spotwarden.model.notice import Notice, Severity
from spotwarden.model.threads import Threads
from spotwarden.notify.templates.parts import NOTHING, Bounds, Moments, Part, length_of, part_of, safe_url
from spotwarden.notify.templates.subjects import announced, is_test, jobs, subject
from spotwarden.notify.templates.text import count, cut

_RANK = {Severity.URGENT: 0, Severity.WARNING: 1, Severity.INFO: 2}
MOST_SHORT = 12
"""Lines of a post for what has no room; a post that warns has 15 notices at most, and room for three."""
PREHEADER = 110
"""Characters that an inbox shows of a message beside its subject."""
AGAIN = (
    "You may already have this message. We couldn't confirm that the first copy arrived, so we sent it again."
    " Answering both copies counts once. If their times differ, the later one applies."
)
TRIAL = "This is a test message about a made-up job. Its buttons and commands do nothing."
SUGGESTED = "No action needed. Some of these notices suggest what you can do."


class MessageView(msgspec.Struct, frozen=True, kw_only=True):
    """A message: its first line, if it tells of several notices, and each of them, the urgent ones first.

    `headline` is what happened, `preheader` what an inbox shows beside the subject, `first` what must be
    known before anything else: that it is a test, or may be a second copy.

    `rest` counts those for which there was no room. `short` has a line for each of these of which something
    will come: nothing is done to a VM whose owner was not told at least which and when.
    """

    subject: str
    headline: str
    preheader: str
    first: tuple[str, ...]
    lead: str
    parts: tuple[Part, ...]
    rest: str
    short: tuple[str, ...]
    preferences: str


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """How much a message has room for: `most` notices, which take `size` bytes together.

    `frame` is what one takes besides its words; a single one is bounded by `alone`, several by `among`.
    """

    size: int
    frame: int
    most: int = 20
    alone: Bounds = Bounds(todo=2000, text=4000, rows=30, cell=500, lines=51)
    among: Bounds = Bounds(todo=400, text=300, rows=4, cell=120)


MAIL = Room(size=45_000, frame=900)
"""Gmail shows the first 102 kB of a page; those without room take some, too."""


def view(
    pendings: Sequence[Pending],
    links: MailLinks,
    now: datetime,
    *,
    again: bool,
    room: Room = MAIL,
    zone: tzinfo = UTC,
    threads: Threads = Threads.NEWS,
) -> MessageView:
    """Put the message together; several notices are told shorter each, and what has no room only counted.

    Each moment is told on the clock of `zone`, its reader's. Where the subject is the same for all mails
    about a job, an inbox shows beside it what happened.
    """
    ordered = sorted(pendings, key=_order)
    notices = [pending.notice for pending in ordered]
    bounds = room.alone if len(ordered) == 1 else room.among
    moments = Moments(now, zone)
    shown = [part_of(item, links, moments, bounds) for item in ordered[: room.most]]
    taken = accumulate(room.frame + length_of(part) for part in shown)
    parts = [part for part, upto in zip(shown, taken, strict=True) if part is shown[0] or upto < room.size]
    lead = _lead(notices, moments) if len(ordered) > 1 else ""
    first, named, of_news = parts[0], subject(notices, threads), subject(notices)
    headline = first.title if len(ordered) == 1 else of_news
    told = lead or first.then or (first.why if first.todo == NOTHING else first.todo)
    return MessageView(
        subject=named,
        headline=headline,
        preheader=cut(told if named == of_news else f"{headline}. {told}", PREHEADER),
        first=(*((TRIAL,) if any(map(is_test, notices)) else ()), *((AGAIN,) if again else ())),
        lead=lead,
        parts=tuple(parts),
        rest=_rest(notices[len(parts) :]),
        short=tuple(announced(notice, zone) for notice in notices[len(parts) :] if notice.due),
        preferences=safe_url(links.preferences),
    )


def _order(pending: Pending) -> tuple[int, datetime, datetime]:
    notice = pending.notice
    return _RANK[notice.severity], notice.due or notice.at + timedelta(days=3650), notice.at


def _lead(notices: Sequence[Notice], moments: Moments) -> str:
    urgent = sum(notice.severity is Severity.URGENT for notice in notices)
    due = [notice.due for notice in notices if notice.due]
    first = f" The first action is due at {moments.clock(min(due))}." if due else ""
    if urgent:
        come = "is urgent and comes" if urgent == 1 else "are urgent and come"
        return f"{urgent:,} of these {len(notices):,} notices {come} first.{first}"
    todo = sum(_needs_action(notice) for notice in notices)
    if not todo:
        return SUGGESTED if any(notice.todo for notice in notices) else NOTHING
    return (
        f"{todo:,} of these {len(notices):,} notices {'needs' if todo == 1 else 'need'} your action.{first}"
    )


def _needs_action(notice: Notice) -> bool:
    """Whether it is a warning about which its reader must do something: the others only suggest it."""
    nothing = notice.todo.casefold().startswith(NOTHING.casefold().rstrip("."))
    return notice.severity is Severity.WARNING and bool(notice.todo) and not nothing


def _rest(notices: Sequence[Notice]) -> str:
    if not notices:
        return ""
    named = jobs(notices)
    about = f" about {count(len(named), 'job')}" if named else ""
    return f"And {count(len(notices), 'more notice')}{about}. To list open cases: `spotwarden cases list`"
