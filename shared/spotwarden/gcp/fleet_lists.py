"""The list of all VMs: page after page, or where it is long zone by zone, side by side.

The pages of an aggregated list can only be asked for one after the other. Each of them names every zone, with
a warning where it has nothing of it (Google: "Method: instances.aggregatedList", `includeAllScopes`, and the
warning `NO_RESULTS_ON_PAGE`). So the first page tells whether there is more, and where there may be more; and
a zone that cannot be listed then is unreachable, as in an aggregated list.
"""

from collections.abc import Callable, Collection, Iterator

import msgspec

from spotwarden.gcp.fleet import FleetPage, GatheredFleet, ZonePage
from spotwarden.gcp.side_by_side import side_by_side
from spotwarden.gcp.wire import last
from spotwarden.ports import RejectedError, UnansweredError

IN_A_ROW = 2_000
"""Up to so many VMs are read in a row: four pages, against a call for each of Google's zones, of which there
are some 130. Zonal lists count against the quotas of their regions ("Compute Engine rate quotas")."""


ZONES_AT_ONCE = 48
"""So many zones are listed at a time: most of them are empty, and are answered at once. In a process that has
not seen the project yet those with VMs may stand last."""


class FleetSeen(msgspec.Struct, frozen=True):
    """What the last whole list showed: how many VMs, and which zones have some."""

    vms: int
    zones: frozenset[str]


class FleetDoor(msgspec.Struct, frozen=True):
    """How the VMs of a project are listed: `pages` of all zones, and `zone_pages` of one."""

    project: str
    pages: Callable[[], Iterator[FleetPage]]
    zone_pages: Callable[[str], Iterator[ZonePage]]


_SEEN: dict[str, FleetSeen] = {}
"""By project, for as long as the process lives; it decides how to ask, and never what is there."""


def read_all(door: FleetDoor, ids: Collection[str] = ()) -> GatheredFleet:
    """All VMs, or of all those of these ids.

    A project of which nothing is known yet is taken for a large one once there is a second page.

    Raises:
        RejectedError, UnansweredError: the list could not be read, or not of any zone.
    """
    gathered = GatheredFleet(ids)
    seen = _SEEN.get(door.project)
    for page in door.pages():
        if page.next_page_token and (seen is None or seen.vms > IN_A_ROW):
            gathered = _zone_by_zone(door, ids, page, seen)
            break
        gathered.take(page)
    _SEEN[door.project] = FleetSeen(gathered.listed, gathered.zones)
    return gathered


def _zone_by_zone(
    door: FleetDoor, ids: Collection[str], first: FleetPage, seen: FleetSeen | None
) -> GatheredFleet:
    """Every zone that the first page names, and each that had VMs before; those come first."""
    gathered = GatheredFleet(ids)
    gathered.miss(first.missing())
    named = {last(scope) for scope in first.items if scope.startswith("zones/")}
    full = seen.zones if seen else frozenset()
    zones = [*sorted(full), *sorted(named - full)]

    def read(zone: str) -> Exception | None:
        try:
            for page in door.zone_pages(zone):
                gathered.take_zone(zone, page)
        except (RejectedError, UnansweredError) as problem:
            gathered.miss([zone])
            return problem
        return None

    failures = [problem for problem in side_by_side(zones, read, ZONES_AT_ONCE) if problem is not None]
    if failures and len(failures) == len(zones):
        raise failures[0]
    return gathered
