"""What is remembered of places, for one machine type."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import Enum

import msgspec

from spotwarden.model.moment import Moment

PARTS_OF_REGION = 2
"""A zone's name has three parts, us-central1-a; the first two name its region."""


class PlaceEvent(Enum):
    """What a place did to somebody who asked for this machine, or ran one."""

    GAVE = "gave"
    STOCKOUT = "stockout"
    PREEMPTED = "preempted"
    NO_NOTICE = "no notice"


class PlaceNews(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a place did; `machine` is the machine type, "" for that of the job's script."""

    place: str
    event: PlaceEvent
    at: datetime
    machine: str = ""


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


class PlaceAdvice(msgspec.Struct, frozen=True, kw_only=True):
    """What Google expects of one place: `obtainability` and `uptime` as in `CapacityAdvice`.

    `preempted` is the share of the last days' spot VMs that were preempted, of all that stopped there. None
    where Google did not say.
    """

    obtainability: float | None = None
    uptime: timedelta | None = None
    preempted: float | None = None


class MachineAdvice(msgspec.Struct, frozen=True, kw_only=True):
    """What Google expects of the places of one machine type, for a request for `size` VMs.

    `asked_at` is written before Google is asked, so that nobody else asks as well; `answered_at` is the
    moment of what stands in `places`, `history_at` that of their shares. `refused` says why there is none.
    """

    asked_at: datetime
    answered_at: datetime | None = None
    history_at: datetime | None = None
    size: int = 1
    places: Mapping[str, PlaceAdvice] = {}
    refused: str = ""


class MachineZones(msgspec.Struct, frozen=True):
    """The zones that offer a machine; of the zones and regions in `unreachable` nobody knows."""

    zones: frozenset[str]
    unreachable: frozenset[str] = frozenset()


class PlacementRecord(msgspec.Struct, frozen=True, kw_only=True):
    """All places for one machine type: which ones offer it (as of `offered_at`), and their availability.

    `advice` is what Google was last asked about them. `no_notice` is when a notice of preemption was last
    refused for this machine.
    """

    machine: str
    offered: tuple[str, ...] = ()
    offered_at: datetime | None = None
    availability: Mapping[str, ZoneAvailability] = {}
    advice: MachineAdvice | None = None
    no_notice: datetime | None = None


class AvoidedPlace(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A zone, or all zones of a region, that no job is launched in; for good where `until` is None.

    `reason` and `by` are for people.
    """

    zone: str
    until: Moment | None = None
    reason: str = ""
    by: str = ""


class AvoidedPlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Those that a command has named."""

    places: tuple[AvoidedPlace, ...] = ()


def region_of(place: str) -> str:
    """The region of a zone, or the region itself."""
    return "-".join(place.split("-")[:PARTS_OF_REGION])
