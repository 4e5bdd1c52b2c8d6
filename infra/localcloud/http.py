"""The HTTP side that every service shares: the app, its routes and error answers. `Listener` serves it.

Object names hold anything, slashes and percent signs included, so a route that carries one must be matched
on the path as it was sent, before decoding: that is `RawRoute`. Everything else is Starlette and uvicorn.
"""

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from localcloud.errors import ApiError
from localcloud.faults import FaultMiddleware, Faults
from localcloud.listener import HOST, STOP_GRACE, Listener
from localcloud.methods import CHOSEN, choosing, known_method
from localcloud.partial import select

__all__ = ["HOST", "STOP_GRACE", "Json", "Listener", "RawRoute", "build_app", "error_response", "read_json"]


class Json(Response):
    """A JSON answer as Google sends it: UTF-8, one line. Of success goes the part that `fields` asks for."""

    media_type = "application/json; charset=UTF-8"
    _value: Any

    def render(self, content: Any) -> bytes:
        """Encode a JSON value; text is sent as UTF-8, not escaped."""
        self._value = content
        return msgspec.json.encode(content)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        mask = scope.get(CHOSEN)
        if mask and self.status_code < HTTPStatus.MULTIPLE_CHOICES:
            self.body = self.render(select(self._value, mask))
            self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


async def read_json(request: Request) -> dict[str, Any]:
    """Read the JSON object of a request body; an empty body, or `null` as Go's clients send it, is `{}`.

    Raises:
        ApiError: 400 `parseError` when the body is not a JSON object.
    """
    raw = await request.body()
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ApiError(400, "parseError", f"Parse Error: the body is not JSON: {error}") from error
    if value is None:
        return {}
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
    app = Starlette(routes=[*choosing(routes)], middleware=around, exception_handlers=_HANDLERS)
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
    if method := known_method(request.method, request.scope["raw_path"].decode("ascii")):
        return error_response(ApiError(501, "notImplemented", f"The local cloud does not do {method}."))
    if error.status_code == HTTPStatus.NOT_FOUND:
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
