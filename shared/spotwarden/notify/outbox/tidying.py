"""A message of the topic → a notice that is fit to be sent: anybody may have published it."""

from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import msgspec
from msgspec.structs import replace

from spotwarden import typed
from spotwarden.model.delivery import Channel, Pending, Recipient, Undelivered
from spotwarden.model.notice import CaseRef, Notice, Severity, Table

typed.prepare(Notice)

MOST_ID = 1_000
MOST_TEXT = 4_000
MOST_VALUE = 2_000
MOST_ROWS = 30
MOST_INSTANCES = 256
"""As many as a notice of ours names at most."""
MOST_TABLES, MOST_COLUMNS, MOST_LINES, MOST_CELL = 4, 8, 50, 200
YEARS = range(1970, 9000)
"""Beyond them a moment cannot be reckoned with: adding ten years to it, or another time zone, overflows."""
NOTHING, LONGEST_GRACE = timedelta(0), timedelta(days=366)
"""A grace beyond them is none that a policy can mean."""
_SHORTENED = ("kind", "job", "what", "why", "todo", "then", "owner")


class UnreadableError(ValueError):
    """A message is no notice; the message of the error says why."""


def read(data: bytes) -> Notice:
    """The notice, no longer than a message can show; what was cut says so. `UnreadableError`."""
    try:
        notice = typed.decode(data, Notice)
    except msgspec.DecodeError as problem:
        raise UnreadableError(str(problem)) from problem
    if not 0 < len(notice.id) <= MOST_ID:
        raise UnreadableError(f"its id has {len(notice.id)} characters; it must have 1 to {MOST_ID}")
    return tidied(notice)


def tidied(notice: Notice) -> Notice:
    """The same with every text at a length that people can read, and every moment in UTC."""
    texts = {name: _cut(getattr(notice, name), MOST_TEXT) for name in _SHORTENED}
    return replace(
        notice,
        at=_moment(notice.at),
        due=_moment(notice.due) if notice.due else None,
        latest=_moment(notice.latest) if notice.latest else None,
        grace=notice.grace if notice.grace and NOTHING <= notice.grace <= LONGEST_GRACE else None,
        evidence=_rows(notice.evidence),
        instances=notice.instances[:MOST_INSTANCES],
        case=_case(notice.case),
        ways=tuple(dict.fromkeys(notice.ways)),
        tables=tuple(map(_table, notice.tables[:MOST_TABLES])),
        **texts,
    )


def unreadable(data: bytes, problem: str, now: datetime) -> Undelivered:
    """The record of a message that is no notice, with as much of it as helps to find who wrote it."""
    shown = data[:MOST_TEXT]
    try:
        text = shown.decode()
    except UnicodeDecodeError:
        text = b64encode(shown).decode()
    more = f" … ({len(data)} bytes in all)" if len(data) > len(shown) else ""
    notice = Notice(
        id=f"unreadable/{sha256(data).hexdigest()[:32]}",
        kind="unreadable",
        severity=Severity.WARNING,
        job="",
        at=now,
        what="Received an invalid notification",
        why=problem,
        evidence={"data": text + more},
    )
    nobody = Recipient(channel=Channel.EMAIL, address="")
    return Undelivered(
        pending=Pending(notice=notice, recipient=nobody, since=now),
        at=now,
        reason=f"it can't be read: {problem}",
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} … (cut: it has {len(text)} characters)"


def _rows(evidence: Mapping[str, str]) -> Mapping[str, str]:
    rows = list(evidence.items())
    kept = {_cut(key, MOST_VALUE): _cut(value, MOST_VALUE) for key, value in rows[:MOST_ROWS]}
    return {**kept, "…": f"{len(rows) - MOST_ROWS} more were left out"} if len(rows) > MOST_ROWS else kept


def _table(table: Table) -> Table:
    """Each row with as many cells as there are columns; of those that are left out, the last line tells."""
    width = min(len(table.columns), MOST_COLUMNS)
    rows = [_line(row, width) for row in table.rows[:MOST_LINES]]
    if more := len(table.rows) - len(rows):
        rows.append(_line((f"… and {more} more",), width))
    return Table(title=_cut(table.title, MOST_CELL), columns=_line(table.columns, width), rows=tuple(rows))


def _line(cells: tuple[str, ...], width: int) -> tuple[str, ...]:
    return tuple(_cut(cell, MOST_CELL) for cell in (*cells, *[""] * width)[:width])


def _moment(at: datetime) -> datetime:
    """What names no time zone is meant in UTC, as everything of ours is. `UnreadableError` for no moment."""
    try:
        moment = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except OverflowError as problem:
        raise UnreadableError(f"{at.isoformat()} is not a valid time: {problem}") from problem
    if moment.year not in YEARS:
        raise UnreadableError(f"{at.isoformat()} is not a plausible time")
    return moment


def _case(case: CaseRef | None) -> CaseRef | None:
    """A name that is no case's of ours can be answered to by nobody."""
    if case is None or max(len(case.rule), len(case.key)) > MOST_ID:
        return None
    return replace(case, opened=_moment(case.opened))
