"""The command `test`, by the rules that the number of its words decides."""

from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.tests import binary, negated, unary
from spotwarden.create_script.bash.evaluator.values import Status, Text
from spotwarden.create_script.request.command import Unknown

_UNARY = frozenset(
    [
        "-a",
        "-b",
        "-c",
        "-d",
        "-e",
        "-f",
        "-g",
        "-h",
        "-k",
        "-n",
        "-o",
        "-p",
        "-r",
        "-s",
        "-t",
        "-u",
        "-v",
        "-w",
        "-x",
        "-z",
        "-G",
        "-L",
        "-N",
        "-O",
        "-R",
        "-S",
    ]
)
_BINARY = frozenset(
    ["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"]
)
_ERROR = 2


def test_status(shell: Shell, values: list[Text]) -> Status:
    """Return the status of `test` with these words: 0 true, 1 false, 2 for what it cannot read."""
    for value in values:
        if isinstance(value, Unknown) and value.splits:
            return value
    if len(values) <= len(_BY_COUNT) - 1:
        return _BY_COUNT[len(values)](shell, values)
    return _or(shell, values)


def _none(_: Shell, __: list[Text]) -> Status:
    return 1


def _one(shell: Shell, values: list[Text]) -> Status:
    return unary(shell, "-n", values[0])


def _two(shell: Shell, values: list[Text]) -> Status:
    if values[0] == "!":
        return negated(_one(shell, values[1:]))
    if isinstance(values[0], str) and values[0] in _UNARY:
        return unary(shell, values[0], values[1])
    return values[0] if isinstance(values[0], Unknown) else _ERROR


def _three(shell: Shell, values: list[Text]) -> Status:
    operator = values[1]
    if isinstance(operator, Unknown):
        return operator
    if operator in _BINARY:
        return binary(shell, operator, values[0], values[2])
    if operator in ("-a", "-o"):
        return _joined(operator, _one(shell, values[:1]), _one(shell, values[2:]))
    if values[0] == "!":
        return negated(_two(shell, values[1:]))
    if values[0] == "(" and values[2] == ")":
        return _one(shell, values[1:2])
    return _ERROR


def _four(shell: Shell, values: list[Text]) -> Status:
    if values[0] == "!":
        return negated(_three(shell, values[1:]))
    if values[0] == "(" and values[3] == ")":
        return _two(shell, values[1:3])
    return _or(shell, values)


_BY_COUNT = (_none, _one, _two, _three, _four)


def _or(shell: Shell, values: list[Text]) -> Status:
    return _split(shell, values, "-o")


def _and(shell: Shell, values: list[Text]) -> Status:
    return _split(shell, values, "-a")


def _split(shell: Shell, values: list[Text], operator: str) -> Status:
    """Cut at `-o`, and the pieces at `-a`: both outside parentheses and not as a value to compare."""
    shell.budget.items(len(values))
    inner = _and if operator == "-o" else _short
    level = 0
    for place in range(1, len(values) - 1):
        level += {"(": 1, ")": -1}.get(str(values[place - 1]), 0)
        if values[place] == operator and level == 0 and values[place - 1] not in _BINARY:
            rest = _split(shell, values[place + 1 :], operator)
            return _joined(operator, inner(shell, values[:place]), rest)
    return inner(shell, values)


def _short(shell: Shell, values: list[Text]) -> Status:
    shell.budget.items(len(values))
    if values and values[0] == "!":
        return negated(_short(shell, values[1:]))
    if len(values) > len(_BY_COUNT) - 2 and values[0] == "(" and values[-1] == ")":
        return _or(shell, values[1:-1])
    return _BY_COUNT[len(values)](shell, values) if len(values) < len(_BY_COUNT) - 1 else _ERROR


def _joined(operator: str, number: Status, other: Status) -> Status:
    decides = 1 if operator == "-a" else 0
    for status in (number, other):
        if not isinstance(status, Unknown) and int(status != 0) == decides:
            return decides
    for status in (number, other):
        if isinstance(status, Unknown):
            return status
    return 1 - decides
