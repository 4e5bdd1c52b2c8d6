"""The limits of buckets: one made or deleted every two seconds, one change a second of each."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from google.cloud import storage

from localcloud.limits import Limits
from tests.localcloud.storage.conftest import Served

BUCKET = "/storage/v1/b/bucket"
SLOW = Limits(bucket_creations=0.001, bucket_updates=0.001)
"""One in 1,000 s."""
BINDINGS = {"bindings": [{"role": "roles/storage.objectViewer", "members": ["user:ada@example.com"]}]}
TOPIC = {"topic": "//pubsub.googleapis.com/projects/project/topics/t", "payload_format": "NONE"}


@pytest.fixture
def make(http: httpx.Client) -> Callable[[str], httpx.Response]:
    """Makes a bucket."""
    return lambda name: http.post("/storage/v1/b", params={"project": "project"}, json={"name": name})


def test_a_second_bucket_comes_too_soon(served: Served, http: httpx.Client, make: Any):
    """429 in Cloud Storage's words, and there is no such bucket; a deletion counts as well."""
    served.limits.now = SLOW
    assert make("first-bucket").status_code == 200
    refused = make("second-bucket")
    (told,) = refused.json()["error"]["errors"]
    assert (refused.status_code, told["domain"], told["reason"]) == (429, "usageLimits", "rateLimitExceeded")
    assert told["message"] == "The project exceeded the rate limit for creating and deleting buckets."
    assert http.get("/storage/v1/b/second-bucket").status_code == 404
    assert http.delete("/storage/v1/b/first-bucket").status_code == 429
    served.clock.ahead += timedelta(seconds=1000)
    assert http.delete("/storage/v1/b/first-bucket").status_code == 204
    assert make("first-bucket").status_code == 429


def test_a_refused_creation_does_not_count(served: Served, bucket: storage.Bucket, make: Any):
    """As one of a name that is taken."""
    served.limits.now = SLOW
    assert [make("bucket").status_code, make("other-bucket").status_code] == [409, 200]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", BUCKET, {"labels": {"k": "v"}}),
        ("PUT", BUCKET, {"labels": {"k": "v"}}),
        ("PUT", f"{BUCKET}/iam", BINDINGS),
        ("POST", f"{BUCKET}/notificationConfigs", TOPIC),
    ],
)
def test_every_change_of_a_bucket_counts(
    served: Served, http: httpx.Client, bucket: storage.Bucket, method: str, path: str, body: Any
):
    """Whatever changes it next is refused, until a second has passed; another bucket may be changed."""
    http.post("/storage/v1/b", params={"project": "project"}, json={"name": "other-bucket"})
    served.limits.now = SLOW
    assert http.request(method, path, json=body).is_success
    assert http.request(method, path, json=body).status_code == 429
    assert http.patch(BUCKET, json={"labels": {"late": "x"}}).status_code == 429
    assert "late" not in http.get(BUCKET).json().get("labels", {})
    assert http.patch("/storage/v1/b/other-bucket", json={}).status_code == 200
    served.clock.ahead += timedelta(seconds=1000)
    assert http.patch(BUCKET, json={"labels": {"late": "x"}}).status_code == 200


def test_objects_and_reads_are_no_changes_of_their_bucket(
    served: Served, http: httpx.Client, bucket: storage.Bucket
):
    """Only its own metadata is limited."""
    served.limits.now = SLOW
    http.patch(BUCKET, json={})
    bucket.blob("a").upload_from_string("x")
    assert [http.get(BUCKET).status_code, http.get(f"{BUCKET}/o/a").status_code] == [200, 200]


def test_by_default_a_bucket_is_made_every_two_seconds_and_changed_every_second():
    """As "Quotas & limits" has it."""
    assert (Limits().bucket_creations, Limits().bucket_updates) == (0.5, 1.0)


def test_without_limits_nothing_is_refused(http: httpx.Client, make: Any):
    """As where no functions run."""
    assert [make(f"bucket-{number}").status_code for number in range(3)] == [200] * 3
    assert [http.patch("/storage/v1/b/bucket-1", json={}).status_code for _ in range(3)] == [200] * 3
