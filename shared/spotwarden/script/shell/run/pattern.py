"""bash's patterns (`*`, `?`, `[…]`, `@(a|b)`), in time that a hostile pattern cannot stretch."""

import re
from functools import lru_cache
from typing import NamedTuple

from spotwarden.script.refusal import Refused
from spotwarden.script.shell.limits import MAX_EXPRESSION

# A pattern is kept as text in which a backslash makes the next character plain.
_TOKEN = re.compile(
    r"\\(?P<plain>.)|(?P<any>\?)(?!\()|(?P<star>\*)(?!\()"
    r"|(?P<set>\[[!^]?\]?+(?:\\.|\[:[a-z]+:\]|[^\]\\])*\])|(?P<group>[?*+@!])\(|(?P<rest>.)",
    re.DOTALL,
)
_SPECIAL = re.compile(r"([\\*?\[\]()|+@!^-])")
_CLASSES = {
    "alnum": "A-Za-z0-9",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t\n\r\f\v",
    "upper": "A-Z",
    "word": "A-Za-z0-9_",
    "xdigit": "0-9A-Fa-f",
}
_SET_ITEM = re.compile(r"\\(.)|\[:([a-z]+):\]|(.)", re.DOTALL)
_MAX_GROUP_TEXT = 256
_MAX_GROUP_STARS = 3


class Pattern(NamedTuple):
    """A pattern as regular expressions: the pieces between its stars, forwards and backwards.

    `whole` matches all of a text. The first and last piece stand at the ends; `groups` marks a pattern with
    parentheses, which has one piece only.
    """

    pieces: tuple[str, ...]
    backwards: tuple[str, ...]
    groups: bool


def plain(text: str) -> str:
    """Return a pattern that matches `text` and nothing else."""
    return _SPECIAL.sub(r"\\\1", text) if _SPECIAL.search(text) else text


def has_signs(pattern: str) -> bool:
    """Whether the pattern is more than plain text; raise `Refused` for one that is too long."""
    _require_short(pattern)
    return any(found.lastgroup not in ("plain", "rest") for found in _TOKEN.finditer(pattern))


def literal(pattern: str) -> str:
    """Return the text that a pattern without signs stands for."""
    return re.sub(r"\\(.)", r"\1", pattern, flags=re.DOTALL)


@lru_cache(maxsize=512)
def compile_pattern(pattern: str) -> Pattern:
    """Translate a pattern; raise `Refused` for one that is too tangled to be matched quickly."""
    _require_short(pattern)
    if re.search(r"(?<!\\)[?*+@!]\(", pattern):
        expression = _group_expression(pattern)
        return Pattern((expression,), (), groups=True)
    pieces: list[list[str]] = [[]]
    for found in _TOKEN.finditer(pattern):
        if found.lastgroup == "star":
            pieces.append([])
        else:
            pieces[-1].append(_single(found))
    forwards = tuple("".join(piece) for piece in pieces)
    backwards = tuple("".join(reversed(piece)) for piece in reversed(pieces))
    return Pattern(forwards, backwards, groups=False)


def _require_short(pattern: str) -> None:
    if len(pattern) > MAX_EXPRESSION:
        raise Refused(f"a word with unquoted `*`, `?` or `[` has more than {MAX_EXPRESSION} characters")


def _single(found: re.Match[str]) -> str:
    if found.lastgroup == "any":
        return "."
    if found.lastgroup == "set":
        return _set(found.group("set"))
    return re.escape(found.group("plain") or found.group("rest"))


def _set(text: str) -> str:
    inner = text[1:-1]
    negated = inner[:1] in ("!", "^")
    body = "".join(_set_item(found) for found in _SET_ITEM.finditer(inner[1:] if negated else inner))
    expression = f"[{'^' if negated else ''}{body}]"
    try:
        re.compile(expression)
    except re.error as error:
        raise Refused(f"the pattern {text} has a range that ends before it begins") from error
    return expression


def _set_item(found: re.Match[str]) -> str:
    escaped, name, sign = found.groups()
    if name:
        if name not in _CLASSES:
            raise Refused(f"there is no class of characters [:{name}:]")
        return _CLASSES[name]
    if escaped:
        return re.escape(escaped)
    return sign if sign == "-" else re.escape(sign)


def _group_expression(pattern: str) -> str:
    """Translate a pattern with parentheses to one expression."""
    pieces: list[str] = []
    closings: list[str] = []
    stars = 0
    for found in _TOKEN.finditer(pattern):
        kind, rest = found.lastgroup, found.group("rest")
        stars += kind == "star" or (kind == "group" and found.group("group") in "*+")
        if kind == "group":
            pieces.append("(?:")
            closings.append(_closing(found.group("group"), nested=bool(closings)))
        elif closings and rest in (")", "|"):
            pieces.append(closings.pop() if rest == ")" else "|")
        else:
            pieces.append(".*" if kind == "star" else _single(found))
    if closings or stars > _MAX_GROUP_STARS:
        raise Refused("a pattern with parentheses is not closed, or repeats too much")
    return "".join(pieces)


def _closing(sign: str, *, nested: bool) -> str:
    if sign == "!" or (nested and sign in "*+"):
        raise Refused(f"a pattern with `{sign}(…)` in this place is not understood")
    return {"@": ")", "?": ")?", "*": ")*", "+": ")+"}[sign]


def matches(pattern: str, text: str) -> bool:
    """Whether the pattern matches the whole text."""
    end = prefix(pattern, text, longest=True, whole=True)
    return end is not None


def prefix(pattern: str, text: str, *, longest: bool, whole: bool = False) -> int | None:
    """Return the length of the shortest or longest beginning of `text` that matches, or None."""
    compiled = compile_pattern(pattern)
    if compiled.groups:
        return _group_prefix(compiled.pieces[0], text, longest=longest, whole=whole)
    found = _expression(compiled.pieces, longest, whole).match(text)
    return None if found is None else found.end()


def suffix(pattern: str, text: str, *, longest: bool) -> int | None:
    """Return where the shortest or longest end of `text` that matches begins, or None."""
    compiled = compile_pattern(pattern)
    if compiled.groups:
        starts = range(len(text) + 1) if longest else range(len(text), -1, -1)
        return next((start for start in starts if matches(pattern, text[start:])), None)
    found = _expression(compiled.backwards, longest, False).match(text[::-1])
    return None if found is None else len(text) - found.end()


def find(pattern: str, text: str, start: int) -> tuple[int, int] | None:
    """Return the leftmost, there longest, match that is not empty, as start and end."""
    compiled = compile_pattern(pattern)
    if compiled.groups or len(compiled.pieces) > 1:
        for begin in range(start, len(text)):
            end = prefix(pattern, text[begin:], longest=True)
            if end:
                return begin, begin + end
        return None
    found = _expression(compiled.pieces, True, False).search(text, start)
    return None if found is None or found.end() == found.start() else found.span()


def has_groups(pattern: str) -> bool:
    """Whether the pattern has parentheses such as `@(a|b)`."""
    return compile_pattern(pattern).groups


def is_cheap(pattern: str) -> bool:
    """Whether `find` needs one pass over the text only."""
    compiled = compile_pattern(pattern)
    return not compiled.groups and len(compiled.pieces) == 1


@lru_cache(maxsize=512)
def _expression(pieces: tuple[str, ...], longest: bool, whole: bool) -> re.Pattern[str]:  # noqa: FBT001
    # Each piece but the last is taken where it first fits, and never tried elsewhere (an atomic group): a
    # later place cannot help what follows. So the time is at most that of the text times the pattern.
    text = pieces[0]
    for piece in pieces[1:-1]:
        text += f"(?>.*?{piece})" if piece else ""
    if len(pieces) > 1:
        text += f".*{'' if longest else '?'}{pieces[-1]}"
    return re.compile(text + (r"\Z" if whole else ""), re.DOTALL)


def _group_prefix(expression: str, text: str, *, longest: bool, whole: bool) -> int | None:
    if len(text) > _MAX_GROUP_TEXT:
        raise Refused(f"a pattern with parentheses meets a text of more than {_MAX_GROUP_TEXT} characters")
    compiled = re.compile(expression, re.DOTALL)
    if whole:
        return len(text) if compiled.fullmatch(text) else None
    ends = range(len(text), -1, -1) if longest else range(len(text) + 1)
    return next((end for end in ends if compiled.fullmatch(text, 0, end)), None)
