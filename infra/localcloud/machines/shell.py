"""A command in a running virtual machine, as `gcloud compute ssh --command` would run it."""

import asyncio
import base64
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import timedelta

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from localcloud.errors import ApiError
from localcloud.supervisor import Supervised

CHUNK = 65536
LAST_WORDS = timedelta(seconds=0.2)
"""How long output is waited for once the command has ended: what it left behind may hold on to it."""
GRACE = timedelta(seconds=2)
AT_HOME = 'cd "$HOME" && eval "$1"'

Start = Callable[[Sequence[str], int, int], Awaitable[Supervised]]
"""Start a command in the machine, with its output and its errors to these file descriptors."""


class ShellWanted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of `/local/shell`: a machine by its name or id, and a line for its shell."""

    node: str
    command: str


class Shells:
    """`/local/shell`: POST runs a command; the answer is its output as it comes, and its status.

    Each line is a piece of JSON: `{"out": "…"}` and `{"err": "…"}` hold bytes in base64, `{"status": 3}`
    comes last. When the caller hangs up, the command ends. It has no input.
    """

    def __init__(self, find: Callable[[str], Start | None]) -> None:
        self._find = find

    def admin_routes(self) -> list[BaseRoute]:
        """The one route."""
        return [Route("/local/shell", self._run, methods=["POST"])]

    async def _run(self, request: Request) -> Response:
        try:
            wanted = msgspec.json.decode(await request.body(), type=ShellWanted)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ApiError(400, "invalid", f"This is no command for a machine: {error}") from error
        start = self._find(wanted.node)
        if start is None:
            raise ApiError(
                404,
                "notFound",
                f"There is no running VM {wanted.node!r}. To list VMs: spotwarden local status",
            )
        argv = ["bash", "-c", AT_HOME, "bash", wanted.command]
        return StreamingResponse(_lines(start, argv), media_type="application/x-ndjson")


async def _lines(start: Start, argv: Sequence[str]) -> AsyncIterator[bytes]:
    """Run it and yield what it says, as it says it."""
    said: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    pipes = {word: os.pipe() for word in ("out", "err")}
    readers = [asyncio.create_task(_pour(pipe[0], word, said)) for word, pipe in pipes.items()]
    try:
        supervised = await start(argv, pipes["out"][1], pipes["err"][1])
    finally:
        for _reader, writer in pipes.values():
            os.close(writer)
    ending = asyncio.create_task(supervised.wait())
    try:
        while not ending.done():
            piece = asyncio.create_task(said.get())
            try:
                await asyncio.wait({piece, ending}, return_when=asyncio.FIRST_COMPLETED)
                if piece.done():
                    yield _line(piece.result())
            finally:
                piece.cancel()
        await asyncio.wait(readers, timeout=LAST_WORDS.total_seconds())
        while not said.empty():
            yield _line(said.get_nowait())
        status = ending.result()
        yield _line({"status": status if status >= 0 else 128 - status})
    finally:
        for reader in readers:
            reader.cancel()
        if not ending.done():
            await supervised.terminate(GRACE)
            await ending


async def _pour(descriptor: int, word: str, said: asyncio.Queue[dict[str, str]]) -> None:
    """Take what comes out of a pipe until its last writer has closed it."""
    loop, reader = asyncio.get_running_loop(), asyncio.StreamReader()
    with os.fdopen(descriptor, "rb") as pipe:
        transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
        try:
            while chunk := await reader.read(CHUNK):
                said.put_nowait({word: base64.b64encode(chunk).decode()})
        finally:
            transport.close()


def _line(piece: object) -> bytes:
    return msgspec.json.encode(piece) + b"\n"
