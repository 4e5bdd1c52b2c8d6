"""The one clock of the local cloud, which can be set wrong on purpose and can travel ahead."""

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache


@dataclass
class Clock:
    """Tells the time, `skew` off the machine's own and `ahead` of it by all journeys so far.

    `skew` is an error, which changes nothing but what is shown; on a journey the time has really passed.
    """

    skew: timedelta = timedelta(0)
    ahead: timedelta = timedelta(0)
    _pausing: set[asyncio.Future[None]] = field(default_factory=set, repr=False)

    def now(self) -> datetime:
        """The moment as the cloud sees it, aware, in UTC."""
        return datetime.now(UTC) + self.skew + self.ahead

    def elapsed(self) -> float:
        """Seconds that have passed, journeys included; never goes back, whatever the clock is set to."""
        return time.monotonic() + self.ahead.total_seconds()

    async def pause(self, duration: timedelta) -> None:
        """Let so much time pass; a journey shortens what is left of it."""
        until = self.elapsed() + duration.total_seconds()
        await asyncio.sleep(0)
        while (left := until - self.elapsed()) > 0:
            await self._sleep(left)

    async def _sleep(self, seconds: float) -> None:
        """Sleep, but no longer than until the next journey.

        A future and a timer: ten thousand VMs that start at once all wait here, and `wait_for` of an event
        would take a task and a coroutine more for each.
        """
        loop = asyncio.get_running_loop()
        woken = loop.create_future()
        timer = loop.call_later(seconds, _wake, woken)
        self._pausing.add(woken)
        try:
            await woken
        finally:
            timer.cancel()
            self._pausing.discard(woken)

    def travel(self, duration: timedelta) -> None:
        """Go ahead, and wake whoever pauses."""
        self.ahead += duration
        for woken in tuple(self._pausing):
            _wake(woken)


def _wake(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)


def machine_now() -> datetime:
    """The moment by this machine's clock, aware, in UTC: that of programs that do not travel."""
    return datetime.now(UTC)


def rfc3339(moment: datetime) -> str:
    """A moment as Google's REST APIs write it: `2026-11-21T08:00:00.123Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


# Resources carry times at the offset of the US Pacific coast. Here it is always winter there: an offset that
# does not depend on the day is worth more than the right one of two.
PACIFIC = timezone(timedelta(hours=-8))


def pacific(moment: datetime) -> str:
    """A moment as in `creationTimestamp`: `2026-11-21T00:00:00.123-08:00`."""
    return _shared(moment.astimezone(PACIFIC).isoformat(timespec="milliseconds"))


@lru_cache(maxsize=64)
def _shared(text: str) -> str:
    """The same text: an instance, its disk and its operation have seven of them, most of one millisecond."""
    return text
