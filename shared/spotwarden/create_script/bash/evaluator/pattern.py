"""bash's patterns (`*`, `?`, `[…]`, `@(a|b)`), translated to RE2's expressions.

A pattern is kept as text in which a backslash makes the next character plain.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from spotwarden.create_script.bash.evaluator.classes import Member, bracket, sign
from spotwarden.create_script.bash.limits import MAX_EXPRESSION
from spotwarden.create_script.refusal import ScriptRefused

_TOKEN = re.compile(
    r"\\(?P<plain>.)|(?P<set>\[[!^]?\]?+(?:\\.|\[:[a-z]+:\]|[^\]\\])*\])|(?P<group>[?*+@!])\("
    r"|(?P<any>\?)|(?P<star>\*)|(?P<rest>.)",
    re.DOTALL,
)
# The same behind a bracket that is never closed: no later one is either, so none is looked for again.
_TOKEN_WITHOUT_SETS = re.compile(
    r"\\(?P<plain>.)|(?P<group>[?*+@!])\(|(?P<any>\?)|(?P<star>\*)|(?P<rest>.)", re.DOTALL
)
_SPECIAL = re.compile(r"([\\*?\[\]()|+@!^-])")
_MEMBER = re.compile(r"\\(?P<plain>.)|\[:(?P<name>[a-z]+):\]|(?P<strange>\[[.=])|(?P<sign>.)", re.DOTALL)
_REPEATS = {"@": "", "?": "?", "*": "*", "+": "+", "!": ""}


class Pattern(NamedTuple):
    """A pattern as an expression of RE2.

    `inverted` is `!(…)`: what does not match. `text` is what a pattern without signs stands for. A `local`
    one has no repetition. `classes` says that letters beyond ASCII may or may not match.
    """

    expression: str
    text: str | None
    inverted: bool
    groups: bool
    local: bool
    classes: bool


def plain(text: str) -> str:
    """Return a pattern that matches `text` and nothing else."""
    return _SPECIAL.sub(r"\\\1", text) if _SPECIAL.search(text) else text


def literal(pattern: str) -> str:
    """Return the text that a pattern without signs stands for."""
    return re.sub(r"\\(.)", r"\1", pattern, flags=re.DOTALL)


def tokens(pattern: str) -> Iterator[re.Match[str]]:
    """Yield the signs of a pattern; `lastgroup` is their kind."""
    expression, position = _TOKEN, 0
    while (found := expression.match(pattern, position)) is not None:
        if found.lastgroup == "rest" and found.group() == "[":
            expression = _TOKEN_WITHOUT_SETS
        position = found.end()
        yield found


@lru_cache(maxsize=512)
def translate(pattern: str, extended: bool) -> Pattern:  # noqa: FBT001 — part of the key
    """Translate a pattern; raise `ScriptRefused` for one that RE2 cannot say.

    With `extended` a parenthesis behind `?`, `*`, `+`, `@` or `!` opens a group, as after `shopt -s extglob`.
    """
    if len(pattern) > MAX_EXPRESSION:
        raise ScriptRefused(f"a word with unquoted `*`, `?` or `[` has more than {MAX_EXPRESSION} characters")
    translation = _Translation()
    for found in tokens(pattern):
        translation.add(found, extended=extended)
    return translation.finished(pattern)


class _Translation:
    """A pattern while it is translated."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        # For each open parenthesis: what closes it, and whether a bar parts it.
        self.closings: list[tuple[str, bool]] = []
        self.plain: list[str] | None = []
        self.inverted = self.groups = self.classes = self.complete = False
        self.local = True
        # For each open group: its kind, whether a `*` stood before it, whether a branch of it may be empty,
        # and whether the present one may.
        self.empties: list[list[Any]] = []
        self.starred = False

    def add(self, found: re.Match[str], *, extended: bool) -> None:
        if self.complete:
            raise _strange_exclamation()
        kind, rest = found.lastgroup, found.group("rest")
        if kind == "group" and extended:
            self._open(found.group("group"))
        elif kind == "group":
            self._wildcard(found.group("group"))
            self._sign("(")
        elif rest in ("(", ")", "|") and self.closings:
            self._parenthesis(rest)
        elif kind in ("star", "any"):
            self._wildcard(found.group())
        elif kind == "set":
            self._set(found.group("set"))
        else:
            self._sign(rest if found.group("plain") is None else found.group("plain"))

    def _open(self, kind: str) -> None:
        if kind == "!":
            if self.pieces:
                raise _strange_exclamation()
            self.inverted = True
        self.pieces.append("(?:")
        self.closings.append((f"){_REPEATS[kind]}", True))
        self.empties.append([kind, self.starred, False, True])
        self.groups, self.plain = True, None
        self.local = self.local and kind not in "*+"

    def _parenthesis(self, text: str) -> None:
        closing, parts = self.closings[-1]
        if text == "(":
            self._filled()
            self.pieces.append(sign("("))
            self.closings.append((sign(")"), False))
        elif text == ")":
            self.pieces.append(closing)
            self.closings.pop()
            if parts:
                self._close()
            self.complete = self.inverted and not self.closings
        elif parts:
            self.pieces.append("|")
            self.empties[-1][2:] = [any(self.empties[-1][2:]), True]
        else:
            self.pieces.append(sign("|"))

    def _close(self) -> None:
        """End a group. bash does not match behind a `*` what `@(…)` or `+(…)` matches as nothing."""
        kind, starred, *branches = self.empties.pop()
        if not any(branches) and kind in "@+":
            self._filled()
        elif starred and kind in "@+":
            raise ScriptRefused(
                f"`*` before a `{kind}(…)` that may be empty is not supported: bash has a bug there"
            )

    def _filled(self) -> None:
        """The present branch matches something."""
        if self.empties:
            self.empties[-1][3] = False

    def _wildcard(self, text: str) -> None:
        if text in "*?":
            self.pieces.append(".*" if text == "*" else ".")
            self.plain = None
            if text == "*":
                self.starred = True
            else:
                self._filled()
            self.local = self.local and text == "?"
        else:
            self._sign(text)

    def _set(self, text: str) -> None:
        inner = text[1:-1]
        negated = inner[:1] in ("!", "^")
        members = [_member(found, text) for found in _MEMBER.finditer(inner[1:] if negated else inner)]
        self._filled()
        self.pieces.append(bracket(members, text, negated=negated))
        self.classes = self.classes or any(member.name for member in members)
        self.plain = None

    def _sign(self, text: str) -> None:
        self._filled()
        self.pieces.append(sign(text))
        if self.plain is not None:
            self.plain.append(text)

    def finished(self, pattern: str) -> Pattern:
        if self.closings:
            raise ScriptRefused(f"the pattern {pattern[:80]} has a parenthesis that is not closed")
        text = None if self.plain is None else "".join(self.plain)
        expression = "".join(self.pieces)
        return Pattern(expression, text, self.inverted, self.groups, self.local, self.classes)


def _strange_exclamation() -> ScriptRefused:
    return ScriptRefused("a pattern with `!(…)` beside other signs, or inside others, is not supported")


def _member(found: re.Match[str], written: str) -> Member:
    if found.group("strange"):
        raise ScriptRefused(
            f"the pattern {written[:80]} names a character in a way that depends on the locale"
        )
    if found.group("name"):
        return Member(name=found.group("name"))
    if found.group("plain"):
        return Member(sign=found.group("plain"))
    return Member(sign=found.group("sign"), dash=found.group("sign") == "-")
