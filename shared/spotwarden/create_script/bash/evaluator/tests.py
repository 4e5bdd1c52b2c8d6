"""`[ … ]`, `test` and `[[ … ]]`."""

from collections.abc import Callable

from spotwarden.create_script.bash.evaluator import regex
from spotwarden.create_script.bash.evaluator.expand import expand_expression, expand_pattern, expand_text
from spotwarden.create_script.bash.evaluator.fitting import matches
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.memory import assign_array, calculate, find, get
from spotwarden.create_script.bash.evaluator.values import Outcome, ScriptName, Status, Text
from spotwarden.create_script.bash.tree import Test
from spotwarden.create_script.bash.words import Word
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import Unknown

_FILE_TESTS = frozenset(
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
        "-p",
        "-r",
        "-s",
        "-t",
        "-u",
        "-w",
        "-x",
        "-G",
        "-L",
        "-N",
        "-O",
        "-S",
    ]
)
_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": int.__eq__,
    "-ne": int.__ne__,
    "-lt": int.__lt__,
    "-le": int.__le__,
    "-gt": int.__gt__,
    "-ge": int.__ge__,
}
_EQUAL = frozenset(["=", "==", "-eq"])
_UNEQUAL = frozenset(["!=", "-ne"])
_ERROR = 2


def evaluate_condition(shell: Shell, test: Test) -> Status:
    """Return the status of a `[[ … ]]`: 0 for true."""
    shell.budget.pieces()
    if test.operator in ("&&", "||"):
        return _combined(shell, test)
    if test.operator == "!":
        return negated(evaluate_condition(shell, _test(test.operands[0])))
    words = [operand for operand in test.operands if not isinstance(operand, Test)]
    if len(words) == 1:
        value = expand_text(shell, words[0])
        return unary(shell, "-n" if test.operator == "word" else test.operator, value)
    return _binary(shell, test.operator, words[0], words[1])


def _test(operand: Word | Test) -> Test:
    assert isinstance(operand, Test)
    return operand


def _combined(shell: Shell, test: Test) -> Status:
    decides = 1 if test.operator == "&&" else 0
    result: Status = 1 - decides
    for operand in test.operands:
        status = evaluate_condition(shell, _test(operand))
        if isinstance(status, Unknown):
            result = status
        elif (status != 0) == bool(decides):
            return decides
    return result


def negated(status: Status) -> Status:
    """Return the status behind a `!`."""
    if isinstance(status, Outcome):
        return Outcome(reason=status.reason, line=status.line, success=not status.success)
    return status if isinstance(status, Unknown) else int(status == 0)


def _binary(shell: Shell, operator: str, left: Word, right: Word) -> Status:
    unknown = expand_text(shell, left)
    if operator == "=~":
        return _expression(shell, unknown, expand_expression(shell, right))
    if operator in ("=", "==", "!="):
        pattern = expand_pattern(shell, right)
        if isinstance(unknown, Unknown) or isinstance(pattern, Unknown):
            return binary(shell, operator, unknown, pattern)
        return int(matches(shell, pattern, unknown, extended=True) == (operator == "!="))
    return binary(shell, operator, unknown, expand_text(shell, right), computes=True)


def _expression(shell: Shell, text: Text, expression: Text) -> Status:
    for value in (text, expression):
        if isinstance(value, Unknown):
            return value
    assert isinstance(text, str)
    assert isinstance(expression, str)
    found = regex.search(shell, expression, text)
    if found is None:
        assign_array(shell, "BASH_REMATCH", {})
        return 1
    assign_array(shell, "BASH_REMATCH", dict(enumerate(found)))
    return 0


def unary(shell: Shell, operator: str, value: Text) -> Status:
    """Return the status of a test of one value."""
    if isinstance(value, Unknown):
        if operator == "-n" and value.prefix:
            return 0
        return 1 if operator == "-z" and value.prefix else value
    if operator in ("-n", "-z"):
        return int(bool(value) == (operator == "-z"))
    if operator in ("-v", "-R"):
        return _is_set(shell, value)
    if operator == "-o":
        return int(value not in shell.state.options)
    if operator in _FILE_TESTS:
        return file_test(shell, operator, value)
    raise ScriptRefused(f"the test {operator} is not supported", line=shell.line)


def _is_set(shell: Shell, name: str) -> Status:
    name, _, subscript = name.removesuffix("]").partition("[")
    if not name.isidentifier():
        return 1
    value = find(shell, name) if subscript in ("@", "*") else get(shell, name, subscript or None)
    return value if isinstance(value, Unknown) else int(value is None)


def file_test(shell: Shell, operator: str, name: str) -> Status:
    """Return the status of a test of a file, as far as the files beside the script tell."""
    why = Unknown(reason=f"whether {operator} {name} holds depends on the machine", line=shell.line)
    path = shell.path(name) if name else ()
    if operator == "-t" or isinstance(path, Unknown):
        return why
    content = shell.folder.content(path) if name else None
    folder = bool(name) and shell.folder.is_folder(path)
    if content is None and not folder:
        return 1
    known = {"-e": True, "-a": True, "-f": not folder, "-d": folder, "-r": True}
    if operator == "-s" and isinstance(content, bytes):
        return int(not content)
    return int(not known[operator]) if operator in known else why


def binary(shell: Shell, operator: str, unknown: Text, other: Text, *, computes: bool = False) -> Status:
    """Return the status of a comparison; `computes` is for `[[`, where numbers may be expressions."""
    outcome = unknown if isinstance(unknown, Outcome) else other
    if isinstance(outcome, Outcome) and "0" in (unknown, other) and operator in _EQUAL | _UNEQUAL:
        return outcome if operator in _EQUAL else negated(outcome)
    if isinstance(unknown, Unknown) or isinstance(other, Unknown):
        return _compare_unknown(operator, unknown, other)
    if operator in ("=", "==", "!="):
        return int((unknown == other) == (operator == "!="))
    if operator in ("<", ">"):
        return _ordered(shell, operator, unknown, other)
    if operator in _NUMBERS:
        return _numbers(shell, operator, unknown, other, computes=computes)
    return Unknown(
        reason=f"whether {unknown} {operator} {other} holds depends on the machine", line=shell.line
    )


def _compare_unknown(operator: str, text: Text, other: Text) -> Status:
    """Decide a comparison of texts that are certainly the same, or certainly begin differently."""
    why = text if isinstance(text, Unknown) else other
    assert isinstance(why, Unknown)
    if operator not in ("=", "==", "!="):
        return why
    if isinstance(text, ScriptName) and isinstance(other, ScriptName):
        return int(operator == "!=")
    return int(operator != "!=") if _differ(text, other) else why


def _differ(text: Text, other: Text) -> bool:
    starts = [value.prefix if isinstance(value, Unknown) else value for value in (text, other)]
    known = [not isinstance(value, Unknown) for value in (text, other)]
    size = min(len(start) for start in starts)
    differ = starts[0][:size] != starts[1][:size]
    too_short = any(
        sure and len(start) < len(starts[1 - place])
        for place, (sure, start) in enumerate(zip(known, starts, strict=True))
    )
    return differ or too_short


def _ordered(shell: Shell, operator: str, name: str, other: str) -> Status:
    plain = (name + other).isascii() and (name + other).isalnum() and (name + other).lower() == name + other
    if not plain:
        return Unknown(reason="the order of texts depends on the machine's locale", line=shell.line)
    return int(not (name < other if operator == "<" else name > other))


def _numbers(shell: Shell, operator: str, name: str, other: str, *, computes: bool) -> Status:
    numbers = [calculate(shell, text) if computes else _plain_number(text) for text in (name, other)]
    for number in numbers:
        if isinstance(number, Unknown):
            return number
    first, second = numbers
    if not isinstance(first, int) or not isinstance(second, int):
        return _ERROR
    return int(not _NUMBERS[operator](first, second))


def _plain_number(text: str) -> int | None:
    digits = text.strip(" \t\n")
    bare = digits[1:] if digits[:1] in ("-", "+") else digits
    # Longer numbers do not fit 64 bits, and bash says that they are none.
    return int(digits) if bare.isdecimal() and bare.isascii() and len(bare) < 19 else None  # noqa: PLR2004 — as said above
