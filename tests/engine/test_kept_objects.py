"""What a warm function remembers of the bucket's objects, and what it never takes for the newest."""

from collections import Counter

import pytest

from spotwarden.engine.cache import GenerationCache
from spotwarden.engine.kept_objects import IN_ALL, SMALL, BytesCache, KeptObjects
from tests.fakes.store import MemoryStore

NAME = "test-vm/metadata/attempts/1.json"


class Counted(MemoryStore):
    """A bucket that counts what is read, and which rows are asked for by name."""

    def __init__(self):
        super().__init__()
        self.reads = Counter()
        self.rows = Counter()

    def read(self, name, **how):
        """Counted."""
        self.reads[name] += 1
        return super().read(name, **how)

    def entry(self, name):
        """Counted."""
        self.rows[name] += 1
        return super().entry(name)


@pytest.fixture
def bucket():
    """An empty bucket that nobody remembers anything of."""
    GenerationCache.forget()
    return Counted()


@pytest.fixture
def kept(bucket):
    """The bucket, with a memory."""
    return KeptObjects(bucket)


def row(store, name=NAME):
    """The object as a listing shows it."""
    (entry,) = store.entries(name)
    return entry


def test_what_was_written_is_not_read(kept, bucket):
    """Under the generation and time that the listing shows."""
    generation = kept.write(NAME, b"{}", generation=0)
    listed = row(kept)
    found = kept.read(NAME, listed=listed)
    assert (found.data, found.generation, found.updated) == (b"{}", generation, listed.updated)
    assert bucket.reads[NAME] == 0


def test_what_was_read_once_is_not_read_again(kept, bucket):
    """Not by the next sweep of the same process either."""
    bucket.write(NAME, b"{}", generation=0)
    for store in (kept, kept, KeptObjects(bucket)):
        assert store.read(NAME, listed=row(store)).data == b"{}"
    assert bucket.reads[NAME] == 1


def test_another_generation_is_read(kept, bucket):
    """Whoever has written it."""
    first = kept.write(NAME, b"1", generation=0)
    bucket.write(NAME, b"2", generation=first)
    assert kept.read(NAME, listed=row(kept)).data == b"2"


def test_without_a_listing_the_bucket_is_asked_for_the_generation_alone(kept, bucket):
    """A function that is woken again does not fetch what it has written itself."""
    generation = kept.write(NAME, b"1", generation=0)
    found = kept.read(NAME)
    assert (found.data, found.generation) == (b"1", generation)
    assert (bucket.reads[NAME], bucket.rows[NAME]) == (0, 1)


def test_without_a_listing_nothing_is_taken_for_the_newest(kept, bucket):
    """What somebody else has written since is read."""
    first = kept.write(NAME, b"1", generation=0)
    bucket.write(NAME, b"2", generation=first)
    assert kept.read(NAME).data == b"2"
    assert bucket.reads[NAME] == 1


def test_the_limit_of_a_read_holds_for_what_is_remembered(kept):
    """As if it were read."""
    kept.write(NAME, b"123456", generation=0)
    with pytest.raises(ValueError, match="at most 5"):
        kept.read(NAME, at_most=5, listed=row(kept))
    assert kept.read(NAME, at_most=6, listed=row(kept)).data == b"123456"


@pytest.mark.parametrize(("size", "reads"), [(SMALL, 0), (SMALL + 1, 1)])
def test_only_what_is_small_is_remembered(kept, bucket, size, reads):
    """To the byte."""
    kept.write(NAME, b"x" * size, generation=0)
    kept.read(NAME, listed=row(kept))
    assert bucket.reads[NAME] == reads


def test_no_more_is_remembered_than_was_said():
    """What goes beyond it, and all before, is forgotten."""
    cache = BytesCache(in_all=10)
    cache.keep("a", 1, b"12345")
    cache.keep("b", 1, b"12345")
    assert (cache.get("a", 1), cache.get("b", 1)) == (b"12345", b"12345")
    cache.keep("c", 1, b"1")
    assert (cache.get("a", 1), cache.get("c", 1)) == (None, b"1")
    cache.keep("d", 1, b"123456789")
    assert (cache.get("c", 1), cache.get("d", 1)) == (b"1", b"123456789")
    assert IN_ALL >= 100 * SMALL


def test_a_deleted_object_is_gone(kept):
    """Nobody is served what no listing shows."""
    generation = kept.write(NAME, b"1", generation=0)
    assert kept.delete(NAME, generation=generation)
    assert kept.read(NAME) is None
    assert (kept.entries(""), kept.folders("")) == ([], [])


def test_what_is_kept_twice_weighs_once():
    """A marker that is read in each sweep does not drive out the rest."""
    cache = BytesCache(in_all=10)
    cache.keep("a", 1, b"4444")
    for _ in range(3):
        cache.keep("b", 1, b"4444")
    assert cache.get("a", 1) == b"4444"


def test_what_a_listing_shows_is_not_read(kept, bucket):
    """By whomever it was written."""
    bucket.write(NAME, b"{}", generation=0, shown=True)
    assert kept.read(NAME, listed=row(kept)).data == b"{}"
    assert bucket.reads[NAME] == 0
