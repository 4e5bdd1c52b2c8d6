"""Both sides of each contract: the fake, and the adapter that speaks to the local cloud."""

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta

import pytest
from msgspec.structs import replace

from localcloud.faults import Rule
from spotwarden.gcp import fleet_lists, monitoring
from spotwarden.gcp.compute import ComputeEngine
from spotwarden.gcp.retry_policy import RetryPolicy
from spotwarden.gcp.storage import CloudStorage
from spotwarden.ports import Store
from tests.contract.googles import googles_blob
from tests.contract.local_world import LocalWorld
from tests.contract.retry_policies import QUICK, SHORT, OpenStore
from tests.contract.scripted import Scripted
from tests.contract.scripted_rpc import POOL, ScriptedRpc
from tests.contract.served import Served
from tests.contract.worlds import FakeWorld, World
from tests.fakes.store import MemoryStore

ENDS_SECONDS = 60


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The local cloud's services, and Google's own variables pointing at them."""
    with Served(tmp_path_factory.mktemp("storage")) as services, pytest.MonkeyPatch.context() as patch:
        patch.setenv("STORAGE_EMULATOR_HOST", services.url)
        patch.setenv("PUBSUB_EMULATOR_HOST", services.grpc)
        patch.setenv("DISABLE_GCS_PYTHON_CLIENT_OTEL_BUCKET_METADATA", "true")
        yield services


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    """No test knows what another one's lists have shown."""
    yield
    fleet_lists._SEEN.clear()
    monitoring._SILENT.clear()
    monitoring._EVERY.clear()


@pytest.fixture
def faults(served: Served) -> Iterator[Callable[..., str]]:
    """Puts fault rules in force, for one test."""
    yield lambda **rule: served.run(lambda: served.faults.add(Rule(**rule)))
    served.run(served.faults.clear)


_buckets = itertools.count(1)


@pytest.fixture
def open_store(served: Served) -> Iterator[OpenStore]:
    """Opens the adapter on one bucket of the local cloud, as many times as wanted, with any patience."""
    bucket = f"contract-{next(_buckets)}"
    served.run(lambda: served.storage.ensure_bucket(bucket))
    opened: list[CloudStorage] = []

    def opener(retry_policy: RetryPolicy = QUICK, kind: type[CloudStorage] = CloudStorage) -> CloudStorage:
        opened.append(kind(bucket=bucket, retry_policy=retry_policy))
        return opened[-1]

    yield opener
    for store in opened:
        store.close()


@pytest.fixture(params=["fake", "adapter"])
def store(request: pytest.FixtureRequest) -> Store:
    """An empty bucket, in memory and on the local cloud."""
    if request.param == "fake":
        return MemoryStore()
    opener: OpenStore = request.getfixturevalue("open_store")
    return opener()


PutObject = Callable[[str, bytes, Mapping[str, str]], None]


@pytest.fixture
def put(store: Store) -> PutObject:
    """Writes an object with custom metadata into the same bucket, as somebody else would."""
    if isinstance(store, MemoryStore):
        return store.put
    assert isinstance(store, CloudStorage)

    def upload(name: str, data: bytes, metadata: Mapping[str, str]) -> None:
        blob = googles_blob(store, name)
        blob.metadata = dict(metadata)
        blob.upload_from_string(data)

    return upload


@pytest.fixture
def google() -> Iterator[Scripted]:
    """A server that says what a test tells it to."""
    with Scripted() as scripted:
        yield scripted


@pytest.fixture
def rpc() -> Iterator[ScriptedRpc]:
    """The same for gRPC. Questions that a test left under way have come to their end when it goes."""
    before = set(threading.enumerate())
    with ScriptedRpc() as scripted:
        yield scripted
        scripted.hush()
        since = [thread for thread in threading.enumerate() if thread not in before]
        asking = [thread for thread in since if not (thread.daemon or thread.name.startswith(POOL))]
        for thread in asking:
            thread.join(ENDS_SECONDS)
        assert [thread.name for thread in asking if thread.is_alive()] == []


@pytest.fixture
def compute(google: Scripted) -> Iterator[ComputeEngine]:
    """The adapter, pointed at it."""
    engine = ComputeEngine(project="demo", endpoint=google.url, retry_policy=QUICK)
    yield engine
    engine.close()


@pytest.fixture
def hasty(google: Scripted) -> Iterator[ComputeEngine]:
    """The adapter when it soon gives up, though not before a second try on a busy machine."""
    retry_policy = replace(SHORT, in_all=timedelta(seconds=1))
    engine = ComputeEngine(project="demo", endpoint=google.url, retry_policy=retry_policy)
    yield engine
    engine.close()


@pytest.fixture
def local_world(served: Served) -> Iterator[LocalWorld]:
    """The local cloud's Compute Engine without VMs, on a virtual clock."""
    world = LocalWorld(served)
    yield world
    world.close()


@pytest.fixture(params=["fake", "adapter"])
def world(request: pytest.FixtureRequest) -> World:
    """A Compute Engine without VMs, in memory and on the local cloud."""
    if request.param == "fake":
        return FakeWorld()
    found: LocalWorld = request.getfixturevalue("local_world")
    return found
