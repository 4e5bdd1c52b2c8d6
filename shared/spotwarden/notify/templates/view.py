"""What a message says, in its order, before it is set as text or as a page."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import accumulate
from typing import NamedTuple

import msgspec

from spotwarden.model.delivery import Channel, Pending
from spotwarden.model.message import MailLinks
from spotwarden.model.notice import WEEKLY, Notice, Severity, Table, Way
from spotwarden.model.spans import moment
from spotwarden.model.threads import Threads
from spotwarden.model.values import written
from spotwarden.notify.templates.subjects import announced, is_test, jobs, subject, title
from spotwarden.notify.templates.tables import OPEN_REPORT, tables
from spotwarden.notify.templates.text import clean, clock, count, cut, hours, localized, sentence

_GO_ON = re.compile(r"https?://[!#-&(-;=?-~]+")
"""ASCII without blanks, quotation marks and angle brackets."""
_RANK = {Severity.URGENT: 0, Severity.WARNING: 1, Severity.INFO: 2}
KEEP, EXTEND = timedelta(hours=8), timedelta(hours=4)
"""What commands name where no links say for how long."""
MOST_SHORT = 12
"""Lines of a post for what has no room; a post that warns has 15 notices at most, and room for three."""
PREHEADER = 110
"""Characters that an inbox shows of a message beside its subject."""
AGAIN = (
    "You may already have this message. We couldn't confirm that the first copy arrived, so we sent it again."
    " Answering both copies counts once. If their times differ, the later one applies."
)
TRIAL = "This is a test message about a made-up job. Its buttons and commands do nothing."
NOTHING = "No action needed."


class Button(msgspec.Struct, frozen=True, kw_only=True):
    """A link of an answer; `grave` is one that ends something."""

    label: str
    url: str
    grave: bool = False


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One notice: `then` is what will happen, `todo` what to do, `commands` how to answer without a link.

    `report` is the address of the report page, where the notice has figures of it.
    """

    severity: Severity
    title: str
    then: str
    todo: str
    why: str
    reader: str
    rows: tuple[tuple[str, str], ...]
    buttons: tuple[Button, ...]
    commands: tuple[str, ...]
    tables: tuple[Table, ...] = ()
    report: str = ""

    @property
    def told(self) -> tuple[str, ...]:
        """What will happen, what to do and why, a line each."""
        then = (f"What happens next: {self.then}",) if self.then else ()
        why = (f"Why: {self.why}",) if self.why else ()
        return (*then, f"What to do: {self.todo}", *why)


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


class Moments(NamedTuple):
    """How moments are told: when the message is written, and on whose clock."""

    now: datetime
    zone: tzinfo

    def clock(self, at: datetime) -> str:
        """One moment."""
        return clock(at, self.now, self.zone)

    def told(self, text: str) -> str:
        """A text with each moment in it so."""
        return localized(text, self.now, self.zone)


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """How much of each thing of a notice is shown, in characters; `lines` are those of each table."""

    todo: int
    text: int
    rows: int
    cell: int
    lines: int = 0


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
    shown = [_part(item, links, moments, bounds) for item in ordered[: room.most]]
    taken = accumulate(room.frame + _length(part) for part in shown)
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
        preferences=_url(links.preferences),
    )


def _order(pending: Pending) -> tuple[int, datetime, datetime]:
    notice = pending.notice
    return _RANK[notice.severity], notice.due or notice.at + timedelta(days=3650), notice.at


def _part(pending: Pending, links: MailLinks, moments: Moments, bounds: Bounds) -> Part:
    notice = pending.notice
    names = (notice.job, *(target.name for target in notice.instances))

    def told(text: str, most: int) -> str:
        return moments.told(sentence(clean(text, most), *names))

    return Part(
        severity=notice.severity,
        title=sentence(title(notice), *names).removesuffix("."),
        then=_announced(notice, told(notice.then, bounds.text), moments),
        todo=told(notice.todo, bounds.todo) or NOTHING,
        why=told(notice.why, bounds.text),
        reader=_reader(pending),
        rows=tuple((label, moments.told(value)) for label, value in _rows(notice.evidence, bounds)),
        buttons=_buttons(notice, links),
        commands=tuple(_commands(notice, links)),
        tables=tables(notice, bounds.lines),
        report=_url(links.report) if notice.kind == WEEKLY else "",
    )


def _announced(notice: Notice, then: str, moments: Moments) -> str:
    """What will happen, with the moment where the words do not hold it."""
    if notice.due is None or moment(notice.due) in notice.then:
        return then
    return f"{then} Due at {moments.clock(notice.due)}.".lstrip()


def _rows(evidence: Mapping[str, str], bounds: Bounds) -> tuple[tuple[str, str], ...]:
    shown = [
        (clean(key, 80).replace("_", " "), clean(value, bounds.cell))
        for key, value in list(evidence.items())[: bounds.rows]
    ]
    more = len(evidence) - len(shown)
    return (
        *(row for row in shown if row[0] and row[1]),
        *([("and more", count(more, "row"))] if more else []),
    )


def _buttons(notice: Notice, links: MailLinks) -> tuple[Button, ...]:
    labels = {
        Way.KEEP: f"Keep for {hours(links.keep)}" if links.keep else "Keep it",
        Way.EXTEND: f"Extend by {hours(links.extend)}" if links.extend else "Extend",
        Way.STOP: "Stop now",
        Way.RESTART: "Restart",
        Way.APPROVE: "Approve",
    }
    offered = links.offers.get(notice.id, ())
    return tuple(
        Button(label=labels[way], url=_url(url), grave=way in {Way.STOP, Way.APPROVE})
        for way, url in offered
        if _url(url)
    )


def _commands(notice: Notice, links: MailLinks) -> list[str]:
    """The commands of its answers that what is to do does not name already."""
    if notice.kind == WEEKLY:
        return [] if links.report else [OPEN_REPORT]
    case, job = notice.case, clean(notice.job, 120)
    named = f"{clean(case.rule, 40)} {clean(case.key, 120)}" if case else ""
    known = {
        Way.KEEP: f"spotwarden cases keep {named} --for {_span(links.keep, KEEP)}" if case else "",
        Way.EXTEND: f"spotwarden extend {job} --by {_span(links.extend, EXTEND)}" if case and job else "",
        Way.STOP: f"spotwarden stop {job}" if job else "",
        Way.RESTART: f"spotwarden restart {job}" if job else "",
        Way.APPROVE: f"spotwarden cases approve {named}" if case else "",
    }
    wanted = [known.get(way, "") for way in notice.ways]
    return [name for name in wanted if name and " ".join(name.split()[:3]) not in notice.todo]


def _span(said: timedelta | None, usual: timedelta) -> str:
    """As a command takes it; where there are no links, as long as those usually are."""
    return written(said or usual)


def _reader(pending: Pending) -> str:
    """Why this person, or this channel, reads it."""
    notice = pending.notice
    person = pending.recipient.channel is Channel.EMAIL
    start = "You get this" if person else "Posted here"
    because = clean(pending.because, 400).rstrip(".")
    if pending.stands_in:
        why = f", because {because}" if because else ""
        return f"{start} instead of {clean(pending.stands_in, 300)}{why}."
    owner, job = clean(notice.owner, 120), clean(notice.job, 120)
    if because or not owner:
        return f"{start} because {because or (job or 'this') + ' has no owner'}."
    role = f"{owner}, the owner of {job}" if job else owner
    return f"You're subscribed as {role}." if person else f"Posted here for {role}."


def _lead(notices: Sequence[Notice], moments: Moments) -> str:
    urgent = sum(notice.severity is Severity.URGENT for notice in notices)
    due = [notice.due for notice in notices if notice.due]
    first = f" The first action is due at {moments.clock(min(due))}." if due else ""
    if urgent:
        come = "is urgent and comes" if urgent == 1 else "are urgent and come"
        return f"{urgent:,} of these {len(notices):,} notices {come} first.{first}"
    todo = sum(bool(notice.todo) for notice in notices)
    if not todo:
        return NOTHING
    return (
        f"{todo:,} of these {len(notices):,} notices {'needs' if todo == 1 else 'need'} your action.{first}"
    )


def _rest(notices: Sequence[Notice]) -> str:
    if not notices:
        return ""
    named = jobs(notices)
    about = f" about {count(len(named), 'job')}" if named else ""
    return f"And {count(len(notices), 'more notice')}{about}. To list open cases: `spotwarden cases list`"


def _length(part: Part) -> int:
    words = (part.title * 2, part.todo, part.then, part.why, part.reader, *part.commands)
    cells = (word for row in part.rows for word in row)
    links = (f"{button.url}{button.label}{part.title}" for button in part.buttons)
    return sum(_weight(name) for name in (*words, *cells, *links))


def _weight(words: str) -> int:
    """Its bytes, with what markup makes of it."""
    marks = sum(words.count(mark) for mark in "&<>\"'")
    return len(words.encode()) + 4 * marks


def _url(url: str) -> str:
    """The URL, if it is one that a reader may be sent to."""
    return url if _GO_ON.fullmatch(url) else ""
