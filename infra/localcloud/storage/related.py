"""A multipart/related body, read piece by piece (RFC 2387): the upload's metadata, then its content.

No I/O: bytes in, events out. Clients end lines with CR LF or, as gcloud's library does, with LF alone;
the first line shows which. The content is never held as a whole.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.parser import BytesHeaderParser
from enum import Enum, auto

from localcloud.errors import ApiError

LONGEST_HEAD = 64 * 1024


@dataclass(frozen=True)
class Head:
    """A part begins; header names are in lower case."""

    headers: Mapping[str, str]


@dataclass(frozen=True)
class Data:
    """A piece of the part's content."""

    data: bytes


Event = Head | Data


class _State(Enum):
    START = auto()
    HEAD = auto()
    DATA = auto()
    END = auto()


class Related:
    """A parser for one body. Each step takes what it can from the buffer, or leaves it and waits for more."""

    def __init__(self, boundary: str) -> None:
        self._dash = b"--" + boundary.encode()
        self._newline = b""
        self._buffer = b""
        self._state = _State.START
        self._steps: Mapping[_State, Callable[[], Event | None]] = {
            _State.START: self._start,
            _State.HEAD: self._head,
            _State.DATA: self._data,
            _State.END: self._end,
        }

    def feed(self, data: bytes) -> Iterator[Event]:
        """Take more of the body; yield what it completes.

        Raises:
            ApiError: 400 when this is no such body.
        """
        self._buffer += data
        while True:
            before = self._state, len(self._buffer)
            if event := self._steps[self._state]():
                yield event
            if (self._state, len(self._buffer)) == before:
                return

    def close(self) -> None:
        """Raise `ApiError` 400 when the body ended before its closing boundary."""
        if self._state is not _State.END:
            raise _malformed("it ends before its closing boundary")

    def _start(self) -> None:
        line = self._line()
        if line is None:
            return
        if line.rstrip() == self._dash:
            self._newline = b"\r\n" if line.endswith(b"\r\n") else b"\n"
            self._state = _State.HEAD
        elif line.strip():
            raise _malformed("it does not begin with its boundary")

    def _head(self) -> Event | None:
        # Seen with a line end before it, a head without any header ends in a blank line like every other.
        raw, blank, rest = (self._newline + self._buffer).partition(self._newline * 2)
        if not blank:
            self._refuse_endless()
            return None
        self._buffer, self._state = rest, _State.DATA
        headers = BytesHeaderParser().parsebytes(raw.lstrip() + b"\n\n")
        return Head({key.lower(): str(value) for key, value in headers.items()})

    def _data(self) -> Event | None:
        limit = self._newline + self._dash
        found = self._buffer.find(limit)
        if found == -1:  # the last bytes may be the beginning of a boundary
            return self._give(len(self._buffer) - len(limit) + 1)
        if found:
            return self._give(found)
        tail = self._buffer[len(limit) :]
        if ending := re.match(rb"--|[ \t]*\r?\n", tail):
            self._state = _State.END if ending[0] == b"--" else _State.HEAD
            self._buffer = tail[ending.end() :]
            return None
        undecided = re.fullmatch(rb"-?|[ \t]*\r?", tail)
        # Neither closed nor a line of its own: content that happens to begin like the boundary.
        return None if undecided else self._give(len(limit))

    def _end(self) -> None:
        self._buffer = b""  # an epilogue means nothing

    def _give(self, size: int) -> Event | None:
        if size <= 0:
            return None
        data, self._buffer = self._buffer[:size], self._buffer[size:]
        return Data(data)

    def _line(self) -> bytes | None:
        end = self._buffer.find(b"\n") + 1
        if not end:
            self._refuse_endless()
            return None
        line, self._buffer = self._buffer[:end], self._buffer[end:]
        return line

    def _refuse_endless(self) -> None:
        if len(self._buffer) > LONGEST_HEAD:
            raise _malformed(f"the head of a part is longer than {LONGEST_HEAD} bytes")


def _malformed(why: str) -> ApiError:
    return ApiError(400, "badContent", f"Malformed multipart body: {why}.")
