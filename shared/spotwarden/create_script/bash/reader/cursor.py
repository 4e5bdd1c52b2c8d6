"""A place in the text of a script, and the small steps forward from it."""

import re
from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

from spotwarden.create_script.bash.limits import Budget, nested
from spotwarden.create_script.bash.tree import Block, Document
from spotwarden.create_script.bash.words import Part
from spotwarden.create_script.refusal import ScriptRefused

# bash's blanks are space and tab alone: a carriage return or a non-breaking space is part of a word.
_BLANKS = re.compile(r"(?:[ \t]+|\\\n)*")
_BLANK_SIGNS = frozenset([" ", "\t", "\\", "#"])
_COMMENT = re.compile(r"#[^\n]*")


class Broken(Exception):  # noqa: N818 — as `ScriptRefused`: an outcome of reading
    """bash itself would stop here with a syntax error: what is wrong, and on which line."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line


class Grammar(NamedTuple):
    """The rules that every other rule may need again, deeper down.

    `block` reads commands up to and with a closing parenthesis; `commands` up to one of the given
    signs or reserved words; `dollar` reads what a `$` begins, given whether it stands in double quotes.
    """

    block: Callable[["Cursor"], Block]
    commands: Callable[["Cursor", frozenset[str]], Block]
    dollar: Callable[["Cursor", bool], Part]


class Cursor:
    """Walks over the text once."""

    def __init__(self, text: str, *, budget: Budget, grammar: Grammar, first_line: int = 1) -> None:
        self.text = text
        self.position = 0
        self.size = len(text)
        self.budget = budget
        self.grammar = grammar
        self.pending: list[Document] = []
        self.extended_patterns = False
        self.depth = 0
        self._first_line = first_line
        budget.text(len(text))
        budget.items(text.count("\n"))
        self._ends = [found.start() for found in re.finditer("\n", text)]

    def line(self, position: int | None = None) -> int:
        """Return the line of a position, or of the cursor."""
        return bisect_left(self._ends, self.position if position is None else position) + self._first_line

    @property
    def ended(self) -> bool:
        """Whether the whole text has been read."""
        return self.position >= self.size

    def peek(self, length: int = 1) -> str:
        """Return the next characters without moving."""
        return self.text[self.position : self.position + length]

    def at(self, text: str) -> bool:
        """Whether `text` comes next."""
        return self.text.startswith(text, self.position)

    def take(self, text: str) -> bool:
        """Step over `text` if it comes next."""
        found = self.text.startswith(text, self.position)
        if found:
            self.position += len(text)
        return found

    def match(self, pattern: re.Pattern[str]) -> str | None:
        """Step over what `pattern` matches here and return it."""
        found = pattern.match(self.text, self.position)
        if found is None:
            return None
        self.position = found.end()
        return found.group()

    def blanks(self) -> None:
        """Step over blanks, joined lines and a comment."""
        if self.peek() not in _BLANK_SIGNS:  # the most frequent call of all, so it ends quickly
            return
        found = _BLANKS.match(self.text, self.position)
        if found is not None:
            self.position = found.end()
        if self.at("#"):
            self.match(_COMMENT)

    def require(self, text: str, what: str) -> None:
        """Step over `text`; raise `Broken` if it does not come next."""
        if not self.take(text):
            raise self.broken(f"{what} is not closed with `{text}`")

    def broken(self, reason: str) -> Broken:
        """Return the error bash would stop with here."""
        return Broken(reason, self.line())

    def refused(self, reason: str) -> ScriptRefused:
        """Return a refusal that names this line."""
        return ScriptRefused(reason, line=self.line())

    def deeper(self) -> "Nesting":
        """Count one level of nesting for the length of a `with` block."""
        return Nesting(self)


class Nesting:
    """One level of nesting of a cursor."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor

    def __enter__(self) -> None:
        self._cursor.depth = nested(self._cursor.depth, self._cursor.line())

    def __exit__(self, *_: object) -> None:
        self._cursor.depth -= 1
