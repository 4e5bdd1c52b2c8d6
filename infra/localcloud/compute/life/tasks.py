"""Work that goes on after a call was answered."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class Tasks:
    """Runs coroutines in the loop. What one of them raises is reported by the loop; `close` ends them all."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start it; whoever has the task may cancel it."""
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()):
            message = "An instance of the local cloud could not go on"
            task.get_loop().call_exception_handler({"message": message, "exception": error, "task": task})

    async def close(self) -> None:
        """Cancel what is left, and return when it has ended."""
        while self._running:
            left = list(self._running)
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
