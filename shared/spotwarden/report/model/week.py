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
        """As people say it: `16 to 22 November 2026`."""
        first, last = self.first, self.last
        month = f" {first:%B}" if first.month != last.month else ""
        year = f" {first.year}" if first.year != last.year else ""
        return f"{first.day}{month}{year} to {last.day} {last:%B} {last.year}"
