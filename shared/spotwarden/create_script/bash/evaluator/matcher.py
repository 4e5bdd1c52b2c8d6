"""Matching in linear time: RE2 does it, and what a program and a match cost is charged beforehand.

RE2 (`google-re2`) never goes back in a text. It is imported on first use, since most scripts match
nothing that needs it. A program is bounded in memory; one that is larger is refused.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from spotwarden.create_script.bash.limits import ITEM_COST, MAX_PROGRAM_BYTES, PIECE_COST, Budget
from spotwarden.create_script.refusal import ScriptRefused

if TYPE_CHECKING:
    from collections.abc import Iterator

_KEPT_PROGRAMS = 64
# A program of so many instructions is looked at for the price of one character, for each byte of the text.
_INSTRUCTIONS = 8

Span = tuple[int, int]


class Program(NamedTuple):
    """A compiled expression; `size` counts its instructions."""

    compiled: Any
    size: int


def encode(text: str) -> bytes:
    """Return a text as RE2 reads it; bytes that were no UTF-8 stay characters of their own."""
    return text.encode("utf-8", "surrogatepass")


def decode(data: bytes) -> str:
    """Return the text of some of these bytes."""
    return data.decode("utf-8", "surrogatepass")


def program(budget: Budget, expression: str, *, longest: bool = True) -> Program:
    """Compile an expression in RE2's own syntax; raise `ScriptRefused` for one that is too large.

    With `longest` the leftmost match is the longest one there; otherwise the first in Perl's order.
    """
    # Charged whether it is kept from before or not: a script costs the same each time.
    budget.text(PIECE_COST * len(expression))
    made = _compiled(expression, longest)
    budget.text(ITEM_COST * made.size)
    return made


@lru_cache(maxsize=_KEPT_PROGRAMS)
def _compiled(expression: str, longest: bool) -> Program:  # noqa: FBT001 — part of the key
    import re2

    options = re2.Options()
    options.max_mem = MAX_PROGRAM_BYTES
    options.longest_match = longest
    options.dot_nl = True
    options.log_errors = False
    try:
        compiled: Any = re2.compile(encode(expression), options)  # type: ignore[no-untyped-call]  # re2 has no types
    except re2.error as error:
        told = error.args[0] if error.args else ""
        reason = told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told)
        raise ScriptRefused(f"a pattern cannot be matched in bounded time: {reason[:80]}") from error
    return Program(compiled, compiled.programsize)


def _charge(budget: Budget, made: Program, length: int) -> None:
    budget.text(PIECE_COST + length * (1 + made.size // _INSTRUCTIONS))


def whole(budget: Budget, made: Program, data: bytes) -> bool:
    """Whether all of `data` matches."""
    _charge(budget, made, len(data))
    return made.compiled.fullmatch(data) is not None


def groups(budget: Budget, made: Program, data: bytes) -> tuple[str, ...]:
    """Return what the parentheses match where all of `data` does; empty for those that match nothing."""
    _charge(budget, made, len(data) * (1 + made.compiled.groups))
    found = made.compiled.fullmatch(data)
    return () if found is None else tuple(decode(part or b"") for part in found.groups())


def search(budget: Budget, made: Program, data: bytes, start: int = 0) -> Span | None:
    """Return the leftmost match from `start` on."""
    _charge(budget, made, len(data) - start)
    found = made.compiled.search(data, start)
    return None if found is None else found.span()


def begins(budget: Budget, made: Program, data: bytes) -> int | None:
    """Return the end of the match at the very beginning."""
    _charge(budget, made, len(data))
    found = made.compiled.match(data)
    return None if found is None else int(found.end())


def spans(budget: Budget, made: Program, data: bytes, *, local: bool) -> "Iterator[Span]":
    """Yield all matches, leftmost first, none of them empty.

    With `local` no match is looked for farther than the program is long, so one pass is all it takes.
    """
    if local:
        _charge(budget, made, len(data))
    position = 0
    while position < len(data):
        budget.text(PIECE_COST)
        if not local:
            _charge(budget, made, len(data) - position)
        found = made.compiled.search(data, position)
        if found is None:
            return
        start, end = found.span()
        if end > start:
            yield start, end
            position = end
        else:
            position = _behind(data, end)


def _behind(data: bytes, position: int) -> int:
    """Return where the next character begins."""
    position += 1
    while position < len(data) and data[position] & 0xC0 == 0x80:  # noqa: PLR2004 — UTF-8's inner bytes
        position += 1
    return position
