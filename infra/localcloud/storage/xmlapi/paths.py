"""Which call of the XML API a request is: `/BUCKET` is a bucket, `/BUCKET/OBJECT` an object of it.

To read or delete an object and to begin a resumable upload are calls of the JSON API under another path;
lists and multipart uploads have paths of their own below `/storage/xml`. What is not done answers 501 by its
name.
"""

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from urllib.parse import parse_qsl, quote, unquote, urlencode

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from localcloud.errors import ApiError
from localcloud.storage.etags import XML
from localcloud.storage.xmlapi.answers import XmlAnswers
from localcloud.storage.xmlapi.documents import error_of
from localcloud.storage.xmlapi.signed import check_signed, unsigned

OTHERS = re.compile(
    rb"/(b|batch|compute|computeMetadata|download|local|projects|resumable|storage|upload|v\d)/"
)
"""The beginnings of other APIs, which no bucket takes away."""

READ = frozenset({"generation", "userproject", "alt"})
"""Parameters of an object, in small letters."""
LISTED = frozenset(
    ("continuation-token", "delimiter", "encoding-type", "fetch-owner", "list-type", "marker", "max-keys")
) | {"prefix", "start-after"}
"""Those of a list of objects."""
UPLOADS_LISTED = frozenset(
    ("uploads", "delimiter", "encoding-type", "key-marker", "max-uploads", "prefix", "upload-id-marker")
)
PARTS_LISTED = frozenset({"uploadId", "encoding-type", "max-parts", "part-number-marker"})


class XmlPaths:
    """Passes calls of the XML API on to where they are answered, in buckets that there are."""

    def __init__(
        self, app: ASGIApp, *, has_bucket: Callable[[str], bool], now: Callable[[], datetime]
    ) -> None:
        self._app = app
        self._has_bucket = has_bucket
        self._now = now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on under its path here."""
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
            await error_of(error)(scope, receive, send)
            return
        started = whole["path"].startswith("/upload/")
        await self._app(whole, receive, XmlAnswers(send, created=started))


def translate(scope: Scope, bucket: str, name: str, now: datetime) -> Scope:
    """The same call under its path here.

    Raises:
        ApiError: 400 for a signed URL that has expired, 501 for what is not done, by its name.
    """
    query = dict(parse_qsl(scope["query_string"].decode(), keep_blank_values=True))
    check_signed(query, now)
    verb, plain = scope["method"], unsigned(query)
    if not name:
        return _bucket_call(scope, bucket, verb, plain)
    if "uploadId" in plain or "uploads" in plain:
        return _upload_call(scope, f"{bucket}/{quote(name, safe='')}", verb, plain)
    _check(plain, READ)
    path = f"/storage/v1/b/{bucket}/o/{quote(name, safe='')}"
    kept = {key: plain[key] for key in ("generation",) if key in plain}
    if verb in ("GET", "HEAD"):
        return {**_call(scope, f"/download{path}", {**kept, "alt": "media"}), XML: True}
    if verb == "DELETE":
        return _call(scope, path, kept)
    headers = Headers(scope=scope)
    if verb == "POST" and headers.get("x-goog-resumable") == "start":
        begun = _call(scope, f"/upload/storage/v1/b/{bucket}/o", {"uploadType": "resumable", "name": name})
        kind = headers.get("content-type", "").encode("latin-1")
        return {**begun, "headers": [*begun["headers"], (b"x-upload-content-type", kind)]}
    raise _undone(f"{verb} of an object")


def _bucket_call(scope: Scope, bucket: str, verb: str, query: Mapping[str, str]) -> Scope:
    if verb != "GET":
        raise _undone(f"{verb} of a bucket")
    if "uploads" in query:
        _check(query, {name.lower() for name in UPLOADS_LISTED})
        return _call(scope, f"/storage/xml/uploads/{bucket}", query)
    _check(query, LISTED)
    if query.get("fetch-owner", "false") != "false":
        raise _undone("the parameter fetch-owner")
    return _call(scope, f"/storage/xml/objects/{bucket}", query)


def _upload_call(scope: Scope, path: str, verb: str, query: Mapping[str, str]) -> Scope:
    """A call of one multipart upload; which, is in its parameters."""
    if "uploads" in query:
        if verb != "POST":
            raise _undone(f"{verb} of an object with the parameter uploads")
        _check(query, {"uploads"})
        return _call(scope, f"/storage/xml/uploads/{path}", {})
    if verb not in ("GET", "PUT", "POST", "DELETE"):
        raise _undone(f"{verb} of an object with the parameter uploadId")
    taken = {"GET": PARTS_LISTED, "PUT": {"uploadId", "partNumber"}}.get(verb, {"uploadId"})
    _check(query, {name.lower() for name in taken})
    return _call(scope, f"/storage/xml/parts/{path}", query)


def _check(query: Mapping[str, str], done: frozenset[str] | set[str]) -> None:
    for key in query:
        if key.lower() not in {"userproject", *done}:
            raise _undone(f"the parameter {key}")


def _call(scope: Scope, path: str, query: Mapping[str, str]) -> Scope:
    whole = {
        "path": unquote(path),
        "raw_path": path.encode("ascii"),
        "query_string": urlencode(query).encode(),
    }
    return {**scope, **whole, "headers": [*scope["headers"]]}


def _undone(what: str) -> ApiError:
    return ApiError(501, "notImplemented", f"The local cloud does not do {what} of the XML API.")
