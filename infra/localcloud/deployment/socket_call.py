"""Passing a request on to a function's own socket, by a connection of its own.

Through httpx it would cost as much as all else that the local cloud does for an event.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from httptools import HttpParserError, HttpResponseParser
from starlette.requests import Request
from starlette.types import Send

from localcloud.machines.metadata.forward import HOP_BY_HOP

SAID_ANEW = HOP_BY_HOP | {"content-length", "expect"}
"""The body goes in one piece, and nobody waits for leave to send it."""
PIECE = 64 * 1024


class NoAnswerError(Exception):
    """Nobody listens, or whoever did has left before the answer was whole."""


async def pass_on(request: Request, socket: Path, send: Send) -> None:
    """Send a request there, and what is answered to `send` as it comes; `NoAnswerError`.

    Each has a connection of its own: a kept one may be closed by a server just as it is used again.
    """
    body = await request.body()
    try:
        reader, writer = await asyncio.open_unix_connection(socket, limit=PIECE)
    except OSError as error:
        raise NoAnswerError(str(error)) from error
    try:
        writer.write(_head(request, len(body)) + body)
        answer = _Answer(reader, has_body=request.method != "HEAD")
        await answer.begin()
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        async for piece in answer.pieces():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body"})
    except (OSError, HttpParserError) as error:
        raise NoAnswerError(str(error)) from error
    finally:
        writer.close()


def _head(request: Request, size: int) -> bytes:
    asked = request.scope["query_string"]
    target = request.scope["raw_path"] + (b"?" + asked if asked else b"")
    lines = [request.method.encode() + b" " + target + b" HTTP/1.1"]
    lines += [name + b": " + value for name, value in request.headers.raw if name.decode() not in SAID_ANEW]
    lines += [b"content-length: %d" % size, b"connection: close", b"", b""]
    return b"\r\n".join(lines)


class _Answer:
    """What comes back, as httptools takes it apart: it calls the methods that begin with `on_`."""

    def __init__(self, reader: asyncio.StreamReader, *, has_body: bool) -> None:
        self._reader, self._has_body = reader, has_body
        self._parser = HttpResponseParser(self)
        self._pieces: list[bytes] = []
        self._begun = self._whole = self._told_its_end = False
        self.headers: list[tuple[bytes, bytes]] = []

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
        name = name.lower()
        self._told_its_end |= name in {b"content-length", b"transfer-encoding"}
        if name.decode("latin-1") not in HOP_BY_HOP:
            self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        self._begun, self._whole = True, not self._has_body

    def on_body(self, body: bytes) -> None:
        self._pieces.append(body)

    def on_message_complete(self) -> None:
        self._whole = True
