"""How near something is to its limit, and when it will be there."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

LONGEST = timedelta(days=3650)
"""Nothing is foretold for longer than ten years."""
WHOLE_FROM = 1000
"""Numbers of four digits are told without a fraction."""
SHARE_AT_MOST = 10
HAIR = 1e-9
"""Sums of fractions that should be equal differ by less than this."""


class LimitUse(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is counted against a limit, in hours, GPU-hours or money.

    `what` says of what, `said` and `allowed` what is used and what the limit is, in words. `pace` is how much
    more it becomes in an hour if all goes on. `unknown` says what of it nobody can know, "" where all is
    known; then `used` is only the least that it is. `plain` is the limit before anybody extended it, `ends`
    when counting begins anew, if ever.
    """

    what: str
    used: float
    limit: float
    said: str
    allowed: str
    pace: float = 1.0
    unknown: str = ""
    plain: float | None = None
    ends: datetime | None = None

    @property
    def share(self) -> float:
        """How much of the limit is used; 1 is all of it."""
        return _share(self.used, self.limit)

    @property
    def share_before(self) -> float:
        """The same, had nobody extended the limit."""
        return self.share if self.plain is None else _share(self.used, self.plain)


def _share(used: float, limit: float) -> float:
    return used / limit if limit > 0 else float("inf")


def passed(share: float, warn: Sequence[float]) -> int:
    """How many of these shares are reached."""
    return sum(share + HAIR >= value for value in warn)


def is_full(share: float) -> bool:
    """Whether the limit is reached."""
    return share + HAIR >= 1.0


def told_from(warn: Sequence[float]) -> float:
    """The share from which on there is something to tell."""
    return min(warn, default=1.0)


def reached(measure: LimitUse, now: datetime, at: float = 1.0) -> datetime | None:
    """When this share of the limit is, or was, reached at the pace of now; None where it never will be."""
    if measure.pace <= 0:
        return None
    after = (measure.limit * at - measure.used) / measure.pace
    if abs(after) > hours(LONGEST):
        return None
    moment = now + timedelta(hours=after)
    return None if measure.ends is not None and moment > measure.ends else moment


def worst(measures: Sequence[LimitUse]) -> LimitUse:
    """The one that is nearest to its limit, or farthest beyond."""
    return max(measures, key=lambda measure: measure.share)


def hours(span: timedelta) -> float:
    """A duration in hours."""
    return span / timedelta(hours=1)


def in_words(count: float, unit: str = "h") -> str:
    """A number of hours or GPU-hours, with no more digits than it needs."""
    return f"{count:.4g} {unit}" if count < WHOLE_FROM else f"{count:.0f} {unit}"


def long(count: float) -> str:
    """A number of hours as a person says it: short ones in minutes or seconds."""
    if 0 < count < 1 / 60:
        return in_words(count * 3600, "s")
    return in_words(count * 60, "min") if 0 < count < 1 else in_words(count)


def percent(share: float) -> str:
    """A share as a person reads it; never rounded up to what is not reached."""
    return "over 999%" if share >= SHARE_AT_MOST else f"{int(share * 1000 + HAIR * 1000) / 10:g}%"
