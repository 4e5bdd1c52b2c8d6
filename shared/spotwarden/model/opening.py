"""How a calendar of the policy writes its time zone, days and hours."""

import re
from datetime import UTC, time, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_HOURS = re.compile(r"(\d\d)(?::(\d\d))?-(\d\d)(?::(\d\d))?")
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
HOUR = 60
MIDNIGHT = 24 * HOUR
"""In minutes, where it ends a day."""


class OpeningHours(NamedTuple):
    """From and to, in minutes after midnight; `end` is at most `start` where they go over midnight."""

    start: int
    end: int

    @property
    def opens(self) -> time:
        """When they begin."""
        return time(self.start // 60, self.start % 60)

    @property
    def overnight(self) -> bool:
        """Whether they end on the day after."""
        return self.end <= self.start


def zone_of(name: str) -> tzinfo:
    """The time zone of this name; `ZoneInfoNotFoundError` or `ValueError` for none. UTC needs no database."""
    return UTC if name == "UTC" else ZoneInfo(name)


def is_zone(name: str) -> bool:
    """Whether there is a time zone of this name."""
    try:
        zone_of(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def hours_of(said: str) -> OpeningHours:
    """Read `09-18`, `08:30-17:00`, `22-06` or `00-24`; `ValueError` says what is wrong."""
    match = _HOURS.fullmatch(said)
    if not match:
        raise ValueError(f"{said!r} is not a range of hours; write it like 09-18, 08:30-17:00 or 22-06")
    first, first_minute, last, last_minute = (int(part or 0) for part in match.groups())
    start, end = first * HOUR + first_minute, last * HOUR + last_minute
    if start >= MIDNIGHT or end > MIDNIGHT or max(first_minute, last_minute) >= HOUR:
        raise ValueError(f"{said!r} is not a range of hours: a day goes from 00 to 24")
    if start == end:
        raise ValueError(f"{said!r} leave no time; for the whole day write 00-24")
    return OpeningHours(start, end)


def clock_of(said: str) -> time:
    """Read `08:00`; `ValueError` says what is wrong."""
    match = _CLOCK.fullmatch(said)
    if not match:
        raise ValueError(f"{said!r} is not a valid time of day; write it like 08:00")
    return time(int(match[1]), int(match[2]))
