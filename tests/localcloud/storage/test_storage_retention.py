"""Retention policies and holds, as measured at Cloud Storage: what they refuse, and until when."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from google.api_core import exceptions
from google.cloud import storage

from localcloud.storage.model import Blob, Content
from localcloud.storage.retention import expiry
from tests.localcloud.storage.conftest import Served

OBJECT = "/storage/v1/b/bucket/o/kept"
HOUR = timedelta(hours=1)
Call = Callable[[httpx.Client], httpx.Response]


def upload(http: httpx.Client, name: str, content: str = "x") -> httpx.Response:
    """Write an object in one request."""
    return http.post(
        "/upload/storage/v1/b/bucket/o", params={"uploadType": "media", "name": name}, content=content
    )


def resumable(http: httpx.Client) -> httpx.Response:
    """The last request of a resumable upload; its start goes through."""
    begun = http.post("/upload/storage/v1/b/bucket/o", params={"uploadType": "resumable", "name": "kept"})
    assert begun.status_code == 200
    return http.put(begun.headers["location"], content="y")


def compose(http: httpx.Client) -> httpx.Response:
    """Compose over the object."""
    return http.post(f"{OBJECT}/compose", json={"sourceObjects": [{"name": "free"}]})


def rewrite(http: httpx.Client) -> httpx.Response:
    """Rewrite over the object."""
    return http.post("/storage/v1/b/bucket/o/free/rewriteTo/b/bucket/o/kept", json={})


def move(http: httpx.Client) -> httpx.Response:
    """Give the object another name."""
    return http.post("/storage/v1/b/bucket/o/kept/moveTo/o/other")


CALLS: Mapping[str, Call] = {
    "delete": lambda http: http.delete(OBJECT),
    "upload": lambda http: upload(http, "kept", "y"),
    "resumable upload": resumable,
    "compose": compose,
    "rewrite": rewrite,
    "move": move,
}


def patch(http: httpx.Client, path: str = "/storage/v1/b/bucket", **fields: Any) -> httpx.Response:
    """Change a bucket or an object."""
    return http.patch(path, json=fields)


def refusal(answer: httpx.Response) -> tuple[int, str, str]:
    """Status, reason and message."""
    error = answer.json()["error"]
    return answer.status_code, error["errors"][0]["reason"], error["message"]


@pytest.fixture
def held(bucket: storage.Bucket, http: httpx.Client) -> dict[str, Any]:
    """An object `kept`, and one `free`, in a bucket that keeps objects for an hour."""
    upload(http, "free")
    assert patch(http, retentionPolicy={"retentionPeriod": "3600"}).status_code == 200
    found: dict[str, Any] = upload(http, "kept").json()
    return found


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_retention_policy_keeps_objects(held: dict[str, Any], http: httpx.Client, call: Call):
    """403 retentionPolicyNotMet with the end of the period in California's time; the object is as it was."""
    until = datetime.fromisoformat(held["retentionExpirationTime"])
    status, reason, message = refusal(call(http))
    assert (status, reason) == (403, "retentionPolicyNotMet")
    start, _, said = message.rpartition(" until ")
    assert start == (
        "Object 'bucket/kept' is subject to bucket's retention policy or object retention "
        "and cannot be deleted or overwritten"
    )
    assert abs(datetime.fromisoformat(said) - until) < timedelta(milliseconds=1)
    assert said.endswith("-08:00")
    assert http.get(OBJECT).json()["generation"] == held["generation"]
    assert http.get("/storage/v1/b/bucket/o/other").status_code == 404


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_after_its_period_an_object_is_free(
    held: dict[str, Any], served: Served, http: httpx.Client, call: Call
):
    """One fact apart: an hour later."""
    served.clock.travel(HOUR + timedelta(seconds=1))
    assert call(http).is_success


def test_objects_that_were_there_before_the_policy_are_kept_too(held: dict[str, Any], http: httpx.Client):
    """From their creation; the policy's removal frees them."""
    assert refusal(http.delete("/storage/v1/b/bucket/o/free"))[1] == "retentionPolicyNotMet"
    assert patch(http, retentionPolicy=None).status_code == 200
    assert "retentionExpirationTime" not in http.get("/storage/v1/b/bucket/o/free").json()
    assert http.delete("/storage/v1/b/bucket/o/free").status_code == 204


def test_metadata_of_a_kept_object_may_change(held: dict[str, Any], http: httpx.Client):
    """A retention policy is about content."""
    assert patch(http, OBJECT, contentType="text/plain").status_code == 200


def test_a_condition_is_checked_first(held: dict[str, Any], http: httpx.Client):
    """412 before 403."""
    assert http.delete(OBJECT, params={"ifGenerationMatch": 1}).status_code == 412


def test_a_versioned_bucket_keeps_what_is_replaced(held: dict[str, Any], http: httpx.Client):
    """What a delete only makes noncurrent is still there; for good it cannot be deleted."""
    assert patch(http, versioning={"enabled": True}).status_code == 200
    assert upload(http, "kept", "y").status_code == 200
    old = http.delete(OBJECT, params={"generation": held["generation"]})
    assert refusal(old)[1] == "retentionPolicyNotMet"


def test_listings_say_until_when(held: dict[str, Any], http: httpx.Client):
    """As the object itself does."""
    items = http.get("/storage/v1/b/bucket/o").json()["items"]
    assert all("retentionExpirationTime" in item for item in items)


def test_googles_client_sets_and_locks_a_policy(bucket: storage.Bucket):
    """Locked it may be lengthened, neither shortened nor removed."""
    bucket.retention_period = 100
    bucket.patch()
    assert bucket.retention_policy_effective_time is not None
    assert not bucket.retention_policy_locked
    bucket.lock_retention_policy()
    assert bucket.retention_policy_locked
    bucket.retention_period = 200
    bucket.patch()
    assert (bucket.retention_period, bucket.retention_policy_locked) == (200, True)
    bucket.retention_period = 150
    with pytest.raises(exceptions.Forbidden, match="Cannot reduce retention duration of a locked"):
        bucket.patch()
    bucket.retention_period = None
    with pytest.raises(exceptions.Forbidden, match="has a locked Retention Policy which cannot be removed"):
        bucket.patch()


def test_a_lock_names_the_metageneration(bucket: storage.Bucket, http: httpx.Client):
    """It is for good, so it must be meant: 400 without, 412 with another one, 400 without a policy."""
    lock = "/storage/v1/b/bucket/lockRetentionPolicy"
    assert refusal(http.post(lock))[:2] == (400, "required")
    assert http.post(lock, params={"ifMetagenerationMatch": 7}).status_code == 412
    assert http.post(lock, params={"ifMetagenerationMatch": 1}).status_code == 400


def test_the_server_alone_says_since_when_a_policy_is_and_whether_locked(
    bucket: storage.Bucket, http: httpx.Client
):
    """What callers write there is ignored; another period is another policy."""
    written = {"retentionPeriod": "60", "isLocked": True, "effectiveTime": "2001-01-01T00:00:00Z"}
    policy = patch(http, retentionPolicy=written).json()["retentionPolicy"]
    assert "isLocked" not in policy
    assert policy["effectiveTime"] > "2026"
    again = patch(http, labels={"a": "b"}).json()["retentionPolicy"]
    assert again == policy


@pytest.mark.parametrize("period", ["0", "-1", "x", "3155760000"])
def test_a_period_that_cannot_be_is_refused(bucket: storage.Bucket, http: httpx.Client, period: str):
    """More than nothing, less than a hundred years."""
    assert refusal(patch(http, retentionPolicy={"retentionPeriod": period}))[:2] == (400, "invalid")


@pytest.mark.parametrize(
    ("hold", "word"), [("temporaryHold", "Temporary"), ("eventBasedHold", "Event-Based")]
)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_hold_keeps_an_object(bucket: storage.Bucket, http: httpx.Client, call: Call, hold: str, word: str):
    """403 forbidden, in Cloud Storage's words, until it is removed."""
    upload(http, "free")
    upload(http, "kept")
    patch(http, OBJECT, **{hold: True})
    assert refusal(call(http)) == (
        403,
        "forbidden",
        (
            f"Object 'bucket/kept' is under active {word} hold and cannot be deleted, overwritten or "
            "archived until hold is removed."
        ),
    )
    assert http.get("/storage/v1/b/bucket/o/other").status_code == 404
    patch(http, OBJECT, **{hold: False})
    assert call(http).is_success


def test_a_hold_also_keeps_an_object_from_being_archived(bucket: storage.Bucket, http: httpx.Client):
    """Other than a retention policy."""
    patch(http, versioning={"enabled": True})
    upload(http, "kept")
    patch(http, OBJECT, temporaryHold=True)
    assert http.delete(OBJECT).status_code == 403


def test_new_objects_have_the_hold_that_their_bucket_gives(bucket: storage.Bucket, http: httpx.Client):
    """Uploads, copies and compositions, unless they say otherwise; objects that are there stay free."""
    upload(http, "old")
    patch(http, defaultEventBasedHold=True)
    assert upload(http, "new").json()["eventBasedHold"]
    copied = http.post("/storage/v1/b/bucket/o/old/copyTo/b/bucket/o/copy", json={}).json()
    assert copied["eventBasedHold"]
    unheld = {"contentType": "text/plain", "eventBasedHold": False}
    other = http.post("/storage/v1/b/bucket/o/old/copyTo/b/bucket/o/unheld", json=unheld).json()
    assert other["eventBasedHold"] is False
    assert "eventBasedHold" not in http.get("/storage/v1/b/bucket/o/old").json()


def test_a_copy_has_no_hold_of_its_source(bucket: storage.Bucket, http: httpx.Client):
    """A hold is on one object."""
    upload(http, "old")
    patch(http, "/storage/v1/b/bucket/o/old", temporaryHold=True, contentType="text/plain")
    copied = http.post("/storage/v1/b/bucket/o/old/copyTo/b/bucket/o/copy", json={}).json()
    assert "temporaryHold" not in copied
    assert copied["contentType"] == "text/plain"


def test_the_period_begins_anew_when_an_event_based_hold_ends(
    held: dict[str, Any], served: Served, http: httpx.Client
):
    """Until then nobody knows when it will end."""
    assert "retentionExpirationTime" not in patch(http, OBJECT, eventBasedHold=True).json()
    served.clock.travel(timedelta(days=1))
    free = datetime.fromisoformat(patch(http, OBJECT, eventBasedHold=False).json()["retentionExpirationTime"])
    assert free - datetime.fromisoformat(held["retentionExpirationTime"]) >= timedelta(days=1)
    assert refusal(http.delete(OBJECT))[1] == "retentionPolicyNotMet"


def test_the_end_of_a_period_is_counted_from_creation_or_release():
    """Both sides of each fact."""
    then = datetime(2026, 11, 22, tzinfo=UTC)
    content = Content(file="f", size=1, md5=None, crc32c="AAAAAA==")
    fields: dict[str, Any] = {"bucket": "b", "name": "n", "generation": 1, "metageneration": 1}
    blob = Blob(content=content, created=then, updated=then + HOUR, **fields)
    free = Blob(content=content, created=then, updated=then, released=then + HOUR, **fields)
    assert (expiry(blob, HOUR), expiry(free, HOUR), expiry(blob, timedelta())) == (
        then + HOUR,
        then + 2 * HOUR,
        None,
    )
