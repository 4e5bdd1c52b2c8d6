"""The bucket: small objects under their generations, and a developer's files of any size."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec

DESCRIBED_AT_MOST = 10_000
"""Rows of a listing that come with their metadata: each may have 8 KiB of it, whoever wrote it."""
SHOWN_AT_MOST = 4 * 1024
"""Bytes of an object that a listing can show: its metadata has 8 KiB in all ("Object metadata", Google)."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One row of a listing; `metadata` is what its writer has put beside the content, at most 8 KiB.

    It is empty in rows beyond `DESCRIBED_AT_MOST`; who reads the object gets it. `content` is the whole
    object where it was written to be `shown`; None where it was not, or where there is no room for it.
    """

    name: str
    generation: int
    updated: datetime
    size: int
    metadata: Mapping[str, str] = {}
    content: bytes | None = None

    def __hash__(self) -> int:
        """By what cannot be the same of two objects; a mapping has no hash of its own."""
        return hash((self.name, self.generation))

    @property
    def is_folder(self) -> bool:
        """Whether it only stands for a folder: the console and gcsfuse write such an object for each."""
        return not self.size and self.name.endswith("/")


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """The content of an object, the generation it was read at, and its custom metadata then."""

    data: bytes
    generation: int
    updated: datetime
    metadata: Mapping[str, str] = {}


class Store(Protocol):
    """The bucket. Every write names the generation it expects."""

    def entries(
        self, prefix: str, *, glob: str = "", limit: int | None = None, start: str = "", end: str = ""
    ) -> list[Entry]:
        """All objects whose name begins with `prefix`, or match the glob, in the order of names.

        With `start` only names from that one on, with `end` only those before it.
        """

    def each_entry(self, prefix: str) -> Iterator[Entry]:
        """The same as `entries`, row by row and every one with its metadata, however many there are.

        Who takes in a hundred thousand keeps little of each. Raises as a row is asked for.
        """

    def entry(self, name: str) -> Entry | None:
        """The row of this object; None where there is none. A read (class B), and no list."""

    def folders(self, prefix: str) -> list[str]:
        """The names of the folders directly below `prefix`, without it and without the slash."""

    def read(
        self, name: str, *, at_most: int = 4 * 1024 * 1024, listed: Entry | None = None
    ) -> Stored | None:
        """The object; None where there is none; `BrokenError` where it is unreadable or over `at_most`.

        Who gives the row in which it was `listed` pays one call where it has not changed since: time and
        metadata are the row's then. Where it has changed, it is as it is now.
        """

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
        """Write under `generation` (0 creates, None overwrites anything) and return the new one.

        With `shown` listings show the content, up to `SHOWN_AT_MOST` bytes of text: one call instead of one
        for each object, for what is small and read by everybody. A `spaced` one comes a second after the
        last write of the object from here, for an object takes one write a second.

        Raises `ConflictError`; `UnansweredError` where nobody knows whether it was written. A write that
        was carried out is never reported as a conflict with itself.
        """

    def delete(self, name: str, *, generation: int) -> bool:
        """Delete this generation; False where it is gone or newer."""

    def delete_all(self, generations: Mapping[str, int]) -> Mapping[str, Exception]:
        """Delete these generations, a hundred in a call; gives by name what went wrong.

        One that is gone or newer is let be, as with `delete`.
        """


class HeldObject(msgspec.Struct, frozen=True, kw_only=True):
    """A file as the bucket holds it; `crc32c` is its checksum, in base64 as Cloud Storage has it."""

    name: str
    generation: int
    size: int
    crc32c: str


def unwatched(count: int) -> None:
    """Nobody counts the bytes."""
    del count


class Transfers(Protocol):
    """A developer's own files, to and from the bucket, of any size; safe to use from several threads.

    `moved` hears of bytes as they go, in all no more than there are: what is sent again counts once.
    """

    def held(self, prefix: str) -> list[HeldObject]:
        """All objects whose name begins with `prefix`, in the order of names."""

    def same(self, file: Path, held: HeldObject) -> bool:
        """Whether the file has the very bytes of the object, by size and checksum; nothing is transferred."""

    def upload(self, file: Path, name: str, *, moved: Callable[[int], None] = unwatched) -> None:
        """Write the file as this object, whatever was there, in pieces; it arrives whole or not at all.

        Raises:
            UnansweredError: no answer, or it arrived damaged. Asking again is safe.
        """

    def copy(self, held: HeldObject, name: str) -> None:
        """Make this object what that generation is, whatever was there; nothing is transferred.

        Raises:
            UnansweredError: no answer, or the generation is there no more. Asking again is safe.
        """

    def drop(self, held: HeldObject) -> None:
        """Delete this generation; one that is gone is no failure."""

    def download(
        self, held: HeldObject, into: BinaryIO, *, start: int = 0, moved: Callable[[int], None] = unwatched
    ) -> None:
        """Write the bytes of this generation, from `start` on, into the open file.

        From 0 on they are held against the checksum; for the rest of a file ask `same` when it is whole.

        Raises:
            UnansweredError: no answer, the generation is there no more, or it arrived damaged.
        """
