"""Cuts a filter expression into tokens."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum


class FilterError(ValueError):
    """The expression cannot be read; `at` is the position of the first character that does not fit."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(f"{message} (at position {at + 1})")
        self.at = at


class Kind(Enum):
    """What a token is."""

    ITEM = "a name or value"
    OPERATOR = "an operator"
    OPEN = "("
    CLOSE = ")"
    COMMA = ","
    AND = "AND"
    OR = "OR"
    NOT = "NOT"
    END = "the end"


@dataclass(frozen=True, kw_only=True)
class Token:
    """One token. An ITEM keeps its pieces between dots, each with whether it was quoted."""

    kind: Kind
    text: str
    at: int
    parts: tuple[str, ...] = ()
    quoted: bool = False


_STRING = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"
_WORD = r"[^\s\"'()=<>!:,~]+"
_TOKEN = re.compile(
    rf"(?P<space>\s+|--[^\n]*)|(?P<op>=~|!~|!=|<=|>=|[=<>:])|(?P<open>\()|(?P<close>\))|(?P<comma>,)"
    rf"|(?P<item>(?:{_STRING}|{_WORD})+)",
    re.DOTALL,
)
_PIECE = re.compile(rf"(?P<string>{_STRING})|(?P<word>{_WORD})", re.DOTALL)
_KEYWORDS = {"AND": Kind.AND, "OR": Kind.OR, "NOT": Kind.NOT}
_MARKS = {"op": Kind.OPERATOR, "open": Kind.OPEN, "close": Kind.CLOSE, "comma": Kind.COMMA}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|[0-7]{3}|.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_HIGHEST = 0x10FFFF


def tokens(text: str) -> list[Token]:
    """The tokens of an expression, the last of kind END.

    Raises:
        FilterError: a character fits nowhere, or a quote is never closed.
    """
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise FilterError(_complaint(text[at]), at)
        found += _read(match, found)
        at = match.end()
    return [*found, Token(kind=Kind.END, text="", at=len(text))]


def _complaint(character: str) -> str:
    if character in "\"'":
        return "this quotation mark is never closed"
    return f"unexpected {character!r}"


def _read(match: re.Match[str], before: list[Token]) -> Iterator[Token]:
    group, text, at = str(match.lastgroup), match[0], match.start()
    if group == "space":
        return
    if group in _MARKS:
        yield Token(kind=_MARKS[group], text=text, at=at)
        return
    # A minus negates a term; after an operator it belongs to a number.
    if text.startswith("-") and not (before and before[-1].kind is Kind.OPERATOR):
        yield Token(kind=Kind.NOT, text="-", at=at)
        text, at = text[1:], at + 1
    if text in _KEYWORDS:
        yield Token(kind=_KEYWORDS[text], text=text, at=at)
    elif text:
        yield _item(text, at)


def _item(text: str, at: int) -> Token:
    """A name such as `resource.labels."a.b"`, or one value."""
    pieces = list(_PIECE.finditer(text))
    if len(pieces) == 1 and pieces[0]["string"]:
        value = _unquoted(pieces[0]["string"], at)
        return Token(kind=Kind.ITEM, text=value, at=at, parts=(value,), quoted=True)
    return Token(kind=Kind.ITEM, text=text, at=at, parts=tuple(_parts(pieces, at)))


def _parts(pieces: list[re.Match[str]], at: int) -> Iterator[str]:
    open_end = True  # whether the next piece may start a part
    for piece in pieces:
        if piece["string"]:
            if not open_end:
                raise FilterError(
                    "a dot or an operator is missing before this quotation mark", at + piece.start()
                )
            yield _unquoted(piece["string"], at)
            open_end = False
            continue
        words = piece["word"].split(".")
        if not open_end and words[0]:
            raise FilterError("a dot or an operator is missing after this quotation mark", at + piece.start())
        yield from (word for word in words if word)
        open_end = not words[-1]


def _unquoted(literal: str, at: int) -> str:
    def plain(match: re.Match[str]) -> str:
        code = match[1]
        if code[0] in "uUx" and len(code) > 1:
            return _character(int(code[1:], 16), at)
        return _character(int(code, 8), at) if len(code) > 1 else _LETTERS.get(code, code)

    return _ESCAPE.sub(plain, literal[1:-1])


def _character(code: int, at: int) -> str:
    if code > _HIGHEST:
        raise FilterError("this escape sequence names no character", at)
    return chr(code)
