"""Services of the local cloud, in a thread of this process."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from localcloud.clock import Clock
from localcloud.faults import Faults
from localcloud.grpc_server import GrpcServer
from localcloud.http import Listener, build_app
from localcloud.outbound import Outbound
from localcloud.pubsub import PubSubService
from localcloud.storage import StorageService
from tests.localcloud.conformance.recorder import Recorder

T = TypeVar("T")
PROJECT = "demo"
TIMEOUT_SECONDS = 60


class Served:
    """Storage and Pub/Sub of one local cloud; `faults` befall their calls, `recorder` keeps them."""

    def __init__(self, folder: Path) -> None:
        self.faults = Faults()
        self.recorder = Recorder()
        self._folder = folder
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._ready = threading.Event()
        self._failed: BaseException | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(TIMEOUT_SECONDS), "the local cloud did not start"
        if self._failed is not None:
            raise self._failed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(TIMEOUT_SECONDS)
        assert not self._thread.is_alive(), "the local cloud did not stop"

    def run(self, work: Callable[[], T]) -> T:
        """Do something to the services, in their own loop, and give its result."""

        async def there() -> T:
            return work()

        return self.wait_for(there())

    def wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in their loop and give its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(TIMEOUT_SECONDS)

    def _serve(self) -> None:
        try:
            asyncio.run(self._live())
        except BaseException as error:
            self._failed = error
            self._ready.set()
            raise

    async def _live(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        clock = Clock()
        async with Outbound() as outbound:
            self.pubsub = PubSubService(project=PROJECT, clock=clock, post=outbound.post)
            self.storage = StorageService(
                project=PROJECT,
                folder=self._folder,
                publish=self.pubsub.publish,
                clock=clock,
                base_url=lambda: self.url,
            )
            await self._until_over()
            await self.pubsub.close()
            self.storage.close()

    async def _until_over(self) -> None:
        routes = [*self.storage.routes(), *self.pubsub.routes()]
        app = build_app(routes, faults=self.faults, middleware=[self.recorder.middleware()])
        grpc = GrpcServer(self.pubsub.handlers(), faults=self.faults)
        async with Listener(app) as listener:
            self.url = listener.url
            await grpc.start()
            self.grpc = grpc.target
            self._ready.set()
            await self._over.wait()
            await grpc.stop()
