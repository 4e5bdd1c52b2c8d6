"""Passing requests on to a function's own socket, each by a connection of its own."""

from pathlib import Path

from aiohttp import ClientError, ClientSession, UnixConnector
from starlette.requests import Request
from starlette.types import Send
from yarl import URL

from localcloud.machines.metadata.forward import HOP_BY_HOP
from localcloud.outbound import connections

SAID_ANEW = HOP_BY_HOP | {"content-length", "expect"}
"""The body goes in one piece, and nobody waits for leave to send it."""


class NoAnswerError(Exception):
    """Nobody listens, or whoever did has left before the answer was whole."""


class FunctionSocket:
    """The socket that a function listens on."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._session: ClientSession | None = None

    async def pass_on(self, request: Request, send: Send) -> None:
        """Send a request there, and what is answered to `send` as it comes; `NoAnswerError`."""
        headers = [(name, value) for name, value in request.headers.items() if name not in SAID_ANEW]
        try:
            async with self._connections().request(
                request.method,
                _url(request),
                headers=headers,
                data=await request.body(),
                allow_redirects=False,
            ) as answer:
                given = [(name.lower(), value) for name, value in answer.raw_headers]
                given = [item for item in given if item[0].decode("latin-1") not in HOP_BY_HOP]
                await send({"type": "http.response.start", "status": answer.status, "headers": given})
                async for piece in answer.content.iter_any():
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                await send({"type": "http.response.body"})
        except ClientError as error:
            raise NoAnswerError(f"{type(error).__name__}: {error}") from error

    def _connections(self) -> ClientSession:
        if self._session is None:
            # A kept connection may be closed by a server just as it is used again; a new one costs little.
            self._session = connections(UnixConnector(path=str(self._path), limit=0, force_close=True))
        return self._session

    async def close(self) -> None:
        """Cut off what is under way."""
        if self._session is not None:
            await self._session.close()


def _url(request: Request) -> URL:
    """Path and query as they were sent; the host is the one that the caller has named."""
    path, query = (request.scope[part].decode("latin-1") for part in ("raw_path", "query_string"))
    return URL(
        f"http://{request.headers.get('host', 'function')}{path}{'?' + query if query else ''}", encoded=True
    )
