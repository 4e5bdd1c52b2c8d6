"""Many deletes in one call: each has its own condition, and its own answer."""

from collections.abc import Callable

import pytest
from google.api_core.exceptions import Forbidden

from spotwarden.gcp.object_batches import A_BATCH
from spotwarden.gcp.tally import calls
from spotwarden.ports import Store, UnansweredError
from tests.contract.retry_policies import SHORT, OpenStore

Faults = Callable[..., str]

PART = {"service": "storage", "method": "DELETE", "path": "/o/b$"}
WHOLE = {"service": "storage", "method": "POST", "path": "/batch/"}


def written(store: Store, *names: str) -> dict[str, int]:
    """New objects, by their generations."""
    return {name: store.write(name, b"", generation=0) for name in names}


def left(store: Store) -> list[str]:
    """The objects that are there."""
    return [entry.name for entry in store.entries("")]


def test_all_are_gone(store: Store):
    """Names of any kind; nothing went wrong."""
    assert store.delete_all(written(store, "a/b", "ü %2F#?", "c")) == {}
    assert left(store) == []


def test_nothing_to_delete_is_no_call(open_store: OpenStore):
    """An empty batch would be refused."""
    store, before = open_store(), calls().get("storage", 0)
    assert store.delete_all({}) == {}
    assert calls().get("storage", 0) == before


def test_one_that_is_newer_is_let_be_and_the_others_go(store: Store):
    """As with a single delete: the generation that was wanted gone is gone."""
    generations = written(store, "a", "b", "c")
    store.write("b", b"anew", generation=generations["b"])
    assert store.delete_all({**generations, "never": 1}) == {}
    assert left(store) == ["b"]


def test_a_hundred_go_in_one_call(open_store: OpenStore):
    """What is beyond takes the next one."""
    store = open_store()
    generations = written(store, *(f"m-{number}" for number in range(A_BATCH + 1)))
    before = calls()["storage"]
    assert store.delete_all(generations) == {}
    assert calls()["storage"] == before + 2
    assert left(store) == []


@pytest.mark.parametrize("status", [429, 503, 408])
@pytest.mark.parametrize("after_work", [False, True])
def test_a_part_that_is_not_answered_is_asked_again(
    open_store: OpenStore, faults: Faults, status: int, after_work: bool
):
    """Whether the lost try was carried out or not, and nothing else with it."""
    store = open_store()
    generations = written(store, "a", "b", "c")
    faults(**PART, status=status, after_work=after_work, count=1)
    before = calls()["storage"]
    assert store.delete_all(generations) == {}
    assert calls()["storage"] == before + 2
    assert left(store) == []


@pytest.mark.parametrize("lost", [{"cut": True, "after_work": True}, {"cut": True}, {"status": 503}])
def test_a_batch_that_is_not_answered_is_asked_again(
    open_store: OpenStore, faults: Faults, lost: dict[str, object]
):
    """Parts that were carried out the first time are gone, which is what was wanted."""
    store = open_store()
    generations = written(store, "a", "b")
    faults(**WHOLE, **lost, count=1)
    assert store.delete_all(generations) == {}
    assert left(store) == []


def test_a_part_that_is_never_answered_is_said_so(open_store: OpenStore, faults: Faults):
    """It may be gone or not; the others are."""
    store = open_store(SHORT)
    generations = written(store, "a", "b", "c")
    faults(**PART, status=503)
    wrong = store.delete_all(generations)
    assert {name: type(error) for name, error in wrong.items()} == {"b": UnansweredError}
    assert left(store) == ["b"]


def test_a_batch_that_is_never_answered_leaves_all_of_it_open(open_store: OpenStore, faults: Faults):
    """No call raises for what concerns single objects."""
    store = open_store(SHORT)
    generations = written(store, "a", "b")
    faults(**WHOLE, status=503)
    wrong = store.delete_all(generations)
    assert {name: type(error) for name, error in wrong.items()} == dict.fromkeys("ab", UnansweredError)


def test_a_part_that_is_refused_is_not_asked_again(open_store: OpenStore, faults: Faults):
    """A missing right stays so; whoever wanted it gone gets the reason."""
    store = open_store()
    generations = written(store, "a", "b", "c")
    faults(**PART, status=403)
    before = calls()["storage"]
    wrong = store.delete_all(generations)
    assert {name: type(error) for name, error in wrong.items()} == {"b": Forbidden}
    assert calls()["storage"] == before + 1
