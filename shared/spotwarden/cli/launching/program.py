"""The program's own file: one that the VM will not have is found before anything is sent."""

import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

import click

from spotwarden.cli.launching.asked import LaunchRequest
from spotwarden.cli.launching.commanded import LaunchProgram, program_of
from spotwarden.cli.launching.ignoring import is_left_out

ALIKE = 0.75
"""How much of a name must be right for another to be meant, from 0 to 1."""
MOST = 5
"""So many names that are near are looked at: the nearest may be left out of what is sent."""
SHORTEST = 4
"""Of shorter names a letter more or less is another name."""
_EXEC = "begin the command with exec"


def check_program(asked: LaunchRequest) -> None:
    """Refuse a program that is not in the folder that is sent: mistyped, left out, or outside of it.

    What the setup may make, or container flags may bring, is not looked for, and neither is a file or a
    module that the image may have: there must be one here that is meant.

    Raises:
        UsageError: says why the VM would not have it, and names the file that may be meant.
    """
    program = program_of(asked.command)
    if not program or asked.setup or asked.container_flags or asked.code is None or not asked.code.is_dir():
        return
    code = asked.code.resolve()
    problem = _of_module(program, code, asked) if program.is_module else _of_file(program.said, code, asked)
    if problem:
        raise click.UsageError(problem)


def _of_file(file: str, code: Path, asked: LaunchRequest) -> str:
    """What is wrong with a file; "" where nothing is, or where nobody can know."""
    path = Path(os.path.normpath(code / file))
    if not path.is_relative_to(code):
        return "" if Path(file).is_absolute() or not path.is_file() else _outside(file, code)
    if Path(file).is_absolute():
        there = path.is_file() and not asked.container
        return _elsewhere(file, path.relative_to(code).as_posix()) if there else ""
    # A link may lead to what only the VM has.
    if os.path.lexists(path):
        return _left_out(file, path, code, asked)
    if not path.parent.resolve().is_relative_to(code):
        return ""
    names = {beside.stem: beside for beside in _beside(path) if beside.suffix == path.suffix}
    if (meant := _first_sent(_alike(path.stem, names), names, code, asked)) is None:
        return ""
    near = str(Path(file).with_name(meant.name))
    return _mistyped(file, code, near, "made", left_out=_left_out(near, meant, code, asked))


def _of_module(program: LaunchProgram, code: Path, asked: LaunchRequest) -> str:
    """What is wrong with a module; below a package that is in the code, it is as a file is."""
    *above, name = program.said.split(".")
    for number, part in enumerate([*above, name]):
        folder = code.joinpath(*program.said.split(".")[:number])
        found = next((path for path in (folder / f"{part}.py", folder / part) if os.path.lexists(path)), None)
        if found is not None:
            if problem := _left_out(program.said, found, code, asked):
                return problem
            continue
        names = {
            beside.stem: beside
            for beside in _beside(folder / part)
            if beside.suffix == ".py" or (beside.is_dir() and (beside / "__init__.py").exists())
        }
        near = _alike(part, names) if number else _one_letter_off(part, names, code, asked)
        if (meant := _first_sent(near, names, code, asked)) is None:
            return ""
        parts = [*program.said.split(".")[:number], meant.stem, *program.said.split(".")[number + 1 :]]
        said, left_out = ".".join(parts), _left_out(".".join(parts), meant, code, asked)
        return _mistyped(f"the module {program.said}", code, said, "installed", left_out=left_out)
    return ""


def _first_sent(
    near: Sequence[str], names: Mapping[str, Path], code: Path, asked: LaunchRequest
) -> Path | None:
    """Of names that are near, the first that is sent; the first of all where none is."""
    found = [names[name] for name in near]
    return next((path for path in found if not _left_out("", path, code, asked)), next(iter(found), None))


def _mistyped(said: str, code: Path, meant: str, comes: str, *, left_out: str) -> str:
    if left_out:
        return f"{said} is not in the folder that is sent, {code}. If {meant} is meant:\n{left_out}"
    return (
        f"{said} is not in the folder that is sent, {code}.\n"
        f"Did you mean {meant}? If {said} is {comes} on the VM, {_EXEC}"
    )


def _elsewhere(file: str, inside: str) -> str:
    return f"{file} has another path on the VM. Write {inside}; if the VM has its own, {_EXEC}"


def _outside(file: str, code: Path) -> str:
    return (
        f"{file} is outside of the folder that is sent, {code}: the VM will not have it.\n"
        f"Send a folder that holds it with --code, and name it from there. If the VM has its own, {_EXEC}"
    )


def _left_out(said: str, path: Path, code: Path, asked: LaunchRequest) -> str:
    inputs = [given.local.resolve() for given in asked.inputs if given.local is not None]
    if not is_left_out(code, path, inputs):
        return ""
    return (
        f"{said} is in {code}, and it is left out of what is sent (.gitignore, .spotwardenignore, caches,"
        f" inputs): the VM will not have it.\nTo send it, write !{path.relative_to(code).as_posix()} into"
        f" .spotwardenignore. If the VM has its own, {_EXEC}"
    )


def _beside(path: Path) -> Iterator[Path]:
    """What is in the folder of a path, in the order of names; nothing where there is no such folder."""
    with suppress(OSError):
        yield from sorted(path.parent.iterdir())


def _alike(name: str, names: Collection[str]) -> list[str]:
    """The names that are almost the same, the nearest first."""
    return get_close_matches(name, names, n=MOST, cutoff=ALIKE)


def _one_letter_off(name: str, names: Collection[str], code: Path, asked: LaunchRequest) -> list[str]:
    """The names that differ by two letters swapped, or by one, where no installed module can be meant."""
    if asked.container or name in sys.stdlib_module_names or len(name) < SHORTEST:
        return []
    with suppress(OSError, UnicodeDecodeError):
        if name in (code / "requirements.txt").read_text(encoding="utf-8"):
            return []
    return [other for other in sorted(names) if _is_slip(name, other)]


def _is_slip(name: str, other: str) -> bool:
    """Whether one letter is another, two are swapped, or one in the middle is missing or too many."""
    if len(name) == len(other):
        differ = [number for number, pair in enumerate(zip(name, other, strict=True)) if len({*pair}) > 1]
        swapped = len(differ) == 2 and sorted(name) == sorted(other) and differ[1] == differ[0] + 1  # noqa: PLR2004 — a swap is of two
        return len(differ) == 1 or swapped
    short, long = sorted((name, other), key=len)
    within = range(1, len(long) - 1)
    return len(long) - len(short) == 1 and any(long[:at] + long[at + 1 :] == short for at in within)
