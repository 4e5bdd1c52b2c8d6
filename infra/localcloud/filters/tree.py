"""What a filter expression says, as a tree, and how a tree becomes a function."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Text:
    """A literal; `quoted` tells `"5"` from `5`, `parts` reads it as the path of a field."""

    value: str
    quoted: bool
    parts: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class FunctionCall:
    """A function with its arguments, such as `starts_with("a")`."""

    name: str
    arguments: tuple[Text, ...]
    at: int


Value = Text | FunctionCall


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """`path operator value`."""

    path: tuple[str, ...]
    operator: str
    value: Value
    at: int


@dataclass(frozen=True, kw_only=True)
class Bare:
    """A value that stands alone: a word to look for anywhere, or a function that is true or false."""

    value: Value
    at: int


@dataclass(frozen=True, kw_only=True)
class Not:
    """True when its term is not."""

    term: "Node"


@dataclass(frozen=True, kw_only=True)
class All:
    """True when every term is."""

    terms: tuple["Node", ...]


@dataclass(frozen=True, kw_only=True)
class AnyOf:
    """True when one of its terms is."""

    terms: tuple["Node", ...]


Leaf = Comparison | Bare
Node = Leaf | Not | All | AnyOf
Predicate = Callable[[Any], bool]


def compiled(node: Node, leaf: Callable[[Leaf], Predicate]) -> Predicate:
    """A function that decides the whole tree; `leaf` makes one of a comparison or a bare value, once."""
    match node:
        case Not(term=term):
            inner = compiled(term, leaf)
            return lambda subject: not inner(subject)
        case All(terms=terms):
            every = [compiled(term, leaf) for term in terms]
            return lambda subject: all(test(subject) for test in every)
        case AnyOf(terms=terms):
            some = [compiled(term, leaf) for term in terms]
            return lambda subject: any(test(subject) for test in some)
        case _:
            return leaf(node)
