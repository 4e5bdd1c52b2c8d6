"""A table as CSV (RFC 4180) that no spreadsheet takes for anything but data.

A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@` as a formula, with what stands in the
neighbouring cells as its arguments (OWASP: "CSV Injection"). Where its list separator is `;`, a text begins
anew at each of them. So an apostrophe is put before whatever could be one; `plain` takes it off again.
Numbers are numbers, minus signs included.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from operator import attrgetter
from typing import Any

import msgspec

from spotwarden.notify.templates.text import clean

Cell = str | float | date | tuple[str, ...] | Mapping[str, str] | None
"""Several texts are one with blanks between, pairs are JSON."""
MOST = 32_000
"""Characters of a cell; a spreadsheet takes 32,767 (Microsoft: "Excel specifications and limits")."""

_STARTS = "=+\\-@\uff1d\uff0b\uff0d\uff20"
"""What begins a formula, and the full-width forms that some locales take for it."""
_RISKY = re.compile(rf"(^|;)(?=[\s\"']*[{_STARTS}])")
_DEFUSED = re.compile(rf"(^|;)'(?=[\s\"']*[{_STARTS}])")


class Columns:
    """Columns of a table, as `job cost_usd=cost.usd`: a name, and the way to its value if that is another."""

    def __init__(self, said: str) -> None:
        ways = dict(column.partition("=")[::2] for column in said.split())
        self.names = tuple(ways)
        self.of: Callable[[Any], Sequence[Cell]] = attrgetter(*(way or name for name, way in ways.items()))


def every(shape: type[msgspec.Struct], inside: str, but: str = "") -> str:
    """A column for each field of a shape that stands inside of another: `recovery_p90_seconds`."""
    names = (name for name in shape.__struct_fields__ if name != but)
    return " ".join(f"{inside}_{name}={inside}.{name}" for name in names)


def table(columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """UTF-8, a header row, CRLF; texts are quoted, numbers are not; nothing at all stands for unknown."""
    lines = (",".join(map(_cell, line)) for line in (columns, *rows))
    return "".join(f"{line}\r\n" for line in lines).encode()


def _cell(value: Cell) -> str:
    match value:
        case str():
            return '"' + text(value).replace('"', '""') + '"'
        case None:
            return ""
        case bool():
            return str(value).lower()
        case int() | float():
            return repr(value)
        case date():
            return moment(value)
        case tuple():
            return _cell(" ".join(value))
        case _:
            return _cell(msgspec.json.encode(value).decode()) if value else ""


def moment(at: date) -> str:
    """As ISO 8601 says it: a day, or a moment in UTC to the second, which no spreadsheet takes apart."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if isinstance(at, datetime) else at.isoformat()


def text(said: str) -> str:
    """One line without control characters that is no formula in any spreadsheet."""
    if said.isalnum() and len(said) <= MOST:
        return said
    line = said if _plain(said) else clean(said, MOST)
    return _RISKY.sub(r"\1'", line) if ";" in line or not line[:1].isalnum() else line


def _plain(said: str) -> bool:
    """Whether there is nothing to clean, as in nearly every cell."""
    blank = "  " in said or said != said.strip()
    return said.isascii() and said.isprintable() and len(said) <= MOST and not blank


def plain(cell: str) -> str:
    """The text of a cell as it was before it was made harmless."""
    return _DEFUSED.sub(r"\1", cell)
