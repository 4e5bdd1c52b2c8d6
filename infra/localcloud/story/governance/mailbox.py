"""The mailbox of a stop: what was published there is brought to its people before the clock goes on."""

import asyncio
import json
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from localcloud.story.stage import TIMEOUT
from localcloud.story.watch import StoryError, Watcher, until

TOPIC = "spotwarden-notices"
TICK = {"job": "spotwarden-notify-developers"}
OUTBOX = "spotwarden/outbox/"
DIGEST = timedelta(hours=1, minutes=1)
"""How long what is only for information waits at most."""
TRIES = 20


class StopMailbox:
    """Lets notify_developers look until nothing waits that should be with somebody by now."""

    def __init__(self, watch: Watcher) -> None:
        self._watch = watch

    async def bring(self) -> None:
        """Wait until all that was published is taken in, and all of it that is pressing has gone out."""
        in_flight = partial(self._watch.in_flight, TOPIC)
        await until(in_flight, lambda count: not count, within=TIMEOUT, waiting_for="notices to be taken in")
        for _ in range(TRIES):
            if not (waiting := await self._pressing()):
                return
            await self._watch.turn("tick", TICK)
            await self._gone(waiting)
        raise StoryError(f"{len(waiting)} urgent notices were not mailed: {', '.join(sorted(waiting))}")

    async def _gone(self, waiting: set[str]) -> None:
        """Return when none of these waits any more, or after a while: perhaps it takes another tick."""
        try:
            await until(
                self._pressing,
                lambda now: not now & waiting,
                within=TIMEOUT / TRIES,
                waiting_for="the messages to go out",
            )
        except StoryError:
            return

    async def _pressing(self) -> set[str]:
        """The names of what waits and should not."""
        now = datetime.fromisoformat(await self._watch.now())
        names = await self._watch.names(OUTBOX)
        found = await asyncio.gather(*(self._watch.read(name) for name in names))
        waiting = zip(names, found, strict=True)
        return {name for name, raw in waiting if raw is not None and _is_pressing(json.loads(raw), now)}


def _is_pressing(pending: dict[str, Any], now: datetime) -> bool:
    notice = pending["notice"]
    if notice.get("due") or notice["severity"] == "urgent":
        return True
    return notice["severity"] == "info" and now - datetime.fromisoformat(pending["since"]) > DIGEST
