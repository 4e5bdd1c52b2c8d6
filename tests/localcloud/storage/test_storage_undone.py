"""What Cloud Storage refuses is refused, and what is not done here is said: 501 with its name."""

from typing import Any

import httpx
import pytest
from google.cloud import storage

BUCKET = "/storage/v1/b/bucket"
OBJECT = f"{BUCKET}/o/a"
UPLOAD = "/upload/storage/v1/b/bucket/o"


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """Status and message."""
    return answer.status_code, answer.json()["error"]["message"]


@pytest.fixture
def made(bucket: storage.Bucket) -> storage.Blob:
    """An object."""
    blob: storage.Blob = bucket.blob("a")
    blob.upload_from_string("x")
    return blob


@pytest.mark.parametrize(
    ("setting", "name", "off"),
    [
        ({"autoclass": {"enabled": True}}, "autoclass.enabled", {"autoclass": {"enabled": False}}),
        ({"ipFilter": {"mode": "Enabled"}}, "ipFilter.mode", {"ipFilter": {"mode": "Disabled"}}),
        (
            {"softDeletePolicy": {"retentionDurationSeconds": "604800"}},
            "softDeletePolicy.retentionDurationSeconds",
            {"softDeletePolicy": {"retentionDurationSeconds": "0"}},
        ),
        (
            {"encryption": {"defaultKmsKeyName": "projects/p/k"}},
            "encryption.defaultKmsKeyName",
            {"encryption": None},
        ),
        (
            {"billing": {"requesterPays": True}},
            "billing.requesterPays",
            {"billing": {"requesterPays": False}},
        ),
    ],
)
def test_a_setting_of_a_bucket_that_is_not_done_is_refused(
    bucket: storage.Bucket, http: httpx.Client, setting: dict[str, Any], name: str, off: dict[str, Any]
):
    """In a patch, an update and a create; switched off it is taken."""
    why = (501, f"The local cloud does not do Bucket.{name}.")
    assert refusal(http.patch(BUCKET, json=setting)) == why
    assert refusal(http.put(BUCKET, json=setting)) == why
    new = {"name": "other", **setting}
    assert refusal(http.post("/storage/v1/b", params={"project": "project"}, json=new)) == why
    assert http.get("/storage/v1/b/other").status_code == 404
    assert http.patch(BUCKET, json=off).status_code == 200


@pytest.mark.parametrize(
    ("name", "value"),
    [("kmsKeyName", "k"), ("retention", {"mode": "Locked"})],
)
def test_a_member_of_an_object_that_is_not_done_is_refused(
    made: storage.Blob, http: httpx.Client, name: str, value: object
):
    """In a patch and in an upload; nothing is written."""
    why = (501, f"The local cloud does not do Object.{name}.")
    body = {name: value}
    assert refusal(http.patch(OBJECT, json=body)) == why
    begun = http.post(UPLOAD, params={"uploadType": "resumable", "name": "b"}, json=body)
    assert refusal(begun) == why


@pytest.mark.parametrize(
    "header",
    [
        "x-goog-encryption-algorithm",
        "x-goog-encryption-key",
        "x-goog-copy-source-encryption-key-sha256",
        "x-goog-content-length-range",
    ],
)
def test_customers_keys_are_refused(made: storage.Blob, http: httpx.Client, header: str):
    """Rather than that content is kept in the clear, or that anybody can read it."""
    why = (501, f"The local cloud does not do the header {header}.")
    media = {"uploadType": "media", "name": "b"}
    assert refusal(http.post(UPLOAD, params=media, content="x", headers={header: "k"})) == why
    assert refusal(http.get(OBJECT, params={"alt": "media"}, headers={header: "k"})) == why
    assert http.get(f"{BUCKET}/o/b").status_code == 404


@pytest.mark.parametrize(
    ("path", "query", "name"),
    [
        (OBJECT, {"softDeleted": "true"}, "softDeleted"),
        (OBJECT, {"restoreToken": "x"}, "restoreToken"),
    ],
)
def test_a_parameter_that_is_not_done_is_refused(
    made: storage.Blob, http: httpx.Client, path: str, query: dict[str, str], name: str
):
    """A list that left nothing out would be worse than none."""
    assert refusal(http.get(path, params=query)) == (
        501,
        f"The local cloud does not do the parameter {name}.",
    )


def test_custom_time_only_moves_forward(made: storage.Blob, http: httpx.Client):
    """400 in Cloud Storage's words for an earlier one; it cannot be removed either."""
    then = "2026-11-22"
    http.patch(OBJECT, json={"customTime": "2026-11-22T08:00:00Z"}).raise_for_status()
    back = http.patch(OBJECT, json={"customTime": "2026-11-22T07:59:59Z"})
    assert refusal(back) == (
        400,
        (
            f"Custom time cannot be decreased. Previously: {then}T08:00:00+00:00. Attempting to set: "
            f"{then}T07:59:59+00:00."
        ),
    )
    assert http.patch(OBJECT, json={"customTime": None}).json()["customTime"] == "2026-11-22T08:00:00Z"
    assert http.put(OBJECT, json={}).json()["customTime"] == "2026-11-22T08:00:00Z"
    on = http.patch(OBJECT, json={"customTime": "2026-11-22T10:00:00+01:00"})
    assert on.json()["customTime"] == "2026-11-22T10:00:00+01:00"


RULE = {"action": {"type": "Delete"}, "condition": {"age": 7}}


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"condition": {"age": 7}}, "action cannot be None"),
        ({**RULE, "action": {"type": "Remove"}}, "action cannot be 'Remove'"),
        ({**RULE, "action": {"type": "Delete", "storageClass": "COLDLINE"}}, "takes no storageClass"),
        ({**RULE, "action": {"type": "SetStorageClass"}}, "cannot set the storage class None"),
        ({"action": {"type": "Delete"}}, "at least one condition"),
        ({**RULE, "condition": {}}, "at least one condition"),
        ({**RULE, "condition": {"older": 7}}, "no condition 'older'"),
        ({**RULE, "condition": {"age": -1}}, "age of a lifecycle rule cannot be -1"),
        ({**RULE, "condition": {"age": "7"}}, "age of a lifecycle rule cannot be '7'"),
        ({**RULE, "condition": {"createdBefore": "2026-13-01"}}, "createdBefore"),
        ({**RULE, "condition": {"isLive": "yes"}}, "isLive"),
        ({**RULE, "condition": {"matchesStorageClass": ["HOT"]}}, "matchesStorageClass"),
        ({**RULE, "condition": {"matchesPrefix": ["a"] * 600, "matchesSuffix": ["b"] * 401}}, "takes 1000"),
        (
            {"action": {"type": "AbortIncompleteMultipartUpload"}, "condition": {"isLive": True}},
            "takes no condition isLive",
        ),
    ],
)
def test_a_lifecycle_rule_that_cannot_be_is_refused(
    bucket: storage.Bucket, http: httpx.Client, rule: dict[str, Any], words: str
):
    """400, and the bucket keeps the rules that it has."""
    http.patch(BUCKET, json={"lifecycle": {"rule": [RULE]}}).raise_for_status()
    status, message = refusal(http.patch(BUCKET, json={"lifecycle": {"rule": [rule]}}))
    assert status == 400
    assert words in message
    assert http.get(BUCKET).json()["lifecycle"] == {"rule": [RULE]}


@pytest.mark.parametrize("count", [100, 101])
def test_a_bucket_takes_a_hundred_lifecycle_rules(bucket: storage.Bucket, http: httpx.Client, count: int):
    """And not one more."""
    answer = http.patch(BUCKET, json={"lifecycle": {"rule": [RULE] * count}})
    assert answer.status_code == (200 if count == 100 else 400)


def test_lifecycle_rules_that_can_be_are_kept(bucket: storage.Bucket, http: httpx.Client):
    """Every action and condition of the reference; `lifecycle: null` takes them away."""
    rules = [
        {"action": {"type": "SetStorageClass", "storageClass": "COLDLINE"}, "condition": {"age": 0}},
        {
            "action": {"type": "AbortIncompleteMultipartUpload"},
            "condition": {"age": 1, "matchesPrefix": ["a"]},
        },
        {
            "action": {"type": "Delete"},
            "condition": {
                "createdBefore": "2026-01-31",
                "customTimeBefore": "2026-01-31",
                "daysSinceCustomTime": 1,
                "daysSinceNoncurrentTime": 1,
                "isLive": False,
                "matchesStorageClass": ["STANDARD", "MULTI_REGIONAL"],
                "matchesSuffix": [".tmp"],
                "noncurrentTimeBefore": "2026-01-31",
                "numNewerVersions": 3,
            },
        },
    ]
    assert http.patch(BUCKET, json={"lifecycle": {"rule": rules}}).json()["lifecycle"] == {"rule": rules}
    assert "lifecycle" not in http.patch(BUCKET, json={"lifecycle": None}).json()


@pytest.mark.parametrize("path", [OBJECT, BUCKET])
def test_a_read_may_ask_for_another_version_than_the_known_one(
    made: storage.Blob, http: httpx.Client, path: str
):
    """304 where `If-None-Match` has its tag, 412 where `If-Match` has not; `*` is any."""
    tag = http.get(path).json()["etag"]

    def status(**headers: str) -> int:
        return http.get(
            path, headers={key.replace("_", "-"): text for key, text in headers.items()}
        ).status_code

    assert [status(if_none_match=text) for text in (tag, f'"x", "{tag}"', "*", "x")] == [304, 304, 304, 200]
    assert [status(if_match=text) for text in (tag, f'"{tag}"', "*", "x")] == [200, 200, 200, 412]
    assert http.get(path, params={"alt": "media"}, headers={"if-match": "x"}).status_code == 412


@pytest.mark.parametrize("path", [OBJECT, BUCKET])
def test_a_change_may_ask_for_the_version_that_it_knows(made: storage.Blob, http: httpx.Client, path: str):
    """412 for patch, update and delete with another tag; nothing is changed."""
    before = http.get(path).json()
    stale = {"if-match": "x"}
    assert (
        http.patch(
            path, json={"labels" if path == BUCKET else "metadata": {"a": "b"}}, headers=stale
        ).status_code
        == 412
    )
    assert http.put(path, json={}, headers=stale).status_code == 412
    assert http.delete(path, headers=stale).status_code == 412
    assert http.delete(path, headers={"if-none-match": before["etag"]}).status_code == 412
    assert http.get(path).json() == before
    assert http.patch(path, json={}, headers={"if-match": before["etag"]}).status_code == 200


@pytest.mark.parametrize("header", ["if-match", "if-none-match"])
def test_a_write_by_entity_tag_is_not_done(made: storage.Blob, http: httpx.Client, header: str):
    """501, rather than that it overwrites what it was to spare."""
    why = (501, f"The local cloud does not do the header {header}.")
    query = {"uploadType": "media", "name": "a"}
    assert refusal(http.post(UPLOAD, params=query, content="y", headers={header: "*"})) == why
    assert refusal(http.post(f"{OBJECT}/rewriteTo/b/bucket/o/b", json={}, headers={header: "*"})) == why
    assert http.get(OBJECT, params={"alt": "media"}).text == "x"


REWRITTEN = {"done": True, "resource": {"name": "b"}}


@pytest.mark.parametrize(
    ("method", "path", "fields", "answer"),
    [
        ("GET", OBJECT, "name,bucket", {"name": "a", "bucket": "bucket"}),
        ("GET", f"{BUCKET}/o", "items(name),nextPageToken", {"items": [{"name": "a"}]}),
        ("GET", f"{BUCKET}/o", "items/size", {"items": [{"size": "1"}]}),
        ("GET", BUCKET, "iamConfiguration/publicAccessPrevention", None),
        ("PATCH", OBJECT, "name", {"name": "a"}),
        ("POST", f"{UPLOAD}?uploadType=media&name=a", "name", {"name": "a"}),
        ("POST", f"{OBJECT}/copyTo/b/bucket/o/b", "name", {"name": "b"}),
        ("POST", f"{OBJECT}/rewriteTo/b/bucket/o/b", "done,resource(name)", REWRITTEN),
    ],
)
def test_an_answer_has_the_fields_that_were_asked_for(
    made: storage.Blob, http: httpx.Client, method: str, path: str, fields: str, answer: dict[str, Any] | None
):
    """Of every method; anything else is left out ("partial responses")."""
    expected = answer or {"iamConfiguration": {"publicAccessPrevention": "inherited"}}
    joined = f"{path}{'&' if '?' in path else '?'}fields={fields}"
    assert http.request(method, joined, json=None if method == "GET" else {}).json() == expected


def test_fields_that_cannot_be_read_are_refused_before_anything_is_done(
    bucket: storage.Bucket, http: httpx.Client
):
    """400, and the object is not written."""
    query = {"uploadType": "media", "name": "a", "fields": "name("}
    assert http.post(UPLOAD, params=query, content="x").status_code == 400
    assert http.get(OBJECT).status_code == 404


def test_content_has_no_fields(made: storage.Blob, http: httpx.Client):
    """`fields` is about JSON."""
    assert http.get(OBJECT, params={"alt": "media", "fields": "name"}).content == b"x"
