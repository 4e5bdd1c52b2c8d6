"""Journeys into the future: what takes hours in a cloud, in seconds.

A journey begins when nobody works at a message any more, and while it lasts none is pushed to anybody: a
function would be asked by one clock while it goes by another. Nothing happens in the time that is skipped
but what the clock itself brings: a VM's limited run time ends, each Scheduler job that came due is fired
once, and metrics go on as they last were.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcloud.clock import Clock, rfc3339
from localcloud.errors import ApiError
from localcloud.http import Json
from localcloud.outbound import Outgoing, Post

LONGEST = timedelta(days=366)
TIMEOUT = timedelta(seconds=20)
"""How long a journey waits for those who work; who takes longer is cut off, and the message comes again."""
Skipped = Callable[[datetime, datetime], None]
"""Is told which time was skipped: from when to when."""
CutOff = Callable[[], Awaitable[None]]
"""Ends whoever still works at a message, and starts it anew."""


class Journey(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of `/local/travel`: by how much the clock goes ahead."""

    seconds: Annotated[float, msgspec.Meta(gt=0, le=LONGEST.total_seconds())]


class Travel:
    """Who lets the clock go ahead.

    `note` says how far it is, in seconds: to the functions, which read it whenever they look at the time, and
    to the next start over the same state.
    """

    def __init__(self, clock: Clock, *, note: Path, skipped: Skipped, cut_off: CutOff) -> None:
        self._clock = clock
        self.note = note
        self._skipped = skipped
        self._cut_off = cut_off
        self._one = asyncio.Lock()
        self._still = asyncio.Event()
        self._still.set()
        self._working = 0
        self._idle = asyncio.Event()
        self._idle.set()

    def recall(self) -> None:
        """Be as far ahead as at the end: what is in the bucket must not be of the future."""
        if self.note.exists():
            self._clock.ahead = timedelta(seconds=float(self.note.read_text(encoding="ascii")))

    def held(self, post: Post) -> Post:
        """The same way of posting, which waits for the end of a journey."""

        async def wait_and_post(outgoing: Outgoing) -> int:
            await self._still.wait()
            self._working += 1
            self._idle.clear()
            try:
                return await post(outgoing)
            finally:
                self._working -= 1
                if not self._working:
                    self._idle.set()

        return wait_and_post

    async def go(self, duration: timedelta) -> None:
        """Go ahead; return when everybody goes by the new time. One journey at a time."""
        async with self._one:
            self._still.clear()
            try:
                try:
                    await asyncio.wait_for(self._idle.wait(), TIMEOUT.total_seconds())
                except TimeoutError:
                    await self._cut_off()
                left = self._clock.now()
                self._clock.travel(duration)
                self.write_down()
                self._skipped(left, self._clock.now())
            finally:
                self._still.set()

    def write_down(self) -> None:
        """Say how far ahead it is, in one piece: a function may look at any moment."""
        with NamedTemporaryFile("w", dir=self.note.parent, delete=False, encoding="ascii") as file:
            file.write(f"{self._clock.ahead.total_seconds():f}")
        Path(file.name).replace(self.note)

    def admin_routes(self) -> list[BaseRoute]:
        """`/local/travel`: POST goes ahead, GET says how far it is."""
        return [
            Route("/local/travel", self._go, methods=["POST"]),
            Route("/local/travel", self._show, methods=["GET"]),
        ]

    async def _go(self, request: Request) -> Response:
        try:
            journey = msgspec.json.decode(await request.body(), type=Journey)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ApiError(400, "invalid", f"This is no journey: {error}") from error
        await self.go(timedelta(seconds=journey.seconds))
        return await self._show(request)

    async def _show(self, _request: Request) -> Response:
        ahead = self._clock.ahead.total_seconds()
        return Json({"now": rfc3339(self._clock.now()), "ahead_seconds": ahead})
