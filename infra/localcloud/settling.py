"""Waiting until what a tick or a journey has set going is done."""

import asyncio
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcloud.http import Json

TIMEOUT_SECONDS = 45.0
"""Less than a command waits for an answer."""
EVERY_SECONDS = 0.05
LOOKS = 3
"""As often in a row there must be nothing: a tick that was just fired is a message a turn later."""


class Settling:
    """Looks whether anybody is at work: `fire` starts what came due, `at_work` counts what is under way."""

    def __init__(self, *, fire: Callable[[], None], at_work: Callable[[], int]) -> None:
        self._fire = fire
        self._at_work = at_work

    async def settle(self, limit: float = TIMEOUT_SECONDS) -> int:
        """Return when nobody is at work, or after `limit` seconds; gives how many still are.

        Messages that somebody has put off, and operations of Compute Engine, are not waited for.
        """
        self._fire()
        quiet = 0
        try:
            async with asyncio.timeout(limit):
                while quiet < LOOKS:
                    await asyncio.sleep(EVERY_SECONDS)
                    quiet = 0 if self._at_work() else quiet + 1
        except TimeoutError:
            return self._at_work()
        return 0

    def admin_routes(self) -> list[BaseRoute]:
        """`/local/settle`: POST waits, and says how many messages functions are still at."""
        return [Route("/local/settle", self._settle, methods=["POST"])]

    async def _settle(self, _request: Request) -> Response:
        return Json({"at_work": await self.settle()})
