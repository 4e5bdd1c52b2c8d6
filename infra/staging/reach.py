"""What a file can reach by its imports: our own files, and the packages of others that these name.

Read from the source, never by running it. An import inside of a function counts like any other: it is only
made later. A package brings its `__init__.py`, and what that imports.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

OURS = "spotwarden"


class Reach(NamedTuple):
    """Files of ours, below the folder of packages; modules of others, as they are imported."""

    files: frozenset[Path]
    others: frozenset[str]


def reach(entry: Path, packages: Path) -> Reach:
    """Everything that `entry` can come to import, of the packages that stand in a folder.

    Raises:
        SystemExit: a module of ours is imported that is not there.
    """
    files: set[Path] = set()
    others: set[str] = set()
    waiting = [entry]
    while waiting:
        for name, wanted in _imports(waiting.pop()):
            if not _is_ours(name):
                others.add(name)
                continue
            new = set(_files(name, wanted, packages)) - files
            files |= new
            waiting += sorted(packages / path for path in new)
    return Reach(frozenset(files), frozenset(others - set(sys.stdlib_module_names)))


@cache
def _imports(file: Path) -> tuple[tuple[str, str], ...]:
    """What `_found` finds; most functions reach most of the same files."""
    return tuple(_found(file))


def _found(file: Path) -> Iterator[tuple[str, str]]:
    """Each module that is imported, with the name that is taken from it ("" for the module itself)."""
    for node in ast.walk(ast.parse(file.read_bytes(), filename=str(file))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield (alias.name if _is_ours(alias.name) else _top(alias.name)), ""
        elif isinstance(node, ast.ImportFrom):
            if node.level or node.module is None:
                sys.exit(f"{file}:{node.lineno}: a relative import; the house has none")
            for alias in node.names:
                if _is_ours(node.module):
                    yield node.module, alias.name
                else:
                    yield _top(node.module), ""


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == OURS


def _top(module: str) -> str:
    """What somebody installs: the first part of a name, of Google's two or three."""
    parts = module.split(".")
    return ".".join(parts[: 3 if parts[:2] == ["google", "cloud"] else 2 if parts[0] == "google" else 1])


def _files(module: str, wanted: str, packages: Path) -> Iterator[Path]:
    """The files that Python reads for one import: each package on the way, the module, and a module in it."""
    parts = module.split(".")
    for count in range(1, len(parts)):
        yield Path(*parts[:count], "__init__.py")
    found = _module(parts, packages)
    if found is None:
        sys.exit(f"{module} is imported and not there")
    yield found
    if wanted and (inner := _module([*parts, wanted], packages)):
        yield inner


def _module(parts: list[str], packages: Path) -> Path | None:
    """The file of a module or a package."""
    for path in (Path(*parts).with_suffix(".py"), Path(*parts, "__init__.py")):
        if (packages / path).is_file():
            return path
    return None
