"""Operands inside `${…}`, subscripts and arithmetic: words that end at a sign of their own."""

import re

from spotwarden.create_script.bash.reader.cursor import Cursor
from spotwarden.create_script.bash.reader.words import make_word, read_double, read_part, read_quoted
from spotwarden.create_script.bash.words import Literal, Part, Word

_IN_QUOTES = re.compile(r'[^"\\$`}]+')
# Signs that end a word outside, and mean nothing inside `${…}`.
_BLANK_SIGNS = re.compile(r"[ \t\n|&;()<>]+")
_IN_EXPRESSION = re.compile(r"""[^"'\\$`()\[\]{}:;?]+""")
_IN_EXPRESSION_QUOTES = re.compile(r'[^"\\$`]+')
_OPEN = {"(": ")", "[": "]", "{": "}"}
# Where a colon would end the expression, that of `a ? b : c` must not.
_OPEN_WITH_CHOICE = {**_OPEN, "?": ":"}


def read_operand(cursor: Cursor, *, stops: str, quoted: bool, slash_first: bool = False) -> Word:
    """Read up to one of `stops` outside quotes.

    `quoted` reads as in double quotes. With `slash_first` a slash at the beginning is no end, but the
    first sign of a pattern, as in `${x////-}`.
    """
    line = cursor.line()
    parts: list[Part] = []
    while not cursor.ended and (cursor.peek() not in stops or (slash_first and not parts and cursor.at("/"))):
        if quoted:
            _quoted_part(cursor, parts)
        elif not _part(cursor, parts, stops, skipped=int(slash_first and not parts)):
            raise cursor.broken("a `${` is never closed")
    return make_word(parts, line)


def _quoted_part(cursor: Cursor, parts: list[Part]) -> None:
    if cursor.at('"'):
        read_double(cursor, parts)
    else:
        read_quoted(cursor, parts, _IN_QUOTES, '"}')


def _part(cursor: Cursor, parts: list[Part], stops: str, skipped: int) -> bool:
    blank = cursor.match(_BLANK_SIGNS)
    if blank is not None:
        parts.append(Literal(blank, quoted=False))
        return True
    start = cursor.position
    if not read_part(cursor, parts):
        return False
    _give_back(cursor, parts, start, stops, skipped)
    return True


def _give_back(cursor: Cursor, parts: list[Part], start: int, stops: str, skipped: int) -> None:
    """Plain text runs on over the closing sign: cut it there, but not in its `skipped` first signs."""
    last = parts[-1] if parts else None
    plain = isinstance(last, Literal) and not last.quoted
    if not plain or not isinstance(last, Literal) or not cursor.text.startswith(last.text, start):
        return
    ends = [end for end in (last.text.find(stop, skipped) for stop in stops) if end >= 0]
    if ends:
        parts[-1] = Literal(last.text[: min(ends)], quoted=False)
        cursor.position = start + min(ends)


def read_expression(cursor: Cursor, stops: str) -> Word:
    """Read an arithmetic expression, as text to expand, up to one of `stops` outside brackets."""
    line = cursor.line()
    parts: list[Part] = []
    opening = _OPEN_WITH_CHOICE if ":" in stops else _OPEN
    open_signs: list[str] = []
    while not cursor.ended:
        sign = cursor.peek()
        if not open_signs and sign in stops:
            break
        if sign in opening:
            open_signs.append(opening[sign])
        elif open_signs and sign == open_signs[-1]:
            open_signs.pop()
        _expression_part(cursor, parts, sign)
    return make_word(parts, line)


def _expression_part(cursor: Cursor, parts: list[Part], sign: str) -> None:
    cursor.budget.node(cursor.line)
    plain = cursor.match(_IN_EXPRESSION)
    if plain is not None:
        parts.append(Literal(plain, quoted=True))
    elif sign == '"':
        read_double(cursor, parts)
    elif sign in "\\$`":
        read_quoted(cursor, parts, _IN_EXPRESSION_QUOTES, '"')
    elif sign == "'":
        _ = read_part(cursor, parts)
    else:
        parts.append(Literal(sign, quoted=True))
        cursor.position += 1
