"""The body that completes a multipart upload: which parts, in which order.

<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"…"</ETag></Part></CompleteMultipartUpload>
"""

import re
from itertools import pairwise
from typing import NamedTuple
from xml.parsers import expat

from localcloud.errors import ApiError

MOST_PARTS = 10_000
LARGEST_BODY = 4 << 20
"""Room for the longest list that there can be."""
_ROOT, _PART = "CompleteMultipartUpload", "Part"
_FIELDS = ("PartNumber", "ETag")
_DEPTH = 3
_NUMBER = re.compile(r"[0-9]{1,5}")


class WantedPart(NamedTuple):
    """A part that the object is to have."""

    number: int
    tag: str


def read_completion(raw: bytes) -> list[WantedPart]:
    """Read the body.

    Raises:
        ApiError: 400 for what is no such document, for numbers that do not ascend, and for too many.
    """
    reading = _Reading()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartDoctypeDeclHandler = reading.doctype
    parser.StartElementHandler = reading.start
    parser.EndElementHandler = reading.end
    parser.CharacterDataHandler = reading.text
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        raise _malformed(str(error)) from error
    numbers = [part.number for part in reading.parts]
    if not numbers:
        raise _malformed("it names no part")
    if len(numbers) > MOST_PARTS:
        raise ApiError(400, "invalid", f"An upload has at most {MOST_PARTS} parts.")
    if any(after <= before for before, after in pairwise(numbers)):
        raise ApiError(400, "invalidPartOrder", "The numbers of the parts must ascend.")
    return reading.parts


class _Reading:
    """What was read so far. Declarations, with which a short text could grow without end, are refused."""

    def __init__(self) -> None:
        self.parts: list[WantedPart] = []
        self._path: list[str] = []
        self._fields: dict[str, str] = {}

    def doctype(self, *_declared: object) -> None:
        raise _malformed("it has a document type")

    def start(self, name: str, _attributes: object) -> None:
        self._path.append(name.rpartition("}")[2])
        if len(self._path) > _DEPTH or self._path[:2] != [_ROOT, _PART][: len(self._path)]:
            raise _malformed(f"there is no place for {'/'.join(self._path)}")
        if len(self._path) == _DEPTH - 1:
            self._fields = {}

    def text(self, data: str) -> None:
        if len(self._path) == _DEPTH:
            self._fields[self._path[-1]] = self._fields.get(self._path[-1], "") + data

    def end(self, _name: str) -> None:
        if len(self._path) == _DEPTH - 1:
            self.parts.append(_part(self._fields))
        self._path.pop()


def _part(fields: dict[str, str]) -> WantedPart:
    number, tag = (fields.get(name, "").strip() for name in _FIELDS)
    if not _NUMBER.fullmatch(number) or not tag:
        raise _malformed("each Part has a PartNumber and an ETag")
    return WantedPart(int(number), tag.strip('"'))


def _malformed(why: str) -> ApiError:
    return ApiError(400, "malformedXml", f"This completes no multipart upload: {why}.")
