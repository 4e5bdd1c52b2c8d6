"""An object's bytes on their way, lists and batches: what arrives in part is not taken for the whole."""

import gzip
import json
from collections.abc import Iterator, Mapping

import pytest

from spotwarden.gcp.object_bodies import checksum
from spotwarden.gcp.storage import CloudStorage
from spotwarden.ports import BrokenError, UnansweredError
from tests.contract.retry_policies import SHORT
from tests.contract.scripted import Scripted

PACKED = gzip.compress(b"abc", mtime=0)
ROW = {"name": "x", "generation": "7", "updated": "2026-11-20T12:00:00Z", "size": "3"}


@pytest.fixture
def store(google: Scripted, monkeypatch: pytest.MonkeyPatch) -> Iterator[CloudStorage]:
    """A bucket on the scripted server."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", google.url)
    store = CloudStorage(bucket="b", retry_policy=SHORT)
    yield store
    store.close()


def headers_of(data: bytes, **others: str) -> Mapping[str, str]:
    """What Cloud Storage says of an object's bytes."""
    return {"x-goog-hash": f"crc32c={checksum(data)},md5=x", **others}


def test_bytes_that_arrive_whole_are_read(google: Scripted, store: CloudStorage):
    """Their checksum is that of the object."""
    google.say(ROW)
    google.say(b"abc", **headers_of(b"abc"))
    found = store.read("x")
    assert found is not None
    assert (found.data, found.generation) == (b"abc", 7)


@pytest.mark.parametrize("content", [b"abd", b""])
def test_bytes_that_arrive_damaged_are_no_answer(google: Scripted, store: CloudStorage, content: bytes):
    """Whatever the connection made of them."""
    google.say(ROW)
    google.say(content, **headers_of(b"abc"))
    with pytest.raises(UnansweredError):
        store.read("x")


@pytest.mark.parametrize("of", [PACKED, b"abc"], ids=["as stored", "packed on the way"])
def test_packed_bytes_are_held_against_either_checksum(google: Scripted, store: CloudStorage, of: bytes):
    """Of the object as it is stored: packed, or packed only for us."""
    google.say(ROW)
    google.say(PACKED, **headers_of(of, **{"Content-Encoding": "gzip"}))
    found = store.read("x")
    assert found is not None
    assert found.data == b"abc"


def test_what_says_that_it_is_packed_and_is_not_cannot_be_read(google: Scripted, store: CloudStorage):
    """However often it is asked for: those are the object's bytes."""
    google.say(ROW)
    google.say(b"abc", **headers_of(b"abc", **{"Content-Encoding": "gzip"}))
    with pytest.raises(BrokenError, match="x cannot be unpacked"):
        store.read("x")


def test_what_is_cut_short_while_packed_is_not_taken_for_all_of_it(google: Scripted, store: CloudStorage):
    """Half an object's bytes unpack to half of what it says."""
    packed = gzip.compress(b"abc" * 1000)[:-12]
    google.say(ROW)
    google.say(packed, **headers_of(packed, **{"Content-Encoding": "gzip"}))
    with pytest.raises(BrokenError, match="x cannot be unpacked"):
        store.read("x")


def test_a_list_that_is_cut_short_is_no_answer(google: Scripted, store: CloudStorage):
    """Half a list would be a list in which jobs are missing."""
    google.say(json.dumps({"items": [ROW]}).encode()[:-2])
    with pytest.raises(UnansweredError, match="cut short"):
        store.entries("")


def test_a_list_is_read_to_its_end(google: Scripted, store: CloudStorage):
    """Page by page; no more than was asked for."""
    google.say({"items": [ROW], "nextPageToken": "more"})
    google.say({"items": [{**ROW, "name": "y"}]})
    assert [entry.name for entry in store.entries("", limit=5)] == ["x", "y"]
    assert [asked.query.get("maxResults") for asked in google.asked] == ["5", "4"]
    assert google.asked[1].query["pageToken"] == "more"


def test_an_answer_to_fewer_deletes_than_were_asked_for_is_none(google: Scripted, store: CloudStorage):
    """Nobody knows what became of which."""
    google.say(
        b"--b\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n\r\n--b--",
        **{"Content-Type": "multipart/mixed; boundary=b"},
    )
    failed = store.delete_all({"x": 1, "y": 1})
    assert {name: type(error) for name, error in failed.items()} == dict.fromkeys("xy", UnansweredError)
