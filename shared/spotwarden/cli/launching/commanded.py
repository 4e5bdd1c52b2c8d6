"""Which file or module of the code a command runs, as far as that can be told from its words."""

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

_PYTHON = re.compile(r"python(3(\.\d+)?)?")
_SHELLS = ("bash", "sh")
_LAUNCHERS = ("torchrun", "deepspeed")
_LAUNCHER_MODULES = ("torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch")
_RUNNERS = ("uv", "poetry", "pdm", "pipenv")
_FILES = (".py", ".sh")
_OTHER_NAME = frozenset("$`*?[{")
"""With one of these a shell makes another name of it."""
_PYTHON_VALUES = ("-W", "-X")
_UV_VALUES = frozenset(
    {
        "-p",
        "--python",
        "-w",
        "--with",
        "--with-editable",
        "--with-requirements",
        "--extra",
        "--group",
        "--only-group",
        "--no-group",
        "--env-file",
        "--project",
        "--package",
        "--no-extra",
        "--index",
        "--default-index",
        "-i",
        "--index-url",
        "--find-links",
        "-f",
        "--config-file",
        "--cache-dir",
        "-P",
        "--upgrade-package",
        "--refresh-package",
        "--resolution",
        "--prerelease",
    }
)
"""Options of `uv run` that take a value (uv's reference of its commands)."""


class LaunchProgram(NamedTuple):
    """What a command runs: a file as it was typed, or a module by its dotted name."""

    said: str
    is_module: bool = False


def program_of(command: Sequence[str]) -> LaunchProgram | None:
    """What it runs; None where that can't be told, or where it is no Python or shell program.

    One word alone is a line for a shell; several words run as they are.
    """
    return _of_line(command[0]) if len(command) == 1 else _of([*command])


def _of_line(line: str) -> LaunchProgram | None:
    """What the first command of a shell's line runs."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split, words.commenters = True, ""
    first: list[str] = []
    try:
        for word in words:
            if set(word) <= set("();<>|&"):
                break
            if first or not re.match(r"[A-Za-z_]\w*=", word):
                first.append(word)
    except ValueError:
        return None
    found = _of(first)
    return None if found and _OTHER_NAME.intersection(found.said) else found


def _of(words: Sequence[str]) -> LaunchProgram | None:
    """What a command runs whose words no shell reads any more."""
    tool = PurePosixPath(words[0]).name if words else ""
    rest, found = words[1:], None
    if _PYTHON.fullmatch(tool):
        found = _of_python(rest)
    elif tool in _SHELLS:
        found = _of_shell(rest)
    elif tool in _LAUNCHERS:
        found = _of_launcher(rest)
    elif tool == "accelerate" and rest[:1] == ["launch"]:
        found = _of_launcher(rest[1:])
    elif tool in _RUNNERS and rest[:1] == ["run"]:
        found = _of_runner(rest[1:], is_uv=tool == "uv")
    return found


def _of_python(words: Sequence[str]) -> LaunchProgram | None:
    match words:
        case ["-m", module, *rest]:
            return _of_launcher(rest) if module in _LAUNCHER_MODULES else _module(module)
        case [option, _, *rest] if option in _PYTHON_VALUES:
            return _of_python(rest)
        case [option, *rest] if option.startswith("-") and "c" not in option and len(option) > 1:
            return _of_python(rest)
    return _file(words)


def _of_shell(words: Sequence[str]) -> LaunchProgram | None:
    match words:
        case [option, line, *_] if option.startswith("-") and not option.startswith("--") and "c" in option:
            return _of_line(line)
        case [option, _, *rest] if re.fullmatch(r"-\w*[oO]", option):
            return _of_shell(rest)
        case [option, *rest] if option.startswith("-"):
            return _of_shell(rest)
    return _file(words)


def _of_launcher(words: Sequence[str]) -> LaunchProgram | None:
    """The first Python file, or the module after -m: which options take a value differs by version."""
    before = "program"
    for number, word in enumerate(words):
        if word in ("-m", "--module"):
            return _module(next(iter(words[number + 1 :]), ""))
        if word in ("--no-python", "--no_python"):
            return None
        if word.endswith(".py") and not word.startswith("-"):
            return _file([word])
        if not word.startswith("-") and not before.startswith("-"):
            return None
        before = word
    return None


def _of_runner(words: Sequence[str], *, is_uv: bool) -> LaunchProgram | None:
    match words:
        case ["-m" | "--module", module, *_] if is_uv:
            return _module(module)
        case [option, _, *rest] if is_uv and option in _UV_VALUES:
            return _of_runner(rest, is_uv=is_uv)
        case ["--directory", *_]:
            return None
        case [option, *rest] if option.startswith("-") and not option.startswith("--directory="):
            return _of_runner(rest, is_uv=is_uv)
        case [file, *_] if is_uv and file.endswith(".py"):
            return _file(words)
    return _of(words)


def _file(words: Sequence[str]) -> LaunchProgram | None:
    if words and words[0].endswith(_FILES) and not words[0].startswith(("-", "~")):
        return LaunchProgram(words[0])
    return None


def _module(name: str) -> LaunchProgram | None:
    dotted = all(part.isidentifier() for part in name.split(".")) and not name.endswith(_FILES)
    return LaunchProgram(name, is_module=True) if dotted else None
