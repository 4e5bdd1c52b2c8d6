"""Nothing is sent, published or mailed later than whoever asked for it meant."""

from collections.abc import Callable
from datetime import datetime

from spotwarden import clock
from spotwarden.ports.errors import ConflictError, UnansweredError


class InTime:
    """Refuses to send what somebody else may have sent by now: a laptop sleeps for hours between lines.

    `now` is the clock that `before` is a moment of, that of the product unless told otherwise.
    """

    def __init__(self, before: datetime | None, now: Callable[[], datetime] | None = None) -> None:
        self._before = before
        self._now = now
        self._sent = False

    def __call__(self) -> None:
        """Raise where it is too late."""
        if self._before is not None and (self._now or clock.now)() >= self._before:
            over = f"the time for it was over at {self._before:%H:%M:%S} UTC"
            # After a try that nobody answered it is no longer known that nothing was done.
            raise UnansweredError(over) if self._sent else ConflictError(f"not sent: {over}")
        self._sent = True
