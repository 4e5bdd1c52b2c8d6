"""What is in a bucket: `ls`, `du`, `stat`."""

import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from localcloud.standins import gs
from localcloud.standins.bucket import Storage, Stored
from localcloud.standins.gs import Address
from localcloud.standins.sources import match

SIZE_WIDTH = 10
INDENT = " " * 34
KIBI = 1024
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


class View(NamedTuple):
    """How to list: with sizes and times, sizes for people, all levels, folders by name instead of content."""

    long: bool
    readable: bool
    recursive: bool
    names_only: bool


class Looker:
    """Prints listings; what was asked for and is not there is collected in `missing`."""

    def __init__(self, storage: Storage, view: View) -> None:
        self._storage = storage
        self._view = view
        self._count = 0
        self._bytes = 0
        self.missing: list[str] = []

    def list_buckets(self, project: str) -> None:
        """Print the project's buckets."""
        for name in self._storage.buckets(project):
            _print(f"gs://{name}/")

    def list(self, arguments: Iterable[str]) -> None:
        """Print what the arguments stand for, then the sum if sizes are wanted."""
        for argument in arguments:
            if not self._list_one(gs.parse(argument)):
                self.missing.append(argument)
        if self._view.long and self._count:
            _print(f"TOTAL: {self._count} objects, {self._bytes} bytes ({human(self._bytes)})")

    def _list_one(self, address: Address) -> bool:
        if address.is_wild:
            return self._list_matches(address)
        if address.name and not address.is_folder and (stored := self._storage.stat(address)):
            self._show(stored)
            return True
        inside = address if address.is_folder else Address(address.bucket, f"{address.name}/")
        if self._view.names_only and self._storage.is_folder(inside):
            self._show_folder(inside)
            return True
        return self._list_content(inside) or not address.name

    def _list_matches(self, pattern: Address) -> bool:
        objects, folders = match(self._storage, pattern)
        for address in objects:
            if stored := self._storage.stat(address):
                self._show(stored)
        for folder in folders:
            if self._view.names_only:
                self._show_folder(folder)
            else:
                self._list_content(folder)
        return bool(objects or folders)

    def _list_content(self, folder: Address) -> bool:
        content = self._storage.list_folder(folder)
        if self._view.recursive:
            _print(f"{folder}:")
        for stored in content.objects:
            self._show(stored)
        for inner in content.folders:
            if self._view.recursive:
                _print("")
                self._list_content(inner)
            else:
                self._show_folder(inner)
        return bool(content.objects or content.folders)

    def _show(self, stored: Stored) -> None:
        self._count += 1
        self._bytes += stored.size
        if not self._view.long:
            _print(str(stored.address))
            return
        size = human(stored.size) if self._view.readable else str(stored.size)
        changed = datetime.fromisoformat(stored.resource["updated"]).strftime("%Y-%m-%dT%H:%M:%SZ")
        _print(f"{size:>{SIZE_WIDTH}}  {changed}  {stored.address}")

    def _show_folder(self, folder: Address) -> None:
        _print(f"{INDENT}{folder}" if self._view.long else str(folder))


def usage(storage: Storage, address: Address, *, summary: bool, size: Callable[[int], str]) -> int | None:
    """Print the bytes of each object and folder below, or only their sum; None if there is nothing."""
    inside = address if address.is_folder else Address(address.bucket, f"{address.name}/")
    stored = storage.stat(address) if address.name else None
    below = [stored] if stored else list(storage.below(inside))
    if not below and address.name:
        return None
    total = sum(entry.size for entry in below)
    if not summary:
        for name, amount in _amounts(below, inside):
            _print(f"{size(amount):<11}  {name}")
    if summary or not stored:
        _print(f"{size(total):<11}  {address if summary else inside}")
    return total


def _amounts(below: list[Stored], root: Address) -> Iterable[tuple[str, int]]:
    """Each object, and each folder below the root once all that is in it has been named."""
    sums: dict[str, int] = {}
    last: list[str] = []
    for stored in below:
        inside = [folder for folder in gs.folders_of(stored.address.name) if len(folder) >= len(root.name)]
        yield from _closed(last, inside, root.bucket, sums)
        for folder in inside:
            sums[folder] = sums.get(folder, 0) + stored.size
        yield str(stored.address), stored.size
        last = inside
    yield from _closed(last, [], root.bucket, sums)


def _closed(
    before: list[str], now: list[str], bucket: str, sums: Mapping[str, int]
) -> Iterable[tuple[str, int]]:
    for folder in reversed(before):
        if folder not in now:
            yield f"gs://{bucket}/{folder}/", sums[folder]


STAT_FIELDS = (
    ("Storage class", "storageClass"),
    ("Content-Length", "size"),
    ("Content-Type", "contentType"),
    ("Hash (crc32c)", "crc32c"),
    ("Hash (md5)", "md5Hash"),
    ("ETag", "etag"),
    ("Generation", "generation"),
    ("Metageneration", "metageneration"),
)


def describe(stored: Stored) -> None:
    """Print an object as `gsutil stat` does."""
    _print(f"{stored.address}:")
    for title, key in (("Creation time", "timeCreated"), ("Update time", "updated")):
        moment = datetime.fromisoformat(stored.resource[key])
        _print(f"    {title + ':':<24}{moment:%a, %d %b %Y %H:%M:%S GMT}")
    for title, key in STAT_FIELDS:
        if key in stored.resource:
            _print(f"    {title + ':':<24}{stored.resource[key]}")
    if custom := stored.resource.get("metadata", {}):
        _print("    Metadata:")
    for key, value in custom.items():
        _print(f"        {key + ':':<20}{value}")


def human(size: float) -> str:
    """A number of bytes for people: `1.5 MiB`."""
    unit = 0
    while size >= KIBI and unit < len(UNITS) - 1:
        size, unit = size / KIBI, unit + 1
    return f"{size:.2f}".rstrip("0").rstrip(".") + f" {UNITS[unit]}"


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
