"""Uploads in one request: `uploadType=media` and `multipart`. `resumable` has its own room."""

import json
from collections.abc import AsyncIterator, Mapping
from email.message import Message
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from localcloud.errors import ApiError
from localcloud.http import Json, RawRoute
from localcloud.storage.checksums import Claims
from localcloud.storage.intent import Intent
from localcloud.storage.links import StorageLinks, wants_full
from localcloud.storage.related import Data, Event, Head, Related
from localcloud.storage.resumable import Resumable
from localcloud.storage.store import Store

PATHS = ("/upload/storage/v1/b/{bucket}/o", "/resumable/upload/storage/v1/b/{bucket}/o")
"""The two that the discovery document names; gcloud uses the second one for resumable uploads."""
LARGEST_METADATA = 1 << 20


class Uploads:
    """Takes the content of new objects."""

    def __init__(self, *, store: Store, links: StorageLinks, resumable: Resumable) -> None:
        self._store = store
        self._links = links
        self._resumable = resumable

    def routes(self) -> list[RawRoute]:
        """`objects.insert` with media. A resumable upload goes on at the same path, with its id."""
        verbs = {"POST": self._post, "PUT": self._resumable.put, "DELETE": self._resumable.cancel}
        return [RawRoute(path, verb, methods=[name]) for path in PATHS for name, verb in verbs.items()]

    async def _post(self, request: Request) -> Response:
        if "upload_id" in request.query_params:
            return await self._resumable.put(request)
        kinds = {"media": self._media, "multipart": self._multipart, "resumable": self._resumable.start}
        kind = request.query_params.get("uploadType", "")
        if kind not in kinds:
            message = f"Invalid value for parameter uploadType: '{kind}'; it can be {', '.join(kinds)}."
            raise ApiError(400, "invalid", message, location="uploadType")
        return await kinds[kind](request)

    async def _media(self, request: Request) -> Response:
        content_type = request.headers.get("content-type", "")
        return await self._take(request, {}, content_type, request.stream())

    async def _multipart(self, request: Request) -> Response:
        body, content_type, stream = await _split(request)
        return await self._take(request, body, content_type, stream)

    async def _take(
        self, request: Request, body: Mapping[str, Any], content_type: str, stream: AsyncIterator[bytes]
    ) -> Response:
        bucket = request.path_params["bucket"]
        query = dict(request.query_params)
        number = self._store.number
        intent = Intent.read(bucket=bucket, query=query, body=body, content_type=content_type, number=number)
        self._store.check(bucket, intent.name, intent.conditions)
        content = await self._store.vault.take(stream)
        blob = intent.complete(self._store, content, Claims.read(request.headers, body))
        return Json(self._links.blob(blob, full=wants_full(query, body)))


async def _split(request: Request) -> tuple[dict[str, Any], str, AsyncIterator[bytes]]:
    """The metadata of a multipart upload, the content's declared type, and the content, yet to be read."""
    events = _events(request)
    metadata: bytearray | None = None
    async for event in events:
        if isinstance(event, Data):
            metadata = _grow(metadata, event.data)
        elif metadata is None:
            metadata = bytearray()
        else:
            return _object(bytes(metadata)), event.headers.get("content-type", ""), _content(events)
    raise ApiError(400, "badContent", "Malformed multipart body: it needs two parts, metadata and content.")


async def _events(request: Request) -> AsyncIterator[Event]:
    parser = Related(_boundary(request))
    async for data in request.stream():
        for event in parser.feed(data):
            yield event
    parser.close()


async def _content(events: AsyncIterator[Event]) -> AsyncIterator[bytes]:
    async for event in events:
        if isinstance(event, Head):
            raise ApiError(400, "badContent", "Malformed multipart body: it has more than two parts.")
        yield event.data


def _boundary(request: Request) -> str:
    header = Message()
    header["content-type"] = request.headers.get("content-type", "")
    boundary = header.get_param("boundary")
    if not isinstance(boundary, str) or not boundary:
        raise ApiError(400, "badContent", "A multipart upload needs a Content-Type with a boundary.")
    return boundary.strip("'")  # gcloud's library quotes it as Python does


def _grow(metadata: bytearray | None, data: bytes) -> bytearray:
    grown = (metadata or bytearray()) + data
    if len(grown) > LARGEST_METADATA:
        raise ApiError(413, "uploadTooLarge", f"The metadata of an object takes {LARGEST_METADATA} bytes.")
    return grown


def _object(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw.strip() or b"{}")
    except (ValueError, RecursionError) as error:
        raise ApiError(400, "parseError", f"Parse Error: the metadata is not JSON: {error}") from error
    if body is None:
        return {}
    if not isinstance(body, dict):
        raise ApiError(400, "parseError", "Parse Error: the metadata must be a JSON object.")
    return body
