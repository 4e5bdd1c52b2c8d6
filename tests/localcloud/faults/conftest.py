"""A small app with faults, behind a real listener, and a client of it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from localcloud.faults import Faults
from localcloud.http import Json, Listener, build_app


@dataclass
class Ticker:
    """Seconds that pass only when told to."""

    seconds: float = 0.0

    def __call__(self) -> float:
        """The time now."""
        return self.seconds


@dataclass
class World:
    """What a test acts on: `worked` lists the calls whose work was done."""

    client: httpx.AsyncClient
    faults: Faults
    worked: list[str] = field(default_factory=list)

    async def ask(self, method: str = "GET", path: str = "/compute/v1/zones") -> httpx.Response | None:
        """Make a call; None when its connection was cut."""
        try:
            return await self.client.request(method, path)
        except httpx.TransportError:
            return None


@pytest.fixture
def ticker() -> Ticker:
    """A clock at zero."""
    return Ticker()


@pytest.fixture
def play(ticker: Ticker) -> Callable[[Callable[[World], Awaitable[None]]], None]:
    """Run a scenario against a fresh app."""

    async def run(scenario: Callable[[World], Awaitable[None]]) -> None:
        faults = Faults(now=ticker)
        worked: list[str] = []

        async def work(request: Request) -> Response:
            worked.append(f"{request.method} {request.url.path}")
            return Json({"worked": len(worked)})

        routes = [*faults.admin_routes(), Route("/{path:path}", work, methods=["GET", "POST"])]
        listener = await Listener(build_app(routes, faults=faults)).start()
        try:
            async with httpx.AsyncClient(base_url=listener.url, trust_env=False, timeout=10) as client:
                await scenario(World(client=client, faults=faults, worked=worked))
        finally:
            await listener.stop(grace=timedelta(milliseconds=50))

    return lambda scenario: asyncio.run(run(scenario))
