"""Zones that no job is launched in for a while: by the policy, and by a command."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from spotwarden.model.facts import JobFacts
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.placement import AvoidedPlace, region_of
from spotwarden.model.spans import moment


def avoided(facts: JobFacts, limits: PlacementLimits, now: datetime) -> tuple[AvoidedPlace, ...]:
    """Those in force, the policy's first."""
    return tuple(current((*limits.avoid, *facts.avoided), now))


def current(places: Iterable[AvoidedPlace], now: datetime) -> list[AvoidedPlace]:
    """Those of these whose time is not over."""
    return [place for place in places if place.until is None or now < place.until]


def is_avoided(place: str, avoid: Iterable[AvoidedPlace]) -> bool:
    """Whether nothing is launched in this zone, or anywhere in this region."""
    return any(entry.zone in {place, region_of(place)} for entry in avoid)


def said(avoid: Sequence[AvoidedPlace]) -> str:
    """The zones, until when, and why, for people."""
    return ", ".join(map(_said, avoid))


def _said(entry: AvoidedPlace) -> str:
    until = f" until {moment(entry.until)}" if entry.until else ""
    why = f" ({entry.reason})" if entry.reason else ""
    return f"{entry.zone}{until}{why}"
