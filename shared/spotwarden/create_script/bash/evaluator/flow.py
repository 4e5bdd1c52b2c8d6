"""Builtins that leave, jump, or run other commands."""

import re
from collections.abc import Callable

from spotwarden.create_script.bash.evaluator.frames import Leave
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.programs import run_program
from spotwarden.create_script.bash.evaluator.redirects import read_file
from spotwarden.create_script.bash.evaluator.values import Outcome, Status, Text
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import ExpandedWord, Unknown

_RUNS_BEFORE_COMMANDS = frozenset(["DEBUG", "RETURN"])
_EXEC_OPTION = re.compile(r"-[cl]+")
_FAILED = 2


def _number(shell: Shell, words: list[ExpandedWord], default: Status) -> Status:
    if len(words) == 1:
        return default
    value = words[1].value
    if isinstance(value, Unknown):
        return value
    if not re.fullmatch(r"-?\d{1,9}", value, re.ASCII):
        raise ScriptRefused(f"`{words[0].value} {value}` has no number", line=shell.line)
    return int(value)


def leave_loop(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `break` or `continue`; outside a loop they do nothing."""
    levels = _number(shell, words, 1)
    if isinstance(levels, Unknown) or levels < 1:
        raise ScriptRefused(f"`{words[0].value}` has no number of loops", line=shell.line)
    for frame in reversed(shell.frames):
        if frame.kind == "loop":
            raise Leave(str(words[0].value), 0, levels)
        if frame.kind in ("function", "shell"):
            break
    return 0


def leave_function(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `return`; outside a function and a sourced file bash only complains."""
    status = _exit_status(_number(shell, words, shell.state.status))
    for frame in reversed(shell.frames):
        if frame.kind == "function":
            raise Leave("function", status)
        if frame.kind == "shell":
            break
    return _FAILED


def leave_shell(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `exit`."""
    status = _exit_status(_number(shell, words, shell.state.status))
    shell.note(
        f"the script exits here with status {status}" if isinstance(status, int) else "the script exits here",
        shell.line,
    )
    raise Leave("shell", status)


def _exit_status(status: Status) -> Status:
    return status if isinstance(status, Unknown) else status % 256


def trap(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `trap`: remember what runs at the end, and after a failure; no signal ever comes."""
    values: list[Text] = [word.value for word in words[1:] if word.value != "--"]
    if len(values) < 2:  # noqa: PLR2004 — a text and a signal; else it only prints or resets
        return 0
    text, names = values[0], [str(value).upper().removeprefix("SIG") for value in values[1:]]
    if isinstance(text, str) and text in ("", "-", ":"):
        for name in names:
            shell.state.traps.pop(_signal(name), None)
        return 0
    for name in names:
        shell.budget.items(1)
        if name in _RUNS_BEFORE_COMMANDS:
            raise ScriptRefused(f"a trap for {name} runs commands between all others", line=shell.line)
        shell.state.traps[_signal(name)] = text
    return 0


def _signal(name: str) -> str:
    return "EXIT" if name == "0" else name


def evaluate(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `eval`.

    Raises:
        Refused: what it would run is not known.
    """
    texts = []
    for word in words[1:]:
        shell.budget.pieces()
        if isinstance(word.value, Unknown):
            raise ScriptRefused(f"`eval` runs an unknown value: {word.value.reason}", line=word.line)
        texts.append(word.value)
    shell.state.status = 0
    shell.programs.text(shell, " ".join(texts), shell.line)
    return shell.state.status


def source(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `source`: the commands of a file beside the script.

    Raises:
        Refused: the file is not one that is stored with the script.
    """
    if len(words) == 1:
        return _FAILED
    name = words[1].value
    text, there = read_file(shell, name)
    if isinstance(text, Unknown):
        raise ScriptRefused(f"`source` reads an unknown file: {text.reason}", line=shell.line)
    if not there:
        raise ScriptRefused(f"`source` reads {name}, which is not stored beside the script", line=shell.line)
    arguments = [word.value for word in words[2:]]
    before = shell.state.positional
    if arguments:
        shell.state.positional = tuple(arguments)
    try:
        _in_file(str(name), lambda: shell.framed("function", lambda _: shell.programs.text(shell, text, 1)))
    except Leave as leave:
        if leave.kind != "function":
            raise
        shell.state.status = leave.status
    if arguments:
        shell.state.positional = before
    return shell.state.status


def _in_file(name: str, body: Callable[[], None]) -> None:
    try:
        body()
    except ScriptRefused as error:
        if error.file or not error.line:
            raise
        raise ScriptRefused(error.reason, line=error.line, file=name) from error


def execute(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `exec` with a command: nothing of the script runs after it."""
    rest = words[1:]
    while (
        rest
        and isinstance(rest[0].value, str)
        and (rest[0].value == "-a" or _EXEC_OPTION.fullmatch(rest[0].value))
    ):
        shell.budget.text(len(rest))
        rest = rest[2:] if rest[0].value == "-a" else rest[1:]
    status = run_program(shell, rest) if rest else 0
    shell.note("`exec` ends the script here", shell.line)
    raise Leave("shell", status)


def command(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `command`: a program or builtin even if a function has its name; or ask where it is."""
    rest = words[1:]
    asks = False
    while rest and rest[0].value in ("-p", "-v", "-V", "-pv", "-pV", "--"):
        shell.budget.text(len(rest))
        asks = asks or "v" in str(rest[0].value).lower()
        rest = rest[1:]
    if not rest:
        return 0
    if asks:
        return _is_there(shell, rest[0].value)
    return builtin(shell, [words[0], *rest])


def _is_there(shell: Shell, name: Text) -> Status:
    from spotwarden.create_script.bash.evaluator.builtins import BUILTINS  # noqa: PLC0415 — the table that holds this function

    if isinstance(name, str) and (name in BUILTINS or name in shell.state.functions):
        return 0
    return Outcome(reason=f"whether {name} is installed depends on the machine", line=shell.line)


def builtin(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Run `builtin`: a builtin in spite of a function of that name."""
    from spotwarden.create_script.bash.evaluator.builtins import BUILTINS  # noqa: PLC0415 — the table that holds this function

    shell.budget.text(len(words))
    rest = words[1:]
    if not rest:
        return 0
    known = BUILTINS.get(str(rest[0].value))
    return run_program(shell, rest) if known is None else known(shell, rest)
