"""Zone outages as a table: zones by the hours of the day."""

from collections.abc import Iterable

import msgspec

from spotwarden.report.model.fleet import OutageHour
from spotwarden.report.views.text import Words

_LEVELS = 3
MOST_ZONES = 60


class OutageCell(msgspec.Struct, frozen=True, kw_only=True):
    """What a zone did at an hour of the day; `level` is 0 for nothing, up to 3 for the worst of all."""

    count: int = 0
    level: int = 0
    says: str = ""


class ZoneOutages(msgspec.Struct, frozen=True, kw_only=True):
    """A zone's 24 hours, and its sums."""

    zone: str
    hours: tuple[OutageCell, ...]
    preempted: int
    stockouts: int
    granted: int


def outages(hours: Iterable[OutageHour], words: Words) -> tuple[ZoneOutages, ...]:
    """By zone, the worst first; hours are those of the zone in which times are shown."""
    zones: dict[str, list[OutageHour]] = {}
    for hour in hours:
        zones.setdefault(hour.zone, []).append(hour)
    worst = max((_trouble(at) for found in zones.values() for at in _by_hour(found, words)), default=0)
    rows = [_row(zone, found, words, worst) for zone, found in zones.items()]
    rows.sort(key=lambda row: (-row.preempted - row.stockouts, row.zone))
    return tuple(rows[:MOST_ZONES])


def _row(zone: str, found: list[OutageHour], words: Words, worst: int) -> ZoneOutages:
    return ZoneOutages(
        zone=zone,
        hours=tuple(_cell(at, worst) for at in _by_hour(found, words)),
        preempted=sum(match.preempted for match in found),
        stockouts=sum(match.stockouts for match in found),
        granted=sum(match.granted for match in found),
    )


def _by_hour(found: list[OutageHour], words: Words) -> list[list[OutageHour]]:
    hours: list[list[OutageHour]] = [[] for _ in range(24)]
    for match in found:
        hours[words.local(match.hour).hour].append(match)
    return hours


def _trouble(found: list[OutageHour]) -> int:
    return sum(match.preempted + match.stockouts for match in found)


def _cell(found: list[OutageHour], worst: int) -> OutageCell:
    count = _trouble(found)
    took, full = sum(match.preempted for match in found), sum(match.stockouts for match in found)
    level = -(-count * _LEVELS // worst) if worst else 0
    return OutageCell(
        count=count, level=level, says=f"{took} VMs preempted, {full} requests without capacity"
    )
