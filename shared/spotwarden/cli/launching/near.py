"""Which machine or accelerator type was meant by one that no zone has."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from difflib import get_close_matches

import click

from spotwarden.model.placement import region_of
from spotwarden.ports import Compute, RejectedError, UnansweredError

EVERYWHERE = "n1-standard-1"
"""A machine type that every zone has ("Regions and zones"): where it is, there is a zone."""
MOST = 3


def unknown_kind(compute: Compute, machine: str, accelerators: Collection[str], place: str = "") -> str:
    """What is wrong about a machine that no zone offers, and what was meant; in two lines.

    Looked up in one zone: this one, or the nearest to it. Where nobody answers, nothing is guessed.
    """
    known = _kinds(compute, place)
    cards = sorted(set(accelerators) - known) if known else []
    if known and machine in known and cards:
        return f"unknown accelerator type {cards[0]!r}: {_none(cards[0], known, place)}"
    if known and machine in known:
        kinds = ", ".join(sorted(accelerators))
        return (
            f"no zone offers {machine} with {kinds}. Nothing was sent.\n{_list('accelerator-types', place)}"
        )
    return f"unknown machine type {machine!r}: {_none(machine, known, place)}"


def _none(name: str, known: Collection[str], place: str) -> str:
    near = get_close_matches(name, sorted(known), n=MOST)
    kind = "accelerator-types" if name.startswith("nvidia-") else "machine-types"
    return f"no zone offers it. Nothing was sent.\n{_meant(near) or _list(kind, place)}"


def _meant(near: Sequence[str]) -> str:
    """A question with the nearest, then the others; "" for none."""
    others = f" Or {', '.join(near[1:])}?" if near[1:] else ""
    return f"Did you mean {near[0]}?{others}" if near else ""


def _list(kind: str, place: str) -> str:
    region = region_of(place) if place else "us-central1"
    return f"To list them: gcloud compute {kind} list --filter='zone~{region}'"


def _kinds(compute: Compute, place: str) -> frozenset[str]:
    with suppress(RejectedError, UnansweredError):
        zones = sorted(compute.offers(EVERYWHERE, ()).zones)
        beside = [zone for zone in zones if region_of(zone) == region_of(place)]
        near = [place] if place in zones else beside or get_close_matches(place, zones, n=1) or zones
        return compute.kinds_offered(near[0]) if near else frozenset()
    return frozenset()


def check_places(compute: Compute, names: Sequence[str]) -> None:
    """Refuse a mistyped zone or region; where nobody answers, each is believed.

    Raises:
        UsageError: Compute Engine has no such place; says which was meant.
    """
    zones: frozenset[str] = frozenset()
    with suppress(RejectedError, UnansweredError):
        found = compute.offers(EVERYWHERE, ())
        zones = found.zones | found.unreachable
    places = sorted({*zones, *map(region_of, zones)})
    for name in names:
        if places and name not in places:
            near = get_close_matches(name, places, n=MOST)
            listed = "To list them: gcloud compute zones list"
            raise click.UsageError(f"unknown zone or region {name!r}. {_meant(near) or listed}")
