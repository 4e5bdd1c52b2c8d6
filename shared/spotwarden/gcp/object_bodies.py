"""An object's bytes on their way: in one body with what is said of them, and held against checksums."""

import base64
import zlib
from collections.abc import Mapping
from uuid import uuid4

import google_crc32c
import msgspec

from spotwarden.gcp.authorized import Answered
from spotwarden.ports import SHOWN_AT_MOST, BrokenError, UnansweredError

WRITTEN_BY = "spotwarden-write"
"""Custom metadata of each object we write: a word that only that one write knows."""

CONTENT = "spotwarden-content"
"""The same of what listings are to show: the object's own text."""
PACKED = {"Accept-Encoding": "gzip"}
"""What is read may come as it is stored."""
_GZIP = 31
"""What zlib takes for the gzip format, with as much memory as it may need."""


def in_one_body(name: str, data: bytes, *, kind: str, word: str, shown: bool) -> tuple[bytes, dict[str, str]]:
    """An object to be written, marked with `word`, and the headers to it ("Multipart uploads")."""
    said = {WRITTEN_BY: word, **(_beside(data) if shown else {})}
    about = msgspec.json.encode(
        {"name": name, "contentType": kind, "crc32c": checksum(data), "metadata": said}
    )
    between = uuid4().hex
    body = b"".join(
        (
            f"--{between}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n".encode(),
            about,
            f"\r\n--{between}\r\nContent-Type: {kind}\r\n\r\n".encode(),
            data,
            f"\r\n--{between}--\r\n".encode(),
        )
    )
    return body, {"Content-Type": f"multipart/related; boundary={between}"}


def whole_content(name: str, answer: Answered, at_most: int) -> bytes:
    """The content, unpacked and held against its checksum, which is that of the bytes as they are stored.

    Raises:
        BrokenError: it has, or unpacks to, more than `at_most` bytes, or cannot be unpacked.
        UnansweredError: it arrived damaged.
    """
    check_size(name, len(answer.content), at_most)
    if answer.headers.get("Content-Encoding", "") != "gzip":
        _check(name, answer, answer.content)
        return answer.content
    unpack = zlib.decompressobj(_GZIP)
    try:
        data = unpack.decompress(answer.content, at_most + 1)
    except zlib.error:
        data = b""
    _check(name, answer, answer.content, data)
    check_size(name, len(data), at_most)
    if not unpack.eof:
        raise BrokenError(f"{name} cannot be unpacked: it is not what gzip writes")
    return data


def _check(name: str, answer: Answered, *contents: bytes) -> None:
    """Hold them against the checksum of the object; of what is packed for us alone, that is what is in it."""
    said = (part.strip().partition("=") for part in answer.headers.get("x-goog-hash", "").split(","))
    stored = next((value for kind, _, value in said if kind == "crc32c"), "")
    if stored and stored not in map(checksum, contents):
        raise UnansweredError(f"{name} arrived damaged")


def check_size(name: str, size: int, at_most: int) -> None:
    """Refuse an object of more than `at_most` bytes with `BrokenError`."""
    if size > at_most:
        raise BrokenError(f"{name} has {size} bytes or more; at most {at_most} are read")


def checksum(data: bytes) -> str:
    """As Cloud Storage has it (Google: "Data validation and change detection")."""
    return base64.b64encode(google_crc32c.value(data).to_bytes(4, "big")).decode()


def _beside(data: bytes) -> dict[str, str]:
    """The content as metadata, if it is short and text."""
    if len(data) > SHOWN_AT_MOST:
        return {}
    try:
        return {CONTENT: data.decode()}
    except UnicodeDecodeError:
        return {}


def shown_content(said: Mapping[str, str], stored: str | None) -> bytes | None:
    """What an object's metadata shows of its content; None where it shows none, or another's.

    Metadata can be changed without the object: so it must have the object's checksum.
    """
    text = said.get(CONTENT)
    if text is None:
        return None
    data: bytes = text.encode()
    return data if checksum(data) == stored else None
