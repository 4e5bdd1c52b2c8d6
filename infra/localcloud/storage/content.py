"""The bytes of objects: one file each in a folder, hashed on the way in.

A file counts only once a row of the index names it, so a process killed in between leaves nothing but an
orphan, which the next start removes. Nothing is synced to the disk: a killed process loses nothing,
a power cut may, and `Vault.intact` then tells.
"""

import asyncio
import base64
import hashlib
import os
import secrets
import sys
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Self

import google_crc32c

from localcloud.errors import ApiError
from localcloud.storage.model import Content

BLOCK = 1 << 20
"""How much is written or read at once; from here on in a thread, for it may take milliseconds."""


class Digest:
    """MD5 and CRC32C of a stream, base64-encoded as in the API."""

    def __init__(self) -> None:
        self._md5 = hashlib.md5(usedforsecurity=False)
        self._crc32c = 0

    def update(self, data: bytes) -> None:
        """Take the next bytes."""
        self._md5.update(data)
        self._crc32c = google_crc32c.extend(self._crc32c, data)

    @property
    def md5(self) -> str:
        """As `md5Hash` has it."""
        return base64.b64encode(self._md5.digest()).decode()

    @property
    def crc32c(self) -> str:
        """As `crc32c` has it: big-endian."""
        return base64.b64encode(self._crc32c.to_bytes(4)).decode()


class ContentSink:
    """Takes an upload, piece by piece; while one block is written and hashed, the next may arrive."""

    def __init__(self, path: Path) -> None:
        self.size = 0
        self._path = path
        self._digest = Digest()
        self._buffer = bytearray()
        self._writing: asyncio.Task[None] | None = None

    @classmethod
    async def reopen(cls, path: Path) -> Self:
        """Go on with a file that an earlier process began."""
        sink = cls(path)
        await asyncio.to_thread(sink._read_again)
        return sink

    async def write(self, data: bytes) -> None:
        """Append; `size` counts it at once, the file has it after `flush`."""
        self.size += len(data)
        self._buffer += data
        if len(self._buffer) >= BLOCK:
            await self._written()
            self._writing = asyncio.create_task(asyncio.to_thread(self._put, self._take()))

    async def flush(self) -> None:
        """Return when the file has everything."""
        await self._written()
        self._put(self._take())

    async def finish(self) -> Content:
        """Flush, and tell what the file holds."""
        await self.flush()
        digest = self._digest
        return Content(file=self._path.name, size=self.size, md5=digest.md5, crc32c=digest.crc32c)

    async def abandon(self) -> None:
        """Remove the file."""
        await self._written()
        self._path.unlink(missing_ok=True)

    def _take(self) -> bytes:
        data, self._buffer = bytes(self._buffer), bytearray()
        return data

    async def _written(self) -> None:
        if self._writing is not None:
            await asyncio.shield(self._writing)
            self._writing = None

    def _put(self, data: bytes) -> None:
        # Opened for each block, so that an upload nobody goes on with holds no descriptor.
        with self._path.open("ab") as file:
            file.write(data)
        self._digest.update(data)

    def _read_again(self) -> None:
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            while data := file.read(BLOCK):
                self._digest.update(data)
                self.size += len(data)


class Vault:
    """The folder of the files."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def path(self, file: str) -> Path:
        """Where a file is."""
        return self._folder / file

    def new(self) -> Path:
        """A path that no file has or had."""
        return self._folder / secrets.token_hex(16)

    def open(self, content: Content) -> int:
        """Open for reading; the descriptor outlives a removal of the file."""
        return os.open(self.path(content.file), os.O_RDONLY)

    def copy(self, content: Content) -> Content:
        """Give the same bytes a second file, which costs nothing."""
        path = self.new()
        path.hardlink_to(self.path(content.file))
        return replace(content, file=path.name)

    def remove(self, files: Iterable[str]) -> None:
        """Remove files that no row names any more."""
        for file in files:
            self.path(file).unlink(missing_ok=True)

    def sweep(self, named: Iterable[str]) -> int:
        """Remove every file that is not named; return how many there were."""
        orphans = {path.name for path in self._folder.iterdir()} - set(named)
        self.remove(orphans)
        return len(orphans)

    def intact(self, content: Content) -> bool:
        """Whether the file is there, in its full length."""
        try:
            return self.path(content.file).stat().st_size == content.size
        except FileNotFoundError:
            return False

    async def take(self, stream: AsyncIterable[bytes], most: int = sys.maxsize) -> Content:
        """Write what arrives into a new file, of which nothing stays where it is cut off.

        Raises:
            ApiError: 400 `entityTooLarge` for more than `most` bytes.
        """
        sink = ContentSink(self.new())
        try:
            async for data in stream:
                _check_size(sink.size + len(data), most)
                await sink.write(data)
        except BaseException:
            await sink.abandon()
            raise
        return await sink.finish()

    async def join(self, descriptors: Iterable[int]) -> Content:
        """Write the contents of open files one after another into a new one, as compose does: with no MD5."""
        content = await self.take(_blocks(descriptors))
        return replace(content, md5=None)


async def _blocks(descriptors: Iterable[int]) -> AsyncIterator[bytes]:
    for descriptor in descriptors:
        position = 0
        while data := await read_block(descriptor, position, BLOCK):
            yield data
            position += len(data)


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise ApiError(400, "entityTooLarge", f"The most that is taken at once is {most} bytes.")


async def read_block(descriptor: int, position: int, size: int) -> bytes:
    """Read up to `size` bytes at a position of an open file."""
    return await asyncio.to_thread(os.pread, descriptor, size, position)
