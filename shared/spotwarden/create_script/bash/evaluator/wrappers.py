"""Commands that only stand in front of another one: `sudo`, `env`, `nohup`, `timeout` and their like."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from spotwarden.create_script.bash.evaluator.machine import Shell
from spotwarden.create_script.bash.evaluator.values import Text
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import ExpandedWord, Unknown


class WrappedCall(NamedTuple):
    """A program with its arguments and environment; `uncertain` names who may change the latter."""

    words: list[ExpandedWord]
    environment: Mapping[str, Text]
    uncertain: str = ""


class _Wrapper(NamedTuple):
    """Options that take a value, and how many words stand between them and the command."""

    valued: str = ""
    operands: int = 0
    assigns: bool = False


_WRAPPERS = {
    "command": _Wrapper(),
    "doas": _Wrapper(valued="uC"),
    "env": _Wrapper(valued="uC", assigns=True),
    "exec": _Wrapper(valued="a"),
    "ionice": _Wrapper(valued="cn"),
    "nice": _Wrapper(valued="n"),
    "nohup": _Wrapper(),
    "setsid": _Wrapper(),
    "stdbuf": _Wrapper(valued="ioe"),
    "sudo": _Wrapper(valued="ugpCrtTUDhR", assigns=True),
    "time": _Wrapper(valued="fo"),
    "timeout": _Wrapper(valued="ks", operands=1),
    "unbuffer": _Wrapper(),
}
_LONG_VALUED = frozenset(
    [
        "--adjustment",
        "--unset",
        "--signal",
        "--kill-after",
        "--user",
        "--group",
        "--chdir",
        "--output",
        "--format",
    ]
)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.ASCII | re.DOTALL)


def unwrap(shell: Shell, words: list[ExpandedWord], environment: dict[str, Text]) -> WrappedCall:
    """Return the command inside its wrappers."""
    uncertain = ""
    while words and isinstance(words[0].value, str):
        shell.budget.text(len(words))
        name = words[0].value.rsplit("/", 1)[-1]
        wrapper = _WRAPPERS.get(name)
        if wrapper is None:
            break
        rest, options = _skip_options(shell, words[1:], wrapper)
        if name == "env" and "-i" in options:
            environment = {}
        if name == "env" and any(option.startswith(("-S", "-u", "--unset", "--split")) for option in options):
            raise ScriptRefused("`env` with -u or -S in front of a command is not supported", line=shell.line)
        if name in ("sudo", "doas") and not any(
            option.startswith(("-E", "--preserve")) for option in options
        ):
            uncertain = name
        words = _skip_assignments(shell, rest, environment) if wrapper.assigns else rest[wrapper.operands :]
    return WrappedCall(words, environment, uncertain)


def _skip_options(
    shell: Shell, words: list[ExpandedWord], wrapper: _Wrapper
) -> tuple[list[ExpandedWord], list[str]]:
    options: list[str] = []
    while words:
        shell.budget.text(len(words))
        value = words[0].value
        if isinstance(value, Unknown):
            if value.prefix.startswith("-") and not value.splits:
                words = words[1:]
                continue
            if value.splits:
                raise ScriptRefused(f"the command itself is unknown: {value.reason}", line=shell.line)
            break
        if not value.startswith("-"):
            break
        words = words[1:]
        options.append(value)
        if value == "--":
            break
        if value in _LONG_VALUED or (value[1:2] != "-" and value[-1] in wrapper.valued and len(value) == 2):  # noqa: PLR2004 — a dash and a letter
            words = words[1:]
    return words, options


def _skip_assignments(
    shell: Shell, words: list[ExpandedWord], environment: dict[str, Text]
) -> list[ExpandedWord]:
    while words:
        shell.budget.text(len(words))
        value = words[0].value
        prefix = value.prefix if isinstance(value, Unknown) else value
        found = _ASSIGNMENT.match(prefix)
        if found is None:
            break
        environment[found.group(1)] = value if isinstance(value, Unknown) else found.group(2)
        words = words[1:]
    return words
