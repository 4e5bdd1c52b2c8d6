"""What a name, an index or a special sign refers to."""

import re
from collections.abc import Callable
from typing import NamedTuple

from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.memory import find, get
from spotwarden.create_script.bash.evaluator.names import outside
from spotwarden.create_script.bash.evaluator.values import Text, elements
from spotwarden.create_script.bash.words import Parameter, Word
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import Unknown

_INDIRECT = re.compile(r"([A-Za-z_]\w*|\d+|[@*#?$!-])(?:\[(.*)\])?", re.DOTALL | re.ASCII)


class Values(NamedTuple):
    """What an expansion yields: none if unset, one, or several. `many` is `@` or `*` for several."""

    items: list[Text] | Unknown
    many: str = ""
    name: str = ""
    subscript: Text | None = None


def values_of(shell: Shell, part: Parameter, text_of: Callable[[Shell, Word], Text]) -> Values:
    """Return what `part` refers to, before its operator."""
    shell.line = part.line
    subscript = None if part.subscript is None else text_of(shell, part.subscript)
    if not part.indirect:
        return look_up(shell, part.name, subscript)
    if isinstance(subscript, Unknown):
        return Values(subscript)
    pointer = look_up(shell, part.name, subscript).items
    if isinstance(pointer, Unknown) or not pointer or isinstance(pointer[0], Unknown):
        return Values(_unknown_pointer(shell, pointer, part))
    found = _INDIRECT.fullmatch(pointer[0])
    if found is None:
        raise ScriptRefused(
            f"{part.name} holds no name of a variable that ${{!{part.name}}} could mean", line=part.line
        )
    return look_up(shell, found.group(1), found.group(2))


def _unknown_pointer(shell: Shell, pointer: list[Text] | Unknown, part: Parameter) -> Unknown:
    if isinstance(pointer, Unknown):
        return pointer
    if pointer and isinstance(pointer[0], Unknown):
        return pointer[0]
    raise ScriptRefused(f"${{!{part.name}}} is used, but {part.name} is not set", line=shell.line)


def look_up(shell: Shell, name: str, subscript: Text | None) -> Values:
    """Return the values of a variable, an element, a positional or special parameter."""
    if name in ("@", "*"):
        positional = shell.state.positional
        if isinstance(positional, Unknown):
            return Values(positional, name, name)
        shell.budget.items(len(positional))
        return Values(list(positional), name, name)
    if subscript in ("@", "*"):
        assert isinstance(subscript, str)
        return _array(shell, name, subscript)
    value = _special(shell, name) if not name.isidentifier() else _plain(shell, name, subscript)
    return Values([] if value is None else [value], "", name, subscript)


def _plain(shell: Shell, name: str, subscript: Text | None) -> Text | None:
    if not isinstance(subscript, Unknown):
        return get(shell, name, subscript)
    return subscript


def _array(shell: Shell, name: str, many: str) -> Values:
    unknown = outside(name, shell.line)
    if unknown is not None:
        return Values(unknown, many, name)
    variable = find(shell, name)
    values = elements(variable)
    if isinstance(values, Unknown):
        return Values(values, many, name)
    if variable is not None and variable.associative and len(values) > 1:
        why = Unknown(reason=f"the order of the associative array {name} is not defined", line=shell.line)
        return Values(why, many, name)
    shell.budget.items(len(values))
    return Values([values[key] for key in sorted(values, key=_order)], many, name)


def _order(key: int | str) -> tuple[int, str]:
    return (key, "") if isinstance(key, int) else (0, key)


def keys_of(shell: Shell, part: Parameter, many: str) -> Values:
    """Return the keys of an array."""
    variable = find(shell, part.name)
    values = elements(variable)
    if isinstance(values, Unknown):
        return Values(values, many)
    if variable is not None and variable.associative and len(values) > 1:
        why = Unknown(reason=f"the order of the associative array {part.name} is not defined", line=part.line)
        return Values(why, many)
    shell.budget.items(len(values))
    return Values([str(key) for key in sorted(values, key=_order)], many)


def count_of(shell: Shell, part: Parameter, subscript: Text | None) -> Text | None:
    """Return `${#name[@]}` or `${#@}` as text, None for the length of one value."""
    if part.name in ("@", "*"):
        positional = shell.state.positional
        return positional if isinstance(positional, Unknown) else str(len(positional))
    if subscript not in ("@", "*"):
        return None
    values = elements(find(shell, part.name))
    return values if isinstance(values, Unknown) else str(len(values))


def _special(shell: Shell, name: str) -> Text | None:
    state = shell.state
    if name == "?":
        return state.status if isinstance(state.status, Unknown) else str(state.status)
    if name != "0" and name.isdecimal():
        return _positional(shell, int(name[:9]))
    if name == "#":
        return state.positional if isinstance(state.positional, Unknown) else str(len(state.positional))
    return outside(name, shell.line)


def _positional(shell: Shell, number: int) -> Text | None:
    positional = shell.state.positional
    if isinstance(positional, Unknown):
        return positional
    return positional[number - 1] if number <= len(positional) else None
