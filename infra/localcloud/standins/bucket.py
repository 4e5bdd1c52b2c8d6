"""The calls of Cloud Storage that the stand-ins make (JSON API v1)."""

import contextlib
import io
import json
import mimetypes
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from typing import IO, Any, NamedTuple

from localcloud.standins.again import insist
from localcloud.standins.gs import Address
from localcloud.standins.transport import CloudError, StorageTransport, segment

NOT_FOUND = 404
PRECONDITION_FAILED = 412
CHUNK = 1024 * 1024
UNKNOWN_KIND = "application/octet-stream"
HELD = 8 * CHUNK
"""So much of a pipe is kept, to be sent again: gsutil keeps a piece of a streaming upload."""
BOUNDARY = uuid.uuid4().hex
"""Between the parts of an upload with metadata; content that nobody made for this has no such line."""


class Stored(NamedTuple):
    """An object as a listing shows it; `resource` is the whole of it."""

    address: Address
    size: int
    resource: Mapping[str, Any]


class Listing(NamedTuple):
    """What is directly in a folder."""

    folders: list[Address]
    objects: list[Stored]


class Storage:
    """Cloud Storage through the local cloud; errors are `CloudError`."""

    def __init__(self, door: StorageTransport) -> None:
        self._door = door

    def buckets(self, project: str) -> list[str]:
        """The names of the project's buckets."""
        return [item["name"] for item in self._pages("/storage/v1/b", {"project": project}, "items")]

    def create_bucket(self, name: str, project: str, settings: Mapping[str, str]) -> None:
        """Make a bucket."""
        self._door.call("POST", "/storage/v1/b", query={"project": project}, body={"name": name, **settings})

    def delete_bucket(self, name: str) -> None:
        """Delete an empty bucket."""
        self._door.call("DELETE", f"/storage/v1/b/{segment(name)}")

    def stat(self, address: Address) -> Stored | None:
        """The object, if there is one."""
        try:
            return _stored(address.bucket, self._door.call("GET", _path(address)))
        except CloudError as error:
            if error.status != NOT_FOUND:
                raise
            return None

    def below(self, address: Address) -> Iterator[Stored]:
        """All objects whose names start with the address's."""
        query = {"prefix": address.name} if address.name else {}
        for item in self._pages(f"/storage/v1/b/{segment(address.bucket)}/o", query, "items"):
            yield _stored(address.bucket, item)

    def list_folder(self, address: Address) -> Listing:
        """The folders and objects directly in a folder (whose name ends with a slash, or a bucket)."""
        query = {"delimiter": "/"} | ({"prefix": address.name} if address.name else {})
        folders: list[Address] = []
        objects: list[Stored] = []
        for page in self._answers(f"/storage/v1/b/{segment(address.bucket)}/o", query):
            folders += [Address(address.bucket, name) for name in page.get("prefixes", [])]
            objects += [_stored(address.bucket, item) for item in page.get("items", [])]
        return Listing(folders, objects)

    def is_folder(self, address: Address) -> bool:
        """Whether there is any object below `NAME/`."""
        inside = address if address.is_folder else Address(address.bucket, f"{address.name}/")
        query = {"prefix": inside.name, "maxResults": "1"}
        answer = self._door.call("GET", f"/storage/v1/b/{segment(inside.bucket)}/o", query=query)
        return bool(answer.get("items"))

    def read(self, address: Address, into: IO[bytes], span: str = "") -> None:
        """Copy the object's content, or the bytes of a span such as `0-99`, to an open file."""
        headers = {"Range": f"bytes={span}"} if span else {}
        answer = self._door.open("GET", _path(address), query={"alt": "media"}, headers=headers)
        shutil.copyfileobj(answer, into, CHUNK)
        if answer.length:  # the standard library takes a connection that breaks off for the end
            raise ConnectionError(f"{address}: the connection ended {answer.length} bytes early")

    def write(
        self,
        address: Address,
        content: IO[bytes],
        *,
        kind: str,
        generation: str = "",
        custom: Mapping[str, str] | None = None,
    ) -> None:
        """Store content under a name, with custom metadata where any is given.

        Where a `generation` is given it replaces this one alone, "0" for none (`CloudError` 412
        else). `kind` is the content type, by default what the name's ending tells.
        """
        query = {"uploadType": "multipart" if custom else "media", "name": address.name}
        if generation:
            query["ifGenerationMatch"] = generation
        own_kind = kind or mimetypes.guess_type(address.name)[0] or UNKNOWN_KIND
        path = f"/upload/storage/v1/b/{segment(address.bucket)}/o"
        content = _held(content)
        begin = content.tell() if content.seekable() else None

        def once() -> None:
            if begin is not None:
                content.seek(begin)
            headers = {"Content-Type": own_kind}
            length = _length(content)
            body = _chunks(content, length)
            if custom:
                body = _related(custom, own_kind, body)
                headers = {"Content-Type": f"multipart/related; boundary={BOUNDARY}"}
            elif length is not None:
                headers["Content-Length"] = str(length)
            self._door.open("POST", path, query=query, body=body, headers=headers).read()

        insist(once, while_repeatable=begin is not None)

    def copy(self, source: Address, target: Address, *, generation: str = "") -> None:
        """Copy inside Cloud Storage; `generation` as for `write`."""
        path = f"{_path(source)}/rewriteTo/b/{segment(target.bucket)}/o/{segment(target.name)}"
        query = {"ifGenerationMatch": generation} if generation else {}
        answer = insist(lambda: self._door.call("POST", path, query=query))
        while not answer["done"]:
            answer = self._door.call("POST", path, query={**query, "rewriteToken": answer["rewriteToken"]})

    def delete(self, address: Address) -> None:
        """Delete an object."""
        insist(lambda: self._door.call("DELETE", _path(address)))

    def _pages(self, path: str, query: Mapping[str, str], key: str) -> Iterator[dict[str, Any]]:
        for page in self._answers(path, query):
            yield from page.get(key, [])

    def _answers(self, path: str, query: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        token = ""
        while True:
            page = self._door.call("GET", path, query={**query, "pageToken": token} if token else query)
            yield page
            token = page.get("nextPageToken", "")
            if not token:
                return


def _stored(bucket: str, resource: dict[str, Any]) -> Stored:
    return Stored(Address(bucket, resource["name"]), int(resource["size"]), resource)


def _path(address: Address) -> str:
    return f"/storage/v1/b/{segment(address.bucket)}/o/{segment(address.name)}"


def _held(content: IO[bytes]) -> IO[bytes]:
    """The same content, so that it can be read again; of a pipe with more than `HELD` bytes it cannot."""
    with contextlib.suppress(OSError):
        if content.seekable():
            return content
    first = content.read(HELD)
    rest = b"" if len(first) < HELD else content.read(1)
    return io.BytesIO(first) if not rest else io.BufferedReader(_Joined(first + rest, content))


class _Joined(io.RawIOBase):
    """What was read already, then the rest of a pipe."""

    def __init__(self, first: bytes, rest: IO[bytes]) -> None:
        super().__init__()
        self._first = memoryview(first)
        self._rest = rest

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read on."""
        data = self._first[: len(buffer)] or self._rest.read(len(buffer))
        self._first = self._first[len(data) :]
        buffer[: len(data)] = data
        return len(data)


def _length(content: IO[bytes]) -> int | None:
    """How many bytes there are to read, where that can be known; of a pipe it cannot."""
    with contextlib.suppress(OSError):
        if content.seekable():
            return os.fstat(content.fileno()).st_size - content.tell()
    return None


def _related(custom: Mapping[str, str], kind: str, content: Iterator[bytes]) -> Iterator[bytes]:
    """The body of a multipart upload."""
    told = json.dumps({"metadata": dict(custom)})
    yield f"--{BOUNDARY}\r\nContent-Type: application/json\r\n\r\n{told}\r\n".encode()
    yield f"--{BOUNDARY}\r\nContent-Type: {kind}\r\n\r\n".encode()
    yield from content
    yield f"\r\n--{BOUNDARY}--\r\n".encode()


def _chunks(content: IO[bytes], length: int | None) -> Iterator[bytes]:
    """The content in pieces; of a file that grows meanwhile no more than was announced."""
    left = length
    while left != 0:
        chunk = content.read(CHUNK if left is None else min(CHUNK, left))
        if not chunk:
            if left:
                raise OSError(f"the file became shorter by {left} bytes while it was read")
            return
        left = None if left is None else left - len(chunk)
        yield chunk
