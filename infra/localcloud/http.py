"""The HTTP side that every service shares: the app, its error answers, its listener.

Object names hold anything, slashes and percent signs included, so a route that carries one must be matched
on the path as it was sent, before decoding: that is `RawRoute`. Everything else is Starlette and uvicorn.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Self
from urllib.parse import unquote

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from localcloud.errors import ApiError
from localcloud.faults import CUT, FaultMiddleware, Faults

HOST = "127.0.0.1"
# Longer than any client pools a connection: a server that closes first makes a client's next POST fail.
KEEP_ALIVE_SECONDS = 600
STOP_GRACE = timedelta(seconds=2)


class Json(Response):
    """A JSON answer as Google sends it: UTF-8, one line."""

    media_type = "application/json; charset=UTF-8"

    def render(self, content: Any) -> bytes:  # noqa: ANN401 - any JSON value
        """Encode a JSON value; text is sent as UTF-8, not escaped."""
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


async def read_json(request: Request) -> dict[str, Any]:
    """Read the JSON object of a request body, an empty body as `{}`.

    Raises:
        ApiError: 400 `parseError` when the body is no JSON object.
    """
    raw = await request.body()
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw)
    except ValueError as error:
        raise ApiError(400, "parseError", f"Parse Error: the body is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise ApiError(400, "parseError", "Parse Error: the body must be a JSON object.")
    return value


class RawRoute(Route):
    """A route matched on the path as sent; `{name}` is one segment of it, percent-decoded afterwards."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match as `Route` does, but never take an encoded slash for a separator.

        Raises:
            ApiError: 400 when a segment is not UTF-8 after decoding.
        """
        found = self.path_regex.match(scope["raw_path"].decode("ascii")) if scope["type"] == "http" else None
        if found is None:
            return Match.NONE, {}
        names = {key: _decode(value) for key, value in found.groupdict().items()}
        wanted = self.methods is None or scope["method"] in self.methods
        return Match.FULL if wanted else Match.PARTIAL, {"endpoint": self.endpoint, "path_params": names}


def _decode(segment: str) -> str:
    try:
        return unquote(segment, errors="strict")
    except UnicodeDecodeError as error:
        raise ApiError(
            400, "invalid", f"The path segment {segment!r} is not percent-encoded UTF-8."
        ) from error


def build_app(
    routes: Sequence[BaseRoute], *, faults: Faults | None = None, middleware: Sequence[Middleware] = ()
) -> Starlette:
    """Build the app of these routes, with Google's error bodies for every failure.

    An `ApiError` raised in a route becomes its JSON body, an unknown path 404, a known path with another
    method 405 and a bug 500 (its traceback is logged). `middleware` is put outermost, then `faults`.
    """
    around = [*middleware]
    if faults is not None:
        around.append(Middleware(FaultMiddleware, faults=faults))
    app = Starlette(routes=routes, middleware=around, exception_handlers=_HANDLERS)
    app.router.redirect_slashes = False  # Google's APIs do not redirect, and an object name may end in one
    return app


def error_response(error: ApiError, headers: Mapping[str, str] | None = None) -> Response:
    """The answer that carries this error."""
    return Json(error.body(), status_code=error.status, headers=headers)


async def _api_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)  # noqa: S101 - Starlette looks handlers up by type
    return error_response(error)


async def _no_route(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - as above
    call = f"{request.method} {request.url.path}"
    if error.status_code == 404:  # noqa: PLR2004
        return error_response(ApiError(404, "notFound", f"The local cloud does not know {call}."))
    allowed = ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
    message = f"{call} is not allowed; this path takes {allowed}."
    return error_response(ApiError(405, "httpMethodNotAllowed", message), error.headers)


async def _gone(_request: Request, _error: Exception) -> Response:
    return Response(status_code=499)  # "client closed request"; nobody is left to read it


async def _bug(_request: Request, error: Exception) -> Response:
    message = f"The local cloud failed: {type(error).__name__}: {error}. Its log has the traceback."
    # uvicorn drops the connection after a bug; said beforehand, the client does not use it again.
    return error_response(ApiError(500, "internalError", message), {"connection": "close"})


_HANDLERS: Mapping[Any, Any] = {
    ApiError: _api_error,
    HTTPException: _no_route,
    ClientDisconnect: _gone,
    Exception: _bug,
}


class _Protocol(HttpToolsProtocol):
    """Hands the fault middleware the means to cut a connection."""

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["extensions"] = {CUT: {"abort": self.transport.abort}}


class Listener:
    """Serves one app on loopback inside the running loop: no signal handlers, no access log, no polling.

    Any number can run in one loop. asyncio sets TCP_NODELAY, so a keep-alive call is not held back by Nagle.
    """

    def __init__(self, app: ASGIApp, *, port: int = 0) -> None:
        self._app = app
        self._port = port
        self._state = ServerState()
        self._server: asyncio.Server | None = None
        self._stopping = False

    @property
    def port(self) -> int:
        """The port it really listens on; 0 before `start` when any was asked for."""
        return self._port

    @property
    def url(self) -> str:
        """The base URL, without a slash at the end."""
        return f"http://{HOST}:{self._port}"

    async def start(self) -> Self:
        """Listen; when this returns, a client can connect.

        Raises:
            OSError: the port is taken or not ours to use.
        """
        config = uvicorn.Config(
            self._serve,
            http=_Protocol,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )
        config.load()
        self._stopping = False

        def connect() -> asyncio.Protocol:
            return _Protocol(config=config, server_state=self._state, app_state={})

        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(connect, HOST, self._port, backlog=config.backlog)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def stop(self, *, grace: timedelta = STOP_GRACE) -> None:
        """Refuse new connections, let running calls finish for at most `grace`, then cut what is left.

        Does nothing when it does not run.
        """
        if self._server is None:
            return
        self._server.close()
        for connection in list(self._state.connections):
            connection.shutdown()
        if self._state.tasks:
            await asyncio.wait(self._state.tasks, timeout=grace.total_seconds())
        await self._cut_the_rest()
        await self._server.wait_closed()
        self._server = None

    async def _cut_the_rest(self) -> None:
        self._stopping = True
        for connection in list(self._state.connections):
            if connection.transport is not None:
                connection.transport.abort()
        tasks = list(self._state.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # connection_lost of an aborted transport runs in the next round of the loop

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            # `stop` cancels a call after cutting its connection; raised on, uvicorn would log a bug.
            if not self._stopping:
                raise

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(self, *_exc: object) -> None:
        await self.stop()
