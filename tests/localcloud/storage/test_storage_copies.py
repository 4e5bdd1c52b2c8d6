"""Copies, moves and compositions."""

import os
from urllib.parse import quote

import google_crc32c
import httpx
import pytest
from google.api_core import exceptions
from google.cloud import storage

B = "/storage/v1/b/bucket/o"


@pytest.fixture
def original(bucket: storage.Bucket) -> storage.Blob:
    """The object `a/b`, with metadata."""
    blob = bucket.blob("a/b")
    blob.metadata = {"k": "v"}
    blob.upload_from_string("content", content_type="a/b")
    return blob


def test_a_copy_has_content_and_metadata(bucket: storage.Bucket, original: storage.Blob):
    """It is an object of its own: changing one leaves the other."""
    copy = bucket.copy_blob(original, bucket, "copy")
    assert (copy.download_as_bytes(), copy.content_type, copy.metadata) == (b"content", "a/b", {"k": "v"})
    assert copy.generation > original.generation
    original.upload_from_string("other")
    assert copy.download_as_bytes() == b"content"


def test_a_copy_goes_to_another_bucket(
    client: storage.Client, bucket: storage.Bucket, original: storage.Blob
):
    """Or is refused when that is not there."""
    other = client.create_bucket("other")
    assert bucket.copy_blob(original, other).download_as_bytes() == b"content"
    with pytest.raises(exceptions.NotFound, match="The specified bucket does not exist"):
        bucket.copy_blob(original, client.bucket("nowhere"))


def test_a_rewrite_with_metadata_replaces_it(bucket: storage.Bucket, original: storage.Blob):
    """Metadata in the body takes the place of the source's."""
    target = bucket.blob("a/b")
    target.content_type = "c/d"
    token, done, size = target.rewrite(original)
    assert (token, done, size) == (None, 7, 7)
    target.reload()
    assert (target.content_type, target.metadata) == ("c/d", None)


def test_a_rename_leaves_nothing_behind(bucket: storage.Bucket, original: storage.Blob):
    """Google's client copies and deletes; the server can move."""
    renamed = bucket.rename_blob(original, "renamed")
    assert [blob.name for blob in bucket.list_blobs()] == ["renamed"]
    assert renamed.download_as_bytes() == b"content"


@pytest.mark.usefixtures("original")
def test_a_move_is_one_call(bucket: storage.Bucket, http: httpx.Client):
    """`moveTo` has the new object and takes the old one away."""
    moved = http.post(f"{B}/{quote('a/b', safe='')}/moveTo/o/c%2Fd").json()
    assert (moved["name"], moved["metadata"]) == ("c/d", {"k": "v"})
    assert [blob.name for blob in bucket.list_blobs()] == ["c/d"]


def test_a_copy_depends_on_both_ends(bucket: storage.Bucket, original: storage.Blob):
    """Conditions on the source and on the destination are told apart."""
    bucket.blob("there").upload_from_string("x")
    for wrong in (
        {"if_generation_match": 0},
        {"if_source_generation_match": 1},
        {"if_source_metageneration_not_match": 1},
    ):
        with pytest.raises(exceptions.PreconditionFailed):
            bucket.copy_blob(original, bucket, "there", **wrong)
    right = {"if_source_generation_match": original.generation, "if_generation_match": 0}
    assert bucket.copy_blob(original, bucket, "new", **right).exists()


def test_an_old_version_is_copied_by_its_generation(bucket: storage.Bucket, original: storage.Blob):
    """This is how one is restored."""
    bucket.versioning_enabled = True
    bucket.patch()
    old = original.generation
    original.upload_from_string("other")
    restored = bucket.copy_blob(original, bucket, "a/b", source_generation=old)
    assert restored.download_as_bytes() == b"content"


def test_what_is_not_there_is_not_copied(bucket: storage.Bucket):
    """404, and nothing appears."""
    with pytest.raises(exceptions.NotFound):
        bucket.copy_blob(bucket.blob("nothing"), bucket, "copy")
    assert list(bucket.list_blobs()) == []


def test_a_composition_is_its_parts_in_order(bucket: storage.Bucket):
    """With their number, a CRC32C and no MD5; a composition of compositions counts all parts."""
    parts = []
    for name in ("a", "b", "c"):
        parts.append(bucket.blob(name))
        parts[-1].upload_from_string(os.urandom(700_000))
    whole = bucket.blob("whole")
    whole.content_type = "a/b"
    whole.compose(parts)
    content = b"".join(part.download_as_bytes() for part in parts)
    assert whole.download_as_bytes() == content
    assert (whole.component_count, whole.md5_hash, whole.content_type) == (3, None, "a/b")
    assert google_crc32c.value(content) == google_crc32c.value(whole.download_as_bytes())
    twice = bucket.blob("twice")
    twice.compose([whole, parts[0]])
    assert twice.component_count == 4


def test_a_composition_may_replace_a_part(bucket: storage.Bucket):
    """Appending to an object is done so."""
    for name, content in (("log", "1"), ("more", "2")):
        bucket.blob(name).upload_from_string(content)
    log = bucket.blob("log")
    log.compose([log, bucket.blob("more")])
    assert log.download_as_bytes() == b"12"


def test_a_composition_depends_on_its_parts_and_its_place(bucket: storage.Bucket):
    """412 for another generation of a part or of the destination, 404 for a part that is not there."""
    part = bucket.blob("part")
    part.upload_from_string("x")
    whole = bucket.blob("whole")
    with pytest.raises(exceptions.PreconditionFailed):
        whole.compose([part], if_source_generation_match=[1])
    with pytest.raises(exceptions.PreconditionFailed):
        whole.compose([part], if_generation_match=7)
    with pytest.raises(exceptions.NotFound):
        whole.compose([part, bucket.blob("nothing")])
    assert not whole.exists()
    whole.compose([part], if_source_generation_match=[part.generation], if_generation_match=0)


@pytest.mark.parametrize("count", [0, 33])
def test_a_composition_has_1_to_32_parts(http: httpx.Client, bucket: storage.Bucket, count: int):
    """Fewer or more are refused."""
    bucket.blob("a").upload_from_string("x")
    answer = http.post(f"{B}/whole/compose", json={"sourceObjects": [{"name": "a"}] * count})
    assert answer.status_code == 400
    assert "between 1 and 32" in answer.json()["error"]["message"]


@pytest.mark.parametrize("sources", ["a", [1], [{"generation": "1"}], [{"name": "a", "generation": "x"}]])
def test_parts_that_are_none_are_refused(http: httpx.Client, bucket: storage.Bucket, sources: object):
    """400, never a bug of ours."""
    bucket.blob("a").upload_from_string("x")
    assert http.post(f"{B}/whole/compose", json={"sourceObjects": sources}).status_code == 400


@pytest.mark.parametrize(
    ("condition", "holds", "fails"),
    [
        ("ifSourceGenerationMatch", "generation", "1"),
        ("ifSourceGenerationNotMatch", "1", "generation"),
        ("ifSourceMetagenerationMatch", "metageneration", "7"),
        ("ifSourceMetagenerationNotMatch", "7", "metageneration"),
    ],
)
@pytest.mark.parametrize("way", ["copyTo/b/bucket/o/b", "rewriteTo/b/bucket/o/b", "moveTo/o/b"])
def test_a_copy_may_depend_on_its_source(
    http: httpx.Client, bucket: storage.Bucket, way: str, condition: str, holds: str, fails: str
):
    """412 where one on the source does not hold, and nothing is copied; one that holds is no hindrance."""
    bucket.blob("a").upload_from_string("x")
    source = http.get("/storage/v1/b/bucket/o/a").json()
    url = f"/storage/v1/b/bucket/o/a/{way}"
    assert http.post(url, params={condition: source.get(fails, fails)}, json={}).status_code == 412
    assert http.get("/storage/v1/b/bucket/o/b").status_code == 404
    assert http.post(url, params={condition: source.get(holds, holds)}, json={}).status_code == 200


def test_a_composition_can_take_its_sources_away(http: httpx.Client, bucket: storage.Bucket):
    """Each of them, named once or twice, but never the result."""
    for name in ("a", "b"):
        bucket.blob(name).upload_from_string(name)
    body = {"sourceObjects": [{"name": "a"}, {"name": "b"}, {"name": "b"}], "deleteSourceObjects": True}
    assert http.post(f"{B}/a/compose", json=body).status_code == 200
    assert [blob.name for blob in bucket.list_blobs()] == ["a"]
    assert bucket.blob("a").download_as_bytes() == b"abb"


@pytest.mark.parametrize(("named", "left"), [(True, 1), (False, 2)])
def test_a_source_named_by_its_generation_goes_for_good(
    http: httpx.Client, bucket: storage.Bucket, named, left
):
    """Else a bucket with versions keeps it as one."""
    bucket.versioning_enabled = True
    bucket.patch()
    source = bucket.blob("a")
    source.upload_from_string("a")
    item = {"name": "a", **({"generation": str(source.generation)} if named else {})}
    body = {"sourceObjects": [item], "deleteSourceObjects": True}
    assert http.post(f"{B}/whole/compose", json=body).status_code == 200
    assert not bucket.blob("a").exists()
    assert len([*bucket.list_blobs(versions=True)]) == left


def test_sources_are_kept_unless_they_shall_go(http: httpx.Client, bucket: storage.Bucket):
    """As by default."""
    bucket.blob("a").upload_from_string("a")
    body = {"sourceObjects": [{"name": "a"}], "deleteSourceObjects": False}
    assert http.post(f"{B}/whole/compose", json=body).status_code == 200
    assert bucket.blob("a").exists()


def test_nothing_is_composed_from_a_source_that_may_not_go(http: httpx.Client, bucket: storage.Bucket):
    """A hold on one of them refuses the whole."""
    held = bucket.blob("a")
    held.upload_from_string("a")
    held.temporary_hold = True
    held.patch()
    body = {"sourceObjects": [{"name": "a"}], "deleteSourceObjects": True}
    assert http.post(f"{B}/whole/compose", json=body).status_code == 403
    assert not bucket.blob("whole").exists()
