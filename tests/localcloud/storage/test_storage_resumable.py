"""Resumable uploads: the protocol step by step, and Google's client over it."""

import os
from urllib.parse import urlsplit

import httpx
import pytest
from google.cloud import storage

from localcloud.faults import Rule
from tests.localcloud.storage.conftest import Served

STEP = 256 * 1024
UPLOAD = "/upload/storage/v1/b/bucket/o"


def _start(
    http: httpx.Client, *, path: str = UPLOAD, headers: dict[str, str] | None = None, **query: str
) -> str:
    """The URL of a new session."""
    params = {"uploadType": "resumable", **query}
    answer = http.post(path, params=params, json={"name": "a", "contentType": "a/b"}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.headers["location"]


def _put(
    http: httpx.Client, url: str, content: bytes = b"", content_range: str = "", **headers: str
) -> httpx.Response:
    if content_range:
        headers["content-range"] = content_range
    return http.put(url, content=content, headers=headers)


def test_an_upload_in_pieces(http: httpx.Client, bucket: storage.Bucket):
    """Each piece but the last is answered with 308 and what has arrived; the last with the object."""
    url = _start(http)
    content = os.urandom(STEP * 2 + 100)
    first = _put(http, url, content[:STEP], f"bytes 0-{STEP - 1}/*")
    assert (first.status_code, first.headers["range"]) == (308, f"bytes=0-{STEP - 1}")
    second = _put(http, url, content[STEP : 2 * STEP], f"bytes {STEP}-{2 * STEP - 1}/{len(content)}")
    assert second.headers["range"] == f"bytes=0-{2 * STEP - 1}"
    last = _put(http, url, content[2 * STEP :], f"bytes {2 * STEP}-{len(content) - 1}/{len(content)}")
    assert last.status_code == 200
    assert (last.json()["name"], last.json()["contentType"]) == ("a", "a/b")
    assert bucket.blob("a").download_as_bytes() == content


@pytest.mark.parametrize(("wish", "status", "told"), [("yes", 200, "308"), ("no", 308, None)])
def test_gos_client_is_told_in_a_header_that_more_is_to_come(
    http: httpx.Client, bucket: storage.Bucket, wish, status, told
):
    """It takes the status 308 for a redirection, and says that it does not want it."""
    url = _start(http)
    piece = {"content-range": f"bytes 0-{STEP - 1}/*", "x-guploader-no-308": wish}
    answer = http.put(url, content=os.urandom(STEP), headers=piece)
    assert (answer.status_code, answer.headers["range"]) == (status, f"bytes=0-{STEP - 1}")
    assert answer.headers.get("x-http-status-code-override") == told


@pytest.mark.parametrize("path", [UPLOAD, "/resumable" + UPLOAD])
def test_an_upload_in_one_piece(http: httpx.Client, bucket: storage.Bucket, path: str):
    """Without a Content-Range the body is everything; both paths of the discovery document work."""
    assert _put(http, _start(http, path=path), b"all").status_code == 200
    assert bucket.blob("a").download_as_bytes() == b"all"


def test_an_empty_upload(http: httpx.Client, bucket: storage.Bucket):
    """Nothing but its end has to be told."""
    assert _put(http, _start(http), b"", "bytes */0").status_code == 200
    assert bucket.blob("a").download_as_bytes() == b""


def test_a_question_is_answered_with_what_has_arrived(http: httpx.Client, bucket: storage.Bucket):
    """No Range at first, then how far it is, then the object, again and again."""
    url = _start(http)
    before = _put(http, url, b"", "bytes */*")
    assert before.status_code == 308
    assert "range" not in before.headers
    size = STEP + 5
    _put(http, url, bytes(STEP), f"bytes 0-{STEP - 1}/{size}")
    assert _put(http, url, b"", f"bytes */{size}").headers["range"] == f"bytes=0-{STEP - 1}"
    made = _put(http, url, b"67890", f"bytes {STEP}-{size - 1}/{size}").json()
    assert [_put(http, url, b"", f"bytes */{size}").json() for _ in range(2)] == [made, made]
    assert bucket.blob("a").download_as_bytes() == bytes(STEP) + b"67890"


def test_what_was_sent_twice_counts_once(http: httpx.Client, bucket: storage.Bucket):
    """A client that missed an answer sends a piece again, perhaps cut otherwise."""
    url = _start(http)
    content = os.urandom(STEP + 10)
    _put(http, url, content[:STEP], f"bytes 0-{STEP - 1}/*")
    _put(http, url, content[2 : STEP + 2], f"bytes 2-{STEP + 1}/*")
    assert _put(http, url, content[STEP:], f"bytes {STEP}-{STEP + 9}/{STEP + 10}").status_code == 200
    assert bucket.blob("a").download_as_bytes() == content


def test_a_gap_is_refused(http: httpx.Client, bucket: storage.Bucket):
    """400 says how much there is; the upload can go on from there."""
    url = _start(http)
    content = os.urandom(STEP + 6)
    _put(http, url, content[:STEP], f"bytes 0-{STEP - 1}/*")
    refused = _put(http, url, content[-2:], f"bytes {STEP + 4}-{STEP + 5}/{STEP + 6}")
    assert refused.status_code == 400
    assert f"has {STEP} bytes" in refused.json()["error"]["message"]
    assert _put(http, url, content[STEP:], f"bytes {STEP}-{STEP + 5}/{STEP + 6}").status_code == 200
    assert bucket.blob("a").download_as_bytes() == content


@pytest.mark.parametrize(
    ("size", "total", "status"),
    [
        (1024, "*", 400),
        (STEP - 1, "*", 400),
        (STEP - 1, str(STEP), 400),
        (STEP, "*", 308),
        (STEP + 1, "*", 308),
        (1024, "1024", 200),
    ],
)
def test_a_piece_has_256_kib_unless_it_is_the_last(
    http: httpx.Client, bucket: storage.Bucket, size: int, total: str, status: int
):
    """Less is refused in Cloud Storage's words, and nothing of it is kept; more need not be a multiple."""
    url = _start(http)
    answer = _put(http, url, bytes(size), f"bytes 0-{size - 1}/{total}")
    assert answer.status_code == status
    if status == 400:
        assert f"The received request contained {size} bytes" in answer.json()["error"]["message"]
        assert "range" not in _put(http, url, b"", "bytes */*").headers


def test_another_size_than_announced_is_refused(http: httpx.Client, bucket: storage.Bucket):
    """`X-Upload-Content-Length` binds."""
    url = _start(http, headers={"x-upload-content-length": "5"})
    assert _put(http, url, b"123456").status_code == 400
    assert not bucket.blob("a").exists()


def test_what_arrived_before_a_cut_stays(served: Served, http: httpx.Client, bucket: storage.Bucket):
    """After a connection broke in the middle of a piece, the client asks, and goes on from there."""
    url = _start(http)
    content = os.urandom(4 * STEP)

    def broken():
        yield content[: 3 * STEP]
        raise ConnectionError

    with pytest.raises(ConnectionError):
        http.put(
            url, content=broken(), headers={"content-range": f"bytes 0-{len(content) - 1}/{len(content)}"}
        )
    served.settle()
    answer = _put(http, url, b"", f"bytes */{len(content)}")
    arrived = int(answer.headers["range"].removeprefix("bytes=0-")) + 1
    assert arrived == 3 * STEP
    last = _put(http, url, content[arrived:], f"bytes {arrived}-{len(content) - 1}/{len(content)}")
    assert last.status_code == 200
    assert bucket.blob("a").download_as_bytes() == content


def test_an_upload_outlives_the_server(served: Served, http: httpx.Client, bucket: storage.Bucket):
    """The session goes on after a restart, checksums included."""
    url = _start(http)
    content = os.urandom(3 * STEP)
    _put(http, url, content[: 2 * STEP], f"bytes 0-{2 * STEP - 1}/*")
    served.restart()
    with httpx.Client(trust_env=False) as again:
        assert _put(again, url, b"", "bytes */*").headers["range"] == f"bytes=0-{2 * STEP - 1}"
        made = _put(again, url, content[2 * STEP :], f"bytes {2 * STEP}-{3 * STEP - 1}/{3 * STEP}").json()
    whole = bucket.blob("whole")
    whole.upload_from_string(content)
    assert (made["md5Hash"], made["crc32c"]) == (whole.md5_hash, whole.crc32c)
    assert bucket.blob("a").download_as_bytes() == content


def test_an_answer_lost_at_the_end_makes_one_object(
    served: Served, http: httpx.Client, bucket: storage.Bucket
):
    """The client that heard nothing asks again and is told of the object that its first try made."""
    url = _start(http)
    served.faults.add(Rule(method="PUT", cut=True, after_work=True, count=1))
    with pytest.raises(httpx.TransportError):
        _put(http, url, b"all")
    made = _put(http, url, b"all").json()
    assert made["generation"] == str(bucket.get_blob("a").generation)


def test_a_finished_upload_is_told_of_its_object_even_when_that_is_gone(
    http: httpx.Client, bucket: storage.Bucket
):
    """What the upload made does not change by what others did later."""
    url = _start(http)
    made = _put(http, url, b"1").json()
    bucket.blob("a").upload_from_string("2")
    assert _put(http, url, b"", "bytes */1").json() == made
    assert bucket.blob("a").download_as_bytes() == b"2"


def test_a_cancelled_upload_is_gone(served: Served, http: httpx.Client, bucket: storage.Bucket):
    """DELETE is answered with 499, as by the real API; then there is no such upload, and no file."""
    url = _start(http)
    _put(http, url, b"12", "bytes 0-1/*")
    assert http.delete(url).status_code == 499
    assert _put(http, url, b"34", "bytes 2-3/4").status_code == 404
    assert served.files() == []
    assert list(bucket.list_blobs()) == []


def test_an_upload_nobody_began_is_404(http: httpx.Client, bucket: storage.Bucket):
    """Also when the session belongs to another bucket."""
    bucket.client.create_bucket("other")
    query = urlsplit(_start(http)).query
    assert http.put(f"{UPLOAD}?uploadType=resumable&upload_id=none", content=b"x").status_code == 404
    assert http.put(f"/upload/storage/v1/b/other/o?{query}", content=b"x").status_code == 404


def test_preconditions_hold_at_the_end(http: httpx.Client, bucket: storage.Bucket):
    """An object that appeared in the meantime is not overwritten, and the upload is over."""
    url = _start(http, ifGenerationMatch="0")
    bucket.blob("a").upload_from_string("first")
    assert _put(http, url, b"second").status_code == 412
    assert _put(http, url, b"second").status_code == 404
    assert bucket.blob("a").download_as_bytes() == b"first"


def test_preconditions_hold_at_the_beginning(http: httpx.Client, bucket: storage.Bucket):
    """An upload in vain does not begin."""
    bucket.blob("a").upload_from_string("first")
    params = {"uploadType": "resumable", "ifGenerationMatch": "0"}
    assert http.post(UPLOAD, params=params, json={"name": "a"}).status_code == 412


def test_a_false_checksum_ends_the_upload(served: Served, http: httpx.Client, bucket: storage.Bucket):
    """400, no object, no file."""
    url = _start(http)
    assert _put(http, url, b"x", **{"x-goog-hash": "crc32c=AAAAAA=="}).status_code == 400
    assert list(bucket.list_blobs()) == []
    assert served.files() == []
