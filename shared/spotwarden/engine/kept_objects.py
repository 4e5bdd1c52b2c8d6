"""A bucket whose small objects are read once: what one generation of an object says never changes."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from spotwarden.engine.cache import GenerationCache
from spotwarden.ports import Entry, Store, Stored

SMALL = 64 * 1024
"""Bytes of an object that is kept; records of recovery have a few thousand."""
IN_ALL = 32 * 1024 * 1024
"""Bytes that a warm function keeps; beyond that it forgets all."""


class BytesCache(GenerationCache[bytes]):
    """Contents by object name and generation, bounded by what they weigh."""

    def __init__(self, in_all: int = IN_ALL) -> None:
        super().__init__()
        self._in_all, self._held = in_all, 0

    def keep(self, name: str, generation: int, value: bytes) -> bytes:
        """Remember it, if it is small; gives it back."""
        if len(value) > SMALL or self.get(name, generation) is not None:
            return value
        if self._held + len(value) > self._in_all:
            self.clear()
        self._held += len(value)
        return super().keep(name, generation, value)

    def clear(self) -> None:
        """Remember nothing of this."""
        super().clear()
        self._held = 0


class KeptObjects:
    """A `Store` that remembers what it has read and written, by generation.

    What a row of a listing shows is not read either. Nothing is taken for the newest that the bucket has not
    just shown; a write is under its generation as ever.
    """

    contents: ClassVar[BytesCache] = BytesCache()

    def __init__(self, store: Store) -> None:
        self._store = store

    def entries(
        self, prefix: str, *, glob: str = "", limit: int | None = None, start: str = "", end: str = ""
    ) -> list[Entry]:
        """As `Store.entries`."""
        return self._store.entries(prefix, glob=glob, limit=limit, start=start, end=end)

    def each_entry(self, prefix: str) -> Iterator[Entry]:
        """As `Store.each_entry`."""
        return self._store.each_entry(prefix)

    def entry(self, name: str) -> Entry | None:
        """As `Store.entry`."""
        return self._store.entry(name)

    def folders(self, prefix: str) -> list[str]:
        """As `Store.folders`."""
        return self._store.folders(prefix)

    def delete(self, name: str, *, generation: int) -> bool:
        """As `Store.delete`."""
        return self._store.delete(name, generation=generation)

    def delete_all(self, generations: Mapping[str, int]) -> Mapping[str, Exception]:
        """As `Store.delete_all`."""
        return self._store.delete_all(generations)

    def read(
        self, name: str, *, at_most: int = 4 * 1024 * 1024, listed: Entry | None = None
    ) -> Stored | None:
        """As `Store.read`; no call where the generation that was `listed` is known, or its row shows it.

        Whoever gives no row has it asked for: one call where that generation is known, two as ever else.
        """
        row = listed or self._store.entry(name)
        if row is None:
            return None
        known = self.contents.get(name, row.generation) or row.content
        if known is not None and len(known) <= at_most:
            return Stored(data=known, generation=row.generation, updated=row.updated, metadata=row.metadata)
        stored = self._store.read(name, at_most=at_most, listed=row)
        if stored is not None:
            self.contents.keep(name, stored.generation, stored.data)
        return stored

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
        """As `Store.write`."""
        written = self._store.write(
            name, data, generation=generation, content_type=content_type, shown=shown, spaced=spaced
        )
        self.contents.keep(name, written, data)
        return written
