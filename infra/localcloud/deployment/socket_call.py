"""Passing a request on to a function's own socket, by a connection of its own.

Through httpx it would cost as much as all else that the local cloud does for an event.
"""

import asyncio
from pathlib import Path

from starlette.requests import Request
from starlette.types import Send

from localcloud.answer import PIECE, HttpAnswer, whole_or_none
from localcloud.machines.metadata.forward import HOP_BY_HOP

SAID_ANEW = HOP_BY_HOP | {"content-length", "expect"}
"""The body goes in one piece, and nobody waits for leave to send it."""


async def pass_on(request: Request, socket: Path, send: Send) -> None:
    """Send a request there, and what is answered to `send` as it comes; `NoAnswerError`.

    Each has a connection of its own: a kept one may be closed by a server just as it is used again.
    """
    body = await request.body()
    with whole_or_none():
        reader, writer = await asyncio.open_unix_connection(socket, limit=PIECE)
        try:
            writer.write(_head(request, len(body)) + body)
            answer = HttpAnswer(reader, has_body=request.method != "HEAD")
            await answer.begin()
            headers = [item for item in answer.headers if item[0].decode("latin-1") not in HOP_BY_HOP]
            await send({"type": "http.response.start", "status": answer.status, "headers": headers})
            async for piece in answer.pieces():
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body"})
        finally:
            writer.close()


def _head(request: Request, size: int) -> bytes:
    asked = request.scope["query_string"]
    target = request.scope["raw_path"] + (b"?" + asked if asked else b"")
    said = [item for item in request.headers.raw if item[0].decode("latin-1") not in SAID_ANEW]
    said += [(b"content-length", b"%d" % size), (b"connection", b"close")]
    lines = [request.method.encode() + b" " + target + b" HTTP/1.1", *map(b": ".join, said)]
    return b"\r\n".join([*lines, b"", b""])
