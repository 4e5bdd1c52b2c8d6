"""The program's own file: a mistyped name is found before anything is sent."""

import os
import shlex
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

import click

from spotwarden.cli.launching.asked import LaunchRequest

INTERPRETERS = ("python", "python3", "bash", "sh", "torchrun")
ALIKE = 0.75
"""How much of a name must be right for another to be meant, from 0 to 1."""
_SHELL = frozenset("$`*?[{")
"""With one of these a shell makes another name of it."""


def check_program(asked: LaunchRequest) -> None:
    """Refuse `python FILE` where the folder that is sent lacks it, and has one of almost the same name.

    What the setup may make, or container flags may bring, is not looked for.

    Raises:
        UsageError: names the folder, and the file that may be meant.
    """
    file = _file_of(asked.command)
    if not file or asked.setup or asked.container_flags or asked.code is None or not asked.code.is_dir():
        return
    if name := _meant(asked.code, file):
        raise click.UsageError(
            f"{file} is not in the folder that is sent, {asked.code.resolve()}.\n"
            f"Did you mean {Path(file).with_name(name)}? "
            f"If {file} is made on the VM, begin the command with exec"
        )


def _meant(code: Path, file: str) -> str:
    """The file beside a missing one that has almost its name; "" for none, and outside of the code."""
    path = code / file
    # A link may lead to what only the VM has.
    if os.path.lexists(path) or not Path(os.path.realpath(path)).is_relative_to(code.resolve()):
        return ""
    with suppress(OSError):
        there = {
            beside.stem: beside.name
            for beside in sorted(path.parent.iterdir())
            if beside.suffix == path.suffix and beside.is_file()
        }
        return next((there[near] for near in get_close_matches(path.stem, there, n=1, cutoff=ALIKE)), "")
    return ""


def _file_of(command: tuple[str, ...]) -> str:
    """The script that an interpreter runs, by its path in the code; "" where that can't be told."""
    line = command[0] if len(command) == 1 else ""
    try:
        words = shlex.split(line) if line else [*command]
    except ValueError:
        return ""
    match words:
        case [interpreter, file, *_] if interpreter in INTERPRETERS and file.endswith((".py", ".sh")):
            other = file.startswith(("-", "/", "~")) or (line and _SHELL.intersection(file))
            return "" if other else file
    return ""
