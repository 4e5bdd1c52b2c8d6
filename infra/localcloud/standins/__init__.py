"""Commands that virtual machines find first on PATH in place of Google's and of those that need a machine.

They are run from files that `install` writes, start in tens of milliseconds, use the standard library only,
know the local cloud by the environment, and refuse whatever they do not do: none succeeds silently.
"""

import shlex
import sys
from pathlib import Path

COMMANDS = (
    "gcloud",
    "gsutil",
    "halt",
    "hostname",
    "nvidia-smi",
    "poweroff",
    "reboot",
    "shutdown",
    "sudo",
)
"""All of them; each is a module of this package, see `__main__`."""

HERE = Path(__file__).resolve().parent


def install(folder: Path) -> None:
    """Write one executable file for each command; those that are there already stay as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    for command in COMMANDS:
        path = folder / command
        text = (
            f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -I -S {shlex.quote(str(HERE))} {command} "$@"\n'
        )
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            _replace(path, text)


def _replace(path: Path, text: str) -> None:
    """Write a file so that nobody ever runs half of it."""
    fresh = path.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.chmod(0o755)
    fresh.replace(path)
