"""Access control lists of buckets, new objects and objects, with and without uniform access."""

from datetime import timedelta
from typing import Any

import httpx
import pytest
from google.cloud import storage

from localcloud.project import number_of
from tests.localcloud.storage.conftest import PROJECT, Served

BUCKET = "/storage/v1/b/bucket"
OBJECT = f"{BUCKET}/o/a"
UPLOAD = "/upload/storage/v1/b/bucket/o"
NUMBER = number_of(PROJECT)
OWNERS, EDITORS, VIEWERS = (f"project-{team}-{NUMBER}" for team in ("owners", "editors", "viewers"))
PRIVATE_TO_PROJECT = {OWNERS: "OWNER", EDITORS: "OWNER", VIEWERS: "READER"}
NOBODY = f"user-functions@{PROJECT}.iam.gserviceaccount.com"
ADA = "user-ada@example.com"
UNIFORM = {"iamConfiguration": {"uniformBucketLevelAccess": {"enabled": True}}}
LISTED = {"iamConfiguration": {"uniformBucketLevelAccess": {"enabled": False}}}


def roles(items: list[dict[str, Any]]) -> dict[str, str]:
    """Role by entity."""
    return {item["entity"]: item["role"] for item in items}


def listed(http: httpx.Client, path: str) -> dict[str, str]:
    """A list as its own method has it."""
    answer = http.get(path)
    assert answer.status_code == 200, answer.text
    return roles(answer.json()["items"])


@pytest.fixture
def upload(bucket: storage.Bucket, http: httpx.Client) -> Any:
    """Makes the object `a`."""

    def uploaded(headers: dict[str, str] | None = None, **query: str) -> httpx.Response:
        asked = {"uploadType": "media", "name": "a", **query}
        return http.post(UPLOAD, params=asked, content=b"x", headers=headers)

    return uploaded


@pytest.mark.parametrize("path", ["acl", "defaultObjectAcl"])
def test_a_new_bucket_has_the_lists_of_its_project(bucket: storage.Bucket, http: httpx.Client, path: str):
    """`projectPrivate`; without settings a bucket has no uniform access."""
    assert listed(http, f"{BUCKET}/{path}") == PRIVATE_TO_PROJECT
    whole = http.get(BUCKET, params={"projection": "full"}).json()
    assert (roles(whole["acl"]), roles(whole["defaultObjectAcl"])) == (PRIVATE_TO_PROJECT,) * 2
    assert whole["owner"] == {"entity": OWNERS}
    assert not {"acl", "defaultObjectAcl", "owner"} & {*http.get(BUCKET).json()}


def test_an_object_belongs_to_whom_its_token_names(upload: Any, http: httpx.Client):
    """And to the owner of the project where the call names nobody; `owner` is part of `projection=full`."""
    upload(headers={"authorization": "Bearer local-ada@example.com"})
    whole = http.get(OBJECT, params={"projection": "full"}).json()
    assert (whole["owner"]["entity"], roles(whole["acl"])) == (ADA, {**PRIVATE_TO_PROJECT, ADA: "OWNER"})
    assert not {"acl", "owner"} & {*http.get(OBJECT).json()}
    upload()
    assert listed(http, f"{OBJECT}/acl") == {**PRIVATE_TO_PROJECT, NOBODY: "OWNER"}


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("private", {}),
        ("projectPrivate", PRIVATE_TO_PROJECT),
        ("publicRead", {"allUsers": "READER"}),
        ("authenticatedRead", {"allAuthenticatedUsers": "READER"}),
        ("bucketOwnerRead", {OWNERS: "READER"}),
        ("bucketOwnerFullControl", {OWNERS: "OWNER"}),
    ],
)
def test_a_predefined_list_of_an_object(upload: Any, http: httpx.Client, name: str, wanted: dict[str, str]):
    """Of an upload, a patch, a copy and a composition; its owner is in each."""
    whole = {**wanted, NOBODY: "OWNER"}
    upload(predefinedAcl=name)
    assert listed(http, f"{OBJECT}/acl") == whole
    patched = http.patch(OBJECT, params={"predefinedAcl": name}, json={"acl": []}).json()
    assert roles(patched["acl"]) == whole
    asked = {"destinationPredefinedAcl": name}
    http.post(f"{OBJECT}/rewriteTo/b/bucket/o/b", params=asked, json={})
    http.post(f"{BUCKET}/o/c/compose", params=asked, json={"sourceObjects": [{"name": "a"}]})
    assert [listed(http, f"{BUCKET}/o/{made}/acl") for made in ("b", "c")] == [whole, whole]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("private", {OWNERS: "OWNER"}),
        ("projectPrivate", PRIVATE_TO_PROJECT),
        ("publicRead", {OWNERS: "OWNER", "allUsers": "READER"}),
        ("publicReadWrite", {OWNERS: "OWNER", "allUsers": "WRITER"}),
        ("authenticatedRead", {OWNERS: "OWNER", "allAuthenticatedUsers": "READER"}),
    ],
)
def test_a_predefined_list_of_a_bucket(http: httpx.Client, name: str, wanted: dict[str, str]):
    """Of a creation and a patch; with that for new objects beside it."""
    asked = {"project": PROJECT, "predefinedAcl": name, "predefinedDefaultObjectAcl": "private"}
    http.post("/storage/v1/b", params=asked, json={"name": "bucket"}).raise_for_status()
    assert listed(http, f"{BUCKET}/acl") == wanted
    assert listed(http, f"{BUCKET}/defaultObjectAcl") == {}
    patched = http.patch(BUCKET, params={"predefinedDefaultObjectAcl": "publicRead"}, json={}).json()
    assert (roles(patched["acl"]), roles(patched["defaultObjectAcl"])) == (wanted, {"allUsers": "READER"})


def test_a_new_object_gets_the_default_list_of_its_bucket(upload: Any, http: httpx.Client):
    """As it is then: a later change of the default changes no object."""
    http.patch(BUCKET, params={"predefinedDefaultObjectAcl": "publicRead"}, json={})
    upload()
    http.patch(BUCKET, params={"predefinedDefaultObjectAcl": "private"}, json={})
    assert listed(http, f"{OBJECT}/acl") == {"allUsers": "READER", NOBODY: "OWNER"}


@pytest.mark.parametrize("path", [f"{BUCKET}/acl", f"{BUCKET}/defaultObjectAcl", f"{OBJECT}/acl"])
def test_an_entry_is_inserted_got_patched_updated_and_deleted(upload: Any, http: httpx.Client, path: str):
    """Each by its own method; what is not there is 404."""
    upload()
    entry = f"{path}/{ADA}"
    assert http.get(entry).status_code == 404
    made = http.post(path, json={"entity": ADA, "role": "READER"}).json()
    assert (made["entity"], made["role"], made["email"]) == (ADA, "READER", "ada@example.com")
    assert http.get(entry).json()["role"] == "READER"
    assert http.patch(entry, json={"role": "OWNER"}).json()["role"] == "OWNER"
    assert http.put(entry, json={"role": "READER"}).json()["role"] == "READER"
    assert listed(http, path)[ADA] == "READER"
    assert [http.delete(entry).status_code, http.delete(entry).status_code] == [204, 404]
    assert ADA not in listed(http, path)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"entity": "group-a@example.com", "role": "READER"}, 200),
        ({"entity": "domain-example.com", "role": "READER"}, 200),
        ({"entity": ADA, "role": "WRITER"}, 400),
        ({"entity": "ada", "role": "READER"}, 400),
        ({"entity": ADA}, 400),
        ({"role": "READER"}, 400),
    ],
)
def test_an_entry_has_an_entity_and_a_role_that_there_are(
    upload: Any, http: httpx.Client, body: dict[str, str], status: int
):
    """`WRITER` is a role of buckets only."""
    upload()
    if status == 200 or len(body) == 2:
        assert http.patch(OBJECT, json={"acl": [body]}).status_code == status
    assert http.post(f"{OBJECT}/acl", json=body).status_code == status


def test_a_change_of_a_list_is_one_of_its_resource(upload: Any, http: httpx.Client):
    """It makes the next metageneration, and heeds conditions."""
    upload()
    body = {"acl": [{"entity": ADA, "role": "READER"}]}
    assert http.patch(OBJECT, params={"ifMetagenerationMatch": "9"}, json=body).status_code == 412
    assert (
        http.patch(OBJECT, params={"ifMetagenerationMatch": "1"}, json=body).json()["metageneration"] == "2"
    )
    assert listed(http, f"{OBJECT}/acl") == {ADA: "READER", NOBODY: "OWNER"}
    http.post(f"{BUCKET}/acl", json={"entity": ADA, "role": "READER"})
    assert http.get(BUCKET).json()["metageneration"] == "2"


def test_the_owner_of_an_object_stays_its_owner(upload: Any, http: httpx.Client):
    """Its entry can neither be deleted nor made less."""
    upload()
    entry = f"{OBJECT}/acl/{NOBODY}"
    assert http.delete(entry).status_code == 400
    assert http.patch(entry, json={"role": "READER"}).status_code == 400


def test_with_uniform_access_there_are_no_lists(upload: Any, http: httpx.Client):
    """400 in Cloud Storage's words for whoever asks for one; switched off again, they are as they were."""
    upload(predefinedAcl="publicRead")
    on = http.patch(BUCKET, json=UNIFORM).json()
    assert on["iamConfiguration"]["bucketPolicyOnly"]["enabled"]
    assert "acl" not in on
    refused = http.get(f"{BUCKET}/acl")
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        400,
        "Cannot get legacy ACL for a bucket when uniform bucket-level access is enabled.",
    )
    assert http.get(f"{OBJECT}/acl").status_code == 400
    assert http.post(f"{BUCKET}/acl", json={"entity": ADA, "role": "READER"}).status_code == 400
    assert upload(predefinedAcl="publicRead").status_code == 400
    assert http.patch(OBJECT, params={"predefinedAcl": "private"}, json={}).status_code == 400
    assert not {"acl", "owner"} & {*http.get(OBJECT, params={"projection": "full"}).json()}
    http.patch(BUCKET, json=LISTED)
    assert listed(http, f"{OBJECT}/acl") == {"allUsers": "READER", NOBODY: "OWNER"}


def test_uniform_access_is_locked_after_ninety_days(
    served: Served, bucket: storage.Bucket, http: httpx.Client
):
    """Until then it can be switched off; `lockedTime` says when that ends."""
    http.patch(BUCKET, json=UNIFORM)
    assert http.get(BUCKET).json()["iamConfiguration"]["uniformBucketLevelAccess"]["lockedTime"]
    assert http.patch(BUCKET, json=LISTED).status_code == 200
    http.patch(BUCKET, json=UNIFORM)
    served.clock.ahead += timedelta(days=91)
    assert http.patch(BUCKET, json=LISTED).status_code == 412


def test_prevented_public_access_leaves_no_public_entry(upload: Any, http: httpx.Client):
    """412 for a bucket and an object; a prevention that there is not is 400."""
    upload()
    prevented = {"iamConfiguration": {"publicAccessPrevention": "enforced"}}
    assert http.patch(BUCKET, json=prevented).status_code == 200
    public = {"entity": "allUsers", "role": "READER"}
    assert http.post(f"{BUCKET}/acl", json=public).status_code == 412
    assert http.patch(OBJECT, json={"acl": [public]}).status_code == 412
    assert http.patch(BUCKET, params={"predefinedAcl": "publicRead"}, json={}).status_code == 412
    assert http.post(f"{OBJECT}/acl", json={"entity": ADA, "role": "READER"}).status_code == 200
    unknown = {"iamConfiguration": {"publicAccessPrevention": "maybe"}}
    assert http.patch(BUCKET, json=unknown).status_code == 400


def test_conditions_of_a_policy_need_uniform_access(bucket: storage.Bucket, http: httpx.Client):
    """412 without it."""
    condition = {"title": "always", "expression": "true"}
    binding = {"role": "roles/storage.objectViewer", "members": ["allUsers"], "condition": condition}
    assert http.put(f"{BUCKET}/iam", json={"version": 3, "bindings": [binding]}).status_code == 412
    http.patch(BUCKET, json=UNIFORM)
    assert http.put(f"{BUCKET}/iam", json={"version": 3, "bindings": [binding]}).status_code == 200


def test_lists_outlast_a_restart(served: Served, upload: Any, http: httpx.Client):
    """Those of a bucket and of an object."""
    upload(predefinedAcl="publicRead")
    http.patch(BUCKET, params={"predefinedAcl": "private"}, json={})
    served.restart()
    assert listed(http, f"{OBJECT}/acl") == {"allUsers": "READER", NOBODY: "OWNER"}
    assert listed(http, f"{BUCKET}/acl") == {OWNERS: "OWNER"}
