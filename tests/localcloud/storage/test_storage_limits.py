"""The limit of one write a second to one object, over HTTP and with Google's client."""

from datetime import timedelta

import httpx
import pytest
from google.api_core.exceptions import TooManyRequests
from google.cloud import storage

from localcloud.limits import Limits
from tests.localcloud.storage.conftest import Served

NEVER_AGAIN = Limits(object_writes=0.001, bucket_writes=0)
UPLOAD = "/upload/storage/v1/b/bucket/o"
A = "/storage/v1/b/bucket/o/a"


def upload(http: httpx.Client, name: str = "a", **query: str) -> httpx.Response:
    """Write an object."""
    return http.post(UPLOAD, params={"uploadType": "media", "name": name, **query}, content=b"x")


@pytest.fixture
def written(served: Served, http: httpx.Client, bucket: storage.Bucket) -> storage.Bucket:
    """A bucket with the object `a`, written just now: one write in 1,000 s is allowed."""
    served.limits.now = NEVER_AGAIN
    assert upload(http).status_code == 200
    return bucket


def test_the_answer_is_that_of_cloud_storage(http: httpx.Client, written: storage.Bucket) -> None:
    """429 in the `usageLimits` domain, with the name of the object."""
    answer = upload(http)
    (told,) = answer.json()["error"]["errors"]
    assert (answer.status_code, told["domain"], told["reason"]) == (429, "usageLimits", "rateLimitExceeded")
    assert told["message"].startswith("The object bucket/a exceeded the rate limit for object mutation")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", A, {"metadata": {"k": "v"}}),
        ("PUT", A, {"metadata": {"k": "v"}}),
        ("DELETE", A, None),
        ("POST", "/storage/v1/b/bucket/o/b/copyTo/b/bucket/o/a", {}),
        ("POST", "/storage/v1/b/bucket/o/b/rewriteTo/b/bucket/o/a", {}),
        ("POST", f"{A}/compose", {"sourceObjects": [{"name": "b"}]}),
        ("POST", "/storage/v1/b/bucket/o/a/moveTo/o/c", {}),
        ("POST", "/storage/v1/b/bucket/o/b/moveTo/o/a", {}),
    ],
)
def test_every_change_of_the_object_counts(
    http: httpx.Client, written: storage.Bucket, method: str, path: str, body: object
) -> None:
    """Creates, updates and deletes; what is refused changes nothing."""
    upload(http, "b")
    before = http.get("/storage/v1/b/bucket/o").json()
    assert http.request(method, path, json=body).status_code == 429
    assert http.get("/storage/v1/b/bucket/o").json() == before


@pytest.mark.parametrize(("method", "body"), [("PATCH", {"metadata": {"k": "v"}}), ("DELETE", None)])
def test_an_update_and_a_delete_are_writes_too(
    served: Served, http: httpx.Client, bucket: storage.Bucket, method: str, body: object
) -> None:
    """Whoever writes after them hears of the rate."""
    upload(http)
    served.limits.now = NEVER_AGAIN
    assert http.request(method, A, json=body).is_success
    assert upload(http).status_code == 429


def test_reading_does_not_count(http: httpx.Client, written: storage.Bucket) -> None:
    """Neither the object nor its metadata."""
    assert [http.get(A, params={"alt": alt}).status_code for alt in ("json", "media")] == [200, 200]


def test_the_loser_of_a_race_for_a_name_hears_429(http: httpx.Client, written: storage.Bucket) -> None:
    """Not 412: the rate is looked at before the condition (delta-io/delta-rs#2451)."""
    assert upload(http, ifGenerationMatch="0").status_code == 429


def test_time_that_passes_lifts_it(served: Served, http: httpx.Client, written: storage.Bucket) -> None:
    """A journey is time, too."""
    served.clock.ahead += timedelta(seconds=1000)
    assert upload(http).status_code == 200


def test_a_resumable_upload_that_ends_too_soon_is_not_lost(
    served: Served, http: httpx.Client, bucket: storage.Bucket
) -> None:
    """Its last piece is sent again, and then it is done."""
    location = http.post(UPLOAD, params={"uploadType": "resumable"}, json={"name": "a"}).headers["location"]
    served.limits.now = NEVER_AGAIN
    upload(http)
    headers = {"content-range": "bytes 0-4/5"}
    assert http.put(location, content=b"later", headers=headers).status_code == 429
    served.limits.now = Limits(object_writes=0)
    assert http.put(location, content=b"later", headers=headers).status_code == 200
    assert http.get(A, params={"alt": "media"}).content == b"later"


def test_nothing_is_left_of_an_upload_that_came_too_soon(
    served: Served, http: httpx.Client, written: storage.Bucket
) -> None:
    """Its bytes are removed."""
    before = served.files()
    assert upload(http).status_code == 429
    assert served.files() == before


def test_googles_client_names_the_error(written: storage.Bucket) -> None:
    """`TooManyRequests`, which it tries again where it is let."""
    with pytest.raises(TooManyRequests):
        written.blob("a").upload_from_string(b"x", retry=None)
