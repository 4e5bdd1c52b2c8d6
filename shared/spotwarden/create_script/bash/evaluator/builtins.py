"""bash's own commands, by name."""

from collections.abc import Callable

from spotwarden.create_script.bash.evaluator import flow, inputs, options, places
from spotwarden.create_script.bash.evaluator.brackets import test_status
from spotwarden.create_script.bash.evaluator.formats import printf
from spotwarden.create_script.bash.evaluator.getopts import getopts
from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.memory import calculate
from spotwarden.create_script.bash.evaluator.values import Outcome, Status
from spotwarden.create_script.bash.reader.commands import DECLARATIONS
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import ExpandedWord, Unknown

Builtin = Callable[[Shell, list[ExpandedWord]], Status]
DECLARING = DECLARATIONS


def _true(_: Shell, __: list[ExpandedWord]) -> Status:
    return 0


def _false(_: Shell, __: list[ExpandedWord]) -> Status:
    return 1


def _taken(shell: Shell, words: list[ExpandedWord]) -> Status:
    """Succeed as far as one can know."""
    return Outcome(reason=f"whether `{words[0].value}` succeeds depends on the machine", line=shell.line)


def _bracket(shell: Shell, words: list[ExpandedWord]) -> Status:
    if words[-1].value != "]":
        return 2
    return test_status(shell, [word.value for word in words[1:-1]])


def _test(shell: Shell, words: list[ExpandedWord]) -> Status:
    return test_status(shell, [word.value for word in words[1:]])


def _let(shell: Shell, words: list[ExpandedWord]) -> Status:
    value: int | Unknown = 0
    for word in words[1:]:
        value = calculate(shell, word.value)
    return value if isinstance(value, Unknown) else int(value == 0)


def _refused(shell: Shell, words: list[ExpandedWord]) -> Status:
    raise ScriptRefused(f"`{words[0].value}` is not supported", line=shell.line)


BUILTINS: dict[str, Builtin] = {
    **dict.fromkeys(
        (
            ":",
            "true",
            "echo",
            "hash",
            "ulimit",
            "umask",
            "times",
            "history",
            "bind",
            "complete",
            "compopt",
            "compgen",
            "disown",
            "jobs",
            "suspend",
            "logout",
            "fg",
            "bg",
            "alias",
            "unalias",
        ),
        _true,
    ),
    **dict.fromkeys(("kill", "type", "wait", "caller", "help"), _taken),
    **dict.fromkeys(("enable", "fc"), _refused),
    "false": _false,
    "[": _bracket,
    "test": _test,
    "let": _let,
    "printf": printf,
    "read": inputs.read,
    "mapfile": inputs.mapfile,
    "readarray": inputs.mapfile,
    "getopts": getopts,
    "cd": places.change,
    "pushd": places.push,
    "popd": places.pop,
    "dirs": _true,
    "pwd": _true,
    "set": options.set_options,
    "shopt": options.shopt,
    "unset": options.unset,
    "shift": options.shift,
    "trap": flow.trap,
    "break": flow.leave_loop,
    "continue": flow.leave_loop,
    "return": flow.leave_function,
    "exit": flow.leave_shell,
    "eval": flow.evaluate,
    "source": flow.source,
    ".": flow.source,
    "exec": flow.execute,
    "command": flow.command,
    "builtin": flow.builtin,
}
