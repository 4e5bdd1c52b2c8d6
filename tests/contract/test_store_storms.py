"""The bucket in a storm, and the bucket that is not there."""

from collections.abc import Callable

import pytest
from google.api_core.exceptions import NotFound

from spotwarden.gcp.storage import CloudStorage
from spotwarden.ports import UnansweredError
from tests.contract.retry_policies import SHORT, OpenStore
from tests.contract.served import Served

Faults = Callable[..., str]

NOT_DONE = [
    pytest.param({"cut": True}, id="connection cut"),
    pytest.param({"status": 503}, id="503"),
    pytest.param({"status": 429}, id="429"),
    pytest.param({"status": 408}, id="408"),
]


@pytest.mark.parametrize("storm", NOT_DONE)
def test_a_storm_that_passes_goes_unnoticed(open_store: OpenStore, faults: Faults, storm: dict[str, object]):
    """Every kind of call gets through once the cloud answers again."""
    store = open_store()
    faults(service="storage", **storm, count=12)
    generation = store.write("x/y", b"1", generation=0)
    faults(service="storage", **storm, count=3)
    found = store.read("x/y")
    assert found is not None
    assert (found.data, found.generation) == (b"1", generation)
    faults(service="storage", **storm, count=3)
    assert [entry.name for entry in store.entries("x/")] == ["x/y"]
    faults(service="storage", **storm, count=3)
    assert store.folders("") == ["x"]
    faults(service="storage", **storm, count=3)
    assert store.delete("x/y", generation=generation)


@pytest.mark.parametrize("storm", NOT_DONE)
@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.write("x", b"", generation=0),
        lambda store: store.delete("x", generation=1),
        lambda store: store.read("x"),
        lambda store: store.entries(""),
        lambda store: store.folders(""),
    ],
    ids=["write", "delete", "read", "entries", "folders"],
)
def test_a_storm_that_does_not_pass_is_no_answer(
    open_store: OpenStore, faults: Faults, storm: dict[str, object], call: Callable[[CloudStorage], object]
):
    """It must be neither absence nor conflict: nobody knows."""
    store = open_store(SHORT)
    faults(service="storage", **storm)
    with pytest.raises(UnansweredError):
        call(store)


def test_a_server_that_is_not_there_is_no_answer(served: Served, monkeypatch: pytest.MonkeyPatch):
    """A refused connection leaves everything open."""
    del served
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "http://127.0.0.1:9")
    store = CloudStorage(bucket="b", retry_policy=SHORT)
    with pytest.raises(UnansweredError, match="no answer within"):
        store.read("x")
    store.close()


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.write("x", b"", generation=0),
        lambda store: store.delete("x", generation=1),
        lambda store: store.read("x"),
        lambda store: store.entries(""),
    ],
    ids=["write", "delete", "read", "entries"],
)
def test_a_bucket_that_does_not_exist_is_not_an_empty_one(
    served: Served, call: Callable[[CloudStorage], object]
):
    """A wrong name in the settings would otherwise look like jobs without a status."""
    del served
    store = CloudStorage(bucket="nobody-made-this", retry_policy=SHORT)
    with pytest.raises(NotFound, match="bucket does not exist"):
        call(store)
    store.close()
