"""A Storage service behind a real listener, and Google's own client pointed at it."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage

from localcloud.clock import Clock
from localcloud.cloud import LocalCloud, Options
from localcloud.errors import ApiError
from localcloud.faults import Faults
from localcloud.http import Listener, build_app
from localcloud.limits import LimitsBook
from localcloud.storage import StorageService
from tests.localcloud.conformance.recorder import Recorder

PROJECT = "project"
Work = Callable[[httpx.AsyncClient], Awaitable[Any]]


@dataclass(frozen=True)
class Told:
    """A message that was published."""

    topic: str
    data: bytes
    attributes: Mapping[str, str]


@dataclass
class Topics:
    """A Pub/Sub that remembers; topics in `missing` do not exist."""

    told: list[Told] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)

    def publish(self, topic: str, data: bytes, attributes: Mapping[str, str]) -> str:
        """As the `Publish` port."""
        if topic in self.missing:
            raise ApiError(404, "notFound", f"Resource not found (resource={topic}).")
        self.told.append(Told(topic, data, dict(attributes)))
        return str(len(self.told))


class Served:
    """One service in an event loop and thread of its own; it can be stopped and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.topics = Topics()
        self.recorder = Recorder()
        self.faults = Faults()
        self.clock = Clock()
        self.limits = LimitsBook()
        self.url = ""
        self._port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._run(self._start())

    def close(self) -> None:
        """End everything."""
        self._run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def files(self) -> list[str]:
        """The content files that are there."""
        return sorted(path.name for path in (self.folder / "content").iterdir())

    def settle(self) -> None:
        """Return when the server has no call to work on any more."""
        self._run(self._settle())

    async def _settle(self) -> None:
        async with asyncio.timeout(10):
            while self._listener._state.tasks:
                await asyncio.wait(self._listener._state.tasks)

    def restart(self) -> None:
        """Close the service and open its folder again, on the same port."""
        self._run(self._stop())
        self._run(self._start())

    async def _start(self) -> None:
        self._service = StorageService(
            project=PROJECT,
            folder=self.folder,
            publish=self.topics.publish,
            clock=self.clock,
            base_url=lambda: self.url,
            limits=lambda: self.limits.now,
        )
        admin = [*self._service.admin_routes(), *self.faults.admin_routes(), *self.limits.admin_routes()]
        routes = [*self._service.routes(), *admin]
        app = build_app(routes, faults=self.faults, middleware=[self.recorder.middleware()])
        self._listener = await Listener(app, port=self._port).start()
        self._port, self.url = self._listener.port, self._listener.url

    async def _stop(self) -> None:
        await self._listener.stop()
        self._service.close()

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=60)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A fresh service; at the end everything that was said to it and by it must fit Google's document."""
    served = Served(tmp_path / "storage")
    yield served
    served.close()
    found = served.recorder.findings()
    assert not found, "\n".join(found)


@pytest.fixture
def http(served: Served) -> Iterator[httpx.Client]:
    """A plain HTTP client of the service."""
    with httpx.Client(base_url=served.url, trust_env=False, timeout=60) as client:
        yield client


@pytest.fixture
def connect(served: Served, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], storage.Client]]:
    """Make clients of google-cloud-storage by their documented settings alone."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", served.url)
    monkeypatch.setenv("DISABLE_GCS_PYTHON_CLIENT_OTEL_BUCKET_METADATA", "true")
    clients: list[storage.Client] = []

    def make() -> storage.Client:
        clients.append(storage.Client(project=PROJECT, credentials=AnonymousCredentials()))
        return clients[-1]

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def client(connect: Callable[[], storage.Client]) -> storage.Client:
    """One client."""
    return connect()


@pytest.fixture
def bucket(client: storage.Client) -> storage.Bucket:
    """An empty bucket."""
    found: storage.Bucket = client.create_bucket("bucket")
    return found


@pytest.fixture
def play(tmp_path: Path) -> Callable[[Work], Any]:
    """Plays a client's part beside a whole local cloud that has the bucket `data` with `a/é 1`."""

    async def beside(work: Work) -> Any:
        async with (
            LocalCloud(Options(project="demo", state=tmp_path, machines=False)) as cloud,
            httpx.AsyncClient(base_url=cloud.endpoints.http, trust_env=False) as client,
        ):
            await client.post("/storage/v1/b?project=demo", json={"name": "data"})
            where = "/upload/storage/v1/b/data/o?uploadType=media&name=a/%C3%A9%201"
            await client.post(where, content=b"content")
            return await work(client)

    return lambda work: asyncio.run(beside(work))
