"""The way to Google's services and back, which takes its time for each call."""

import asyncio
import contextlib
import math
import random
from collections.abc import AsyncIterator, Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from localcloud.faults import service_of
from localcloud.limits.settings import Limits

SPREAD = 0.5
"""Of the logarithm: with a mean of 20 ms half of all calls take less than 18, one in a hundred 56 or more."""
NO_WAY = ("", "metadata")
"""What is asked on the machine itself: our own paths, and the metadata server."""


class Latency:
    """Draws how long a call is on its way, from the seed of the limits: the same calls take the same time."""

    def __init__(self, limits: Callable[[], Limits]) -> None:
        self._limits = limits
        self._seed: int | None = None
        self._dice = random.Random()

    def draw(self) -> float:
        """Seconds of one call, there and back; 0 without a limit."""
        limits = self._limits()
        if not limits.latency_seconds:
            return 0.0
        if limits.seed != self._seed:
            self._seed = limits.seed
            self._dice = random.Random(limits.seed)
        return self._dice.lognormvariate(math.log(limits.latency_seconds) - SPREAD**2 / 2, SPREAD)

    @contextlib.asynccontextmanager
    async def around(self) -> AsyncIterator[None]:
        """Do a gRPC method's work in this block, between the way there and the way back."""
        seconds = self.draw()
        await _one_way(seconds)
        yield
        await _one_way(seconds)


async def _one_way(seconds: float) -> None:
    if seconds:
        await asyncio.sleep(seconds / 2)


class LatencyMiddleware:
    """Lets each call to a service of Google's be on its way, and its answer on the way back."""

    def __init__(self, app: ASGIApp, *, latency: Latency) -> None:
        self._app = app
        self._latency = latency

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on, late, and its answer as well."""
        if scope["type"] != "http" or service_of(scope["path"]) in NO_WAY:
            await self._app(scope, receive, send)
            return
        seconds = self._latency.draw()

        async def later(message: Message) -> None:
            if message["type"] == "http.response.start":
                await _one_way(seconds)
            await send(message)

        await _one_way(seconds)
        await self._app(scope, receive, later)
