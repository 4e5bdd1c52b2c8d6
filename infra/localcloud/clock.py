"""The one clock of the local cloud, which can be set wrong on purpose."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass
class Clock:
    """Tells the time, `skew` off the machine's own."""

    skew: timedelta = timedelta(0)

    def now(self) -> datetime:
        """The moment as the cloud sees it, aware, in UTC."""
        return datetime.now(UTC) + self.skew


def rfc3339(moment: datetime) -> str:
    """A moment as Google's REST APIs write it: `2026-11-21T08:00:00.123Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
