"""What only this computer's stand-ins ask: how busy the GPUs are, and to switch the machine off.

It shares the port of the metadata server, below `/local/guest/`, and like it wants a header that no web page
can send.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from localcloud.machines.gpus import Card, Meter

PREFIX = "/local/guest/"
GLANCE_SECONDS = 0.25
"""How long to look at the processes to tell how busy the GPUs are now."""

LONGEST_DELAY_SECONDS = 7 * 24 * 3600


class Guest(Protocol):
    """What a machine does for its own processes."""

    cards: list[Card]

    def meter(self) -> Meter:
        """A meter that starts now."""

    def power(self, action: str, after_seconds: float, /) -> None:
        """`poweroff` or `reboot`, now or later; `cancel` takes a later one back."""


class GuestCalls:
    """Answers below `/local/guest/`; everything else goes to the metadata server."""

    def __init__(self, guest: Guest, otherwise: ASGIApp) -> None:
        self._guest = guest
        self._otherwise = otherwise
        self._calls: dict[tuple[str, str], Callable[[Request], Awaitable[Response]]] = {
            ("GET", "gpus"): self._gpus,
            ("POST", "power"): self._power,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        if not scope["path"].startswith(PREFIX):
            await self._otherwise(scope, receive, send)
            return
        request = Request(scope, receive)
        await (await self._answer(request))(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.headers.get("metadata-flavor") != "Google":
            return PlainTextResponse("Missing Metadata-Flavor:Google header.\n", 403)
        call = self._calls.get((request.method, request.scope["path"].removeprefix(PREFIX)))
        return await call(request) if call else PlainTextResponse("There is no such call.\n", 404)

    async def _gpus(self, _request: Request) -> Response:
        meter = self._guest.meter()
        await asyncio.sleep(GLANCE_SECONDS)
        busy = meter.read()
        return JSONResponse(
            [
                {**asdict(card), "utilization": percent}
                for card, percent in zip(self._guest.cards, busy, strict=True)
            ]
        )

    async def _power(self, request: Request) -> Response:
        asked = await request.json()
        action, after = asked.get("action"), asked.get("after_seconds", 0)
        if action not in ("poweroff", "reboot", "cancel"):
            return PlainTextResponse(f"There is no power action {action!r}.\n", 400)
        if not isinstance(after, int | float) or not 0 <= after <= LONGEST_DELAY_SECONDS:
            return PlainTextResponse("after_seconds must be from 0 to a week.\n", 400)
        self._guest.power(action, after)
        return JSONResponse({})
