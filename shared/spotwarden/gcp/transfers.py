"""Whole files to and from the bucket, through google-cloud-storage; for a developer's machine only.

Here Google's own retries are on: what is written has no condition, so sending it again does no harm.
"""

import base64
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import google_crc32c
from google.api_core.exceptions import NotFound, PreconditionFailed
from google.cloud import storage
from google.cloud.storage.exceptions import DataCorruption, InvalidResponse

from spotwarden.gcp.errors import is_unanswered, leaves_open, unanswered
from spotwarden.gcp.objects import ObjectDoor
from spotwarden.gcp.retry_policy import RetryPolicy
from spotwarden.gcp.session import settle
from spotwarden.ports import HeldObject, UnansweredError, unwatched

PIECE = 16 * 1024 * 1024
"""Bytes that are sent at a time, and sent again where that fails: each thread holds as many."""
BLOCK = 1024 * 1024
_HELD = "items(name,generation,size,crc32c),nextPageToken"


class CloudFiles:
    """`Transfers` over one bucket."""

    def __init__(self, *, project: str, bucket: str, retry_policy: RetryPolicy = RetryPolicy()) -> None:
        self._project = project
        self._objects = ObjectDoor(bucket=bucket, retry_policy=retry_policy)
        self._retry = retry_policy.retry(_may_come)
        self._timeouts = retry_policy.timeouts

    def close(self) -> None:
        """Give the connections back; the next call opens new ones."""
        self._objects.close()
        if "_client" in self.__dict__:
            self._client.close()

    @cached_property
    def _client(self) -> storage.Client:
        client = storage.Client(project=self._project)
        settle(client._http, client.api_endpoint)  # noqa: SLF001 - it offers no other way to its session
        return client

    def _blob(self, name: str, generation: int | None = None) -> Any:
        """The library's own object of this name; nothing is asked."""
        return self._client.bucket(self._objects.bucket).blob(name, generation=generation)

    def held(self, prefix: str) -> list[HeldObject]:
        """As `Transfers.held`."""
        return [_held(row) for row in self._objects.rows(prefix=prefix, fields=_HELD)]

    def same(self, file: Path, held: HeldObject) -> bool:
        """As `Transfers.same`."""
        return file.stat().st_size == held.size and checksum(file) == held.crc32c

    def upload(self, file: Path, name: str, *, moved: Callable[[int], None] = unwatched) -> None:
        """As `Transfers.upload`: in one piece where it is small, resumable where it is not."""
        blob = self._blob(name)
        blob.chunk_size = PIECE
        size = file.stat().st_size
        with _intact(name), file.open("rb") as source:
            blob.upload_from_file(
                _Watched(source, moved),
                size=size,
                content_type="application/octet-stream",
                checksum="crc32c",
                timeout=self._timeouts,
                retry=self._retry,
            )

    def copy(self, held: HeldObject, name: str) -> None:
        """As `Transfers.copy`: inside Cloud Storage, in more than one call where it is very large."""
        source = self._blob(held.name, generation=held.generation)
        token = None
        with _intact(held.name):
            while True:
                token, _, _ = self._blob(name).rewrite(
                    source, token=token, timeout=self._timeouts, retry=self._retry
                )
                if token is None:
                    return

    def drop(self, held: HeldObject) -> None:
        """As `Transfers.drop`."""
        with unanswered(), suppress(NotFound, PreconditionFailed):
            self._blob(held.name).delete(
                if_generation_match=held.generation, timeout=self._timeouts, retry=self._retry
            )

    def download(
        self, held: HeldObject, into: BinaryIO, *, start: int = 0, moved: Callable[[int], None] = unwatched
    ) -> None:
        """As `Transfers.download`: the bytes as they are stored, also where they are compressed."""
        if start >= held.size and (start or held.size):
            return
        blob = self._blob(held.name, generation=held.generation)
        first = into.tell()
        with _intact(held.name):
            blob.download_to_file(
                _Counted(into, moved, first),
                start=start or None,
                raw_download=True,
                checksum=None if start else "crc32c",
                timeout=self._timeouts,
                retry=self._retry,
            )


class _Watched(io.RawIOBase):
    """A file that is read, and tells how far; what is read again after a failure is told once."""

    def __init__(self, source: BinaryIO, moved: Callable[[int], None]) -> None:
        super().__init__()
        self._source = source
        self._moved = moved
        self._furthest = 0

    def read(self, size: int = -1) -> bytes:
        """Read on."""
        data = self._source.read(size)
        if (beyond := self._source.tell() - self._furthest) > 0:
            self._furthest += beyond
            self._moved(beyond)
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go elsewhere."""
        return self._source.seek(offset, whence)

    def tell(self) -> int:
        """Where it is."""
        return self._source.tell()


class _Counted:
    """A file that is written, and tells how far."""

    def __init__(self, into: BinaryIO, moved: Callable[[int], None], first: int) -> None:
        self._into = into
        self._moved = moved
        self._furthest = first

    def write(self, data: bytes) -> int:
        """Write on."""
        written = self._into.write(data)
        if (beyond := self._into.tell() - self._furthest) > 0:
            self._furthest += beyond
            self._moved(beyond)
        return written

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go elsewhere: a download that begins anew does."""
        return self._into.seek(offset, whence)

    def tell(self) -> int:
        """Where it is."""
        return self._into.tell()


def checksum(file: Path) -> str:
    """A file's CRC32C as Cloud Storage has it (Google: "Data validation and change detection")."""
    found = 0
    with file.open("rb") as source:
        while block := source.read(BLOCK):
            found = google_crc32c.extend(found, block)
    return base64.b64encode(found.to_bytes(4)).decode()


def _may_come(error: Exception) -> bool:
    """Whether it may go well the next time; the library words what happens to a piece in its own way."""
    if isinstance(error, InvalidResponse):
        return leaves_open(int(error.response.status_code))
    return is_unanswered(error)


@contextmanager
def _intact(name: str) -> Iterator[None]:
    """What is gone, or has come through damaged, is no answer."""
    try:
        with unanswered():
            yield
    except DataCorruption as error:
        raise UnansweredError(f"{name} arrived damaged: {error}") from error
    except NotFound as error:
        if "bucket does not exist" in error.message:
            raise
        raise UnansweredError(f"{name} changed while it was read") from error


def _held(row: Any) -> HeldObject:
    return HeldObject(
        name=row.name, generation=int(row.generation), size=int(row.size or 0), crc32c=str(row.crc32c or "")
    )
