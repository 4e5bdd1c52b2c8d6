"""Multipart uploads of the XML API ("XML API multipart uploads").

An upload and its parts are rows, each part a file; they survive a restart of the server, and stay until the
upload is completed or aborted. The parts may come in any order and at the same time.
"""

import asyncio
import base64
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from weakref import WeakValueDictionary

from starlette.requests import Request
from starlette.responses import Response

from localcloud.errors import ApiError
from localcloud.http import RawRoute
from localcloud.storage.checksums import NO_CLAIMS, Claims
from localcloud.storage.conditions import ANYTHING, number
from localcloud.storage.etags import xml_tag
from localcloud.storage.fields import new_object, read_object
from localcloud.storage.links import StorageLinks
from localcloud.storage.model import Blob, Content, Draft, MultipartUpload, UploadPart
from localcloud.storage.names import check_object
from localcloud.storage.resource import segment
from localcloud.storage.store import Store
from localcloud.storage.xmlapi.completion import LARGEST_BODY, MOST_PARTS, WantedPart, read_completion
from localcloud.storage.xmlapi.documents import UPLOADS, answer
from localcloud.storage.xmlapi.headers import object_body

SMALLEST_PART = 5 << 20
"""Of each part but the last."""
LARGEST_PART = 5 << 30
LARGEST_OBJECT = 5 << 40
"""All three from "Quotas & limits", XML API multipart uploads."""


class XmlMultipart:
    """Begins, takes, completes and aborts multipart uploads."""

    def __init__(self, *, store: Store, links: StorageLinks) -> None:
        self._store = store
        self._links = links
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def routes(self) -> list[RawRoute]:
        """Where `XmlPaths` sends them."""
        parts = "/storage/xml/parts/{bucket}/{object}"
        return [
            RawRoute("/storage/xml/uploads/{bucket}/{object}", self._begin, methods=["POST"]),
            RawRoute(parts, self._take, methods=["PUT"]),
            RawRoute(parts, self._complete, methods=["POST"]),
            RawRoute(parts, self._abort, methods=["DELETE"]),
        ]

    async def _begin(self, request: Request) -> Response:
        bucket, name = request.path_params["bucket"], check_object(request.path_params["object"])
        fields = new_object(read_object(object_body(request.headers)))
        self._store.buckets.get(bucket)
        now = self._store.now()
        upload = MultipartUpload(
            id=secrets.token_urlsafe(48),
            bucket=bucket,
            name=name,
            number=self._store.index.next_number("multipart", 1),
            fields=fields,
            created=now,
        )
        self._store.index.multiparts.put_upload(upload)
        told = (("Bucket", bucket), ("Key", name), ("UploadId", upload.id))
        return answer("InitiateMultipartUploadResult", UPLOADS, told)

    async def _take(self, request: Request) -> Response:
        """Take a part; one with the number of an earlier part takes its place."""
        upload = find_upload(self._store, request)
        which = number(request.query_params, "partNumber") or 0
        if not 1 <= which <= MOST_PARTS:
            raise ApiError(400, "invalid", f"partNumber must be a number from 1 to {MOST_PARTS}.")
        content = await self._store.vault.take(request.stream(), LARGEST_PART)
        async with self._lock(upload):
            try:
                _check_claims(request, content)
                find_upload(self._store, request)  # it may have ended meanwhile
            except ApiError:
                self._store.vault.remove([content.file])
                raise
            parts = self._store.index.multiparts
            old = parts.part(upload.id, which)
            part = UploadPart(upload=upload.id, number=which, content=content, written=self._store.now())
            parts.put_part(part)
            self._store.vault.remove([old.content.file] if old else [])
        hashes = f"crc32c={content.crc32c},md5={content.md5}"
        return Response(headers={"etag": f'"{part_tag(part)}"', "x-goog-hash": hashes})

    async def _complete(self, request: Request) -> Response:
        upload = find_upload(self._store, request)
        wanted = read_completion(await _body(request))
        async with self._lock(upload):
            find_upload(self._store, request)
            parts = self._chosen(upload, wanted)
            self._store.check(upload.bucket, upload.name, ANYTHING)
            content = await self._store.vault.join(self._descriptors(parts))
            files = [part.content.file for part in self._store.index.multiparts.parts(upload.id)]
            blob = self._write(upload, content)
            self._store.vault.remove(files)
        told = (
            ("Location", f"{self._links.base_url()}/{upload.bucket}/{segment(upload.name)}"),
            ("Bucket", upload.bucket),
            ("Key", upload.name),
            ("ETag", f'"{xml_tag(blob)}"'),
        )
        made = answer("CompleteMultipartUploadResult", UPLOADS, told)
        made.headers["x-goog-generation"] = str(blob.generation)
        made.headers["x-goog-hash"] = f"crc32c={content.crc32c}"
        return made

    async def _abort(self, request: Request) -> Response:
        upload = find_upload(self._store, request)
        async with self._lock(upload):
            find_upload(self._store, request)
            files = [part.content.file for part in self._store.index.multiparts.parts(upload.id)]
            with self._store.index.transaction():
                self._store.index.multiparts.drop_upload(upload.id)
            self._store.vault.remove(files)
        return Response(status_code=204)

    def _write(self, upload: MultipartUpload, content: Content) -> Blob:
        def end(_blob: Blob) -> None:
            self._store.index.multiparts.drop_upload(upload.id)

        draft = Draft(bucket=upload.bucket, name=upload.name, content=content, fields=upload.fields)
        return self._store.write(draft, ANYTHING, claims=NO_CLAIMS, within=end)

    def _chosen(self, upload: MultipartUpload, wanted: Sequence[WantedPart]) -> list[UploadPart]:
        """The parts that the object is to have, which may be fewer than have arrived."""
        there = {part.number: part for part in self._store.index.multiparts.parts(upload.id)}
        for number_, tag in wanted:
            part = there.get(number_)
            if part is None or part_tag(part) != tag:
                what = "has not arrived" if part is None else f"has the ETag {part_tag(part)}, not {tag}"
                raise ApiError(400, "invalidPart", f"Part {number_} {what}.")
        chosen = [there[part.number] for part in wanted]
        for part in chosen[:-1]:
            if part.content.size < SMALLEST_PART:
                message = f"Part {part.number} has {part.content.size} bytes, fewer than {SMALLEST_PART}."
                raise ApiError(400, "entityTooSmall", message)
        if sum(part.content.size for part in chosen) > LARGEST_OBJECT:
            raise ApiError(400, "entityTooLarge", f"An object has at most {LARGEST_OBJECT} bytes.")
        return chosen

    def _descriptors(self, parts: Sequence[UploadPart]) -> Iterator[int]:
        """Each part opened in its turn: there may be more parts than files that can be open."""
        for part in parts:
            descriptor = self._store.vault.open(part.content)
            try:
                yield descriptor
            finally:
                os.close(descriptor)

    def _lock(self, upload: MultipartUpload) -> asyncio.Lock:
        """What changes an upload is done one after another; parts arrive at the same time all the same."""
        return self._locks.setdefault(upload.id, asyncio.Lock())


def find_upload(store: Store, request: Request) -> MultipartUpload:
    """The upload that a request names.

    Raises:
        ApiError: 404 for one that never began, has ended, or is of another object.
    """
    path: Mapping[str, str] = request.path_params
    upload = store.index.multiparts.upload(request.query_params.get("uploadId", ""))
    if upload is None or (upload.bucket, upload.name) != (path["bucket"], path["object"]):
        message = "There is no such multipart upload: it was completed, aborted or never began."
        raise ApiError(404, "noSuchUpload", message)
    return upload


def part_tag(part: UploadPart) -> str:
    """The entity tag of a part: the MD5 hash of its content, in hex."""
    return base64.b64decode(part.content.md5 or "").hex()


def _check_claims(request: Request, content: Content) -> None:
    try:
        Claims.read(request.headers, {}).check(content)
    except ApiError as error:
        raise ApiError(400, "badDigest", error.message) from error


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for data in request.stream():
        body += data
        if len(body) > LARGEST_BODY:
            raise ApiError(400, "malformedXml", f"The list of parts is longer than {LARGEST_BODY} bytes.")
    return bytes(body)
