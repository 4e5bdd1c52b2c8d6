"""Several calls in one request."""

import asyncio

import httpx
import pytest
from google.api_core import exceptions
from google.cloud import storage
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from localcloud.batch import batch_route
from localcloud.faults import Rule
from localcloud.http import Json, build_app
from tests.localcloud.storage.conftest import Served


def _fill(bucket: storage.Bucket, *names: str) -> list[storage.Blob]:
    blobs = [bucket.blob(name) for name in names]
    for blob in blobs:
        blob.upload_from_string("x")
    return blobs


def test_a_batch_does_all_its_calls(served: Served, client: storage.Client, bucket: storage.Bucket):
    """Deletions and patches, of any names, in one request."""
    blobs = _fill(bucket, "a/b", "ü %2F#?", "c")
    with client.batch():
        blobs[0].delete()
        blobs[1].delete()
        blobs[2].metadata = {"k": "v"}
        blobs[2].patch()
    assert [(blob.name, blob.metadata) for blob in bucket.list_blobs()] == [("c", {"k": "v"})]
    assert sum(exchange.path == "/batch/storage/v1" for exchange in served.recorder.exchanges) == 1


def test_each_call_has_its_own_answer(client: storage.Client, bucket: storage.Bucket):
    """One that fails does not keep the others from being done."""
    _fill(bucket, "a", "c")
    batch = client.batch(raise_exception=False)
    with batch:
        for name in ("a", "b", "c"):
            bucket.blob(name).delete()
    assert [response.status_code for response in batch._responses] == [204, 404, 204]
    assert list(bucket.list_blobs()) == []


def test_a_failure_is_raised_by_googles_client(client: storage.Client, bucket: storage.Bucket):
    """The part's error body reaches the caller."""
    with pytest.raises(exceptions.NotFound), client.batch():
        bucket.blob("nothing").delete()


def test_preconditions_hold_inside_a_batch(client: storage.Client, bucket: storage.Bucket):
    """Query parameters of a part count."""
    (blob,) = _fill(bucket, "a")
    with pytest.raises(exceptions.PreconditionFailed), client.batch():
        bucket.blob("a").delete(if_generation_match=blob.generation + 1)
    assert bucket.blob("a").exists()


def test_faults_hit_the_calls_of_a_batch(served: Served, client: storage.Client, bucket: storage.Bucket):
    """A rule sees each part as the call it is."""
    _fill(bucket, "a", "b")
    served.faults.add(Rule(method="DELETE", path="/o/a$", status=503))
    batch = client.batch(raise_exception=False)
    with batch:
        for name in ("a", "b"):
            bucket.blob(name).delete()
    assert [response.status_code for response in batch._responses] == [503, 204]


PART = b"--limit\r\nContent-Type: application/http\r\nContent-ID: <x+1>\r\n\r\n"


def _send(
    http: httpx.Client, body: bytes, content_type: str = "multipart/mixed; boundary=limit"
) -> httpx.Response:
    return http.post("/batch/storage/v1", content=body, headers={"content-type": content_type})


def test_an_answer_names_its_call(http: httpx.Client, bucket: storage.Bucket):
    """By its Content-ID, with "response-" put before it; a full URL is as good as a path."""
    call = f"GET {http.base_url}/storage/v1/b/{bucket.name} HTTP/1.1\r\n\r\n".encode()
    answer = _send(http, PART + call + b"\r\n--limit--")
    assert "Content-ID: <response-x+1>" in answer.text
    assert "HTTP/1.1 200 OK" in answer.text


def test_what_authorises_a_batch_authorises_its_calls():
    """A part has the batch's authorization unless it brings its own."""

    async def echo(request: Request) -> Response:
        return Json({"authorization": request.headers.get("authorization")})

    async def run(own: bytes) -> str:
        app = build_app([Route("/echo", echo), batch_route("/batch")])
        headers = {"content-type": "multipart/mixed; boundary=limit", "authorization": "Bearer outer"}
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://local") as client:
            body = PART + b"GET /echo HTTP/1.1\r\n" + own + b"\r\n\r\n--limit--"
            return (await client.post("/batch", content=body, headers=headers)).text

    assert "Bearer outer" in asyncio.run(run(b""))
    assert "Bearer inner" in asyncio.run(run(b"Authorization: Bearer inner\r\n"))


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"{}", "application/json"),
        (b"nothing", "multipart/mixed"),
        (PART + b"what is this supposed to be\r\n--limit--", "multipart/mixed; boundary=limit"),
        (PART + b"\r\n--limit--", "multipart/mixed; boundary=limit"),
    ],
)
def test_a_body_that_is_no_batch_is_refused(http: httpx.Client, body: bytes, content_type: str):
    """400, never a bug of ours."""
    assert _send(http, body, content_type).status_code == 400


def test_a_batch_is_bounded(http: httpx.Client):
    """More than 1,000 calls are refused."""
    body = (PART + b"GET /storage/v1/b HTTP/1.1\r\n\r\n\r\n") * 1001 + b"--limit--"
    answer = _send(http, body)
    assert answer.status_code == 400
    assert "1001 calls" in answer.json()["error"]["message"]
