"""A whole script, from its first line to the last that bash reaches."""

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from spotwarden.create_script.bash.evaluator.execute import run_block, run_node
from spotwarden.create_script.bash.evaluator.frames import Leave
from spotwarden.create_script.bash.evaluator.machine import Programs, Shell
from spotwarden.create_script.bash.evaluator.programs import INITIAL_VARIABLES
from spotwarden.create_script.bash.evaluator.simple import run_words
from spotwarden.create_script.bash.evaluator.values import Variable
from spotwarden.create_script.bash.limits import MAX_SCRIPT_BYTES, Budget, nested
from spotwarden.create_script.bash.reader.cursor import Broken
from spotwarden.create_script.bash.reader.lists import open_script, read_lines
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import SimpleCommand, Unknown

_SHEBANG = re.compile(r"#![ \t]*(\S*)(?:[ \t]+(?:-S[ \t]+)?(\S+))?")
_SHELLS = frozenset(["bash", "sh", "dash", "ash", "ksh"])


class ScriptRun(NamedTuple):
    """What a script does: its gcloud commands in order, and remarks on where it stopped or failed.

    `ended` says why bash stops before the last line, if it does.
    """

    commands: tuple[SimpleCommand, ...]
    remarks: tuple[Unknown, ...]
    ended: Unknown | None


def run_script(
    text: bytes, *, files: Mapping[str, bytes], environment: Mapping[str, str], budget: Budget | None = None
) -> ScriptRun:
    """Return what bash would run for the script `text`, started with no arguments in the folder of `files`.

    `budget` is what it may use up; a new one by default.

    Raises:
        Refused: what it would run is not certain, or cannot be followed.
    """
    script = _decoded(text)
    variables = {name: Variable(value=value, exported=True) for name, value in environment.items()}
    variables = INITIAL_VARIABLES | variables
    shell = Shell(programs=_PROGRAMS, files=files, variables=variables, budget=budget or Budget())
    try:
        ended = _run(shell, script)
    except RecursionError as error:
        raise ScriptRefused("the script is nested too deeply", line=shell.line) from error
    return ScriptRun(tuple(shell.commands), tuple(shell.notes), ended)


def _decoded(text: bytes) -> str:
    if len(text) > MAX_SCRIPT_BYTES:
        raise ScriptRefused(f"the script is larger than {MAX_SCRIPT_BYTES} bytes")
    if b"\0" in text:
        raise ScriptRefused("the script has NUL characters; store it as text")
    script = text.decode("utf-8", "surrogateescape")
    found = _SHEBANG.match(script)
    if found is not None:
        _require_shell(found)
    return script


def _require_shell(found: re.Match[str]) -> None:
    path, argument = found.groups()
    name = path.rsplit("/", 1)[-1]
    if name == "env" and argument:
        name = argument.rsplit("/", 1)[-1]
    if name not in _SHELLS:
        raise ScriptRefused(f"the script is written for {name or 'an unnamed program'}, not for bash", line=1)


def _run(shell: Shell, script: str) -> Unknown | None:
    ended = None
    try:
        _run_text(shell, script, 1)
    except Broken as error:
        ended = Unknown(reason=f"bash stops with a syntax error: {error.reason}", line=error.line)
    except Leave:
        ended = shell.notes[-1] if shell.notes else None
    with suppress(Leave):
        shell.run_exit_trap()
    return ended


def _run_text(shell: Shell, text: str, line: int) -> None:
    cursor = open_script(text, shell.budget, line)
    lines = read_lines(cursor)
    while True:
        cursor.extended_patterns = "extglob" in shell.state.options
        block = next(lines, None)
        if block is None:
            return
        run_block(shell, block)


def _run_inner_text(shell: Shell, text: str, line: int) -> None:
    """Run the text of `eval`, of backticks, of a file or of another shell."""
    shell.depth = nested(shell.depth, line)
    try:
        _run_text(shell, text, line)
    except Broken as error:
        raise ScriptRefused(f"syntax error: {error.reason}", line=error.line) from error
    finally:
        shell.depth -= 1


_PROGRAMS = Programs(block=run_block, node=run_node, words=run_words, text=_run_inner_text)
