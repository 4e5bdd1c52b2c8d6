"""Uploads in one request, as clients send them, and as they must not."""

import base64
import hashlib
import json
import time
from typing import Any

import google_crc32c
import httpx
import pytest
from google.cloud import storage

from tests.localcloud.storage.conftest import Served

UPLOAD = "/upload/storage/v1/b/bucket/o"


def _media(
    http: httpx.Client, content: bytes, headers: dict[str, str] | None = None, **query: str
) -> httpx.Response:
    params = {"uploadType": "media", "name": "a", **query}
    return http.post(UPLOAD, params=params, content=content, headers=headers)


def _multipart(http: httpx.Client, metadata: Any, content: bytes, boundary: str = "limit") -> httpx.Response:
    head = f"--limit\r\ncontent-type: application/json\r\n\r\n{json.dumps(metadata)}\r\n"
    body = head.encode() + b"--limit\r\ncontent-type: a/b\r\n\r\n" + content + b"\r\n--limit--"
    headers = {"content-type": f"multipart/related; boundary={boundary}"}
    return http.post(UPLOAD, params={"uploadType": "multipart"}, content=body, headers=headers)


def test_a_media_upload_takes_its_name_and_type_from_the_request(http: httpx.Client, bucket: storage.Bucket):
    """`name` is a parameter, the type a header."""
    resource = _media(http, b"x", {"content-type": "text/plain"}).json()
    assert (resource["name"], resource["contentType"], resource["size"]) == ("a", "text/plain", "1")
    assert bucket.blob("a").download_as_bytes() == b"x"


def test_a_multipart_upload_brings_its_metadata(http: httpx.Client, bucket: storage.Bucket):
    """First the object's metadata, then its content, whose type counts if there is no other."""
    resource = _multipart(http, {"name": "a", "metadata": {"k": "v"}}, b"\r\n--limi\r\n").json()
    assert (resource["metadata"], resource["contentType"]) == ({"k": "v"}, "a/b")
    assert bucket.blob("a").download_as_bytes() == b"\r\n--limi\r\n"
    resource = _multipart(http, {"name": "a", "contentType": "c/d"}, b"x").json()
    assert resource["contentType"] == "c/d"


@pytest.mark.parametrize("boundary", ["limit", '"limit"', "'limit'"])
def test_a_boundary_may_be_quoted(http: httpx.Client, bucket: storage.Bucket, boundary: str):
    """Double quotes are the standard's, single ones are gcloud's."""
    assert _multipart(http, {"name": "a"}, b"x", boundary).status_code == 200
    assert bucket.blob("a").exists()


@pytest.mark.parametrize(
    ("params", "content_type", "says"),
    [
        ({}, "text/plain", "uploadType"),
        ({"uploadType": "parallel", "name": "a"}, "text/plain", "media, multipart, resumable"),
        ({"uploadType": "media"}, "text/plain", "Required"),
        ({"uploadType": "multipart"}, "multipart/related", "boundary"),
        ({"uploadType": "multipart"}, "multipart/related; boundary=other", "does not begin"),
    ],
)
def test_an_upload_that_is_none_is_refused(
    http: httpx.Client, bucket: storage.Bucket, params: dict[str, str], content_type: str, says: str
):
    """400 says what is missing, and no object appears."""
    answer = http.post(
        UPLOAD, params=params, content=b"--limit\r\n\r\n", headers={"content-type": content_type}
    )
    assert answer.status_code == 400
    assert says in answer.json()["error"]["message"]
    assert list(bucket.list_blobs()) == []


@pytest.mark.parametrize("metadata", [{"name": "a", "metadata": {"k": 1}}, {"name": "a\nb"}, [], {"name": 7}])
def test_metadata_that_is_none_is_refused(http: httpx.Client, bucket: storage.Bucket, metadata: Any):
    """400, and no object appears."""
    assert _multipart(http, metadata, b"x").status_code == 400
    assert list(bucket.list_blobs()) == []


@pytest.mark.parametrize("parts", [1, 3])
def test_a_multipart_upload_has_two_parts(http: httpx.Client, bucket: storage.Bucket, parts: int):
    """One part or three are refused."""
    body = b'--limit\r\n\r\n{"name": "a"}\r\n' * parts + b"--limit--"
    headers = {"content-type": "multipart/related; boundary=limit"}
    answer = http.post(UPLOAD, params={"uploadType": "multipart"}, content=body, headers=headers)
    assert answer.status_code == 400
    assert "two parts" in answer.json()["error"]["message"]
    assert list(bucket.list_blobs()) == []


CONTENT = b"content"
MD5 = base64.b64encode(hashlib.md5(CONTENT).digest()).decode()
CRC32C = base64.b64encode(google_crc32c.value(CONTENT).to_bytes(4)).decode()


@pytest.mark.parametrize(
    "headers",
    [{"x-goog-hash": f"crc32c={CRC32C},md5={MD5}"}, {"content-md5": MD5}, {"x-goog-hash": f"md5={MD5}"}],
)
def test_true_checksums_are_accepted(http: httpx.Client, bucket: storage.Bucket, headers: dict[str, str]):
    """In any of the places a client may put them."""
    assert _media(http, CONTENT, headers).status_code == 200
    assert bucket.blob("a").exists()


@pytest.mark.parametrize(
    ("headers", "word"),
    [
        ({"x-goog-hash": "crc32c=AAAAAA=="}, "CRC32C"),
        ({"x-goog-hash": f"crc32c={CRC32C},md5={CRC32C}"}, "MD5 hash"),
        ({"content-md5": "AAAA"}, "MD5 hash"),
    ],
)
def test_false_checksums_are_refused(
    served: Served, http: httpx.Client, bucket: storage.Bucket, headers: dict[str, str], word: str
):
    """400 in the words of the real API; no object appears and no file stays."""
    answer = _media(http, CONTENT, headers)
    assert answer.status_code == 400
    assert f"Provided {word}" in answer.json()["error"]["message"]
    assert "doesn't match calculated" in answer.json()["error"]["message"]
    assert list(bucket.list_blobs()) == []
    assert served.files() == []


def test_checksums_in_the_metadata_count_too(http: httpx.Client, bucket: storage.Bucket):
    """As `md5Hash` and `crc32c` of the first part."""
    assert _multipart(http, {"name": "a", "md5Hash": MD5, "crc32c": CRC32C}, CONTENT).status_code == 200
    assert _multipart(http, {"name": "a", "md5Hash": "AAAA"}, CONTENT).status_code == 400
    assert bucket.blob("a").download_as_bytes() == CONTENT


def test_an_upload_in_vain_is_refused_before_its_content(http: httpx.Client, bucket: storage.Bucket):
    """A failed precondition is answered while the content is still on its way; the client can go on."""
    bucket.blob("a").upload_from_string("x")
    answer = _media(http, b"y" * 30_000_000, ifGenerationMatch="0")
    assert answer.status_code == 412
    assert bucket.blob("a").download_as_bytes() == b"x"


def test_an_upload_that_breaks_off_leaves_nothing(served: Served, bucket: storage.Bucket):
    """No object and no file when the connection ends in the middle."""
    end = time.monotonic() + 120

    def broken():
        yield b"x" * 3_000_000
        # It has begun to be stored.
        while not served.files() and time.monotonic() < end:
            pass
        raise ConnectionError

    with httpx.Client(base_url=served.url, trust_env=False) as client, pytest.raises(ConnectionError):
        client.post(UPLOAD, params={"uploadType": "media", "name": "a"}, content=broken())
    while served.files() and time.monotonic() < end:
        served.settle()
    assert list(bucket.list_blobs()) == []
    assert served.files() == []


def test_files_go_with_their_objects(served: Served, bucket: storage.Bucket):
    """An overwrite and a deletion leave no file behind; a copy outlives its original."""
    blob = bucket.blob("a")
    blob.upload_from_string("1")
    blob.upload_from_string("2")
    copy = bucket.copy_blob(blob, bucket, "b")
    assert len(served.files()) == 2
    bucket.blob("a").delete()
    assert len(served.files()) == 1
    assert copy.download_as_bytes() == b"2"


def test_metadata_that_is_too_deep_is_refused(http: httpx.Client, bucket: storage.Bucket):
    """400 as for any that is not valid JSON, by a resumable upload as well."""
    assert bucket.name == "bucket"
    deep = b"[" * 100_000
    params = {"uploadType": "resumable", "name": "a"}
    json_sent = {"content-type": "application/json"}
    answer = http.post(UPLOAD, params=params, content=deep, headers=json_sent)
    assert answer.status_code == 400
    assert "not JSON" in answer.json()["error"]["message"]


def test_metadata_of_null_is_none(bucket: storage.Bucket, http: httpx.Client):
    """As Go's clients and rclone send it: in a multipart upload, and as the whole body of a rewrite."""
    parts = b"--x\r\nContent-Type: application/json\r\n\r\nnull\r\n--x\r\n\r\ncontent\r\n--x--\r\n"
    upload = "/upload/storage/v1/b/bucket/o?uploadType=multipart&name=a"
    answer = http.post(upload, content=parts, headers={"content-type": "multipart/related; boundary=x"})
    assert answer.json()["name"] == "a"
    rewrite = "/storage/v1/b/bucket/o/a/rewriteTo/b/bucket/o/b"
    answer = http.post(rewrite, content="null", headers={"content-type": "application/json"})
    assert answer.json()["resource"]["name"] == "b"
    assert bucket.blob("b").download_as_bytes() == b"content"
