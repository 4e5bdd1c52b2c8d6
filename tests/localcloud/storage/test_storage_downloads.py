"""Downloads: parts, headers, gzip, and which version is read."""

import asyncio
import gzip
import os
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from google.cloud import storage
from starlette.requests import Request
from starlette.responses import StreamingResponse

from localcloud.storage.content import ContentSink, Vault
from localcloud.storage.downloads import media
from localcloud.storage.model import Draft


@pytest.mark.parametrize(
    ("header", "status", "content", "content_range"),
    [
        ("bytes=2-4", 206, b"234", "bytes 2-4/10"),
        ("bytes=7-", 206, b"789", "bytes 7-9/10"),
        ("bytes=-1", 206, b"9", "bytes 9-9/10"),
        ("bytes=0-99", 206, b"0123456789", "bytes 0-9/10"),
        ("nonsense", 200, b"0123456789", None),
    ],
)
def test_a_part_is_read(
    http: httpx.Client,
    bucket: storage.Bucket,
    header: str,
    status: int,
    content: bytes,
    content_range: str | None,
):
    """206 with its place in the whole; a header that makes no sense means all."""
    bucket.blob("a").upload_from_string("0123456789")
    answer = http.get("/download/storage/v1/b/bucket/o/a", params={"alt": "media"}, headers={"range": header})
    assert (answer.status_code, answer.content) == (status, content)
    assert answer.headers.get("content-range") == content_range


def test_a_part_beyond_the_end_is_refused(http: httpx.Client, bucket: storage.Bucket):
    """416, and how much there is; by that Google's client reads an empty object in chunks."""
    bucket.blob("a").upload_from_string("")
    answer = http.get("/storage/v1/b/bucket/o/a", params={"alt": "media"}, headers={"range": "bytes=0-9"})
    assert answer.status_code == 416
    assert answer.headers["content-range"] == "bytes */0"
    assert bucket.blob("a", chunk_size=256 * 1024).download_as_bytes() == b""


def test_a_download_carries_what_a_client_needs(http: httpx.Client, bucket: storage.Bucket):
    """Type, disposition, checksums and version are in the headers."""
    blob = bucket.blob("a")
    blob.content_disposition = "attachment"
    blob.upload_from_string("x", content_type="text/plain")
    headers = http.get("/storage/v1/b/bucket/o/a", params={"alt": "media"}).headers
    assert headers["content-type"] == "text/plain"
    assert headers["content-disposition"] == "attachment"
    assert headers["x-goog-hash"] == f"crc32c={blob.crc32c},md5={blob.md5_hash}"
    assert headers["x-goog-generation"] == str(blob.generation)
    assert headers["etag"] == blob.etag


def test_gzip_is_taken_off_for_a_client_that_cannot(http: httpx.Client, bucket: storage.Bucket):
    """Decompressive transcoding: the stored bytes only for those who accept gzip, or with no-transform."""
    blob = bucket.blob("a")
    blob.content_encoding = "gzip"
    packed = gzip.compress(b"text" * 100_000)
    blob.upload_from_string(packed, content_type="text/plain")

    def read(accepts: str) -> tuple[str | None, int]:
        headers = {"accept-encoding": accepts}
        with http.stream(
            "GET", "/storage/v1/b/bucket/o/a", params={"alt": "media"}, headers=headers
        ) as answer:
            return answer.headers.get("content-encoding"), len(b"".join(answer.iter_raw()))

    assert read("identity") == (None, 400_000)
    assert read("gzip") == ("gzip", len(packed))
    assert blob.download_as_bytes() == b"text" * 100_000
    blob.cache_control = "no-transform"
    blob.patch()
    assert read("identity") == ("gzip", len(packed))


@pytest.mark.parametrize(
    ("stored", "told"),
    [
        (b"plain", b"plain"),
        (b"", b""),
        (gzip.compress(b"one") + gzip.compress(b"two"), b"onetwo"),
        (gzip.compress(bytes(20 << 20)), bytes(20 << 20)),
    ],
    ids=["plain", "empty", "two members", "long"],
)
def test_only_what_is_gzip_is_taken_for_it(
    http: httpx.Client, bucket: storage.Bucket, stored: bytes, told: bytes
):
    """Decompressive transcoding asks for both, metadata and bytes; a file may have several members."""
    blob = bucket.blob("a")
    blob.content_encoding = "gzip"
    blob.upload_from_string(stored)
    with http.stream(
        "GET", "/storage/v1/b/bucket/o/a?alt=media", headers={"accept-encoding": "identity"}
    ) as answer:
        assert b"".join(answer.iter_raw()) == told


def test_a_download_is_of_the_version_that_was_asked_for(tmp_path: Path):
    """The content is taken hold of with the answer, not with its first byte; a deletion is too late then."""

    async def run() -> bytes:
        vault = Vault(tmp_path)
        sink = ContentSink(vault.new())
        await sink.write(content)
        now = datetime.now(UTC)
        draft = Draft(bucket="bucket", name="a", content=await sink.finish())
        scope = {"type": "http", "method": "GET", "headers": [], "query_string": b"", "path": "/"}
        answer = media(Request(scope), draft.blob(1, now), vault)
        vault.remove([draft.content.file])
        assert isinstance(answer, StreamingResponse)
        return b"".join([data async for data in answer.body_iterator])

    content = os.urandom(3_000_000)
    assert asyncio.run(run()) == content


def test_a_download_that_runs_sees_one_version(http: httpx.Client, bucket: storage.Bucket):
    """An overwrite in the middle of a download does not mix two contents."""
    first = b"1" * 8_000_000
    bucket.blob("a").upload_from_string(first)
    with http.stream("GET", "/storage/v1/b/bucket/o/a", params={"alt": "media"}) as answer:
        pieces = answer.iter_bytes(1000)
        got = [next(pieces)]
        bucket.blob("a").upload_from_string(b"2" * 8_000_000)
        got += pieces
    assert b"".join(got) == first


def test_the_language_of_an_object_is_a_header(http: httpx.Client, bucket: storage.Bucket):
    """`contentLanguage` is kept, and said with the content."""
    blob = bucket.blob("a")
    blob.content_language = "en"
    blob.upload_from_string("x")
    answer = http.get("/storage/v1/b/bucket/o/a", params={"alt": "media"})
    assert answer.headers["content-language"] == "en"
    assert http.get("/storage/v1/b/bucket/o/a").json()["contentLanguage"] == "en"
