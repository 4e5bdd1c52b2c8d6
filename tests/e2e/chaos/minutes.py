"""Scheduler's minutes while other things happen: as deployed, nobody waits until a sweep has ended."""

from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for

from tests.e2e.chaos.cloud import Cloud

AT_ONCE = 2
"""A sweep that takes longer than a minute is met by the next."""


class Minutes:
    """Lets minutes come; what goes wrong with one is raised where the next is wanted."""

    def __init__(self, cloud: Cloud) -> None:
        self._cloud = cloud
        self._pool = ThreadPoolExecutor(AT_ONCE, "minute")
        self._running: list[Future[None]] = []

    def come(self) -> None:
        """Let one come, unless as many as may be are still being handled."""
        self._look()
        if len(self._running) < AT_ONCE:
            self._running.append(self._pool.submit(self._cloud.tick))

    def end(self) -> None:
        """Wait until each that has come is handled."""
        wait_for(self._running)
        self._look()

    def _look(self) -> None:
        ended = [future for future in self._running if future.done()]
        self._running = [future for future in self._running if not future.done()]
        for future in ended:
            future.result()
