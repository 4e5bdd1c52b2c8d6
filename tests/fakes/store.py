"""A bucket in memory, with the generations of the real one."""

import re
from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from spotwarden.ports import (
    DESCRIBED_AT_MOST,
    SHOWN_AT_MOST,
    BrokenError,
    ConflictError,
    Entry,
    Stored,
    UnansweredError,
)
from tests.fakes.clock import VirtualClock
from tests.fakes.trouble import Trouble

_GLOB = re.compile(r"\*\*/|\*\*|\*|\?|\[[^]]+]|[{},]|.", re.DOTALL)
_AS_PATTERN = {"**/": "(.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]", "{": "(", "}": ")", ",": "|"}


_BEGAN = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class MemoryStore:
    """`Store`. Failures are ordered from `trouble`; `clock` dates the objects."""

    def __init__(self, *, clock: VirtualClock | None = None) -> None:
        self.clock = clock or VirtualClock()
        self.trouble = Trouble()
        self._objects: dict[str, Stored] = {}
        # In order, so that a listing looks only at what it gives: simulations list a thousand times.
        self._names: list[str] = []
        self._newest = 0
        self._dated = (_BEGAN, 0)
        self._shown: set[tuple[str, int]] = set()

    def entries(
        self, prefix: str, *, glob: str = "", limit: int | None = None, start: str = "", end: str = ""
    ) -> list[Entry]:
        """As `Store.entries`."""
        return self.trouble.around("entries", prefix, self._entries, prefix, glob, limit, start, end)

    def _entries(self, prefix: str, glob: str, limit: int | None, start: str, end: str) -> list[Entry]:
        names = self._below(prefix)
        if start or end:
            names = [name for name in names if start <= name and (not end or name < end)]
        if glob:
            pattern = re.compile(_pattern(glob), re.DOTALL)
            names = [name for name in names if pattern.fullmatch(name)]
        return [
            self._entry(name, described=index < DESCRIBED_AT_MOST) for index, name in enumerate(names[:limit])
        ]

    def _entry(self, name: str, *, described: bool) -> Entry:
        found = self._objects[name]
        return Entry(
            name=name,
            generation=found.generation,
            updated=found.updated,
            size=len(found.data),
            metadata=found.metadata if described else {},
            content=found.data if described and (name, found.generation) in self._shown else None,
        )

    def each_entry(self, prefix: str) -> Iterator[Entry]:
        """As `Store.each_entry`."""
        names = self.trouble.around("each_entry", prefix, self._below, prefix)
        return (self._entry(name, described=True) for name in names)

    def entry(self, name: str) -> Entry | None:
        """As `Store.entry`."""
        found = self.trouble.around("entry", name, self._objects.get, name)
        return None if found is None else self._entry(name, described=True)

    def _below(self, prefix: str) -> list[str]:
        first = bisect_left(self._names, prefix)
        # No name holds the last character that there is.
        after = bisect_left(self._names, f"{prefix}\U0010ffff", first)
        return self._names[first:after]

    def folders(self, prefix: str) -> list[str]:
        """As `Store.folders`."""
        return self.trouble.around("folders", prefix, self._folders, prefix)

    def _folders(self, prefix: str) -> list[str]:
        found, at = [], bisect_left(self._names, prefix)
        while at < len(self._names) and self._names[at].startswith(prefix):
            folder, slash, _ = self._names[at].removeprefix(prefix).partition("/")
            found += [folder] if slash else []
            # The character "0" comes next after "/": this is behind everything in the folder.
            at = bisect_left(self._names, f"{prefix}{folder}0", at) if slash else at + 1
        return sorted(found)

    def read(
        self, name: str, *, at_most: int = 4 * 1024 * 1024, listed: Entry | None = None
    ) -> Stored | None:
        """As `Store.read`."""
        del listed
        return self.trouble.around("read", name, self._read, name, at_most)

    def _read(self, name: str, at_most: int) -> Stored | None:
        found = self._objects.get(name)
        if found is not None and len(found.data) > at_most:
            raise BrokenError(f"{name} has {len(found.data)} bytes; at most {at_most} are read")
        return found

    def write(
        self,
        name: str,
        data: bytes,
        *,
        generation: int | None,
        content_type: str = "",
        shown: bool = False,
        spaced: bool = False,
    ) -> int:
        """As `Store.write`; the content type is forgotten, and nothing takes any time."""
        del content_type, spaced
        return self.trouble.around("write", name, self._write, name, data, generation, shown)

    def _write(self, name: str, data: bytes, generation: int | None, shown: bool) -> int:
        if generation is not None and generation != self._generation(name):
            raise ConflictError(f"{name} is at generation {self._generation(name)}, not at {generation}")
        now = self.clock.now()
        if now is not self._dated[0]:
            self._dated = (now, _microseconds(now))
        self._newest = max(self._newest + 1, self._dated[1])
        if name not in self._objects:
            insort(self._names, name)
        self._objects[name] = Stored(data=bytes(data), generation=self._newest, updated=now)
        if shown and len(data) <= SHOWN_AT_MOST and _is_text(data):
            self._shown.add((name, self._newest))
        return self._newest

    def put(self, name: str, data: bytes, metadata: Mapping[str, str]) -> None:
        """Write as somebody else would, with custom metadata."""
        self._write(name, data, None, shown=False)
        self._objects[name] = replace(self._objects[name], metadata=dict(metadata))

    def delete_all(self, generations: Mapping[str, int]) -> dict[str, Exception]:
        """As `Store.delete_all`; each part may fail by itself, and its subject is its name."""
        failed: dict[str, Exception] = {}
        for name, generation in generations.items():
            try:
                self.trouble.around("delete_all", name, self._delete, name, generation)
            except UnansweredError as error:
                failed[name] = error
        return failed

    def delete(self, name: str, *, generation: int) -> bool:
        """As `Store.delete`."""
        return self.trouble.around("delete", name, self._delete, name, generation)

    def _delete(self, name: str, generation: int) -> bool:
        if name not in self._objects or self._generation(name) != generation:
            return False
        del self._objects[name]
        del self._names[bisect_left(self._names, name)]
        return True

    def _generation(self, name: str) -> int:
        found = self._objects.get(name)
        return 0 if found is None else found.generation


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _pattern(glob: str) -> str:
    return "".join(_piece(piece) for piece in _GLOB.findall(glob))


def _piece(piece: str) -> str:
    if len(piece) > 1 and piece.startswith("["):
        return piece.replace("[!", "[^", 1)
    return _AS_PATTERN.get(piece) or re.escape(piece)


def _microseconds(moment: datetime) -> int:
    return (moment - _BEGAN) // _MICROSECOND
