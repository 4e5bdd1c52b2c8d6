"""How Compute Engine writes moments."""

from datetime import datetime, timedelta, timezone

# Resources carry times at the offset of the US Pacific coast. Here it is always winter there: an offset that
# does not depend on the day is worth more than the right one of two.
PACIFIC = timezone(timedelta(hours=-8))


def pacific(moment: datetime) -> str:
    """A moment as in `creationTimestamp`: `2026-11-21T00:00:00.123-08:00`."""
    return moment.astimezone(PACIFIC).isoformat(timespec="milliseconds")
