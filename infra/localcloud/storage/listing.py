"""One page of a listing: prefix, delimiter, offsets, glob, continuation. Pure, over a scan in name order."""

import base64
import binascii
import json
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Self

from localcloud.errors import ApiError
from localcloud.storage.conditions import flag, number
from localcloud.storage.contexts import ContextFilter
from localcloud.storage.glob import compile_glob, literal_prefix

LARGEST_PAGE = 1000

Place = tuple[bytes, int]
"""A name and a generation: where a scan begins."""

Scan = Callable[[Place, bytes | None], Iterator[tuple[bytes, int, bytes]]]
"""(start, end) → (name, generation, row) from `start` on and before the name `end`, in that order."""


@dataclass(frozen=True, kw_only=True)
class ObjectQuery:
    """What is asked for; names are UTF-8 bytes."""

    prefix: bytes = b""
    delimiter: bytes = b""
    start: Place = (b"", 0)
    end: bytes | None = None
    glob: str = ""
    filter: ContextFilter | None = None
    trailing: bool = False
    versions: bool = False
    limit: int = LARGEST_PAGE

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Self:
        """Read the parameters of `objects.list`.

        Raises:
            ApiError: 400 for one that makes no sense.
        """
        glob, prefix = query.get("matchGlob", ""), query.get("prefix", "").encode()
        fixed = literal_prefix(glob).encode()
        starts = [(name, 0) for name in (prefix, fixed, query.get("startOffset", "").encode())]
        if token := query.get("pageToken"):
            starts.append(read_token(token))
        ends = [successor(prefix), successor(fixed), query.get("endOffset", "").encode()]
        return cls(
            prefix=prefix,
            delimiter=query.get("delimiter", "").encode(),
            start=max(starts),
            end=min((end for end in ends if end), default=None),
            glob=glob,
            filter=ContextFilter.read(query["filter"]) if query.get("filter") else None,
            trailing=flag(query, "includeTrailingDelimiter"),
            versions=flag(query, "versions"),
            limit=page_size(query),
        )


@dataclass(frozen=True, kw_only=True)
class ObjectPage:
    """Encoded rows, folded prefixes, and the token of the next page (empty: this is the last).

    `last` is the name or prefix with which the page ends.
    """

    rows: list[bytes]
    prefixes: list[str]
    token: str
    last: str = ""


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """A row, or a folded prefix with the rows that are called exactly so; `again` is where to go on."""

    rows: list[bytes]
    name: bytes
    prefix: bytes | None
    again: Place


def list_page(scan: Scan, query: ObjectQuery) -> ObjectPage:
    """List one page: at most `limit` rows and prefixes together, in the order of their names.

    A row that is asked for with `trailing` comes with its prefix and is not counted.
    """
    entries = _entries(scan, query)
    taken = list(islice(entries, query.limit))
    more = bool(taken) and next(entries, None) is not None
    token = _write_token(taken[-1].again) if more else ""
    prefixes = [entry.prefix.decode() for entry in taken if entry.prefix is not None]
    rows = [row for entry in taken for row in entry.rows]
    last = taken[-1].name.decode() if taken else ""
    return ObjectPage(rows=rows, prefixes=prefixes, token=token, last=last)


def successor(prefix: bytes) -> bytes:
    """The first name after every name that begins so; empty when there is no end (an empty prefix)."""
    return prefix[:-1] + bytes([prefix[-1] + 1]) if prefix else b""  # UTF-8 never has a byte 255


def after(marker: str, prefix: str, delimiter: str) -> Place:
    """Where a list begins that goes on after this name, or after all that is folded into this prefix."""
    folded = delimiter and marker.startswith(prefix) and marker.find(delimiter, len(prefix)) >= 0
    if folded and marker.find(delimiter, len(prefix)) + len(delimiter) == len(marker):
        return successor(marker.encode()), 0
    return (marker.encode() + b"\0" if marker else b""), 0


def _entries(scan: Scan, query: ObjectQuery) -> Iterator[_Entry]:
    start: Place | None = query.start
    while start is not None:
        start = yield from _entries_until_fold(scan, query, start)


def _entries_until_fold(
    scan: Scan, query: ObjectQuery, start: Place
) -> Generator[_Entry, None, Place | None]:
    """Yield entries up to a folded prefix, and return where the names after it begin.

    Seeking past a prefix, rather than reading all names below it, keeps a listing of folders quick.
    """
    wanted = compile_glob(query.glob) if query.glob else None
    for name, generation, row in scan(start, query.end):
        if wanted and not wanted.fullmatch(name.decode()):
            continue
        folded = _fold(name, query)
        if folded is None:
            if query.filter and not query.filter.takes(row):
                continue
            again = (name, generation + 1) if query.versions else (name + b"\0", 0)
            yield _Entry(rows=[row], name=name, prefix=None, again=again)
            continue
        below = (successor(folded), 0)
        same = scan((folded, 0), folded + b"\0") if query.trailing and name == folded else ()
        yield _Entry(rows=[own for _, _, own in same], name=folded, prefix=folded, again=below)
        return below
    return None


def _fold(name: bytes, query: ObjectQuery) -> bytes | None:
    if not query.delimiter:
        return None
    at = name.find(query.delimiter, len(query.prefix))
    return None if at < 0 else name[: at + len(query.delimiter)]


def page_size(query: Mapping[str, str]) -> int:
    """How many entries a page may have.

    Raises:
        ApiError: 400 when `maxResults` is no positive number.
    """
    asked = number(query, "maxResults")
    if asked == 0:
        raise ApiError(400, "invalid", "Invalid value for parameter maxResults: '0'.", location="maxResults")
    return min(asked or LARGEST_PAGE, LARGEST_PAGE)


def _write_token(place: Place) -> str:
    name, generation = place
    return base64.urlsafe_b64encode(json.dumps([name.hex(), generation]).encode()).decode()


def read_token(token: str) -> Place:
    """Where the page of this token begins.

    Raises:
        ApiError: 400 for what is none.
    """
    try:
        name, generation = json.loads(base64.urlsafe_b64decode(token))
        return bytes.fromhex(name), int(generation)
    except (binascii.Error, ValueError, TypeError) as error:
        raise ApiError(400, "invalid", f"Invalid page token: '{token}'.", location="pageToken") from error
