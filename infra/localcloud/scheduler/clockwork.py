"""Fires jobs when their time has come."""

import asyncio
import random
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated

import msgspec

from localcloud.clock import Clock
from localcloud.scheduler.job import Job

# The clock can be set, and a laptop sleeps: nothing is waited for longer than this without a look at it.
LONGEST_WAIT = timedelta(seconds=1)


class Ticks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How unreliable ticks are: each is doubled with this chance, drawn from `seed`."""

    double: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    seed: int = 0


class Clockwork:
    """Watches the jobs of a mapping that others fill."""

    def __init__(self, jobs: Mapping[str, Job], clock: Clock) -> None:
        self._jobs = jobs
        self._clock = clock
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.ticks = Ticks()
        self._dice = random.Random(0)

    def set(self, ticks: Ticks) -> None:
        """Be as unreliable as this from now on."""
        self.ticks, self._dice = ticks, random.Random(ticks.seed)

    def look(self) -> None:
        """Look at the jobs again: one is new, changed or gone. Starts the watch with the first job."""
        if self._task is None and self._jobs:
            self._task = asyncio.create_task(self._watch(), name="scheduler")
        self._changed.set()

    async def close(self) -> None:
        """End the watch and every run."""
        await asyncio.gather(*(job.stop() for job in self._jobs.values()))
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    def fire_due(self) -> None:
        """Start every job whose time has come."""
        now = self._clock.now()
        for job in list(self._jobs.values()):
            if job.due(now):
                times = 2 if self._dice.random() < self.ticks.double else 1
                job.start(job.next_at, times=times).add_done_callback(lambda _task: self._changed.set())

    async def _watch(self) -> None:
        while True:
            self._changed.clear()
            self.fire_due()
            try:
                async with asyncio.timeout(self._wait().total_seconds()):
                    await self._changed.wait()
            except TimeoutError:
                continue

    def _wait(self) -> timedelta:
        """How long until the next job that could start is due."""
        waiting = [job.next_at for job in self._jobs.values() if not job.paused and not job.is_running]
        if not waiting:
            return LONGEST_WAIT
        return max(timedelta(0), min(LONGEST_WAIT, min(waiting) - self._clock.now()))
