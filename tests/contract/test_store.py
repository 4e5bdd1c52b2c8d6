"""What a bucket promises of one object, whoever keeps it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, timedelta
from threading import Barrier

import pytest

from spotwarden.ports import SHOWN_AT_MOST, ConflictError, Store
from tests.contract.conftest import PutObject

RACERS = 16


def outcome(write: Callable[[], int]) -> int | str:
    """The generation that a write made, or "conflict"."""
    try:
        return write()
    except ConflictError:
        return "conflict"


def test_what_was_written_is_read_back(store: Store):
    """Data, generation and time belong together."""
    generation = store.write("a/b", b"\x00\xff text", generation=0)
    found = store.read("a/b")
    assert found is not None
    assert (found.data, found.generation) == (b"\x00\xff text", generation)
    assert found.updated.utcoffset() == timedelta(0)
    assert found.updated.tzinfo == UTC


def test_an_object_that_is_not_there_is_none(store: Store):
    """Absence is an answer, not an error."""
    store.write("there", b"", generation=0)
    assert store.read("the") is None


def test_an_empty_object_is_there(store: Store):
    """A marker may be empty; that is not absence."""
    store.write("empty", b"", generation=0)
    found = store.read("empty")
    assert found is not None
    assert found.data == b""


def test_create_makes_what_is_not_there(store: Store):
    """Generation 0 means: only if there is nothing."""
    assert store.write("x", b"1", generation=0) > 0


def test_create_leaves_alone_what_is_there(store: Store):
    """The second creator gets a conflict, and the first one's object stays."""
    first = store.write("x", b"1", generation=0)
    with pytest.raises(ConflictError, match="x"):
        store.write("x", b"2", generation=0)
    found = store.read("x")
    assert found is not None
    assert (found.data, found.generation) == (b"1", first)


def test_what_was_deleted_can_be_created_again(store: Store):
    """After a delete there is nothing, and the new generation is a new one."""
    first = store.write("x", b"1", generation=0)
    assert store.delete("x", generation=first)
    assert store.write("x", b"2", generation=0) > first


def test_replace_needs_the_generation_that_was_read(store: Store):
    """The writer who knows the newest generation wins, and gets a newer one."""
    first = store.write("x", b"1", generation=0)
    assert store.write("x", b"2", generation=first) > first


@pytest.mark.parametrize("off", [-1, +1])
def test_replace_of_another_generation_is_a_conflict(store: Store, off: int):
    """One off is as wrong as any other, to either side."""
    first = store.write("x", b"1", generation=0)
    with pytest.raises(ConflictError):
        store.write("x", b"2", generation=first + off)


def test_replace_of_nothing_is_a_conflict(store: Store):
    """A record that somebody deleted is not brought back by an update."""
    first = store.write("x", b"1", generation=0)
    store.delete("x", generation=first)
    with pytest.raises(ConflictError):
        store.write("x", b"2", generation=first)
    assert store.read("x") is None


def test_a_write_without_a_generation_overwrites_anything(store: Store):
    """None is for what nobody competes for."""
    first = store.write("x", b"1", generation=None)
    second = store.write("x", b"2", generation=None)
    found = store.read("x")
    assert found is not None
    assert second > first
    assert (found.data, found.generation) == (b"2", second)


def test_one_of_many_creators_wins(store: Store):
    """However many sweeps claim at once, exactly one has claimed."""
    barrier = Barrier(RACERS)

    def claim(racer: int) -> int | str:
        barrier.wait()
        return outcome(lambda: store.write("claim", str(racer).encode(), generation=0))

    with ThreadPoolExecutor(RACERS) as pool:
        outcomes = list(pool.map(claim, range(RACERS)))
    found = store.read("claim")
    assert found is not None
    assert outcomes.count("conflict") == RACERS - 1
    assert outcomes[int(found.data)] == found.generation


def test_one_of_many_replacers_wins(store: Store):
    """A take-over is as exclusive as a claim."""
    first = store.write("lease", b"-", generation=0)
    barrier = Barrier(RACERS)

    def take_over(racer: int) -> int | str:
        barrier.wait()
        return outcome(lambda: store.write("lease", str(racer).encode(), generation=first))

    with ThreadPoolExecutor(RACERS) as pool:
        outcomes = list(pool.map(take_over, range(RACERS)))
    found = store.read("lease")
    assert found is not None
    assert outcomes.count("conflict") == RACERS - 1
    assert outcomes[int(found.data)] == found.generation


def test_delete_takes_the_generation_that_was_read(store: Store):
    """The marker that was handled goes."""
    generation = store.write("marker", b"", generation=0)
    assert store.delete("marker", generation=generation)
    assert store.read("marker") is None


def test_delete_leaves_a_newer_generation(store: Store):
    """A marker written anew while the old one was handled stays."""
    old = store.write("marker", b"", generation=0)
    new = store.write("marker", b"again", generation=None)
    assert not store.delete("marker", generation=old)
    found = store.read("marker")
    assert found is not None
    assert found.generation == new


def test_delete_of_nothing_is_false(store: Store):
    """Somebody else has cleared it; that is no error."""
    generation = store.write("marker", b"", generation=0)
    store.delete("marker", generation=generation)
    assert not store.delete("marker", generation=generation)


def test_an_object_of_just_the_limit_is_read(store: Store):
    """The limit itself is allowed."""
    store.write("x", b"12345", generation=0)
    found = store.read("x", at_most=5)
    assert found is not None
    assert found.data == b"12345"


def test_an_object_over_the_limit_is_refused(store: Store):
    """One byte more is not read, and the error names the object and the limit."""
    store.write("x", b"123456", generation=0)
    with pytest.raises(ValueError, match=r"x has 6 bytes.*at most 5"):
        store.read("x", at_most=5)


def test_what_was_listed_is_read_as_it_stands_there(store: Store):
    """Data, generation and time are those of the row."""
    store.write("x", b"1", generation=0)
    (row,) = store.entries("x")
    found = store.read("x", listed=row)
    assert found is not None
    assert (found.data, found.generation, found.updated) == (b"1", row.generation, row.updated)


def test_what_has_changed_since_it_was_listed_is_read_as_it_is_now(store: Store):
    """Never the bytes of one generation under the number of another."""
    store.write("x", b"1", generation=0)
    (row,) = store.entries("x")
    newer = store.write("x", b"23", generation=row.generation)
    found = store.read("x", listed=row)
    assert found is not None
    assert (found.data, found.generation) == (b"23", newer)


def test_what_is_gone_since_it_was_listed_is_none(store: Store):
    """Absence is an answer here too."""
    generation = store.write("x", b"1", generation=0)
    (row,) = store.entries("x")
    store.delete("x", generation=generation)
    assert store.read("x", listed=row) is None


def test_a_listed_object_over_the_limit_is_refused_likewise(store: Store):
    """By what it holds when it is read."""
    store.write("x", b"123456", generation=0)
    (row,) = store.entries("x")
    with pytest.raises(ValueError, match=r"x has 6 bytes.*at most 5"):
        store.read("x", at_most=5, listed=row)
    store.write("x", b"1", generation=row.generation)
    found = store.read("x", at_most=5, listed=row)
    assert found is not None
    assert found.data == b"1"


SHOWN = [b'{"job": "\xc3\x9cn\xc3\xaf"}', b"", b"x" * SHOWN_AT_MOST]


@pytest.mark.parametrize("data", SHOWN, ids=["text", "nothing", "the most"])
def test_what_is_written_to_be_shown_stands_in_listings(store: Store, data: bytes):
    """Byte for byte, and nothing of it among its metadata."""
    store.write("x", data, generation=0, shown=True)
    [row] = store.entries("x")
    assert (row.content, row.metadata) == (data, {})
    found = store.read("x")
    assert found is not None
    assert (found.data, found.metadata) == (data, {})


@pytest.mark.parametrize("data", [b"x" * (SHOWN_AT_MOST + 1), b"\xff\xfe"], ids=["too long", "no text"])
def test_what_a_listing_has_no_room_for_is_only_read(store: Store, data: bytes):
    """It is written all the same."""
    store.write("x", data, generation=0, shown=True)
    [row] = store.entries("x")
    found = store.read("x")
    assert (row.content, found.data if found else None) == (None, data)


def test_what_is_shown_is_the_object_itself(store: Store, put: PutObject):
    """Metadata that says another thing than the object shows nothing of it."""
    put("x", b"true", {"spotwarden-content": "false"})
    [row] = store.entries("x")
    assert row.content is None


def test_nothing_is_shown_that_was_not_meant_to_be(store: Store):
    """A listing of large folders stays as small as it was; the next write decides anew."""
    first = store.write("x", b"1", generation=0, shown=True)
    store.write("x", b"2", generation=first)
    [row] = store.entries("x")
    assert row.content is None


METADATA = {"attempt": "2", "instance_id": "17", "Ünï": "日本 a=b"}


def test_custom_metadata_comes_with_what_is_read_and_what_is_listed(store: Store, put: PutObject):
    """Who lists needs no read to know what a writer has put beside the content."""
    put("a", b"1", METADATA)
    put("b", b"", {})
    found = store.read("a")
    assert found is not None
    assert (found.data, found.metadata) == (b"1", METADATA)
    entries = store.entries("")
    assert [entry.metadata for entry in entries] == [METADATA, {}]
    assert len({*entries, *store.entries("")}) == len(entries)


def test_a_new_generation_has_none_of_the_metadata_before_it(store: Store, put: PutObject):
    """What we write has none of its own: the word that we know our own writes by is not shown."""
    put("a", b"1", METADATA)
    store.write("a", b"2", generation=None)
    found = store.read("a")
    assert found is not None
    assert (found.data, found.metadata) == (b"2", {})
    assert [entry.metadata for entry in store.entries("")] == [{}]


def test_a_listing_of_very_many_describes_the_first_of_them(
    store: Store, put: PutObject, monkeypatch: pytest.MonkeyPatch
):
    """Whoever may write objects must not fill the memory of whoever lists them."""
    for module in ("spotwarden.gcp.storage", "tests.fakes.store"):
        monkeypatch.setattr(f"{module}.DESCRIBED_AT_MOST", 2)
    for name in ("a", "b", "c"):
        put(name, b"", METADATA)
    assert [entry.metadata for entry in store.entries("")] == [METADATA, METADATA, {}]
    found = store.read("c")
    assert found is not None
    assert found.metadata == METADATA
