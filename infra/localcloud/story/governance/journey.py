"""The way through time that all chapters take together: each waits for its hour, and the clock goes there."""

import asyncio
import contextlib
import json
from collections.abc import Coroutine, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from localcloud.story.governance.mailbox import StopMailbox
from localcloud.story.stage import TIMEOUT, Stage
from localcloud.story.watch import StoryError, until

RAREST = timedelta(minutes=10)
"""The rarest tick: a leg of this length makes every tick due; after a shorter one they are fired by hand."""
TRIES = 6
LEG = timedelta(minutes=25)
"""The longest leg: a function that has not swept for half an hour (governance.outage) trusts no silence."""


class GovernanceJourney:
    """`functions` are those whose sweep is waited for at each stop; time counts from `begin`."""

    def __init__(self, stage: Stage, functions: Sequence[str]) -> None:
        self._stage = stage
        self._functions = functions
        self._post = StopMailbox(stage.watch)
        self._began: datetime | None = None
        self._alive = 0
        self._waiting: list[tuple[timedelta, asyncio.Future[None]]] = []
        self._changed = asyncio.Event()

    async def begin(self) -> None:
        """Let every function sweep for the first time: from here on nothing goes unseen."""
        self._began = datetime.fromisoformat(await self.sweep())

    async def sweep(self, *functions: str) -> str:
        """Let these functions look now, or all of them; gives when, once they have come to the end."""
        now = await self._stage.watch.now()
        for function in functions or self._functions:
            await self._tick(function)
        await self._swept(now, *functions)
        await self._post.bring()
        return now

    async def until(self, minutes: int) -> None:
        """Wait until so many minutes have passed since the beginning.

        Every function has looked again then, and what is pressing was mailed.
        """
        arrived = asyncio.get_running_loop().create_future()
        self._waiting.append((timedelta(minutes=minutes), arrived))
        self._changed.set()
        await arrived

    def chapter(self, telling: Coroutine[Any, Any, None]) -> Coroutine[Any, Any, None]:
        """The same telling, with which the clock waits."""
        self._alive += 1

        async def tell() -> None:
            await telling
            self._alive -= 1
            self._changed.set()

        return tell()

    async def lead(self) -> None:
        """Go from stop to stop until every chapter has come to its end."""
        while self._alive:
            if len(self._waiting) < self._alive:
                self._changed.clear()
                await self._changed.wait()
                continue
            passed = await self._go(min(stop for stop, _ in self._waiting))
            arrived = [item for item in self._waiting if item[0] <= passed]
            self._waiting = [candidate for candidate in self._waiting if candidate[0] > passed]
            for _, waiter in arrived:
                waiter.set_result(None)

    async def _go(self, stop: timedelta) -> timedelta:
        """One leg towards a stop; gives how much time has passed since the beginning."""
        left = stop - self._passed(await self._stage.watch.now())
        leg = min(left, LEG)
        if leg > timedelta(0):
            arrived = await self._stage.watch.turn("travel", {"seconds": leg.total_seconds()})
            passed = self._passed(arrived["now"])
            self._stage.say(
                f"$ spotwarden local travel {in_words(leg)}    {clock_words(passed)} from the start"
            )
            if leg < RAREST:
                await self.sweep()
            await self._swept(arrived["now"])
            await self._post.bring()
        return self._passed(await self._stage.watch.now())

    def _passed(self, now: str) -> timedelta:
        assert self._began is not None, "the clock hasn't been moved yet"  # noqa: S101 — a slip of the plot
        return datetime.fromisoformat(now) - self._began

    async def _swept(self, since: str, *functions: str) -> None:
        """Return once these functions, or all, have begun a sweep since then, and come to its end.

        A tick that comes while an earlier sweep is under way adds nothing to it, and is fired again.
        """
        for function in functions or self._functions:
            for _ in range(TRIES):
                with contextlib.suppress(StoryError):
                    await self._wait_for(function, since, TIMEOUT / TRIES)
                    break
                await self._tick(function)
            else:
                await self._wait_for(function, since, TIMEOUT)

    async def _wait_for(self, function: str, since: str, within: timedelta) -> None:
        await until(
            partial(self._last_sweep, function),
            lambda at: at is not None and at >= datetime.fromisoformat(since),
            within=within,
            waiting_for=f"{function} to look at everything",
        )

    async def _tick(self, function: str) -> None:
        await self._stage.watch.turn("tick", {"job": f"spotwarden-{function.replace('_', '-')}"})

    async def _last_sweep(self, function: str) -> datetime | None:
        raw = await self._stage.watch.read(f"spotwarden/turns/{function}.json")
        turn = json.loads(raw) if raw else {}
        return datetime.fromisoformat(turn["swept"]) if turn.get("swept") and not turn.get("holder") else None


def in_words(leg: timedelta) -> str:
    """A leg as the command takes it."""
    return f"{leg / timedelta(minutes=1):.0f}m"


def clock_words(passed: timedelta) -> str:
    """Hours and minutes: `1 h 15 min`."""
    hours, minutes = divmod(round(passed / timedelta(minutes=1)), 60)
    return f"{hours} h {minutes:02} min"
