"""Reading a gcloud command line: the command, its flags, its arguments."""

import difflib
from collections.abc import Mapping
from typing import NamedTuple, NoReturn

from localcloud.standins.cli.command import GLOBAL, SWITCH, VALUE, YES_NO, Command, Flags, Path
from localcloud.standins.transport import give_up

USAGE = 2
TRACKS = ("alpha", "beta")


class Line(NamedTuple):
    """A command line that was understood."""

    path: Path
    flags: dict[str, str]
    arguments: list[str]


def read(words: list[str], commands: Mapping[Path, Command]) -> Line:
    """Read a command line; ends with gcloud's error and status 2 for one that is wrong or not known here."""
    rest = list(words)
    flags: dict[str, str] = {}
    path = _read_path(rest, flags, commands)
    command = commands[path]
    known = {**GLOBAL, **command.flags}
    arguments: list[str] = []
    while rest:
        word = rest.pop(0)
        if word == "--":
            arguments += rest
            break
        if word.startswith("-") and word != "-":
            _take_flag(word, rest, flags, known, path)
        else:
            arguments.append(word)
    _check_count(arguments, command, path)
    return Line(path, flags, arguments)


def _read_path(rest: list[str], flags: dict[str, str], commands: Mapping[Path, Command]) -> Path:
    path: Path = ()
    while path not in commands:
        if not rest:
            _refuse(path, "Command name argument expected.\n" + _known(path, commands))
        word = rest.pop(0)
        if word.startswith("-"):
            _take_flag(word, rest, flags, GLOBAL, path)
        elif path or word not in TRACKS:
            if not any(known[: len(path) + 1] == (*path, word) for known in commands):
                _refuse(path, f"Invalid choice: '{word}'.\n{_known(path, commands)}")
            path = (*path, word)
    return path


def _take_flag(word: str, rest: list[str], flags: dict[str, str], known: Flags, path: Path) -> None:
    name, equals, value = word.partition("=")
    kind = known.get(name)
    if kind is None:
        _refuse(path, f"unrecognized arguments: {word}{_nearest(name, known)}")
    if kind == SWITCH and equals:
        _refuse(path, f"argument {name}: ignored explicit argument '{value}'")
    if kind == VALUE and not equals:
        if not rest:
            _refuse(path, f"argument {name}: expected one argument")
        value = rest.pop(0)
    if kind == YES_NO:
        value = value.lower() if equals else "true"
        if value not in ("true", "false"):
            _refuse(path, f"argument {name}: Invalid flag value [{value}], expected one of [true, false].")
    flags[name] = value


def _check_count(arguments: list[str], command: Command, path: Path) -> None:
    if len(arguments) < command.least:
        _refuse(path, f"argument {command.noun}: Must be specified.")
    if len(arguments) > command.most:
        _refuse(path, f"unrecognized arguments: {' '.join(arguments[command.most :])}")


def _nearest(name: str, known: Flags) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean '{near[0]}'?)" if near else ""


def _known(path: Path, commands: Mapping[Path, Command]) -> str:
    below = sorted({known[len(path)] for known in commands if known[: len(path)] == path})
    return f"The local cloud's stand-in for gcloud knows here: {', '.join(below)}"


def _refuse(path: Path, message: str) -> NoReturn:
    give_up(f"ERROR: ({'.'.join(('gcloud', *path))}) {message}", USAGE)
