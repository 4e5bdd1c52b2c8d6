"""Resumable uploads when two requests meet, and Google's client over lost answers."""

import os
from http.client import HTTPConnection
from urllib.parse import urlsplit

import httpx
import pytest
from google.cloud import storage

from localcloud.faults import Rule
from tests.localcloud.storage.conftest import Served

STEP = 256 * 1024
UPLOAD = "/upload/storage/v1/b/bucket/o"


def _start(http: httpx.Client) -> str:
    """The URL of a new session."""
    return http.post(UPLOAD, params={"uploadType": "resumable"}, json={"name": "a"}).headers["location"]


def _put(http: httpx.Client, url: str, content: bytes, content_range: str) -> httpx.Response:
    return http.put(url, content=content, headers={"content-range": content_range})


class Slow:
    """A request that sends its body piece by piece, when it is told to."""

    def __init__(self, url: str, content_range: str = "") -> None:
        parts = urlsplit(url)
        self._connection = HTTPConnection(parts.netloc, timeout=10)
        self._connection.putrequest("PUT", f"{parts.path}?{parts.query}")
        self._connection.putheader("transfer-encoding", "chunked")
        if content_range:
            self._connection.putheader("content-range", content_range)
        self._connection.endheaders()

    def send(self, data: bytes) -> None:
        """Send a piece; an empty one ends the body."""
        self._connection.send(b"%x\r\n%b\r\n" % (len(data), data))

    def status(self) -> int:
        """Read the answer."""
        status = self._connection.getresponse().status
        self._connection.close()
        return status


def _wait_for(http: httpx.Client, url: str, size: int) -> None:
    """Return when so much has arrived."""
    for _ in range(10_000):
        if _put(http, url, b"", "bytes */*").headers.get("range") == f"bytes=0-{size - 1}":
            return
    raise AssertionError(f"{size} bytes never arrived")


def test_a_newer_request_takes_over(http: httpx.Client, bucket: storage.Bucket):
    """A client that gave up a connection goes on with another; what the old one still brings is void."""
    url = _start(http)
    size = STEP + 6
    old = Slow(url, f"bytes 0-{size - 1}/{size}")
    old.send(b"aa")
    _wait_for(http, url, 2)
    newer = _put(http, url, b"b" * STEP, f"bytes 2-{STEP + 1}/{size}")
    assert newer.headers["range"] == f"bytes=0-{STEP + 1}"
    old.send(b"cccccc")
    old.send(b"")
    assert old.status() == 503
    assert _put(http, url, b"dddd", f"bytes {STEP + 2}-{STEP + 5}/{size}").status_code == 200
    assert bucket.blob("a").download_as_bytes() == b"aa" + b"b" * STEP + b"dddd"


def test_a_finished_object_takes_no_more(http: httpx.Client, bucket: storage.Bucket):
    """Whoever still sends when the upload is complete cannot add to the object."""
    url = _start(http)
    slow = Slow(url)
    slow.send(b"aabb")
    _wait_for(http, url, 4)
    assert _put(http, url, b"", "bytes */4").status_code == 200
    slow.send(b"cccccc")
    slow.send(b"")
    assert slow.status() == 503
    assert bucket.blob("a").download_as_bytes() == b"aabb"


@pytest.mark.parametrize("size", [0, 1, STEP, STEP * 3, STEP * 3 + 7])
def test_googles_client_uploads_in_chunks(bucket: storage.Bucket, size: int):
    """With a chunk size set, it always uses resumable uploads."""
    content = os.urandom(size)
    blob = bucket.blob("a", chunk_size=STEP)
    blob.upload_from_string(content)
    assert blob.size == size
    assert bucket.blob("a").download_as_bytes() == content


def test_googles_client_writes_a_stream(bucket: storage.Bucket):
    """`blob.open` does not know the size before the end."""
    with bucket.blob("a").open("wb", chunk_size=STEP) as stream:
        for _ in range(30):
            stream.write(b"0123456789" * 5_000)
    assert bucket.blob("a").download_as_bytes() == b"0123456789" * 150_000


@pytest.mark.parametrize("after_work", [False, True])
def test_googles_client_gets_over_lost_answers(served: Served, bucket: storage.Bucket, *, after_work: bool):
    """Two pieces end in 503, before or after they were taken: the client resumes, the content is right."""
    served.faults.add(Rule(method="PUT", path="/upload", status=503, after_work=after_work, count=2))
    content = os.urandom(STEP * 5)
    bucket.blob("a", chunk_size=STEP).upload_from_string(content)
    assert bucket.blob("a").download_as_bytes() == content
