"""Regular expressions of `[[ … =~ … ]]` (POSIX extended, as glibc reads them), translated to RE2's."""

import re
from functools import lru_cache
from typing import NamedTuple

from spotwarden.create_script.bash.evaluator import matcher
from spotwarden.create_script.bash.evaluator.classes import Member, bracket, sign
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.values import Text
from spotwarden.create_script.bash.limits import MAX_EXPRESSION
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import Unknown

_TOKEN = re.compile(
    r"\\(?P<escape>.)|(?P<set>\[\^?\]?+(?:\[:[a-z]+:\]|[^\]])*+\])|(?P<repeat>[*+?]|\{[^}]*\})"
    r"|(?P<open>\()|(?P<close>\))|(?P<bar>\|)|(?P<start>\^)|(?P<end>\$)|(?P<any>\.)|(?P<sign>[^\\\[{])",
    re.DOTALL,
)
_MEMBER = re.compile(r"\[:(?P<name>[a-z]+):\]|(?P<strange>\[[.=])|(?P<sign>.)", re.DOTALL)
_COUNTS = re.compile(r"\{(\d{1,5})(,?)(\d{0,5})\}|\{,(\d{1,5})\}", re.ASCII)
# What GNU's library takes for more than the letter.
_WORDS = {"w": r"[0-9A-Za-z_]", "W": r"[^0-9A-Za-z_]", "s": r"[\x20\x09-\x0d]", "S": r"[^\x20\x09-\x0d]"}
_BOUNDARIES = frozenset("bB<>`'")
# RE2 counts no farther, and keeps the parts of a match for each state that it is in.
_MOST_REPEATS = 1000
_MOST_PARTS = 30


class Expression(NamedTuple):
    """A regular expression as RE2 writes it, with and without the parts that its parentheses keep.

    `number` says how many there are. `parts` is None where what they match is not certain:
    POSIX and GNU's library disagree, or RE2 does.
    """

    whole: str
    parts: str | None
    number: int
    classes: bool


class _Group:
    """What stands between two parentheses, or at the outside."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.atoms: list[str] = []
        self.repeatable = False
        self.simple = True  # holds neither repetitions nor groups
        self.closed_simple = True  # likewise what has just been closed


class _Reader:
    """Translates an expression sign by sign."""

    def __init__(self, written: str) -> None:
        self.written = written
        self.groups = [_Group()]
        self.parts = 0
        self.certain = True
        self.classes = False

    def refused(self, why: str) -> ScriptRefused:
        return ScriptRefused(f"the regular expression {self.written[:80]} {why}")

    def add(self, found: re.Match[str]) -> None:
        kind, text = found.lastgroup or "", found.group(found.lastgroup or 0)
        if kind == "repeat":
            self._repeat(text)
        elif kind == "open":
            self.groups.append(_Group())
        elif kind == "close":
            self._close()
        elif kind == "bar":
            self._bar()
        elif kind in ("start", "end"):
            self._anchor(kind, found)
        else:
            self._atom(_escaped(self, text) if kind == "escape" else self._plain(kind, text))

    def _plain(self, kind: str, text: str) -> str:
        if kind == "any":
            return "."
        return self._set(text) if kind == "set" else sign(text)

    def _atom(self, text: str) -> None:
        group = self.groups[-1]
        group.atoms.append(text)
        group.repeatable = group.closed_simple = True

    def _anchor(self, kind: str, found: re.Match[str]) -> None:
        group = self.groups[-1]
        group.atoms.append(r"\A" if kind == "start" else r"\z")
        group.repeatable = False
        at_edge = found.start() == 0 if kind == "start" else found.end() == len(self.written)
        self.certain = self.certain and at_edge

    def _set(self, text: str) -> str:
        negated = text.startswith("[^")
        inner = text[2 if negated else 1 : -1]
        members: list[Member] = []
        for found in _MEMBER.finditer(inner):
            if found.group("strange"):
                raise self.refused("names a character in a way that depends on the locale")
            name, character = found.group("name") or "", found.group("sign") or ""
            members.append(Member(sign=character, name=name, dash=character == "-"))
        self.classes = self.classes or any(member.name for member in members)
        return bracket(members, text[:80], negated=negated)

    def _repeat(self, text: str) -> None:
        group = self.groups[-1]
        if not group.repeatable:
            raise self.refused(f"is not supported: `{text[:20]}` repeats nothing")
        self.certain = self.certain and group.closed_simple
        group.atoms[-1] = f"(?:{group.atoms[-1]}){text if len(text) == 1 else self._counts(text)}"
        group.simple = group.closed_simple = False

    def _counts(self, text: str) -> str:
        found = _COUNTS.fullmatch(text)
        if found is None:
            raise self.refused("has braces that hold no count")
        least, comma, most = (
            found[1] or "0",
            found[2] or ("," if found[4] else ""),
            found[3] or found[4] or "",
        )
        if most and (not comma or int(most) < int(least)):
            raise self.refused("has braces that hold no count")
        if max(int(least), int(most or 0)) > _MOST_REPEATS:
            raise self.refused(f"repeats more than {_MOST_REPEATS} times")
        return f"{{{least}{comma}{most}}}"

    def _bar(self) -> None:
        group = self.groups[-1]
        group.done.append("".join(group.atoms))
        group.atoms = []
        group.repeatable = self.certain = group.simple = False

    def _close(self) -> None:
        if len(self.groups) == 1:
            raise self.refused("closes a parenthesis that is not open")
        inner = self.groups.pop()
        self.parts += 1
        group = self.groups[-1]
        group.atoms.append(f"({_joined(inner)})")
        group.repeatable = True
        group.closed_simple, group.simple = inner.simple, False

    def finished(self) -> Expression:
        if len(self.groups) > 1:
            raise self.refused("has a parenthesis that is not closed")
        parts = f"(?:{_joined(self.groups[0])})"
        certain = self.certain and self.parts <= _MOST_PARTS
        # A parenthesis of the expression itself stands there as an escape, so that all others are ours.
        whole = re.sub(r"\((?!\?)", "(?:", parts)
        return Expression(whole, parts if certain else None, self.parts, self.classes)


def _joined(group: _Group) -> str:
    return "|".join([*group.done, "".join(group.atoms)])


def _escaped(reader: _Reader, text: str) -> str:
    if text.isdigit() and text != "0":
        raise reader.refused(f"has a back-reference, \\{text}, which can't be matched in bounded time")
    if text in _BOUNDARIES:
        raise reader.refused(f"has a word or line boundary, \\{text}, which is not supported")
    reader.classes = reader.classes or text in _WORDS
    return _WORDS.get(text) or sign(text)


@lru_cache(maxsize=256)
def translate(expression: str) -> Expression:
    """Translate an expression; raise `ScriptRefused` for one that bash reports, or that RE2 cannot say."""
    if len(expression) > MAX_EXPRESSION:
        raise ScriptRefused(f"a regular expression has more than {MAX_EXPRESSION} characters")
    reader = _Reader(expression)
    position = 0
    while position < len(expression):
        found = _TOKEN.match(expression, position)
        if found is None:
            raise reader.refused(f"is not supported at `{expression[position : position + 20]}`")
        reader.add(found)
        position = found.end()
    return reader.finished()


def search(shell: Shell, expression: str, text: str) -> list[Text] | None:
    """Return what `expression` matches in `text`, and what its parentheses do; None where nothing matches.

    What a parenthesis matches is unknown where that is not certain.

    Raises:
        Refused: the expression is wrong, or cannot be matched in linear time.
    """
    shell.budget.items(len(expression) + len(text))
    try:
        return _searched(shell, expression, text)
    except ScriptRefused as refused:
        raise ScriptRefused(refused.reason, line=refused.line or shell.line) from refused


def _searched(shell: Shell, written: str, text: str) -> list[Text] | None:
    expression = translate(written)
    if expression.classes and not text.isascii():
        reason = f"what {written[:80]} matches in a text beyond ASCII depends on the machine's locale"
        raise ScriptRefused(reason)
    data = matcher.encode(text)
    span = matcher.search(shell.budget, matcher.program(shell.budget, expression.whole), data)
    if span is None:
        return None
    matched = data[span[0] : span[1]]
    if expression.parts is None:
        shell.budget.pieces(expression.number)
        why = Unknown(reason=f"what the parts of {written[:80]} match is not certain", line=shell.line)
        return [matcher.decode(matched), *[why] * expression.number]
    # Of the ways to match just this, both take the first part as long as can be, then the second.
    parts = matcher.program(shell.budget, expression.parts, longest=False)
    return [matcher.decode(matched), *matcher.groups(shell.budget, parts, matched)]
