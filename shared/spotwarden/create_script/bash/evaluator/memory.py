"""Reading and setting variables with all that bash does on the way: arrays, references, attributes."""

from collections.abc import Mapping

from msgspec.structs import replace

from spotwarden.create_script.bash.evaluator.arithmetic import evaluate
from spotwarden.create_script.bash.evaluator.frames import Leave
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.names import kept_by_bash, outside
from spotwarden.create_script.bash.evaluator.values import Text, Variable, elements, glue, scalar
from spotwarden.create_script.bash.limits import COPY_COST
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import Unknown

_MAX_REFERENCES = 8


class Variables:
    """The variables of a shell as arithmetic sees them."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def value(self, name: str, subscript: str | None) -> Text | None:
        """Return a value; under `set -u` an unset one ends the script."""
        value = get(self._shell, name, subscript)
        if value is None:
            require_set(self._shell, name)
        return value

    def charge(self, size: int) -> None:
        """Account for an expression of so many characters."""
        self._shell.budget.pieces(size)

    def store(self, name: str, subscript: str | None, value: Text) -> None:
        """Set a variable."""
        assign(self._shell, name, value, subscript=subscript)


def calculate(shell: Shell, text: Text) -> int | Unknown:
    """Compute an arithmetic expression with the variables of the shell."""
    return evaluate(text, Variables(shell), shell.line)


def require_set(shell: Shell, name: str) -> None:
    """End the script where `set -u` does so for an unset variable."""
    if "nounset" in shell.state.options:
        raise unbound(shell, name)


def unbound(shell: Shell, name: str) -> Leave:
    """Return how the script leaves where `set -u` finds a variable unset."""
    shell.note(f"{name} is not set, and `set -u` makes bash stop here", shell.line)
    return Leave("shell", 1)


def target(shell: Shell, name: str) -> str:
    """Follow name references to the variable that is meant."""
    for _ in range(_MAX_REFERENCES):
        variable = shell.state.find(name)
        if variable is None or not variable.reference or variable.value is None:
            return name
        if not isinstance(variable.value, str) or not variable.value.isidentifier():
            raise ScriptRefused(f"{name} refers to a variable with an unknown name", line=shell.line)
        name = variable.value
    raise ScriptRefused(f"{name} refers to itself", line=shell.line)


def find(shell: Shell, name: str) -> Variable | None:
    """Return a variable, through references."""
    return shell.state.find(target(shell, name))


def get(shell: Shell, name: str, subscript: str | None = None) -> Text | None:
    """Return the value of a variable or of one element; None where it is not set."""
    name = target(shell, name)
    variable = shell.state.find(name)
    if variable is None or kept_by_bash(name):
        unset: Text | None = outside(name, shell.line)
        return unset
    if subscript is None:
        return scalar(variable)
    values = elements(variable)
    if isinstance(values, Unknown):
        return values
    key = key_of(shell, variable, subscript)
    return key if isinstance(key, Unknown) else values.get(key)


def key_of(shell: Shell, variable: Variable | None, subscript: Text) -> int | str | Unknown:
    """Return the key that a subscript means: a text, or a number, counted from the end if negative."""
    if isinstance(subscript, Unknown):
        return subscript
    if variable is not None and variable.associative:
        return subscript
    index = calculate(shell, subscript)
    if isinstance(index, int) and index < 0:
        values = elements(variable)
        if isinstance(values, Unknown):
            return values
        shell.budget.items(len(values))
        index += 1 + max((key for key in values if isinstance(key, int)), default=-1)
        if index < 0:
            raise ScriptRefused(
                f"the subscript {subscript} is before the start of the array", line=shell.line
            )
    return index


def assign(
    shell: Shell, name: str, value: Text, *, subscript: Text | None = None, append: bool = False
) -> None:
    """Set a variable or one element of it, as its attributes say.

    Raises:
        Refused: the variable is read-only.
    """
    name = target(shell, name)
    variable = shell.state.find(name) or Variable(exported="allexport" in shell.state.options)
    require_writable(shell, name, variable)
    if subscript is not None or variable.array or variable.associative:
        _assign_element(shell, name, value, "0" if subscript is None else subscript, append=append)
        return
    old = scalar(variable) or ""
    shell.state.put(name, replace(variable, value=_converted(shell, variable, old, value, append=append)))


def _assign_element(shell: Shell, name: str, value: Text, subscript: Text, *, append: bool) -> None:
    variable = shell.state.find(name) or Variable()
    values = elements(variable)
    key = key_of(shell, variable, subscript)
    if isinstance(values, Unknown) or isinstance(key, Unknown):
        why = values if isinstance(values, Unknown) else key
        shell.state.put(name, replace(variable, value=why, array=True))
        return
    shell.budget.text(COPY_COST * len(values), shell.line)
    changed = {**values, key: _converted(shell, variable, values.get(key, ""), value, append=append)}
    shell.state.put(name, replace(variable, value=changed, array=not variable.associative))


def require_writable(shell: Shell, name: str, variable: Variable | None) -> None:
    """Raise `ScriptRefused` for a read-only variable."""
    if variable is not None and variable.readonly:
        raise ScriptRefused(f"{name} is read-only, and bash stops where it is set again", line=shell.line)


def _converted(shell: Shell, variable: Variable, old: Text, value: Text, *, append: bool) -> Text:
    if variable.integer:
        number = calculate(shell, glue([old or "0", "+(", value, ")"]) if append else value)
        return number if isinstance(number, Unknown) else str(number)
    result = glue([old, value]) if append else value
    if isinstance(result, Unknown):
        return result
    shell.budget.text(len(result), shell.line)
    return _cased(result, variable.case)


def _cased(text: str, case: str) -> str:
    return {"u": text.upper, "l": text.lower, "c": text.capitalize}[case]() if case else text


def assign_array(
    shell: Shell, name: str, values: Mapping[int | str, Text] | Unknown, *, associative: bool = False
) -> None:
    """Set a whole array."""
    name = target(shell, name)
    variable = shell.state.find(name) or Variable(exported="allexport" in shell.state.options)
    require_writable(shell, name, variable)
    associative = associative or variable.associative
    shell.state.put(name, replace(variable, value=values, array=not associative, associative=associative))


def exported(shell: Shell) -> dict[str, Text]:
    """Return the exported variables that are set."""
    found: dict[str, Text] = {}
    shell.budget.items(shell.state.size)
    for scope in shell.state.scopes:
        for name, variable in scope.items():
            found.pop(name, None)
            if variable.exported and isinstance(variable.value, str | Unknown):
                found[name] = variable.value
    return found
