"""Zone weather as a table: zones by the hours of the day."""

from collections.abc import Iterable

import msgspec

from spotwarden.report.model.fleet import WeatherHour
from spotwarden.report.views.text import Words

_LEVELS = 3
MOST_ZONES = 60


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """What a zone did at an hour of the day; `level` is 0 for nothing, up to 3 for the worst of all."""

    count: int = 0
    level: int = 0
    says: str = ""


class ZoneWeather(msgspec.Struct, frozen=True, kw_only=True):
    """A zone's 24 hours, and its sums."""

    zone: str
    hours: tuple[Cell, ...]
    preempted: int
    stockouts: int
    granted: int


def weather(hours: Iterable[WeatherHour], words: Words) -> tuple[ZoneWeather, ...]:
    """By zone, the worst first; hours are those of the zone in which times are shown."""
    zones: dict[str, list[WeatherHour]] = {}
    for one in hours:
        zones.setdefault(one.zone, []).append(one)
    worst = max((_trouble(at) for found in zones.values() for at in _by_hour(found, words)), default=0)
    rows = [_row(zone, found, words, worst) for zone, found in zones.items()]
    rows.sort(key=lambda row: (-row.preempted - row.stockouts, row.zone))
    return tuple(rows[:MOST_ZONES])


def _row(zone: str, found: list[WeatherHour], words: Words, worst: int) -> ZoneWeather:
    return ZoneWeather(
        zone=zone,
        hours=tuple(_cell(at, worst) for at in _by_hour(found, words)),
        preempted=sum(one.preempted for one in found),
        stockouts=sum(one.stockouts for one in found),
        granted=sum(one.granted for one in found),
    )


def _by_hour(found: list[WeatherHour], words: Words) -> list[list[WeatherHour]]:
    hours: list[list[WeatherHour]] = [[] for _ in range(24)]
    for one in found:
        hours[words.local(one.hour).hour].append(one)
    return hours


def _trouble(found: list[WeatherHour]) -> int:
    return sum(one.preempted + one.stockouts for one in found)


def _cell(found: list[WeatherHour], worst: int) -> Cell:
    count = _trouble(found)
    took, full = sum(one.preempted for one in found), sum(one.stockouts for one in found)
    level = -(-count * _LEVELS // worst) if worst else 0
    return Cell(count=count, level=level, says=f"took {took} VMs, had no room {full} times")
