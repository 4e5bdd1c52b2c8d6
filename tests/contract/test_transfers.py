"""What the files of a developer are promised on their way, whoever keeps the bucket."""

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from spotwarden.gcp import transfers
from spotwarden.gcp.transfers import CloudFiles
from spotwarden.ports import HeldObject, Store, Transfers, UnansweredError
from tests.contract.retry_policies import QUICK, SHORT, OpenStore
from tests.contract.served import PROJECT
from tests.fakes.files import MemoryFiles
from tests.fakes.store import MemoryStore

LARGE = 9 * 1024 * 1024
"""Over 8 MiB Google's library sends a file in pieces."""


@pytest.fixture(params=["fake", "adapter"])
def place(request: pytest.FixtureRequest) -> Iterator[tuple[Store, Transfers]]:
    """An empty bucket, and files to and from it."""
    if request.param == "fake":
        store = MemoryStore()
        yield store, MemoryFiles(store)
        return
    opener: OpenStore = request.getfixturevalue("open_store")
    with_bucket = opener()
    files = CloudFiles(project=PROJECT, bucket=bucket_of(with_bucket), retry_policy=QUICK)
    yield with_bucket, files
    files.close()


@pytest.fixture
def real(open_store: OpenStore) -> Iterator[tuple[Store, CloudFiles]]:
    """The same on the local cloud only."""
    store = open_store()
    files = CloudFiles(project=PROJECT, bucket=bucket_of(store), retry_policy=QUICK)
    yield store, files
    files.close()


def bucket_of(store) -> str:
    """The bucket that an opened store is on."""
    return str(store._objects.bucket)


def written(tmp_path: Path, data: bytes) -> Path:
    """A file with these bytes."""
    file = tmp_path / "data.bin"
    file.write_bytes(data)
    return file


def only(files: Transfers, prefix: str = "") -> HeldObject:
    """The one object that is held."""
    (held,) = files.held(prefix)
    return held


@pytest.mark.parametrize("data", [b"", b"\x00\xff text"], ids=["empty", "bytes"])
def test_a_file_that_was_sent_comes_back(place, tmp_path, data):
    """Byte for byte, an empty one too, and the store reads the same."""
    store, files = place
    files.upload(written(tmp_path, data), "a/b c/ü")
    held, into = only(files), io.BytesIO()
    files.download(held, into)
    assert (held.name, held.size, into.getvalue()) == ("a/b c/ü", len(data), data)
    found = store.read("a/b c/ü")
    assert found is not None
    assert (found.data, found.generation) == (data, held.generation)


def test_only_what_is_below_the_prefix_is_held(place, tmp_path):
    """In the order of names."""
    _store, files = place
    for name in ("a/2", "a/1", "b"):
        files.upload(written(tmp_path, b"x"), name)
    assert [held.name for held in files.held("a/")] == ["a/1", "a/2"]


def test_what_was_there_is_replaced(place, tmp_path):
    """By a newer generation."""
    _store, files = place
    files.upload(written(tmp_path, b"old"), "x")
    before = only(files)
    files.upload(written(tmp_path, b"newer"), "x")
    after = only(files)
    assert after.size == 5
    assert after.generation > before.generation


@pytest.mark.parametrize(
    ("data", "same"),
    [(b"12345", True), (b"12346", False), (b"1234", False), (b"123456", False)],
    ids=["the same", "one byte other", "shorter", "longer"],
)
def test_the_same_bytes_are_known_without_being_sent(place, tmp_path, data, same):
    """Size and checksum tell; one byte is enough to differ."""
    _store, files = place
    files.upload(written(tmp_path, b"12345"), "x")
    assert files.same(written(tmp_path, data), only(files)) is same


def test_bytes_are_told_as_they_go(place, tmp_path):
    """Up and down, in all as many as there are."""
    _store, files = place
    told: list[int] = []
    files.upload(written(tmp_path, b"x" * 1000), "x", moved=told.append)
    assert sum(told) == 1000
    told.clear()
    files.download(only(files), io.BytesIO(), moved=told.append)
    assert sum(told) == 1000


@pytest.mark.parametrize("start", [0, 1, 4, 5])
def test_a_download_goes_on_from_where_it_was(place, tmp_path, start):
    """From the first byte, from the middle, from the last; of a whole file nothing is left."""
    _store, files = place
    files.upload(written(tmp_path, b"12345"), "x")
    into, told = io.BytesIO(), []
    into.write(b"12345"[:start])
    files.download(only(files), into, start=start, moved=told.append)
    assert into.getvalue() == b"12345"
    assert sum(told) == 5 - start


def test_a_generation_that_was_replaced_is_no_answer(place, tmp_path):
    """Half of one file and half of another is never written."""
    _store, files = place
    files.upload(written(tmp_path, b"old"), "x")
    before, into = only(files), io.BytesIO()
    files.upload(written(tmp_path, b"new"), "x")
    with pytest.raises(UnansweredError):
        files.download(before, into)
    assert into.getvalue() == b""


def test_a_copy_has_the_bytes_and_takes_the_place_of_what_was_there(place, tmp_path):
    """Under a generation of its own; what it was made of stays."""
    store, files = place
    files.upload(written(tmp_path, b"old"), "x")
    files.upload(written(tmp_path, b"new"), "staged")
    before = only(files, "x")
    files.copy(only(files, "staged"), "x")
    after = only(files, "x")
    assert store.read("x").data == store.read("staged").data == b"new"
    assert after.generation > before.generation
    assert (after.size, after.crc32c) == (3, only(files, "staged").crc32c)


@pytest.mark.parametrize("gone", [True, False], ids=["gone", "replaced"])
def test_what_is_there_no_more_is_not_copied(place, tmp_path, gone):
    """Nor what came into its place: the object that it would have become stays as it is."""
    store, files = place
    files.upload(written(tmp_path, b"old"), "x")
    files.upload(written(tmp_path, b"new"), "staged")
    held = only(files, "staged")
    files.drop(held)
    if not gone:
        files.upload(written(tmp_path, b"another"), "staged")
    with pytest.raises(UnansweredError):
        files.copy(held, "x")
    assert store.read("x").data == b"old"


def test_a_generation_is_dropped_once_and_no_other(place, tmp_path):
    """One that is gone, or newer, is no failure and stays."""
    _store, files = place
    files.upload(written(tmp_path, b"old"), "x")
    before = only(files)
    files.upload(written(tmp_path, b"new"), "x")
    files.drop(before)
    after = only(files)
    files.drop(after)
    files.drop(after)
    assert files.held("") == []
    assert after.generation > before.generation


def test_a_large_file_goes_in_pieces_through_failures(real, tmp_path, faults, monkeypatch):
    """A piece is in memory, not the file; one that fails is sent again, and told once; all of it arrives."""
    monkeypatch.setattr(transfers, "PIECE", 4 * 1024 * 1024)
    store, files = real
    data = os.urandom(LARGE)
    file, told = written(tmp_path, data), []
    faults(service="storage", method="PUT", status=503, count=1)
    files.upload(file, "large", moved=told.append)
    assert sum(told) == LARGE
    assert max(told) <= transfers.PIECE
    assert files.same(file, only(files))
    assert store.entries("large")[0].size == LARGE


def test_a_download_begins_anew_after_a_failure(real, tmp_path, faults):
    """And tells of the bytes once."""
    _store, files = real
    files.upload(written(tmp_path, b"12345"), "x")
    held, into, told = only(files), io.BytesIO(), []
    faults(service="storage", cut=True, count=1)
    files.download(held, into, moved=told.append)
    assert (into.getvalue(), sum(told)) == (b"12345", 5)


def test_a_bucket_that_never_answers_is_no_answer(real, tmp_path, faults):
    """Up, down and listed."""
    store, files = real
    files.upload(written(tmp_path, b"12345"), "x")
    held = only(files)
    hasty = CloudFiles(project=PROJECT, bucket=bucket_of(store), retry_policy=SHORT)
    faults(service="storage", cut=True)
    with pytest.raises(UnansweredError):
        hasty.upload(written(tmp_path, b"x"), "y")
    with pytest.raises(UnansweredError):
        hasty.download(held, io.BytesIO())
    with pytest.raises(UnansweredError):
        hasty.held("")
    hasty.close()
