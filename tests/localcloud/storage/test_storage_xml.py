"""The part of the XML API that signed URLs and Go's client need."""

from datetime import UTC, datetime

import httpx
import pytest

from localcloud.errors import ApiError
from localcloud.storage.xmlapi.signed import check_signed


@pytest.mark.parametrize(
    ("verb", "path", "status", "said"),
    [
        ("GET", "/data/a/%C3%A9%201", 200, "content"),
        ("GET", "/data/a%2F%C3%A9%201", 200, "content"),
        ("HEAD", "/data/a/%C3%A9%201", 200, ""),
        ("GET", "/data/nothing", 404, "No such object"),
        ("GET", "/other/a", 404, "does not know GET /other/a"),
        ("PUT", "/data", 501, "PUT of a bucket of the XML API"),
        ("GET", "/data?acl", 501, "the parameter acl of the XML API"),
        ("GET", "/data?versions", 501, "the parameter versions of the XML API"),
        ("GET", "/data?list-type=2&fetch-owner=true", 501, "the parameter fetch-owner of the XML API"),
        ("POST", "/data/b", 501, "POST of an object of the XML API"),
        ("GET", "/data/a/%C3%A9%201?uploads=", 501, "GET of an object with the parameter uploads of the XML"),
        ("GET", "/data/a/%C3%A9%201?tagging", 501, "the parameter tagging of the XML API"),
        ("GET", "/data/a/%C3%A9%201?response-content-type=x", 501, "the parameter response-content-type"),
        ("GET", "/data/a/%C3%A9%201?Expires=1&Signature=s&GoogleAccessId=i", 400, "expired"),
        ("GET", "/storage/v1/b/data", 200, '"name":"data"'),
        ("DELETE", "/data/a/%C3%A9%201", 204, ""),
    ],
)
def test_an_object_is_reached_by_its_bucket_and_name(play, verb, path, status, said):
    """Read and deleted; what is not done is named, and other APIs keep their paths."""

    async def work(client: httpx.AsyncClient) -> None:
        answer = await client.request(verb, path)
        assert (answer.status_code, said in answer.text) == (status, True), answer.text

    play(work)


def test_a_part_of_an_object_is_read(play):
    """As of the JSON API."""

    async def work(client: httpx.AsyncClient) -> None:
        answer = await client.get("/data/a/%C3%A9%201", headers={"range": "bytes=1-2"})
        assert (answer.status_code, answer.text) == (206, "on")

    play(work)


def test_an_upload_is_begun_and_sent(play):
    """201 and where to send it; its type is that of the first call."""

    async def work(client: httpx.AsyncClient) -> None:
        headers = {"x-goog-resumable": "start", "content-type": "text/x-weights"}
        begun = await client.post("/data/new/one", headers=headers)
        assert begun.status_code == 201
        assert (await client.put(begun.headers["location"], content=b"sent")).status_code == 200
        made = await client.get("/data/new/one")
        assert (made.text, made.headers["content-type"]) == ("sent", "text/x-weights")

    play(work)


NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"X-Goog-Date": "20261123T115900Z", "X-Goog-Expires": "60"},
        {"Expires": str(int(NOW.timestamp()))},
    ],
)
def test_a_signed_url_counts_up_to_its_end(query):
    """That second included."""
    check_signed(query, NOW)


@pytest.mark.parametrize(
    "query",
    [
        {"X-Goog-Date": "20261123T115900Z", "X-Goog-Expires": "59"},
        {"Expires": str(int(NOW.timestamp()) - 1)},
        {"X-Goog-Date": "yesterday", "X-Goog-Expires": "59"},
        {"X-Goog-Expires": "59"},
        {"Expires": "never"},
    ],
)
def test_a_signed_url_that_has_expired_is_refused(query):
    """And one that does not say until when it counts."""
    with pytest.raises(ApiError) as refused:
        check_signed(query, NOW)
    assert refused.value.status == 400
