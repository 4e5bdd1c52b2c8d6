"""The program's own file: a mistyped name is found before anything is sent."""

import shlex
from difflib import get_close_matches
from pathlib import Path

import click

from spotwarden.cli.launching.asked import LaunchRequest

INTERPRETERS = ("python", "python3", "bash", "sh", "torchrun")
ALIKE = 0.75
"""How much of a name must be right for another to be meant, from 0 to 1."""


def check_program(asked: LaunchRequest) -> None:
    """Refuse `python FILE` where the folder that is sent lacks it, and has one of almost the same name.

    What the setup may make is not looked for.

    Raises:
        UsageError: names the folder, and the file that may be meant.
    """
    file = _file_of(asked.command)
    if not file or asked.setup or asked.code is None or not asked.code.is_dir():
        return
    path = asked.code / file
    if path.exists() or not path.parent.is_dir():
        return
    there = {
        beside.stem: beside.name for beside in sorted(path.parent.iterdir()) if beside.suffix == path.suffix
    }
    if near := get_close_matches(path.stem, there, n=1, cutoff=ALIKE):
        meant = Path(file).with_name(there[near[0]])
        raise click.UsageError(
            f"{file} is not in the folder that is sent, {asked.code.resolve()}.\n"
            f"Did you mean {meant}? If {file} is made on the VM, begin the command with exec"
        )


def _file_of(command: tuple[str, ...]) -> str:
    """The script that an interpreter runs, by its path in the code; "" where that can't be told."""
    try:
        words = shlex.split(command[0]) if len(command) == 1 else [*command]
    except ValueError:
        return ""
    match words:
        case [interpreter, file, *_] if interpreter in INTERPRETERS and file.endswith((".py", ".sh")):
            return "" if file.startswith(("-", "/", "~")) or "$" in file else file
    return ""
