"""Assignments: of texts, elements, and whole arrays."""

from spotwarden.create_script.bash.evaluator.expand import expand_text, expand_words
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.memory import assign, assign_array, key_of, target
from spotwarden.create_script.bash.evaluator.values import Text, Variable, elements, glue
from spotwarden.create_script.bash.limits import COPY_COST
from spotwarden.create_script.bash.words import Assignment, BraceItem
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import Unknown


def store(shell: Shell, assignment: Assignment) -> None:
    """Carry out one assignment."""
    shell.line = assignment.line
    if isinstance(assignment.value, tuple):
        _store_array(shell, assignment, assignment.value)
        return
    value = "" if assignment.value is None else expand_text(shell, assignment.value)
    subscript = None if assignment.subscript is None else expand_text(shell, assignment.subscript)
    assign(shell, assignment.name, value, subscript=subscript, append=assignment.append)


def _store_array(shell: Shell, assignment: Assignment, items: tuple[BraceItem, ...]) -> None:
    variable = shell.state.find(target(shell, assignment.name)) or Variable()
    old = elements(variable) if assignment.append else {}
    if isinstance(old, Unknown):
        assign_array(shell, assignment.name, old)
        return
    shell.budget.text(COPY_COST * len(old), assignment.line)
    values = dict(old)
    place = 0 if variable.associative else 1 + max(map(int, old), default=-1)
    for item in items:
        shell.budget.step(item.value.line)
        added = _add(shell, variable, values, item, place)
        if isinstance(added, Unknown):
            assign_array(shell, assignment.name, added)
            return
        place = added
    assign_array(shell, assignment.name, values)


def _add(
    shell: Shell, variable: Variable, values: dict[int | str, Text], item: BraceItem, place: int
) -> int | Unknown:
    """Add one element and return the next free place; an unknown key or number of words makes all unknown."""
    if item.subscript is not None:
        key = key_of(shell, variable, expand_text(shell, item.subscript))
        if isinstance(key, Unknown):
            return key
        text = expand_text(shell, item.value)
        values[key] = glue([values.get(key, ""), text]) if item.append else text
        return key + 1 if isinstance(key, int) else place
    if variable.associative:
        raise ScriptRefused("an associative array is given values without keys", line=shell.line)
    for word in expand_words(shell, item.value):
        if isinstance(word.value, Unknown) and word.value.splits:
            return word.value
        values[place] = word.value
        place += 1
    return place
