"""Whether Compute Engine has such a machine in such a place: asked before anything is sent or recorded."""

from collections.abc import Collection
from contextlib import suppress

import click

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
    if found is None or not machine or _may_be(place, found.zones | found.unreachable):
        return
    zones = found.zones
    kinds = f" with {', '.join(sorted(accelerators))}" if accelerators else ""
    if not zones:
        raise click.UsageError(
            f"unknown machine type {machine!r}{kinds}: no zone offers it. Nothing was sent.\n"
            "To list machine types: gcloud compute machine-types list --filter='zone~us-central1'"
        )
    raise click.UsageError(
        f"{place!r} is not a zone or region that offers {machine}{kinds}. Nothing was sent.\n"
        f"Zones that do: {_named(zones)}"
    )


def check_offered_anywhere(compute: Compute, launch: Launch) -> None:
    """Refuse a machine type that no zone has; where the job may go is not known here.

    Raises:
        UsageError: no zone has it.
    """
    with suppress(RejectedError, UnansweredError):
        found = compute.offers(launch.machine, launch.accelerators)
        if not found.zones and not found.unreachable:
            raise click.UsageError(
                f"unknown machine type {launch.machine!r}: no zone offers it. Nothing was sent."
            )


def _may_be(place: str, zones: Collection[str]) -> bool:
    return place in zones or place in map(region_of, zones)


def _named(zones: Collection[str]) -> str:
    first = sorted(zones)[:MOST_NAMED]
    more = f" and {len(zones) - MOST_NAMED} more" if len(zones) > MOST_NAMED else ""
    return ", ".join(first) + more
