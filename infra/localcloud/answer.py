"""The answer to an HTTP call of the local cloud's own, as httptools takes it apart.

httpx takes up to three milliseconds of the processor for a call; where a storm makes thousands of them to
this machine itself that is a good part of all that there is to do.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

from httptools import HttpParserError, HttpResponseParser

PIECE = 64 * 1024


class NoAnswerError(Exception):
    """Nobody listens, or whoever did has left before the answer was whole."""


@contextmanager
def whole_or_none() -> Iterator[None]:
    """Around a call: what goes wrong with its connection or with what comes back is a `NoAnswerError`."""
    try:
        yield
    except (OSError, HttpParserError) as error:
        raise NoAnswerError(f"{type(error).__name__}: {error}") from error


class HttpAnswer:
    """What comes back, as httptools takes it apart: it calls the methods that begin with `on_`."""

    def __init__(self, reader: asyncio.StreamReader, *, has_body: bool) -> None:
        self._reader, self._has_body = reader, has_body
        self._parser = HttpResponseParser(self)
        self._pieces: list[bytes] = []
        self._begun = self._whole = self._told_its_end = False
        self.headers: list[tuple[bytes, bytes]] = []
        self.is_kept = False
        """Whether its connection can be asked again once it is whole."""

    @property
    def status(self) -> int:
        """Its status."""
        status: int = self._parser.get_status_code()
        return status

    async def begin(self) -> None:
        """Wait for its head."""
        while not self._begun:
            await self._feed()

    async def pieces(self) -> AsyncIterator[bytes]:
        """Its body."""
        while True:
            if self._pieces:
                yield b"".join(self._pieces)
                self._pieces.clear()
            if self._whole:
                return
            await self._feed()

    async def _feed(self) -> None:
        if data := await self._reader.read(PIECE):
            self._parser.feed_data(data)
        elif self._told_its_end or not self._begun:
            raise NoAnswerError("it ended too early")
        else:
            self._whole = True

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header is there."""
        name = name.lower()
        self._told_its_end |= name in {b"content-length", b"transfer-encoding"}
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """The head is."""
        self._begun, self._whole = True, not self._has_body
        self.is_kept = self._parser.should_keep_alive()

    def on_body(self, body: bytes) -> None:
        """A piece of the body is."""
        self._pieces.append(body)

    def on_message_complete(self) -> None:
        """All of it is."""
        self._whole = True
