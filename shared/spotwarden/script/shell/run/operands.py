"""What the operators of `${…}` share."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from spotwarden.script.command import Unknown
from spotwarden.script.shell.run.fields import Piece
from spotwarden.script.shell.run.machine import Shell
from spotwarden.script.shell.run.references import Values
from spotwarden.script.shell.run.values import Text
from spotwarden.script.shell.words import Parameter, Word


class Expander(NamedTuple):
    """How operands are expanded."""

    text: Callable[[Shell, Word], Text]
    pattern: Callable[[Shell, Word], Text]
    pieces: Callable[[Shell, Word], list[Piece]]


Operator: TypeAlias = Callable[[Shell, Parameter, Values, Expander], Values | list[Piece]]


def each(values: Values, change: Callable[[str], str]) -> Values:
    """Change every known value."""
    if isinstance(values.items, Unknown):
        return values
    return Values([item if isinstance(item, Unknown) else change(item) for item in values.items], values.many)
