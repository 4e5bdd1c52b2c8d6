"""A clock that stands still until it is told otherwise."""

from datetime import UTC, datetime, timedelta


class VirtualClock:
    """Tells the time of a simulation, aware and in UTC."""

    def __init__(self, start: datetime = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)) -> None:
        self._now = start

    def now(self) -> datetime:
        """The moment."""
        return self._now

    def advance(self, by: timedelta) -> None:
        """Let time pass; `ValueError` backwards."""
        if by < timedelta(0):
            raise ValueError("time does not run backwards")
        self._now += by
