"""The builtins that declare variables: `declare`, `local`, `export`, `readonly`."""

from typing import Any, NamedTuple

from msgspec.structs import replace

from spotwarden.create_script.bash.evaluator.expand import expand_text
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.memory import assign, require_writable
from spotwarden.create_script.bash.evaluator.store import store
from spotwarden.create_script.bash.evaluator.values import Status, Text, Variable
from spotwarden.create_script.bash.words import Assignment
from spotwarden.create_script.bash.words import Word as Written
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import ExpandedWord, Unknown

_FLAGS: dict[str, dict[str, Any]] = {
    "a": {"array": True},
    "A": {"associative": True},
    "i": {"integer": True},
    "r": {"readonly": True},
    "x": {"exported": True},
    "n": {"reference": True},
    "u": {"case": "u"},
    "l": {"case": "l"},
    "c": {"case": "c"},
}
_HARMLESS = frozenset("ptfFgIN")
_IMPLIED = {"readonly": "r", "export": "x"}
# `export -n` takes the mark away again, where `declare -n` makes a reference.
_UNEXPORTED = {"exported": False}


class _Declaration(NamedTuple):
    """What a declaring builtin does to each of its names."""

    changes: dict[str, Any]
    locks: bool
    inside: bool


def declare(shell: Shell, name: str, words: list[ExpandedWord], assignments: list[Assignment]) -> Status:
    """Run `declare` and its like; `words` are the names and options, `assignments` the names with values."""
    options = [word.value for word in words[1:] if _is_option(word)]
    names = [word for word in words[1:] if not _is_option(word)]
    letters = _IMPLIED.get(name, "") + "".join(str(option)[1:] for option in options if str(option)[0] == "-")
    if "f" in letters or "F" in letters:
        return _functions(shell, letters)
    if name == "local" and len(shell.state.scopes) == 1:
        return 1  # bash reports it and does not assign
    local = len(shell.state.scopes) > 1 and name not in _IMPLIED and "g" not in letters
    declaration = _declaration(shell, options, letters, inside=local)
    if name == "export" and declaration.changes.pop("reference", False):
        declaration.changes.update(_UNEXPORTED)
    for word in names:
        _declare_word(shell, name, word, declaration)
    # All values are expanded before the first name is set: `local x=$x y=$x` reads the outer x twice.
    for assignment, value in [(assignment, _value(shell, assignment)) for assignment in assignments]:
        _declare_assigned(shell, assignment, value, declaration)
    return 0


def _value(shell: Shell, assignment: Assignment) -> Text | None:
    """Return the value of an assignment, None for an array, which is expanded when it is set."""
    return expand_text(shell, assignment.value) if isinstance(assignment.value, Written) else None


def _is_option(word: ExpandedWord) -> bool:
    return isinstance(word.value, str) and word.value[:1] in ("-", "+") and len(word.value) > 1


def _functions(shell: Shell, letters: str) -> Status:
    if "x" in letters:
        raise ScriptRefused("functions exported to other programs are not supported", line=shell.line)
    return 0


def _declaration(shell: Shell, options: list[Text], letters: str, *, inside: bool) -> _Declaration:
    changes: dict[str, Any] = {}
    shell.budget.items(sum(len(str(option)) for option in options))
    for letter in letters:
        if letter not in _FLAGS and letter not in _HARMLESS:
            raise ScriptRefused(f"the option -{letter} of declare is unknown", line=shell.line)
        changes |= _FLAGS.get(letter, {})
    for option in options:
        if str(option)[0] == "+":
            for letter in str(option)[1:]:
                changes |= {key: "" if key == "case" else False for key in _FLAGS.get(letter, {})}
    locks = changes.pop("readonly", False)
    return _Declaration(changes, locks, inside)


def _declare_word(shell: Shell, builtin: str, word: ExpandedWord, declaration: _Declaration) -> None:
    """Declare `name`, or `name=value` that came out of an expansion."""
    if isinstance(word.value, Unknown):
        reason = f"`{builtin}` sets variables with unknown names: {word.value.reason}"
        shell.cast_doubt(Unknown(reason=reason, line=word.line))
        return
    bare, equals, value = word.value.partition("=")
    name = bare.removesuffix("+")
    _declare(shell, name, declaration)
    if equals:
        assign(shell, name, value, append=bare.endswith("+"))
    _lock(shell, name, declaration)


def _declare_assigned(
    shell: Shell, assignment: Assignment, value: Text | None, declaration: _Declaration
) -> None:
    name = assignment.name
    if declaration.changes.get("reference"):
        _declare(shell, name, declaration._replace(changes={"reference": False}))
        assign(shell, name, "" if value is None else value)
        _declare(shell, name, declaration._replace(inside=False))
        return
    _declare(shell, name, declaration)
    if value is None:
        store(shell, assignment)
    else:
        subscript = None if assignment.subscript is None else expand_text(shell, assignment.subscript)
        assign(shell, name, value, subscript=subscript, append=assignment.append)
    _lock(shell, name, declaration)


def _declare(shell: Shell, name: str, declaration: _Declaration) -> None:
    if not name.isidentifier():
        raise ScriptRefused(
            f"{name} is not a valid variable name; use letters, digits and _, a letter first", line=shell.line
        )
    scope = shell.state.scopes[-1]
    if declaration.inside and name not in scope:
        scope[name] = Variable()
    variable = shell.state.find(name) or Variable()
    if declaration.changes.keys() - {"exported"}:
        require_writable(shell, name, variable)
    variable = replace(variable, **declaration.changes)
    if (variable.array or variable.associative) and isinstance(variable.value, str):
        variable = replace(variable, value={"0" if variable.associative else 0: variable.value})
    shell.state.put(name, variable)


def _lock(shell: Shell, name: str, declaration: _Declaration) -> None:
    variable = shell.state.find(name)
    if declaration.locks and variable is not None:
        shell.state.put(name, replace(variable, readonly=True))
