"""Where a machine can be had, read from the lists of machine and accelerator types."""

import re
from collections.abc import Collection, Iterable

from spotwarden.gcp.wire import WirePage, WireScope, last
from spotwarden.model.placement import MachineZones

_CUSTOM = re.compile(r"(?:(?P<family>[a-z0-9]+)-)?custom-[a-z0-9-]+")


def listed_as(machine: str) -> str:
    """The machine type in Compute Engine's lists that is offered where this one is.

    Custom types stand in no list; each family that has them also has a `standard-4`, and no family means N1.
    """
    custom = _CUSTOM.fullmatch(machine)
    return f"{custom['family'] or 'n1'}-standard-4" if custom else machine


def zones(pages: Iterable[WirePage[WireScope]], names: Collection[str]) -> MachineZones:
    """The zones that have all of these names, none deprecated, and those that may hide something."""
    having: dict[str, set[str]] = {}
    missing: set[str] = set()
    for page in pages:
        missing.update(page.missing())
        for scope, content in page.items.items():
            offered = (*content.machine_types, *content.accelerator_types)
            having.setdefault(last(scope), set()).update(offer.name for offer in offered if offer.stands)
    wanted = set(names)
    found = frozenset(zone for zone, names_ in having.items() if wanted <= names_)
    return MachineZones(found - missing, frozenset(missing))
