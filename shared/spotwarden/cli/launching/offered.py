"""Whether Compute Engine has such a machine in such a place: asked before anything is sent or recorded."""

from collections.abc import Collection
from contextlib import suppress
from difflib import get_close_matches

import click

from spotwarden.cli.launching.near import unknown_kind
from spotwarden.model.launch import Launch
from spotwarden.model.placement import MachineZones, region_of
from spotwarden.ports import Compute, RejectedError, UnansweredError

MOST_NAMED = 12
"""So many zones are named; of more the count says enough."""


def check_offered(compute: Compute, launch: Launch) -> None:
    """Refuse a mistyped machine type, zone or region; where the lists cannot be read, the launch tells.

    Raises:
        UsageError: no zone has such a machine, or this place does not; says what to type next.
    """
    machine, accelerators, place = launch.machine, launch.accelerators, launch.place
    found: MachineZones | None = None
    with suppress(RejectedError, UnansweredError):
        found = compute.offers(machine, accelerators)
    zonal = "/zones/" in launch.request.path
    if found is None or not machine or is_served(place, found.zones | found.unreachable, zonal=zonal):
        return
    zones = found.zones
    kinds = f" with {', '.join(sorted(accelerators))}" if accelerators else ""
    if not zones:
        raise click.UsageError(unknown_kind(compute, machine, accelerators, place))
    if zonal and (inside := [zone for zone in zones if region_of(zone) == place]):
        raise click.UsageError(
            f"{place!r} is a region, not a zone. Nothing was sent.\n"
            f"Its zones that offer {machine}{kinds}: {named(inside)}"
        )
    what, places = ("zone", zones) if zonal else ("region", {*map(region_of, zones)})
    raise click.UsageError(
        f"{place!r} is not a {what} that offers {machine}{kinds}. Nothing was sent.\n{instead(place, places)}"
    )


def check_offered_anywhere(compute: Compute, launch: Launch) -> None:
    """Refuse a machine type that no zone has; where the job may go is not known here.

    Raises:
        UsageError: no zone has it.
    """
    with suppress(RejectedError, UnansweredError):
        found = compute.offers(launch.machine, launch.accelerators)
        if not found.zones and not found.unreachable:
            raise click.UsageError(unknown_kind(compute, launch.machine, launch.accelerators, launch.place))


def is_served(place: str, zones: Collection[str], *, zonal: bool = False) -> bool:
    """Whether the place is one of the zones, or, unless it must be one, a region of theirs."""
    return place in zones or (not zonal and place in map(region_of, zones))


def instead(place: str, places: Collection[str]) -> str:
    """What was meant, where one is near; else where one may go."""
    if near := get_close_matches(place, sorted(places), n=1):
        return f"Did you mean {near[0]}?"
    return f"{'Zones' if any(map(_is_zone, places)) else 'Regions'} that do: {named(places)}"


def _is_zone(place: str) -> bool:
    return region_of(place) != place


def named(places: Collection[str]) -> str:
    """The first of them, and how many more there are."""
    first = sorted(places)[:MOST_NAMED]
    more = f" and {len(places) - MOST_NAMED} more" if len(places) > MOST_NAMED else ""
    return ", ".join(first) + more
