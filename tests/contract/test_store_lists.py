"""What a bucket promises of its lists and names, whoever keeps it."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from spotwarden.ports import Store


def test_entries_are_those_below_the_prefix_in_order(store: Store):
    """A prefix is no folder: `job-1` also begins `job-10`."""
    for name in ("job-2/a", "job-10/a", "job-1/b", "job-1/a"):
        store.write(name, b"", generation=0)
    assert [entry.name for entry in store.entries("job-1")] == ["job-1/a", "job-1/b", "job-10/a"]
    assert [entry.name for entry in store.entries("job-1/")] == ["job-1/a", "job-1/b"]


def test_an_entry_tells_generation_size_and_time(store: Store):
    """What a listing says of an object is what reading it says."""
    generation = store.write("x", b"12345", generation=0)
    [entry] = store.entries("x")
    found = store.read("x")
    assert found is not None
    assert (entry.name, entry.generation, entry.size) == ("x", generation, 5)
    assert entry.updated == found.updated


def test_row_by_row_a_list_is_the_same(store: Store):
    """Who keeps little of each row need not hold them all."""
    for name in ("a/1", "a/2", "b/1"):
        store.write(name, b"12", generation=0)
    assert list(store.each_entry("a/")) == store.entries("a/")
    assert list(store.each_entry("c/")) == []


def test_one_row_is_that_of_the_list(store: Store):
    """Generation, time and metadata, without the content; nothing where there is none."""
    store.write("x/y", b"12345", generation=0)
    assert store.entry("x/y") == store.entries("x/")[0]
    assert store.entry("x/") is None


def test_no_entries_is_an_empty_list(store: Store):
    """A bucket without objects is a bucket."""
    assert store.entries("") == []


def test_a_limit_gives_the_first_entries(store: Store):
    """To know whether there is anything, one is enough."""
    for name in ("a", "b", "c"):
        store.write(name, b"", generation=0)
    assert [entry.name for entry in store.entries("", limit=2)] == ["a", "b"]
    assert [entry.name for entry in store.entries("", limit=9)] == ["a", "b", "c"]


def test_a_list_may_be_of_a_part_of_the_names(store: Store):
    """From one on, up to another that is none of it: who knows a crowd goes round it."""
    for name in ("a/b", "a/c/1", "a/c/2", "a/d", "b"):
        store.write(name, b"", generation=0)
    assert [entry.name for entry in store.entries("a/", end="a/c/")] == ["a/b"]
    assert [entry.name for entry in store.entries("a/", start="a/c0")] == ["a/d"]
    assert [entry.name for entry in store.entries("a/", start="a/c/2", end="a/d")] == ["a/c/2"]


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("*/metadata/n1-instance-id", ["a/metadata/n1-instance-id"]),
        ("**/n1-instance-id", ["a/metadata/n1-instance-id", "deep/b/metadata/n1-instance-id"]),
        ("a/*", ["a/x"]),
        ("a/**", ["a/metadata/n1-instance-id", "a/x"]),
        ("?/x", ["a/x"]),
        ("[a-c]/x", ["a/x"]),
        ("{a,deep/b}/metadata/*", ["a/metadata/n1-instance-id", "deep/b/metadata/n1-instance-id"]),
        ("a", []),
    ],
)
def test_a_glob_picks_names(store: Store, glob: str, expected: list[str]):
    """A star stops at a slash, two do not (Google: "List objects and prefixes using glob")."""
    for name in ("a/metadata/n1-instance-id", "a/x", "deep/b/metadata/n1-instance-id"):
        store.write(name, b"", generation=0)
    assert [entry.name for entry in store.entries("", glob=glob)] == expected


def test_a_glob_and_a_prefix_both_count(store: Store):
    """Both narrow the list."""
    for name in ("users/a/x", "users/b/x", "else/a/x"):
        store.write(name, b"", generation=0)
    assert [entry.name for entry in store.entries("users/", glob="*/a/x")] == ["users/a/x"]


def test_folders_are_the_names_directly_below(store: Store):
    """Each once, without the prefix and the slash; an object beside them is none."""
    for name in ("p/b/1", "p/b/2/3", "p/a/1", "p/object", "q/c/1"):
        store.write(name, b"", generation=0)
    assert store.folders("p/") == ["a", "b"]
    assert store.folders("") == ["p", "q"]


def test_no_folders_is_an_empty_list(store: Store):
    """Objects alone make no folder."""
    store.write("p/object", b"", generation=0)
    assert store.folders("p/") == []


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "a//b/",
        "a%2Fb",
        "a b+c&d=e#f?g",
        "grüße/日本/🦀",
        "'quotes\"",
        "back\\slash",
        "a" * 1024,
        "*?[x]{y}",
    ],
)
def test_any_legal_name_comes_back_as_it_was(store: Store, name: str):
    """Write, list, read and delete speak of one and the same object."""
    generation = store.write(name, b"mine", generation=0)
    assert [entry.name for entry in store.entries("")] == [name]
    found = store.read(name)
    assert found is not None
    assert found.data == b"mine"
    assert store.delete(name, generation=generation)
    assert store.entries("") == []


def test_names_are_in_the_order_of_their_bytes(store: Store):
    """Everywhere the same order, so that two sweeps walk the bucket alike."""
    names = ["Z", "a", "é", "\uffff", "🦀"]
    for name in reversed(names):
        store.write(name, b"", generation=0)
    assert [entry.name for entry in store.entries("")] == names


def test_a_listing_goes_over_all_its_pages(store: Store):
    """A page of Cloud Storage ends after 1,000 names; the list does not."""
    names = [f"p/{number:04d}/x" for number in range(1_030)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: store.write(name, b"", generation=0), names))
    assert [entry.name for entry in store.entries("p/")] == names
    assert len(store.entries("p/", limit=1_010)) == 1_010
    assert store.folders("p/") == [name.split("/")[1] for name in names]
