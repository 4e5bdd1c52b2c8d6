"""What Google expects of places, as an order: coarse, so that a difference of nothing moves no job.

Bands and uptimes are those of "View the availability of Spot VMs": 0.7 and more is likely to be served, 0.4
and more in part, less is not; most VMs live for at least 60, 10 or 1 minutes.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from spotwarden.model.limits import PlacementLimits
from spotwarden.model.placement import PlaceAdvice, PlacementRecord

Expected = tuple[int, timedelta, int]
"""Less is better: the band, the uptime that lacks to an hour, quarters of the share that was preempted."""

LIKELY, IN_PART = 0.7, 0.4
LONGEST_UP = timedelta(hours=1)
MIDDLE_UP = timedelta(minutes=10)
UNKNOWN = PlaceAdvice()
"""A place of which nothing is said stands in the middle."""
NOTHING: Expected = (0, timedelta(), 0)
"""Of every place alike, where there is no advice."""
_QUARTERS = 4


def advised(record: PlacementRecord, now: datetime, limits: PlacementLimits) -> Mapping[str, PlaceAdvice]:
    """The advice that still counts: for as long as a stockout that we saw ourselves."""
    advice = record.advice
    if not limits.advice or advice is None or advice.answered_at is None:
        return {}
    return advice.places if abs(now - advice.answered_at) < limits.fragile else {}


def expected(advice: PlaceAdvice) -> Expected:
    """How much is expected of a place."""
    uptime = MIDDLE_UP if advice.uptime is None else min(advice.uptime, LONGEST_UP)
    preempted = 0.5 if advice.preempted is None else advice.preempted
    return _band(advice.obtainability), LONGEST_UP - uptime, round(_QUARTERS * preempted)


def _band(obtainability: float | None) -> int:
    if obtainability is None:
        return 1
    return 0 if obtainability >= LIKELY else 1 if obtainability >= IN_PART else 2


def worded(advice: PlaceAdvice) -> str:
    """It in words."""
    parts = []
    if advice.obtainability is not None:
        parts.append(f"obtainability {advice.obtainability:g}")
    if advice.uptime is not None:
        parts.append(f"{advice.uptime / timedelta(minutes=1):g} min up")
    if advice.preempted is not None:
        parts.append(f"{advice.preempted:.0%} preempted")
    return ", ".join(parts) or "nothing"
