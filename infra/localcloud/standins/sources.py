"""What the arguments of a copy stand for: files, objects, folders of either, wildcards."""

import glob
import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from localcloud.standins import gs
from localcloud.standins.bucket import Storage
from localcloud.standins.gs import Address

STDIO = "-"

Place = Address | str
"""An object, or the path of a file; `-` is standard input or output."""


class Item(NamedTuple):
    """One file or object, and its name seen from the folder that was named (for one alone: its last part)."""

    place: Place
    relative: str


class Source(NamedTuple):
    """One thing that an argument stands for; `base` is its last part, "" where only its content is meant."""

    items: list[Item]
    base: str
    is_folder: bool


class Found(NamedTuple):
    """What arguments stand for, and those that stand for nothing."""

    sources: list[Source]
    missing: list[str]


class Finder:
    """Looks arguments up. Folders count only with `recursive`; `omit` is told of the others."""

    def __init__(self, storage: Storage, *, recursive: bool, omit: Callable[[str], None]) -> None:
        self._storage = storage
        self._recursive = recursive
        self._omit = omit

    def find(self, arguments: Iterable[str]) -> Found:
        """Look up all arguments; raises `BadAddress` for one that is not a name."""
        sources: list[Source] = []
        missing: list[str] = []
        for argument in arguments:
            found = self._remote(gs.parse(argument)) if gs.is_remote(argument) else self._local(argument)
            sources += found
            if not found:
                missing.append(argument)
        return Found(sources, missing)

    def _remote(self, address: Address) -> list[Source]:
        if address.is_wild:
            return self._matches(address)
        if address.name and (stored := self._storage.stat(address)):
            return [_single(stored.address, stored.address.name)]
        return self._folder(address)

    def _matches(self, pattern: Address) -> list[Source]:
        objects, folders = match(self._storage, pattern)
        found = [_single(address, address.name) for address in objects]
        for folder in folders:
            found += self._folder(folder)
        return found

    def _folder(self, address: Address) -> list[Source]:
        inside = address if address.is_folder else Address(address.bucket, f"{address.name}/")
        if not self._storage.is_folder(inside):
            return []
        if not self._recursive:
            self._omit(str(inside))
            return []
        items = [
            Item(stored.address, stored.address.name.removeprefix(inside.name))
            for stored in self._storage.below(inside)
            if not stored.address.name.endswith("/")
        ]
        return [Source(items, inside.name.rstrip("/").rpartition("/")[2] or inside.bucket, is_folder=True)]

    def _local(self, path: str) -> list[Source]:
        if path == STDIO:
            return [Source([Item(STDIO, "")], "", is_folder=False)]
        paths = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
        return [source for name in paths for source in self._local_one(name)]

    def _local_one(self, path: str) -> list[Source]:
        if not os.path.isdir(path):
            return [_single(path, path)]
        if not self._recursive:
            self._omit(f"file://{path}")
            return []
        items = [Item(os.path.join(path, name), name) for name in files_below(path)]
        base = "" if os.path.basename(path) == "." else os.path.basename(os.path.abspath(path))
        return [Source(items, base, is_folder=True)]


def match(storage: Storage, pattern: Address) -> tuple[list[Address], list[Address]]:
    """The objects and the folders (with a slash) that a pattern matches, each in order of their names."""
    expression = gs.matcher(pattern.name.rstrip("/"))
    objects: list[Address] = []
    folders: dict[str, None] = {}
    for stored in storage.below(Address(pattern.bucket, gs.fixed_part(pattern.name))):
        inside = [folder for folder in gs.folders_of(stored.address.name) if expression.fullmatch(folder)]
        if expression.fullmatch(stored.address.name) and not pattern.name.endswith("/"):
            objects.append(stored.address)
        elif inside:
            folders[inside[0]] = None
    return objects, [Address(pattern.bucket, f"{name}/") for name in folders]


def files_below(folder: str) -> list[str]:
    """The paths of all files below a folder, seen from it, with slashes."""
    found: list[str] = []
    for path, _folders, names in os.walk(folder):
        inside = os.path.relpath(path, folder)
        found += [os.path.normpath(os.path.join(inside, name)).replace(os.sep, "/") for name in names]
    return sorted(found)


def _single(place: Place, name: str) -> Source:
    base = name.rstrip("/").rpartition("/")[2]
    return Source([Item(place, base)], base, is_folder=False)
