"""Media answers: whole objects, ranges, and gzip taken off for clients that cannot."""

import os
import zlib
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from localcloud.errors import ApiError
from localcloud.http import error_response
from localcloud.storage.content import BLOCK, Vault, read_block
from localcloud.storage.etags import tag_header
from localcloud.storage.model import Blob
from localcloud.storage.ranges import Span, read_range

SMALL = 64 * 1024
"""Up to this size a read costs less than the way to a thread and back."""

GZIP = b"\x1f\x8b"
"""How each member of a gzip file begins; what begins otherwise is sent as it is, whatever is said of it."""


def media(request: Request, blob: Blob, vault: Vault) -> Response:
    """The content of an object, as the request wants it; 416 for a range with nothing in it."""
    headers = _headers(request, blob)
    if _takes_gzip_off(request, blob) and _read(vault, blob, Span(0, len(GZIP))) == GZIP:
        headers |= {"warning": '214 UploadServer "gunzipped"'}
        return StreamingResponse(_gunzip(_stream(vault, blob, Span(0, blob.content.size))), headers=headers)
    if blob.fields.get("contentEncoding"):
        headers["content-encoding"] = blob.fields["contentEncoding"]
    whole = Span(0, blob.content.size)
    try:
        asked = _read_range(request, blob)
    except ApiError as error:  # clients tell an empty object by this header
        return error_response(error, {"content-range": f"bytes */{blob.content.size}"})
    span = asked or whole
    headers["content-length"] = str(span.end - span.start)
    if asked:
        headers["content-range"] = f"bytes {span.start}-{span.end - 1}/{blob.content.size}"
    status = 206 if asked else 200
    if span.end - span.start <= SMALL:
        return Response(_read(vault, blob, span), status, headers)
    return StreamingResponse(_stream(vault, blob, span), status, headers)


def _read_range(request: Request, blob: Blob) -> Span | None:
    header = request.headers.get("range", "")
    return read_range(header, blob.content.size) if header else None


def _headers(request: Request, blob: Blob) -> dict[str, str]:
    content, fields = blob.content, blob.fields
    hashes = [f"crc32c={content.crc32c}"] + ([f"md5={content.md5}"] if content.md5 else [])
    headers = {
        "accept-ranges": "bytes",
        "content-type": fields.get("contentType") or "application/octet-stream",
        "etag": tag_header(request.scope, blob),
        "x-goog-generation": str(blob.generation),
        "x-goog-metageneration": str(blob.metageneration),
        "x-goog-hash": ",".join(hashes),
        "x-goog-storage-class": fields.get("storageClass", "STANDARD"),
        "x-goog-stored-content-encoding": fields.get("contentEncoding", "identity"),
        "x-goog-stored-content-length": str(content.size),
    }
    kept = {"cacheControl": "cache-control", "contentDisposition": "content-disposition"}
    kept |= {"contentLanguage": "content-language"}
    return headers | {header: fields[name] for name, header in kept.items() if fields.get(name)}


def _takes_gzip_off(request: Request, blob: Blob) -> bool:
    """Decompressive transcoding ("Transcoding of gzip-compressed files")."""
    return (
        blob.fields.get("contentEncoding") == "gzip"
        and "gzip" not in request.headers.get("accept-encoding", "")
        and "no-transform" not in blob.fields.get("cacheControl", "")
    )


def _read(vault: Vault, blob: Blob, span: Span) -> bytes:
    descriptor = vault.open(blob.content)
    try:
        return os.pread(descriptor, span.end - span.start, span.start)
    finally:
        os.close(descriptor)


def _stream(vault: Vault, blob: Blob, span: Span) -> AsyncIterator[bytes]:
    """Read while the client takes it. The file is opened now: a later overwrite changes nothing."""
    return _blocks(vault.open(blob.content), span)


async def _blocks(descriptor: int, span: Span) -> AsyncIterator[bytes]:
    try:
        position = span.start
        while position < span.end:
            data = await read_block(descriptor, position, min(BLOCK, span.end - position))
            yield data
            position += len(data)
    finally:
        os.close(descriptor)


async def _gunzip(stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """All members, in pieces: a block that unpacks to a thousand times as much is not held in memory."""
    unpack = zlib.decompressobj(wbits=31)
    async for block in stream:
        data = block
        while data:
            yield unpack.decompress(data, BLOCK)
            data = unpack.unconsumed_tail
            if unpack.eof:
                data, unpack = unpack.unused_data, zlib.decompressobj(wbits=31)
    yield unpack.flush()
