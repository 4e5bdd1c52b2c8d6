"""One notice of a message: what its reader sees of it, and how much room that takes."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta, tzinfo
from typing import NamedTuple

import msgspec

from spotwarden.model.delivery import Channel, Pending
from spotwarden.model.message import MailLinks
from spotwarden.model.notice import WEEKLY, Notice, Severity, Table, Way
from spotwarden.model.spans import moment
from spotwarden.model.values import written
from spotwarden.notify.templates.subjects import title
from spotwarden.notify.templates.tables import OPEN_REPORT, tables
from spotwarden.notify.templates.text import clean, clock, count, hours, localized, sentence

_GO_ON = re.compile(r"https?://[!#-&(-;=?-~]+")
"""ASCII without blanks, quotation marks and angle brackets."""
KEEP, EXTEND = timedelta(hours=8), timedelta(hours=4)
"""What commands name where no links say for how long."""
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


def part_of(pending: Pending, links: MailLinks, moments: Moments, bounds: Bounds) -> Part:
    """What is shown of a notice, within these bounds."""
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
        report=safe_url(links.report) if notice.kind == WEEKLY else "",
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
        # A slice can't be stopped.
        Way.STOP: "Delete now" if _is_slice(notice) else "Stop now",
        Way.RESTART: "Restart",
        Way.APPROVE: "Approve",
    }
    offered = links.offers.get(notice.id, ())
    return tuple(
        Button(label=labels[way], url=safe_url(url), grave=way in {Way.STOP, Way.APPROVE})
        for way, url in offered
        if safe_url(url)
    )


def _is_slice(notice: Notice) -> bool:
    """Whether all of its VMs are parts of TPU slices, which go as a whole."""
    return bool(notice.instances) and all(target.group for target in notice.instances)


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
        return f"{start} because {because or (f'{job} has no owner' if job else 'no owner is known')}."
    role = f"{owner}, the owner of {job}" if job else owner
    return f"You're subscribed as {role}." if person else f"Posted here for {role}."


def length_of(part: Part) -> int:
    """How many bytes its words and links take in a page."""
    words = (part.title * 2, part.todo, part.then, part.why, part.reader, *part.commands)
    cells = (word for row in part.rows for word in row)
    links = (f"{button.url}{button.label}{part.title}" for button in part.buttons)
    return sum(_weight(name) for name in (*words, *cells, *links))


def _weight(words: str) -> int:
    """Its bytes, with what markup makes of it."""
    marks = sum(words.count(mark) for mark in "&<>\"'")
    return len(words.encode()) + 4 * marks


def safe_url(url: str) -> str:
    """The URL, if it is one that a reader may be sent to."""
    return url if _GO_ON.fullmatch(url) else ""
