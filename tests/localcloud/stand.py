"""Services behind real listeners, in an event loop and thread of their own, and a server to call back."""

import asyncio
import json
import os
import subprocess
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import httpx
from googleapiclient.discovery_cache import get_static_doc
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from localcloud.access.services import SERVICES
from localcloud.endpoints import Endpoints
from localcloud.faults import Faults
from localcloud.grpc_server import GrpcServer
from localcloud.http import Listener, build_app
from localcloud.outbound import Outbound
from tests.localcloud.conformance.discovery import Discovery
from tests.localcloud.conformance.recorder import Recorder

Result = TypeVar("Result")

PROJECT = "project"
TIMEOUT = 120.0


@dataclass(frozen=True, kw_only=True)
class Heard:
    """One request that the receiver got."""

    path: str
    method: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """An HTTP server that keeps what it hears and answers with the next of `statuses`, then with the last."""

    statuses: list[int] = field(default_factory=lambda: [204])
    heard: list[Heard] = field(default_factory=list)
    url: str = ""
    most_at_once: int = 0
    held: asyncio.Event | None = None
    _busy: int = 0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def routes(self) -> list[Route]:
        """Every path, every method."""
        methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        return [Route("/{path:path}", self._hear, methods=methods)]

    async def _hear(self, request: Request) -> Response:
        body = await request.body()
        headers = {key.lower(): value for key, value in request.headers.items()}
        heard = Heard(path=request.url.path, method=request.method, headers=headers, body=body)
        self._busy += 1
        self.most_at_once = max(self.most_at_once, self._busy)
        with self._changed:
            self.heard.append(heard)
            self._changed.notify_all()
        if self.held is not None:
            await self.held.wait()
        self._busy -= 1
        return Response(status_code=self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0])

    def wait_for(self, count: int) -> list[Heard]:
        """Return what was heard once there are so many requests."""
        with self._changed:
            came = self._changed.wait_for(lambda: len(self.heard) >= count, timeout=TIMEOUT)
            assert came, f"only {len(self.heard)} of {count} requests came"
            return list(self.heard)


@cache
def described(api: str, version: str) -> Discovery:
    """The document of an API, with `v1/{+name}` replaced by the paths that its methods really have."""
    document = json.loads(get_static_doc(api, version))

    def flatten(resource: dict[str, Any]) -> None:
        for method in resource.get("methods", {}).values():
            method["path"] = method["flatPath"]
        for inner in resource.get("resources", {}).values():
            flatten(inner)

    flatten(document)
    return Discovery(document)


class Stand:
    """The loop and what runs in it. Services are made and used inside it, clients outside."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._closers: list[Callable[[], Coroutine[Any, Any, None] | None]] = []
        self.recorder = Recorder()
        self.faults = Faults()
        self.receiver = Receiver()
        self.http = ""
        self.grpc = ""
        self.service: Any = None
        self.outbound = self.call(Outbound)
        self._closers.append(self.outbound.close)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The result of a coroutine that runs in the loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=TIMEOUT)

    def call(self, function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
        """The result of a plain function that is called in the loop."""

        async def work() -> Result:
            return function(*args, **kwargs)

        return self.run(work())

    def serve(self, services: Sequence[Any]) -> None:
        """Listen for these services, for HTTP and gRPC, and with the receiver."""
        routes = [route for each in services for route in (*each.routes(), *each.admin_routes())]
        handlers = [handler for each in services if hasattr(each, "handlers") for handler in each.handlers()]
        app = build_app(
            [*routes, *self.faults.admin_routes()],
            faults=self.faults,
            middleware=[self.recorder.middleware()],
        )
        listener = self.run(Listener(app, rules=SERVICES).start())
        ears = self.run(Listener(build_app(self.receiver.routes())).start())
        server = self.run(GrpcServer(handlers, faults=self.faults).start())
        closing = [each.close for each in services if hasattr(each, "close")]
        self._closers = [listener.stop, server.stop, *closing, ears.stop, *self._closers]
        self.http, self.grpc, self.receiver.url = listener.url, server.target, ears.url

    def release(self) -> None:
        """Let the calls go on that the receiver holds."""
        if self.receiver.held is not None:
            self._loop.call_soon_threadsafe(self.receiver.held.set)

    def findings(self, api: str, version: str) -> list[str]:
        """What Google's discovery document of an API does not allow of all that was said over HTTP."""
        document = described(api, version)
        said = [each for each in self.recorder.exchanges if not each.path.startswith("/local/")]
        return [finding for exchange in said for finding in document.check(exchange)]

    def client(self) -> httpx.Client:
        """A plain HTTP client."""
        return httpx.Client(base_url=self.http, trust_env=False, timeout=TIMEOUT)

    def gcloud(self, home: Path, *words: str) -> str:
        """What the real gcloud prints; the test fails when gcloud does."""
        endpoints = Endpoints(http=self.http, grpc=self.grpc, project=PROJECT, home=home)
        endpoints.prepare()
        done = subprocess.run(
            ["gcloud", *words],
            env={**os.environ, **endpoints.environment()},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"gcloud {' '.join(words)}: {done.stderr}"
        return done.stdout

    def close(self) -> None:
        """End everything."""
        self.release()
        for closer in self._closers:
            self.run(_ended(closer))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _ended(closer: Callable[[], Coroutine[Any, Any, None] | None]) -> None:
    closing = closer()
    if closing is not None:
        await closing


@contextmanager
def standing(api: str, version: str, make: Callable[[Stand], Any]) -> Iterator[Stand]:
    """A stand with one service; at the end all that was said over REST must fit Google's document."""
    stand = Stand()
    stand.service = stand.call(make, stand)
    stand.serve([stand.service])
    yield stand
    stand.close()
    found = stand.findings(api, version)
    assert not found, "\n".join(found)
