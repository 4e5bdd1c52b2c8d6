"""A week of which people are told."""

from datetime import date
from typing import NamedTuple


class Week(NamedTuple):
    """From a Monday to the Sunday after it, in the policy's time zone."""

    first: date
    last: date

    @property
    def name(self) -> str:
        """As ISO 8601 calls it: `2026-W47`."""
        year, week, _ = self.first.isocalendar()
        return f"{year}-W{week:02}"

    @property
    def told(self) -> str:
        """As people write it, with a dash between its ends: Nov 16 to 22, Nov 30 to Dec 6."""
        first, last = self.first, self.last
        month = f"{last:%b} " if first.month != last.month else ""
        return f"{first:%b} {first.day}\u2013{month}{last.day}"
