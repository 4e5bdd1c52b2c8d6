"""The real gcloud and gsutil against the bucket."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from google.cloud import storage

from localcloud.endpoints import Endpoints
from tests.localcloud.storage.conftest import PROJECT, Served
from tests.long import long, longest

Run = Callable[..., str]


@pytest.fixture
def run(served: Served, tmp_path: Path) -> Run:
    """Run a command of the SDK with the settings that `spotwarden local env` prints; give what it says."""
    if not shutil.which("gcloud"):
        pytest.skip("gcloud is not installed: gcloud storage and gsutil were not tried")
    home = tmp_path / "home"
    home.mkdir()
    endpoints = Endpoints(http=served.url, grpc="127.0.0.1:1", project=PROJECT, home=home)
    endpoints.prepare()
    environment = {**os.environ, **endpoints.environment()}

    def run(*command: str | Path, stdin: bytes = b"") -> str:
        words = [str(word) for word in command]
        done = subprocess.run(
            words, input=stdin, capture_output=True, env=environment, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    return run


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder with a small file, one in a subfolder, and one large enough for a resumable upload."""
    folder = tmp_path / "source"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("hello\n")
    (folder / "sub" / "b c.txt").write_text("in a subfolder\n")
    (folder / "large.bin").write_bytes(os.urandom(9_000_000))
    return folder


def test_gcloud_copies_up_lists_reads_and_copies_down(
    run: Run, bucket: storage.Bucket, source: Path, tmp_path: Path
):
    """A folder goes up, is seen, and comes down as it was."""
    assert bucket.exists()
    run("gcloud", "storage", "cp", "-r", source, "gs://bucket/up")
    assert run("gcloud", "storage", "ls", "gs://bucket/up/**").split("\n")[:-1] == [
        "gs://bucket/up/a.txt",
        "gs://bucket/up/large.bin",
        "gs://bucket/up/sub/b c.txt",
    ]
    assert run("gcloud", "storage", "cat", "gs://bucket/up/a.txt") == "hello\n"
    (tmp_path / "down").mkdir()
    run("gcloud", "storage", "cp", "-r", "gs://bucket/up/*", tmp_path / "down")
    for name in ("a.txt", "large.bin", "sub/b c.txt"):
        assert (tmp_path / "down" / name).read_bytes() == (source / name).read_bytes()


@long
def test_gcloud_uploads_what_it_is_piped(run: Run, bucket: storage.Bucket):
    """Of a stream nobody knows the size before its end."""
    content = os.urandom(20_000_000)
    run("gcloud", "storage", "cp", "-", "gs://bucket/piped", stdin=content)
    assert bucket.blob("piped").download_as_bytes() == content


@longest
def test_gcloud_moves_mirrors_and_removes(run: Run, bucket: storage.Bucket, source: Path):
    """A mirror takes away what is not in the source; a removed folder is gone."""
    bucket.blob("up/extra").upload_from_string("x")
    run(
        "gcloud", "storage", "rsync", "-r", "--delete-unmatched-destination-objects", source, "gs://bucket/up"
    )
    run("gcloud", "storage", "mv", "gs://bucket/up/a.txt", "gs://bucket/moved.txt")
    assert [blob.name for blob in bucket.list_blobs()] == ["moved.txt", "up/large.bin", "up/sub/b c.txt"]
    run("gcloud", "storage", "rm", "-r", "gs://bucket/up")
    assert [blob.name for blob in bucket.list_blobs()] == ["moved.txt"]


@longest
def test_gcloud_makes_and_removes_a_bucket_with_a_notification(run: Run, client: storage.Client):
    """Bucket, notification, versioning, and all of it removed with what is in it."""
    topic = f"--topic=projects/{PROJECT}/topics/markers"
    run("gcloud", "storage", "buckets", "create", "gs://made")
    run("gcloud", "storage", "buckets", "notifications", "create", "gs://made", topic, "--skip-topic-setup")
    assert len(list(client.bucket("made").list_notifications())) == 1
    client.bucket("made").blob("a").upload_from_string("x")
    run("gcloud", "storage", "rm", "-r", "gs://made")
    assert client.lookup_bucket("made") is None


@pytest.fixture
def gsutil(run: Run) -> Run:
    """The real gsutil, with `use_gcloud_storage` in its boto file, as `spotwarden local env` writes it."""
    if not shutil.which("gsutil"):
        pytest.skip("gsutil is not installed: it was not tried")
    return lambda *words: run("gsutil", *words)


def test_gsutil_copies_up(gsutil: Run, bucket: storage.Bucket, source: Path):
    """A file that is large enough to be sent in parts."""
    gsutil("cp", source / "large.bin", "gs://bucket/large.bin")
    assert bucket.blob("large.bin").download_as_bytes() == (source / "large.bin").read_bytes()


@longest
def test_gsutil_copies_down(gsutil: Run, bucket: storage.Bucket, tmp_path: Path):
    """The other way."""
    bucket.blob("here").upload_from_string(b"here")
    gsutil("cp", "gs://bucket/here", tmp_path / "here")
    assert (tmp_path / "here").read_bytes() == b"here"


@long
def test_both_write_and_show_custom_metadata_in_the_words_of_the_job_kit(
    run: Run, bucket: storage.Bucket, source: Path
):
    """With gcloud values may have commas; the kit finds attempt and generation in what each of them shows."""
    told = '{"step":1,"checkpoint":"a, b: c=d"}'
    words = f"--custom-metadata=^@123@^attempt=1@123@instance_id=17@123@beat={told}"
    run("gcloud", "storage", "cp", words, source / "a.txt", "gs://bucket/by-gcloud")
    headers = ("-h", "x-goog-meta-instance_id:17", "-h", "x-goog-meta-attempt:1")
    run("gsutil", *headers, "-q", "cp", source / "a.txt", "gs://bucket/by-gsutil")
    blob, other = bucket.get_blob("by-gcloud"), bucket.get_blob("by-gsutil")
    assert blob is not None
    assert other is not None
    assert blob.metadata == {"attempt": "1", "instance_id": "17", "beat": told}
    # Of several headers the gsutil that hands over to gcloud keeps the last.
    assert other.metadata["attempt"] == "1"
    shown = run("gcloud", "storage", "objects", "describe", "--raw", "--format=json", "gs://bucket/by-gcloud")
    stat = run("gsutil", "stat", "gs://bucket/by-gcloud")
    for text in (shown, stat):
        for key, value in (("attempt", "1"), ("[gG]eneration", str(blob.generation))):
            found = re.search(rf'(^|[^A-Za-z_-]){key}"?:\s*"?([0-9]+)', text)
            assert found is not None
            assert found[2] == value
