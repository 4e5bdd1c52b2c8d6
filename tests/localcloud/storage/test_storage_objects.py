"""Objects: content, metadata, names, versions, through Google's Python client."""

import base64
import hashlib
import os
from urllib.parse import quote

import google_crc32c
import httpx
import pytest
from google.api_core import exceptions
from google.cloud import storage


@pytest.mark.parametrize("content", [b"", b"x", b"text \xff\x00" * 50_000, os.urandom(5_000_000)], ids=len)
def test_content_is_read_back_as_it_was_written(bucket: storage.Bucket, content: bytes):
    """Empty, small, and larger than any buffer on the way."""
    bucket.blob("a").upload_from_string(content, content_type="a/b")
    blob = bucket.get_blob("a")
    assert blob.download_as_bytes() == content
    assert (blob.size, blob.content_type) == (len(content), "a/b")
    assert blob.md5_hash == base64.b64encode(hashlib.md5(content).digest()).decode()
    assert blob.crc32c == base64.b64encode(google_crc32c.value(content).to_bytes(4)).decode()


NAMES = [
    "a/b",
    "../x",
    "a%2Fb",
    "/",
    "//",
    "a b+c",
    "#?&=;",
    "ü🐢",
    "b/c/o/d",
    "a/rewriteTo/b/x/o/y",
    "iam",
    "." * 3,
]


@pytest.mark.parametrize("name", NAMES)
def test_any_legal_name_works_everywhere(bucket: storage.Bucket, name: str):
    """Write, read, list, patch, copy and delete address the same object."""
    blob = bucket.blob(name)
    blob.upload_from_string("content")
    blob.metadata = {"a": "b"}
    blob.patch()
    copy = bucket.copy_blob(blob, bucket, name + "-copy")
    assert copy.download_as_bytes() == b"content"
    assert [found.name for found in bucket.list_blobs(prefix=name)] == [name, name + "-copy"]
    blob.delete()
    assert bucket.get_blob(name) is None


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_to_the_object(http: httpx.Client, bucket: storage.Bucket, name: str):
    """`selfLink` and `mediaLink` are URLs that work as they are."""
    bucket.blob(name).upload_from_string("content")
    resource = http.get(f"/storage/v1/b/{bucket.name}/o/{quote(name, safe='')}").json()
    assert http.get(resource["selfLink"]).json() == resource
    assert http.get(resource["mediaLink"]).content == b"content"


def test_an_object_that_is_not_there_is_404(bucket: storage.Bucket, http: httpx.Client):
    """In the words of the real API, for every call that needs one."""
    missing = bucket.blob("a/b")
    for call in (missing.reload, missing.delete, missing.patch, missing.download_as_bytes):
        with pytest.raises(exceptions.NotFound):
            call()
    answer = http.get("/storage/v1/b/bucket/o/a%2Fb")
    assert answer.json()["error"]["message"] == "No such object: bucket/a/b"


def test_an_overwrite_makes_a_higher_generation(bucket: storage.Bucket):
    """Generations grow with every write of any object, and the old content is gone."""
    generations = []
    for name, content in (("a", "1"), ("b", "2"), ("a", "3")):
        blob = bucket.blob(name)
        blob.upload_from_string(content)
        generations.append(blob.generation)
    assert generations == sorted(set(generations))
    assert bucket.blob("a").download_as_bytes() == b"3"
    with pytest.raises(exceptions.NotFound):
        bucket.blob("a", generation=generations[0]).download_as_bytes()


def test_a_versioned_bucket_keeps_old_generations(bucket: storage.Bucket):
    """Overwritten and deleted content stays under its generation until that is deleted."""
    bucket.versioning_enabled = True
    bucket.patch()
    blob = bucket.blob("a")
    blob.upload_from_string("old")
    old = blob.generation
    blob.upload_from_string("new")
    bucket.blob("a").delete()
    assert list(bucket.list_blobs()) == []
    versions = list(bucket.list_blobs(versions=True))
    assert [version.generation for version in versions] == [old, blob.generation]
    assert all(version.time_deleted for version in versions)
    assert bucket.blob("a", generation=old).download_as_bytes() == b"old"
    bucket.blob("a", generation=old).delete()
    assert [version.generation for version in bucket.list_blobs(versions=True)] == [blob.generation]


def test_versions_are_listed_page_by_page(bucket: storage.Bucket):
    """A page may end between two generations of one name."""
    bucket.versioning_enabled = True
    bucket.patch()
    for name in ("a", "a", "a", "b"):
        bucket.blob(name).upload_from_string("x")
    pages = bucket.list_blobs(versions=True, page_size=2).pages
    assert [[blob.name for blob in page] for page in pages] == [["a", "a"], ["a", "b"]]


def test_a_patch_merges_metadata(bucket: storage.Bucket):
    """Named keys change, keys set to nothing go, others stay; content and generation are untouched."""
    blob = bucket.blob("a")
    blob.metadata = {"keep": "1", "drop": "2"}
    blob.cache_control = "no-store"
    blob.upload_from_string("x")
    created, generation = blob.time_created, blob.generation
    blob.metadata = {"drop": None, "new": "3"}
    blob.patch()
    blob.reload()
    assert blob.metadata == {"keep": "1", "new": "3"}
    assert blob.cache_control == "no-store"
    assert (blob.generation, blob.metageneration) == (generation, 2)
    assert blob.time_created == created <= blob.updated


def test_an_update_replaces_metadata(bucket: storage.Bucket, http: httpx.Client):
    """What a PUT does not name is gone."""
    blob = bucket.blob("a")
    blob.metadata = {"a": "1"}
    blob.upload_from_string("x", content_type="text/plain")
    changed = http.put("/storage/v1/b/bucket/o/a", json={"contentType": "a/b"}).json()
    assert changed["contentType"] == "a/b"
    assert "metadata" not in changed


def test_output_only_members_are_ignored(bucket: storage.Bucket, http: httpx.Client):
    """A client may send a whole resource back; size, generation and checksums stay what they are."""
    bucket.blob("a").upload_from_string("x")
    before = http.get("/storage/v1/b/bucket/o/a").json()
    forged = before | {"size": "99", "generation": "1", "md5Hash": "AAAA", "name": "b", "contentType": "a/b"}
    after = http.patch("/storage/v1/b/bucket/o/a", json=forged).json()
    kept = ("size", "generation", "md5Hash", "name")
    assert {key: after[key] for key in kept} == {key: before[key] for key in kept}
    assert after["contentType"] == "a/b"


def test_metadata_of_the_wrong_type_is_refused(bucket: storage.Bucket, http: httpx.Client):
    """400 names the member."""
    bucket.blob("a").upload_from_string("x")
    answer = http.patch("/storage/v1/b/bucket/o/a", json={"metadata": {"a": 1}})
    assert answer.status_code == 400
    assert "metadata" in answer.json()["error"]["message"]


def test_custom_metadata_has_a_limit(bucket: storage.Bucket):
    """8 KiB of keys and values, by upload and by patch."""
    blob = bucket.blob("a")
    blob.metadata = {"key": "v" * (8192 - len("key"))}
    blob.upload_from_string("x")
    blob.metadata = {"more": "v"}
    with pytest.raises(exceptions.BadRequest, match="8197 bytes"):
        blob.patch()
    blob.metadata = {"key": "é" * 4096}
    with pytest.raises(exceptions.BadRequest, match="8195 bytes"):
        blob.upload_from_string("x")


def test_a_held_object_is_neither_deleted_nor_overwritten(bucket: storage.Bucket):
    """403 while the hold is there; afterwards both work."""
    blob = bucket.blob("a")
    blob.upload_from_string("x")
    blob.temporary_hold = True
    blob.patch()
    with pytest.raises(exceptions.Forbidden, match="Temporary hold"):
        bucket.blob("a").delete()
    with pytest.raises(exceptions.Forbidden, match="Temporary hold"):
        bucket.blob("a").upload_from_string("y")
    blob.temporary_hold = False
    blob.patch()
    bucket.blob("a").upload_from_string("y")
    bucket.blob("a").delete()


def test_a_listing_folds_pages_and_filters(bucket: storage.Bucket):
    """Prefix, delimiter, offsets and globs as a client uses them."""
    for name in ("a", "b/", "b/1", "b/2", "c/d/3", "e"):
        bucket.blob(name).upload_from_string("x")
    folded = bucket.list_blobs(delimiter="/", page_size=2)
    assert [blob.name for blob in folded] == ["a", "e"]
    assert sorted(folded.prefixes) == ["b/", "c/"]
    assert [blob.name for blob in bucket.list_blobs(prefix="b/")] == ["b/", "b/1", "b/2"]
    assert [blob.name for blob in bucket.list_blobs(start_offset="b/1", end_offset="e")] == [
        "b/1",
        "b/2",
        "c/d/3",
    ]
    assert [blob.name for blob in bucket.list_blobs(match_glob="**/[13]")] == ["b/1", "c/d/3"]
    trailing = bucket.list_blobs(delimiter="/", include_trailing_delimiter=True)
    assert [blob.name for blob in trailing] == ["a", "b/", "e"]


def test_there_are_no_soft_deleted_objects(bucket: storage.Bucket):
    """The bucket says that it keeps none, and lists none."""
    bucket.blob("a").upload_from_string("x")
    bucket.blob("a").delete()
    assert list(bucket.list_blobs(soft_deleted=True)) == []
    bucket.reload()
    assert bucket.soft_delete_policy.retention_duration_seconds == 0


def test_an_answer_has_only_the_fields_that_were_asked_for(bucket: storage.Bucket):
    """A listing that does not ask for metadata gets none, as from Google; what is no selection is refused."""
    blob = bucket.blob("a")
    blob.metadata = {"key": "value"}
    blob.upload_from_string(b"1")
    asked = {"fields": "items(name,size),nextPageToken"}
    path = f"/b/{bucket.name}/o"
    listed = bucket.client._connection.api_request(method="GET", path=path, query_params=asked)
    assert listed == {"items": [{"name": "a", "size": "1"}]}
    found = bucket.client._connection.api_request(
        method="GET", path=f"{path}/a", query_params={"fields": "metadata"}
    )
    assert found == {"metadata": {"key": "value"}}
    with pytest.raises(exceptions.BadRequest):
        bucket.client._connection.api_request(method="GET", path=path, query_params={"fields": "items("})
