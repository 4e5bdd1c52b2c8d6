"""The bucket on a bad day: answers that are lost, late or refused, and others who write meanwhile."""

import gzip
from collections.abc import Callable
from datetime import timedelta

import msgspec
import pytest
from google.api_core.exceptions import PreconditionFailed

from spotwarden.gcp.storage import CloudStorage
from spotwarden.gcp.tally import calls
from spotwarden.ports import BrokenError, ConflictError, Entry, UnansweredError
from tests.contract.googles import googles_blob
from tests.contract.retry_policies import QUICK, OpenStore

Faults = Callable[..., str]

UPLOAD = {"service": "storage", "method": "POST", "path": "/upload/"}
DELETE = {"service": "storage", "method": "DELETE"}
LOST = [
    pytest.param({"cut": True, "after_work": True}, id="connection cut after success"),
    pytest.param({"status": 503, "after_work": True}, id="503 after success"),
    pytest.param({"status": 429, "after_work": True}, id="429 after success"),
]
NOT_DONE = [
    pytest.param({"cut": True}, id="connection cut"),
    pytest.param({"status": 503}, id="503"),
    pytest.param({"status": 429}, id="429"),
    pytest.param({"status": 408}, id="408"),
]


def content(store: CloudStorage, name: str) -> tuple[bytes, int]:
    """Data and generation of an object that is there."""
    found = store.read(name)
    assert found is not None
    return found.data, found.generation


def test_googles_own_retry_takes_our_success_for_a_conflict(open_store: OpenStore, faults: Faults):
    """Why the retries are ours: the library sends the condition again and meets its own object."""
    blob = googles_blob(open_store(), "claim")
    faults(**UPLOAD, cut=True, after_work=True, count=1)
    with pytest.raises(PreconditionFailed):
        blob.upload_from_string(b"mine", if_generation_match=0)


@pytest.mark.parametrize("lost", LOST + NOT_DONE)
def test_a_create_without_an_answer_is_known_by_its_generation(
    open_store: OpenStore, faults: Faults, lost: dict[str, object]
):
    """Whether the lost try was carried out or not, the object is there once, and is ours."""
    store = open_store()
    faults(**UPLOAD, **lost, count=1)
    generation = store.write("claim", b"mine", generation=0)
    assert content(store, "claim") == (b"mine", generation)


@pytest.mark.parametrize(("status", "more"), [(429, 1), (503, 2)])
def test_after_a_429_a_write_is_tried_again_without_a_look(
    open_store: OpenStore, faults: Faults, status: int, more: int
):
    """Cloud Storage says so of each write of an object that comes within a second of another."""
    store = open_store()
    store.read("claim")
    faults(**UPLOAD, status=status, count=1)
    before = calls()["storage"]
    store.write("claim", b"mine", generation=0)
    assert calls()["storage"] - before == 1 + more


@pytest.mark.parametrize("lost", LOST + NOT_DONE)
def test_a_replace_without_an_answer_is_known_by_its_generation(
    open_store: OpenStore, faults: Faults, lost: dict[str, object]
):
    """Our own newer generation is no conflict."""
    store = open_store()
    old = store.write("record", b"old", generation=0)
    faults(**UPLOAD, **lost, count=1)
    new = store.write("record", b"new", generation=old)
    assert new > old
    assert content(store, "record") == (b"new", new)


@pytest.mark.parametrize("lost", LOST)
def test_a_write_that_is_never_answered_is_found_by_reading(
    open_store: OpenStore, faults: Faults, lost: dict[str, object]
):
    """Not one upload is answered, and still we know that it was carried out."""
    store = open_store()
    faults(**UPLOAD, **lost)
    generation = store.write("claim", b"mine", generation=0)
    assert content(store, "claim") == (b"mine", generation)


@pytest.mark.parametrize("lost", LOST + NOT_DONE)
def test_a_delete_without_an_answer_is_done(open_store: OpenStore, faults: Faults, lost: dict[str, object]):
    """Gone after a try that nobody answered means: we deleted it."""
    store = open_store()
    generation = store.write("marker", b"", generation=0)
    faults(**DELETE, **lost, count=1)
    assert store.delete("marker", generation=generation)
    assert store.read("marker") is None


def test_a_delete_of_nothing_is_false_however_late_the_answer_is(open_store: OpenStore, faults: Faults):
    """Only a try that went unanswered makes *gone* ours; a slow answer is an answer."""
    store = open_store()
    generation = store.write("marker", b"", generation=0)
    store.delete("marker", generation=generation)
    faults(**DELETE, delay_seconds=0.05, count=1)
    assert not store.delete("marker", generation=generation)


class Interrupted(CloudStorage):
    """An adapter during whose first unanswered write or delete somebody else is busy."""

    def arrange(self, meanwhile: Callable[[], object]) -> None:
        """Have this happen after the first try that nobody answers, before the next."""
        for call in ("upload", "delete"):
            self._slip_in(call, meanwhile)

    def _slip_in(self, call: str, meanwhile: Callable[[], object]) -> None:
        once, original = [meanwhile], getattr(self._objects, call)

        def interrupted(*args: object, **kwargs: object) -> object:
            try:
                return original(*args, **kwargs)
            except UnansweredError:
                if once:
                    once.pop()()
                raise

        setattr(self._objects, call, interrupted)


@pytest.mark.parametrize("others", [b"theirs", b"mine"], ids=["other bytes", "the same bytes"])
def test_somebody_elses_write_is_not_taken_for_ours(open_store: OpenStore, faults: Faults, others: bytes):
    """Two sweeps that write the same bytes are still two: the word in the metadata tells them apart."""
    other, store = open_store(), open_store(kind=Interrupted)
    assert isinstance(store, Interrupted)
    store.arrange(lambda: other.write("claim", others, generation=0))
    faults(**UPLOAD, status=503, count=1)
    with pytest.raises(ConflictError):
        store.write("claim", b"mine", generation=0)
    assert content(store, "claim")[0] == others


def test_a_write_that_somebody_has_replaced_already_is_a_conflict(open_store: OpenStore, faults: Faults):
    """Our write was carried out and is gone again: what follows must not build on it."""
    other, store = open_store(), open_store(kind=Interrupted)
    assert isinstance(store, Interrupted)
    store.arrange(lambda: other.write("claim", b"theirs", generation=None))
    faults(**UPLOAD, status=503, after_work=True, count=1)
    with pytest.raises(ConflictError):
        store.write("claim", b"mine", generation=0)


def test_a_marker_that_came_back_is_not_deleted_by_a_late_try(open_store: OpenStore, faults: Faults):
    """Deleted, its answer lost, written anew: the new marker stays and the delete says so."""
    other, store = open_store(), open_store(kind=Interrupted)
    assert isinstance(store, Interrupted)
    generation = store.write("marker", b"old", generation=0)
    store.arrange(lambda: other.write("marker", b"new", generation=0))
    faults(**DELETE, cut=True, after_work=True, count=1)
    assert not store.delete("marker", generation=generation)
    assert content(store, "marker")[0] == b"new"


def test_a_first_try_that_lands_late_changes_nothing(open_store: OpenStore, faults: Faults):
    """The try that we gave up waiting for meets a condition that no longer holds."""
    store = open_store(msgspec.structs.replace(QUICK, small_answer=timedelta(milliseconds=200)))
    store.read("claim")
    faults(**UPLOAD, delay_seconds=0.6, count=1)
    before = calls()["storage"]
    generation = store.write("claim", b"mine", generation=0)
    assert calls()["storage"] - before > 1
    assert content(store, "claim") == (b"mine", generation)


def test_a_compressed_object_may_not_unpack_to_more_than_was_asked_for(open_store: OpenStore):
    """The size in a listing is that of the packed bytes; the limit is about what comes out."""
    store = open_store()
    blob = googles_blob(store, "packed")
    blob.content_encoding = "gzip"
    blob.upload_from_string(gzip.compress(b"0" * 100_000), content_type="text/plain")
    with pytest.raises(ValueError, match="packed"):
        store.read("packed", at_most=99_999)
    found = store.read("packed", at_most=100_000)
    assert found is not None
    assert found.data == b"0" * 100_000


def test_an_object_replaced_between_two_calls_of_a_read_is_read_whole(open_store: OpenStore):
    """Data of one generation never comes with the number of another."""
    other, store = open_store(), open_store()
    other.write("x", b"old", generation=0)
    once, download = [lambda: other.write("x", b"newer", generation=None)], store._objects.download

    def late(blob: object, at_most: int) -> bytes:
        if once:
            once.pop()()
        return download(blob, at_most)

    store._objects.download = late
    data, generation = content(store, "x")
    assert data == b"newer"
    assert [entry.generation for entry in other.entries("x")] == [generation]


def test_an_object_that_only_its_writer_can_read_is_broken(open_store: OpenStore, faults: Faults):
    """Cloud Storage answers 400 for one that is encrypted with a key of the customer's, and always will."""
    store = open_store()
    store.write("job/status-code", b"0", generation=0)
    faults(service="storage", method="GET", path="/download/", status=400)
    with pytest.raises(BrokenError, match=r"job/status-code cannot be read: .*400"):
        store.read("job/status-code")


def test_what_was_listed_and_has_not_changed_is_read_in_one_call(open_store: OpenStore):
    """Which is half of what reading by name costs; where it has changed, both are paid."""
    store = open_store()
    generation = store.write("x", b"1", generation=0)
    (row,) = store.entries("x")

    def cost(listed: Entry | None) -> int:
        before = calls()["storage"]
        assert store.read("x", listed=listed) is not None
        return calls()["storage"] - before

    assert (cost(row), cost(None)) == (1, 2)
    store.write("x", b"2", generation=generation)
    assert cost(row) == 3
