"""Values of variables, and what becomes of two that differ."""

from collections.abc import Mapping
from typing import TypeAlias

import msgspec

from spotwarden.create_script.request.command import Unknown

Text: TypeAlias = str | Unknown


class Outcome(Unknown, frozen=True, kw_only=True):
    """The exit status of a program: taken to be a success unless the script looks at it.

    `success` turns false behind a `!`: then the expected course is the failure of what follows.
    """

    success: bool = True


class ScriptName(Unknown, frozen=True, kw_only=True):
    """`$0` and `$BASH_SOURCE`: not known, but certainly the same in a script that is run and not sourced."""


Status: TypeAlias = int | Unknown


class Variable(msgspec.Struct, frozen=True, kw_only=True):
    """A variable; `value` is None as long as it is only declared, a mapping for an array.

    Keys of an indexed array are numbers, those of an associative one texts. `case` is `u`, `l` or `c`.
    """

    value: Text | Mapping[int | str, Text] | None = None
    exported: bool = False
    readonly: bool = False
    integer: bool = False
    reference: bool = False
    associative: bool = False
    array: bool = False
    case: str = ""


def join(text: Text, other: Text, doubt: Unknown) -> Text:
    """Return the value that is known whichever of the two it is; a note of the doubt otherwise."""
    if isinstance(text, Unknown):
        return text
    return text if text == other else doubt


def join_variables(variable: Variable | None, other: Variable | None, doubt: Unknown) -> Variable:
    """Return a variable that is known only as far as both agree."""
    if variable is not None and variable == other:
        return variable
    kept = variable or other or Variable()
    return msgspec.structs.replace(kept, value=doubt)


def glue(parts: list[Text]) -> Text:
    """Join texts; one unknown part makes the whole unknown, though its known beginning is kept."""
    if len(parts) == 1:
        return parts[0]
    known: list[str] = []
    for part in parts:
        if isinstance(part, Unknown):
            prefix = "".join(known) + part.prefix
            return Unknown(reason=part.reason, line=part.line, prefix=prefix, splits=part.splits)
        known.append(part)
    return "".join(known)


def elements(variable: Variable | None) -> Mapping[int | str, Text] | Unknown:
    """Return a variable as an array: a plain one is its own first element."""
    value = None if variable is None else variable.value
    if value is None:
        return {}
    if isinstance(value, str):
        return {0: value}
    return value


def scalar(variable: Variable | None) -> Text | None:
    """Return the value of `$name`: the element 0 of an array; None where it is not set."""
    value = None if variable is None else variable.value
    if isinstance(value, Mapping):
        assert variable is not None
        return value.get("0" if variable.associative else 0)
    return value
