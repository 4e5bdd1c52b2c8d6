"""Text that others wrote, made safe to stand in a message: one line, bounded, and nothing unseen in it."""

import unicodedata
from datetime import datetime, timedelta

from spotwarden.model.spans import span

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


def clock(at: datetime, now: datetime) -> str:
    """The time of day in UTC, with the day where it is not today's: `14:30 UTC`, `23 Nov 14:30 UTC`."""
    day = "" if at.date() == now.date() else f"{at.day} {at:%b} "
    return f"{day}{at:%H:%M} UTC"


def ahead(at: datetime, now: datetime) -> str:
    """How far away a moment is: `in 30 min`, or `now`."""
    return f"in {span(at - now)}" if at - now >= timedelta(minutes=1) else "now"


def is_over(at: datetime, now: datetime) -> bool:
    """Whether it was a minute ago, or longer."""
    return now - at >= timedelta(minutes=1)


def count(number: int, noun: str) -> str:
    """`1 job`, `2 jobs`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def hours(time: timedelta | None) -> str:
    """`8 h`; "" for none."""
    return "" if time is None else span(time)
