"""Entries of the audit log that arrive some time after what they tell of."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import timedelta

from localcloud.limits.settings import Limits
from localcloud.ports import Audit, Resource

MOST = 10
"""No entry is later than so many times the mean."""


class LateLog:
    """Hands entries on late: each by a time of its own, so that a later one may come first.

    `pause` lets time pass. Entries keep the time stamps with which they came.
    """

    def __init__(
        self, write: Audit, limits: Callable[[], Limits], *, pause: Callable[[timedelta], Awaitable[None]]
    ) -> None:
        self._write = write
        self._limits = limits
        self._pause = pause
        self._dice = random.Random(limits().seed)
        self._waiting: set[asyncio.Task[None]] = set()

    def write(self, entry: Resource) -> None:
        """Take an entry; this method is the `Audit` that services take."""
        mean = self._limits().log_lag_seconds
        if not mean:
            self._write(entry)
            return
        late = timedelta(seconds=min(self._dice.expovariate(1 / mean), MOST * mean))
        task = asyncio.create_task(self._write_late(entry, late))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    async def _write_late(self, entry: Resource, late: timedelta) -> None:
        await self._pause(late)
        self._write(entry)

    def at_work(self) -> int:
        """How many entries are on their way."""
        return len(self._waiting)

    async def close(self) -> None:
        """Drop those that are."""
        waiting = list(self._waiting)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
