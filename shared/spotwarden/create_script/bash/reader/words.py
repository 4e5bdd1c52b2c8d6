"""Words: quoting, escapes, and where a word ends."""

import re
from collections.abc import Callable

from spotwarden.create_script.bash import words
from spotwarden.create_script.bash.escapes import ansi
from spotwarden.create_script.bash.reader.cursor import Cursor
from spotwarden.create_script.bash.words import (
    Literal,
    Parameter,
    Part,
    Process,
    Quotes,
    Substitution,
    Tilde,
    Word,
)

_METACHARACTERS = " \\t\\n|&;()<>"
# The common word: nothing in it means anything to bash.
_SIMPLE = re.compile(rf"[\w./:=,@%+^#-]+(?=[{_METACHARACTERS}]|\Z)", re.ASCII)
_UNQUOTED = re.compile(r"(?!#)([\w./:=,@%+^#-]+)(?=[ \t\n;|&)]|\Z)", re.ASCII)
_PLAIN = re.compile(rf"[^{_METACHARACTERS}\\'\"$`]+")
_SINGLE = re.compile(r"'([^']*)'")
_ANSI = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_IN_DOUBLE = re.compile(r'[^"\\$`]+')
_BACKTICKS = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_ESCAPED_IN_BACKTICKS = re.compile(r"\\([`\\$])")
_ESCAPED_IN_BACKTICKS_IN_DOUBLE = re.compile(r'\\([`\\$"])')
_TILDE = re.compile(r"([A-Za-z_]\w*\+?=(?:[^~]*:)?|)(~[\w.+-]*)(?=/|:|\Z)", re.ASCII)
_GROUP_STARTS = "?*+@!"


def read_plain_word(cursor: Cursor) -> Word | None:
    """Read a word in which nothing means anything to bash, or return None where another one begins."""
    found = _UNQUOTED.match(cursor.text, cursor.position)
    if found is None:
        return None
    line = cursor.line()
    cursor.budget.node(cursor.line)
    cursor.position = found.end()
    text = found.group()
    return Word((Literal(text, quoted=False),), line, text)


def read_word(cursor: Cursor) -> Word | None:
    """Read the word that begins here, or return None where no word can begin."""
    start = cursor.position
    line = cursor.line()
    simple = cursor.match(_SIMPLE)
    if simple is not None and cursor.extended_patterns and cursor.at("("):
        simple, cursor.position = None, start
    if simple is not None:
        cursor.budget.node(cursor.line)
        return Word((Literal(simple, quoted=False),), line, simple)
    parts: list[Part] = []
    while read_part(cursor, parts):
        pass
    if cursor.position == start or not parts:
        return None
    return make_word(parts, line)


def make_word(parts: list[Part], line: int) -> Word:
    """Join neighbours, find the tilde, and note the value of a word that needs no expansion."""
    joined = words.join(parts)
    if joined and isinstance(joined[0], Literal) and not joined[0].quoted and "~" in joined[0].text:
        joined[:1] = _tilde(joined[0].text, alone=len(joined) == 1)
    text = None
    if all(isinstance(part, Literal) for part in joined) and not has_patterns(joined):
        text = "".join(part.text for part in joined if isinstance(part, Literal))
    return Word(tuple(joined), line, text)


def has_patterns(parts: list[Part]) -> bool:
    """Whether unquoted text could be a pattern or a brace expression."""
    return any(
        isinstance(part, Literal) and not part.quoted and any(sign in part.text for sign in "*?[{")
        for part in parts
    )


def _tilde(text: str, *, alone: bool) -> list[Part]:
    """Cut a text at a tilde that bash replaces: at its beginning, and in `name=~/a:~/b`."""
    found = _TILDE.match(text)
    if found is None or (found.end() == len(text) and not alone):
        return [Literal(text, quoted=False)]
    before, rest = found.group(1), text[found.end() :]
    pieces: list[Part] = [Literal(before, quoted=False)] if before else []
    pieces.append(Tilde(found.group(2)))
    return [*pieces, *([Literal(rest, quoted=False)] if rest else [])]


def read_part(cursor: Cursor, parts: list[Part]) -> bool:
    """Read one more part of a word; return False at its end."""
    cursor.budget.node(cursor.line)
    plain = cursor.match(_PLAIN)
    if plain is not None:
        parts.append(Literal(plain, quoted=False))
        return True
    reader = _PARTS.get(cursor.peek())
    return reader is not None and reader(cursor, parts)


def _escape(cursor: Cursor, parts: list[Part]) -> bool:
    following = cursor.text[cursor.position + 1 : cursor.position + 2]
    cursor.position += 2
    if following == "\n":
        return True
    if not following:  # bash drops a backslash that is the very last character
        cursor.position = cursor.size
        return False
    parts.append(Literal(following, quoted=True))
    return True


def _single(cursor: Cursor, parts: list[Part]) -> bool:
    found = _SINGLE.match(cursor.text, cursor.position)
    if found is None:
        raise cursor.broken("a single quote is never closed")
    cursor.position = found.end()
    parts.append(Literal(found.group(1), quoted=True))
    return True


def _double(cursor: Cursor, parts: list[Part]) -> bool:
    read_double(cursor, parts)
    return True


def _dollar(cursor: Cursor, parts: list[Part]) -> bool:
    if cursor.at("$'"):
        found = _ANSI.match(cursor.text, cursor.position)
        if found is None:
            raise cursor.broken("a quote opened by $' is never closed")
        cursor.budget.pieces(found.group(1).count("\\"), cursor.line())
        parts.append(Literal(ansi(found.group(1), cursor.line()), quoted=True))
        cursor.position = found.end()
    elif cursor.at('$"'):
        cursor.position += 1
    else:
        parts.append(cursor.grammar.dollar(cursor, False))
    return True


def _backticks(cursor: Cursor, parts: list[Part]) -> bool:
    parts.append(read_backticks(cursor, quoted=False))
    return True


def _process(cursor: Cursor, parts: list[Part]) -> bool:
    if not (cursor.at("<(") or cursor.at(">(")):
        return False
    line = cursor.line()
    cursor.position += 2
    parts.append(Process(cursor.grammar.block(cursor), line))
    return True


def _group(cursor: Cursor, parts: list[Part]) -> bool:
    """Read `@(a|b)` and the like, where the script has switched extended patterns on."""
    last = parts[-1] if parts else None
    if not (cursor.extended_patterns and isinstance(last, Literal) and not last.quoted):
        return False
    if last.text[-1:] not in _GROUP_STARTS:
        return False
    read_group(cursor, parts)
    return True


def read_group(cursor: Cursor, parts: list[Part]) -> None:
    """Read a parenthesis of a pattern with all that is in it."""
    cursor.require("(", "a pattern")
    cursor.budget.node(cursor.line)
    parts.append(Literal("(", quoted=False))
    with cursor.deeper():
        while not cursor.at(")"):
            cursor.budget.node(cursor.line)
            if cursor.at("("):
                read_group(cursor, parts)
            elif cursor.peek() and cursor.peek() in "|<>&; \t":
                parts.append(Literal(cursor.peek(), quoted=False))
                cursor.position += 1
            elif not read_part(cursor, parts):
                raise cursor.broken("a pattern in parentheses is not closed")
    cursor.position += 1
    parts.append(Literal(")", quoted=False))


_PARTS: dict[str, Callable[[Cursor, list[Part]], bool]] = {
    "\\": _escape,
    "'": _single,
    '"': _double,
    "$": _dollar,
    "`": _backticks,
    "<": _process,
    ">": _process,
    "(": _group,
}


def read_double(cursor: Cursor, parts: list[Part]) -> None:
    """Read a text in double quotes; an empty one is a part too, since it makes a word."""
    line = cursor.line()
    cursor.position += 1
    before = len(parts)
    while not cursor.take('"'):
        if cursor.ended:
            raise cursor.broken(f"the double quote of line {line} is never closed")
        read_quoted(cursor, parts, _IN_DOUBLE, '"')
    if len(parts) == before:
        parts.append(Literal("", quoted=True))
    elif any(map(_is_list, parts[before:])):
        parts[before:] = [Quotes(tuple(parts[before:]))]


def _is_list(part: Part) -> bool:
    if not isinstance(part, Parameter):
        return False
    return part.name == "@" or (part.subscript is not None and part.subscript.text == "@")


def read_quoted(cursor: Cursor, parts: list[Part], plain: re.Pattern[str], escapable: str) -> None:
    """Read one part as in double quotes, where a backslash escapes `$`, backtick, itself and `escapable`."""
    cursor.budget.node(cursor.line)
    text = cursor.match(plain)
    if text is not None:
        parts.append(Literal(text, quoted=True))
    elif cursor.at("\\"):
        _escape_in_double(cursor, parts, escapable)
    elif cursor.at("$"):
        parts.append(cursor.grammar.dollar(cursor, True))
    else:
        parts.append(read_backticks(cursor, quoted=True))


def read_backticks(cursor: Cursor, *, quoted: bool) -> Substitution:
    """Read an old-style command substitution; its text is read as commands when it is run."""
    line = cursor.line()
    found = _BACKTICKS.match(cursor.text, cursor.position)
    if found is None:
        raise cursor.broken("a backtick is never closed")
    cursor.position = found.end()
    escaped = _ESCAPED_IN_BACKTICKS_IN_DOUBLE if quoted else _ESCAPED_IN_BACKTICKS
    return Substitution(escaped.sub(r"\1", found.group(1)), quoted, line)


def _escape_in_double(cursor: Cursor, parts: list[Part], escapable: str) -> None:
    following = cursor.text[cursor.position + 1 : cursor.position + 2]
    cursor.position = min(cursor.position + 2, cursor.size)
    if following == "\n":
        return
    kept = "" if following and following in "$`\\" + escapable else "\\"
    parts.append(Literal(kept + following, quoted=True))
