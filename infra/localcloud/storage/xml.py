"""What of the XML API is done: to read or delete an object, and to begin an upload, as signed URLs do.

Each is a call of the JSON API under another path. Of a signature only the end is checked.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, quote, unquote, urlencode

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from localcloud.errors import ApiError

OTHERS = re.compile(
    rb"/(b|batch|compute|computeMetadata|download|local|projects|resumable|storage|upload|v\d)/"
)
"""The beginnings of other APIs, which no bucket takes away."""

SIGNED = re.compile(
    r"x-goog-(algorithm|credential|date|expires|signature|signedheaders)|googleaccessid|expires|signature"
)
DONE = frozenset({"generation", "userproject", "alt"})
OK, CREATED = 200, 201


class XmlPaths:
    """`/BUCKET/OBJECT` is that object, where there is such a bucket."""

    def __init__(
        self, app: ASGIApp, *, has_bucket: Callable[[str], bool], now: Callable[[], datetime]
    ) -> None:
        self._app = app
        self._has_bucket = has_bucket
        self._now = now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on as one of the JSON API."""
        if scope["type"] != "http" or OTHERS.match(scope["raw_path"]):
            await self._app(scope, receive, send)
            return
        bucket, _, name = scope["raw_path"][1:].decode("ascii").partition("/")
        if not bucket or not self._has_bucket(unquote(bucket)):
            await self._app(scope, receive, send)
            return
        try:
            whole = translate(scope, bucket, unquote(name), self._now())
        except ApiError as error:
            await JSONResponse(error.body(), status_code=error.status)(scope, receive, send)
            return
        started = scope["method"] == "POST"
        await self._app(whole, receive, _created(send) if started else send)


def translate(scope: Scope, bucket: str, name: str, now: datetime) -> Scope:
    """The same call of the JSON API.

    Raises:
        ApiError: 400 for a signed URL that has expired, 501 for what is not done, by its name.
    """
    query = dict(parse_qsl(scope["query_string"].decode(), keep_blank_values=True))
    check_signed(query, now)
    verb, headers = scope["method"], Headers(scope=scope)
    for key in query:
        if not SIGNED.fullmatch(key.lower()) and key.lower() not in DONE:
            raise _undone(f"the parameter {key}")
    path = f"/storage/v1/b/{bucket}/o/{quote(name, safe='')}"
    kept = {key: query[key] for key in ("generation",) if key in query}
    if name and verb in ("GET", "HEAD"):
        return _call(scope, f"/download{path}", {**kept, "alt": "media"})
    if name and verb == "DELETE":
        return _call(scope, path, kept)
    if name and verb == "POST" and headers.get("x-goog-resumable") == "start":
        begun = _call(scope, f"/upload/storage/v1/b/{bucket}/o", {"uploadType": "resumable", "name": name})
        kind = headers.get("content-type", "").encode("latin-1")
        return {**begun, "headers": [*begun["headers"], (b"x-upload-content-type", kind)]}
    raise _undone(f"{verb} of {'an object' if name else 'a bucket'}")


def check_signed(query: Mapping[str, str], now: datetime) -> None:
    """Raise `ApiError` 400 where a signed URL, of the second or fourth version, has expired."""
    fields = {key.lower(): value for key, value in query.items()}
    try:
        if "x-goog-expires" in fields:
            begun = datetime.strptime(fields.get("x-goog-date", ""), "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
            end = begun + timedelta(seconds=int(fields["x-goog-expires"]))
        elif "expires" in fields:
            end = datetime.fromtimestamp(int(fields["expires"]), tz=UTC)
        else:
            return
    except (ValueError, OverflowError) as error:
        raise ApiError(400, "invalid", f"The signed URL has no end that can be read: {error}") from error
    if now > end:
        raise ApiError(400, "expired", "The provided token has expired.")


def _call(scope: Scope, path: str, query: Mapping[str, str]) -> Scope:
    whole = {
        "path": unquote(path),
        "raw_path": path.encode("ascii"),
        "query_string": urlencode(query).encode(),
    }
    return {**scope, **whole, "headers": [*scope["headers"]]}


def _undone(what: str) -> ApiError:
    return ApiError(501, "notImplemented", f"The local cloud does not do {what} of the XML API.")


def _created(send: Send) -> Send:
    """A `send` that says 201 where the JSON API says 200."""

    async def told(message: Message) -> None:
        good = message["type"] == "http.response.start" and message["status"] == OK
        await send({**message, "status": CREATED} if good else message)

    return told
