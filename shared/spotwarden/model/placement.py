"""What is remembered of places, for one machine type."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum

import msgspec


class PlaceEvent(Enum):
    """What a place did to somebody who asked for this machine, or ran one."""

    GAVE = "gave"
    STOCKOUT = "stockout"
    PREEMPTED = "preempted"


class PlaceNews(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a place did."""

    place: str
    event: PlaceEvent
    at: datetime


class ZoneAvailability(msgspec.Struct, frozen=True, kw_only=True):
    """What is remembered of one place.

    `trouble` is a count of stockouts and preemptions that decays, as it stood at `at`. The other
    moments are the newest stockout, preemption and success; None where there was none.
    """

    trouble: float = 0.0
    at: datetime | None = None
    out: datetime | None = None
    taken: datetime | None = None
    given: datetime | None = None


class PlacementRecord(msgspec.Struct, frozen=True, kw_only=True):
    """All places for one machine type: which ones offer it (as of `offered_at`), and their availability."""

    machine: str
    offered: tuple[str, ...] = ()
    offered_at: datetime | None = None
    availability: Mapping[str, ZoneAvailability] = {}


def region_of(place: str) -> str:
    """The region of a zone, or the region itself."""
    head, _, tail = place.rpartition("-")
    return head if len(tail) == 1 else place
