"""Files to and from a bucket in memory."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import google_crc32c

from spotwarden.ports import HeldObject, Store, UnansweredError, unwatched


class MemoryFiles:
    """`Transfers` over a store of small objects; `uploads` are the names that were sent, in their order."""

    def __init__(self, store: Store) -> None:
        self.uploads: list[str] = []
        self._store = store

    def held(self, prefix: str) -> list[HeldObject]:
        """As `Transfers.held`."""
        found = (self._held(entry.name) for entry in self._store.entries(prefix))
        return [held for held in found if held is not None]

    def same(self, file: Path, held: HeldObject) -> bool:
        """As `Transfers.same`."""
        data = file.read_bytes()
        return len(data) == held.size and _checksum(data) == held.crc32c

    def upload(self, file: Path, name: str, *, moved: Callable[[int], None] = unwatched) -> None:
        """As `Transfers.upload`."""
        data = file.read_bytes()
        self._store.write(name, data, generation=None)
        self.uploads.append(name)
        moved(len(data))

    def copy(self, held: HeldObject, name: str) -> None:
        """As `Transfers.copy`."""
        found = self._store.read(held.name, at_most=2**40)
        if found is None or found.generation != held.generation:
            raise UnansweredError(f"{held.name} changed while it was read")
        self._store.write(name, found.data, generation=None)

    def drop(self, held: HeldObject) -> None:
        """As `Transfers.drop`."""
        self._store.delete(held.name, generation=held.generation)

    def download(
        self, held: HeldObject, into: BinaryIO, *, start: int = 0, moved: Callable[[int], None] = unwatched
    ) -> None:
        """As `Transfers.download`."""
        found = self._store.read(held.name, at_most=2**40)
        if found is None or found.generation != held.generation:
            raise UnansweredError(f"{held.name} changed while it was read")
        data = found.data[start:]
        into.write(data)
        moved(len(data))

    def _held(self, name: str) -> HeldObject | None:
        found = self._store.read(name, at_most=2**40)
        if found is None:
            return None
        return HeldObject(
            name=name, generation=found.generation, size=len(found.data), crc32c=_checksum(found.data)
        )


def _checksum(data: bytes) -> str:
    return base64.b64encode(google_crc32c.Checksum(data).digest()).decode()
