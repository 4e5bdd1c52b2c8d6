"""The shapes of words after reading, before anything is expanded."""

from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

import msgspec

if TYPE_CHECKING:
    from spotwarden.create_script.bash.tree import Block


class Literal(msgspec.Struct, frozen=True):
    """Text as written. Unquoted text may still be a pattern or a brace expression."""

    text: str
    quoted: bool


class Tilde(msgspec.Struct, frozen=True):
    """`~` or `~user` where bash would put a home folder."""

    text: str


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """`$x` or `${x…}`.

    `operator` is what stands behind the name (`:-`, `##`, `@Q`, …), `length` for `${#x}`, `names` for
    `${!x*}`, `keys` for `${!x[@]}`, or empty; `arguments` are the words behind it.
    """

    name: str
    quoted: bool
    line: int
    operator: str = ""
    subscript: "Word | None" = None
    indirect: bool = False
    arguments: tuple["Word", ...] = ()


class Arithmetic(msgspec.Struct, frozen=True):
    """`$((…))`: the expression is expanded first, then computed."""

    expression: "Word"
    quoted: bool


class Substitution(msgspec.Struct, frozen=True):
    """`$(…)`, or backticks, whose text is read only when they are run."""

    body: "Block | str"
    quoted: bool
    line: int


class Process(msgspec.Struct, frozen=True):
    """`<(…)` or `>(…)`."""

    body: "Block"
    line: int


class Quotes(msgspec.Struct, frozen=True):
    """Text in double quotes with a `$@` in it: no word, if that is nothing and there is nothing else."""

    parts: tuple["Part", ...]


Part: TypeAlias = Literal | Tilde | Parameter | Arithmetic | Substitution | Process | Quotes


class Word(msgspec.Struct, frozen=True):
    """One word; `text` is its value when it needs no expansion at all."""

    parts: tuple[Part, ...]
    line: int
    text: str | None = None


class BraceItem(msgspec.Struct, frozen=True):
    """An element of `(…)` in an array assignment."""

    subscript: Word | None
    append: bool
    value: Word


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """`name=value`, `name[i]=value`, `name+=value`, `name=(…)`; no value in `declare name`."""

    name: str
    line: int
    subscript: Word | None = None
    append: bool = False
    value: Word | tuple[BraceItem, ...] | None = None


def join(parts: list[Part]) -> list[Part]:
    """Put neighbouring literals together."""
    joined: list[Part] = []
    for kind, group in groupby(parts, key=_kind):
        found = list(group)
        if kind is None or len(found) == 1:
            joined.extend(found)
        else:
            text = "".join(part.text for part in found if isinstance(part, Literal))
            joined.append(Literal(text, quoted=kind))
    return joined


def _kind(part: Part) -> bool | None:
    """Return whether a literal is quoted, None for any other part."""
    return part.quoted if isinstance(part, Literal) else None
