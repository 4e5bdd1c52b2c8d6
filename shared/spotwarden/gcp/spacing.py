"""One write a second to an object: whoever may wait does so here, rather than be refused by Cloud Storage."""

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

APART = 1.05
"""Seconds between two writes of one object ("Quotas & limits": one a second), and what clocks are apart."""


class WriteSpacing:
    """When objects were written last from here. Safe to use from several threads."""

    def __init__(
        self, now: Callable[[], float] = time.monotonic, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._now, self._pause = now, pause
        self._last: OrderedDict[str, float] = OrderedDict()
        self._lock = Lock()

    def note(self, name: str) -> None:
        """The object was written now; what was written long ago is forgotten."""
        now = self._now()
        with self._lock:
            self._last[name] = now
            self._last.move_to_end(name)
            while now - next(iter(self._last.values())) >= APART:
                self._last.popitem(last=False)

    def wait(self, name: str) -> None:
        """Wait until the object may be written again; not at all where it was not written from here."""
        with self._lock:
            last = self._last.get(name)
        if last is not None and (left := last + APART - self._now()) > 0:
            self._pause(left)
