"""The checksums that a client says its upload has, held against those that it has."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from starlette.datastructures import Headers

from localcloud.errors import ApiError
from localcloud.storage.model import Content


@dataclass(frozen=True, kw_only=True)
class Claims:
    """What is claimed, in base64; empty: nothing."""

    crc32c: str = ""
    md5: str = ""

    @classmethod
    def read(cls, headers: Headers, body: Mapping[str, object]) -> Self:
        """Read the object's `crc32c` and `md5Hash`, else `x-goog-hash` and `Content-MD5`."""
        hashes = dict(_pairs(headers.getlist("x-goog-hash")))
        crc32c = body.get("crc32c") or hashes.get("crc32c", "")
        md5 = body.get("md5Hash") or hashes.get("md5") or headers.get("content-md5", "")
        return cls(crc32c=str(crc32c), md5=str(md5))

    def check(self, content: Content) -> None:
        """Raise `ApiError` 400, worded as Cloud Storage does, when a claim does not hold."""
        pairs = (("CRC32C", self.crc32c, content.crc32c), ("MD5 hash", self.md5, content.md5))
        for word, claimed, real in pairs:
            if claimed and claimed != real:
                message = f'Provided {word} "{claimed}" doesn\'t match calculated {word} "{real}".'
                raise ApiError(400, "invalid", message)


NO_CLAIMS = Claims()


def _pairs(headers: Iterable[str]) -> Iterable[tuple[str, str]]:
    for header in headers:
        for item in header.split(","):
            name, _, value = item.strip().partition("=")
            yield name, value
