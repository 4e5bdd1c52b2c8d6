"""What the operators of `${…}` share."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from spotwarden.create_script.bash.evaluator.fields import Piece
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.references import Values
from spotwarden.create_script.bash.evaluator.values import Text
from spotwarden.create_script.bash.words import Parameter, Word
from spotwarden.create_script.request.command import Unknown


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
