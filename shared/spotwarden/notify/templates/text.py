"""Text that others wrote, made safe to stand in a message: one line, bounded, and nothing unseen in it."""

import re
import unicodedata
from datetime import UTC, datetime, timedelta, tzinfo

from spotwarden.model.spans import span

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? UTC")
_JOINERS = frozenset("\u200c\u200d")
"""Format characters that writing needs: Persian words, and emoji of several parts."""
_BLANK = frozenset(("Cc", "Zl", "Zp"))
_NO_TEXT = frozenset(("Cs", "Co", "Cn"))


def clean(text: str, most: int = 2000) -> str:
    """One line of at most `most` characters; what was cut is counted.

    Control characters and line ends become spaces. Format characters go, among them those that turn the
    direction of writing (Unicode Standard Annex #9), for they make a text look like another. What is no
    character at all becomes U+FFFD.
    """
    line = " ".join("".join(map(_shown, text[: most * 2])).split())
    if len(text) <= most * 2 and len(line) <= most:
        return line
    note = f" … (cut; {len(text):,} characters in all)"
    return cut(line, most - len(note)).removesuffix(" …") + note if most > 2 * len(note) else cut(line, most)


def cut(line: str, most: int) -> str:
    """The line, or its beginning up to the end of a word where there is one near."""
    if len(line) <= most:
        return line
    kept = line[: most - 2]
    words = kept.rpartition(" ")[0]
    return f"{words if len(words) > most // 2 else kept} …"


def _shown(char: str) -> str:
    if char.isascii() and char.isprintable():
        return char
    category = unicodedata.category(char)
    if category in _BLANK:
        return " "
    if category in _NO_TEXT:
        return "\ufffd"
    return "" if category == "Cf" and char not in _JOINERS else char


def code_split(line: str) -> tuple[tuple[str, bool], ...]:
    """Its parts, each with whether it stood between backticks; a backtick without a partner is text."""
    parts = line.split("`")
    if len(parts) % 2 == 0:
        parts[-2:] = [f"{parts[-2]}`{parts[-1]}"]
    return tuple((part, bool(number % 2)) for number, part in enumerate(parts) if part)


def cut_middle(name: str, most: int) -> str:
    """The name, or its beginning and its end: names of one series differ in what stands last."""
    if len(name) <= most:
        return name
    end = max(0, most - 1) // 2
    return f"{name[: most - 1 - end]}…{name[len(name) - end :]}"


def clock(at: datetime, now: datetime, zone: tzinfo = UTC) -> str:
    """A moment by its reader's clock: `14:30 UTC on Mon, Nov 23`; with the year where that is another.

    It names the day also where that is today's: a message is read later than it is written.
    """
    local = at.astimezone(zone)
    year = "" if local.year == now.astimezone(zone).year else f", {local.year}"
    return f"{local:%H:%M} {_zone_name(local)} on {local:%a, %b} {local.day}{year}"


def brief_clock(at: datetime, zone: tzinfo = UTC) -> str:
    """The same for a line of a long list: `Nov 23, 14:30 UTC`."""
    local = at.astimezone(zone)
    return f"{local:%b} {local.day}, {local:%H:%M} {_zone_name(local)}"


def localized(text: str, now: datetime, zone: tzinfo) -> str:
    """The text with each moment in it, as `model.spans.moment` writes them, on its reader's clock."""
    return _MOMENT.sub(lambda found: _local(found[0], now, zone), text)


def _local(written: str, now: datetime, zone: tzinfo) -> str:
    try:
        at = datetime.fromisoformat(written.removesuffix(" UTC")).replace(tzinfo=UTC)
        return clock(at, now, zone)
    except (ValueError, OverflowError):
        return written


def _zone_name(local: datetime) -> str:
    """`CET`; of a zone that has only figures for a name, those beside UTC: `UTC-03`."""
    name = local.tzname() or "UTC"
    return f"UTC{name}" if name[0] in "+-" else name


def sentence(text: str, *names: str) -> str:
    """With a capital and a full stop, unless it begins with one of these names or ends with code."""
    first = text.partition(" ")[0].rstrip(":;,")
    if first.isascii() and first.isalpha() and first.islower() and first not in names:
        text = text[:1].upper() + text[1:]
    return f"{text}." if text[-1:].isalnum() or text[-1:] in {")", '"', "%"} else text


def count(number: int, noun: str) -> str:
    """`1 job`, `2 jobs`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def hours(time: timedelta | None) -> str:
    """`8 h`; "" for none."""
    return "" if time is None else span(time)
