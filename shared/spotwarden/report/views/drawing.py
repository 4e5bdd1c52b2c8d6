"""Pictures as data: areas, lines and words with their places, before they are SVG."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from zoneinfo import ZoneInfo

import msgspec

T = TypeVar("T")
SWATCH = "M0 1h26v10h-26z"
STROKE = "M0 6h26"
_STEPS = tuple(
    timedelta(minutes=minutes)
    for minutes in (1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 7 * 1440, 14 * 1440, 28 * 1440)
)
_DAY = timedelta(days=1)
_LEAST, _FLAT = 1e-100, 1e-9
"""What differs by less than a billionth is drawn as one value."""


class Area(msgspec.Struct, frozen=True, kw_only=True):
    """A path, with the class that colours it and what it says when pointed at."""

    d: str
    kind: str
    says: str = ""


class DrawnText(msgspec.Struct, frozen=True, kw_only=True):
    """Words at a place."""

    x: float
    y: float
    text: str
    kind: str = ""


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """A picture; `says` tells in words what it shows, `key` names its kinds."""

    width: int
    height: int
    title: str
    says: str
    note: str = ""
    areas: tuple[Area, ...] = ()
    texts: tuple[DrawnText, ...] = ()
    key: tuple[tuple[str, str, str], ...] = ()


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """From a value to a place: `low` is at `start`, `high` at `end`."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of a value, to a tenth; what is outside stands at the edge."""
        width = self.high - self.low
        share = (value - self.low) / width if width else 0.5
        return round(self.start + (self.end - self.start) * min(1.0, max(0.0, share)), 1)


def rect(x: float, y: float, width: float, height: float) -> str:
    """The path of a rectangle, at least a pixel wide, for what happened is seen."""
    return f"M{x:.1f} {y:.1f}h{max(width, 1):.1f}v{height:.1f}h{-max(width, 1):.1f}z"


def line(points: Iterable[tuple[float, float]]) -> str:
    """The path through these points."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def nice(low: float, high: float, about: int = 5) -> list[float]:
    """Round values from at most `low` to at least `high`, some `about` of them."""
    if high - low <= max(abs(high), _LEAST) * _FLAT:
        low, high = low - abs(low) / 2 - 0.5, high + abs(high) / 2 + 0.5
    rough = (high - low) / about
    size = 10.0 ** int(f"{rough:e}".partition("e")[2])
    step = next(factor * size for factor in (1, 2, 2.5, 5, 10) if factor * size >= rough)
    first, last = int(low // step), -int(-high // step)
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def ticks(start: datetime, end: datetime, zone: str, most: int = 9) -> Iterator[tuple[datetime, str]]:
    """Round moments by the clocks of a zone, each with its label; the day is named where it begins."""
    step = next((span for span in _STEPS if (end - start) / span <= most), _STEPS[-1])
    local = start.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    at = midnight + -(-(local - midnight) // step) * step
    before, given = None, 0
    # By the hands of the clock, so that the labels stay round where it is set: 00:00, 06:00, 12:00.
    while given <= most + 2:
        moment = at.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)
        if moment > end:
            return
        if moment >= start:
            day = f"{at.day} {at:%b}"
            yield (
                moment,
                day if step >= _DAY else f"{at:%H:%M}" if at.date() == before else f"{day} {at:%H:%M}",
            )
            before, given = at.date(), given + 1
        at += step


def thinned(things: Sequence[T], places: Sequence[float], apart: float) -> list[T]:
    """Those whose places are at least so far from the one before."""
    kept: list[T] = []
    last = float("-inf")
    for item, place in zip(things, places, strict=True):
        if place - last >= apart:
            kept.append(item)
            last = place
    return kept
