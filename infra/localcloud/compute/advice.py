"""What the cloud says of its spot capacity before anybody asks for it.

Scores come from the stockouts in force, in the documented bands ("View the availability of Spot VMs"): a zone
without limit is likely to serve a request and keeps its VMs, one that has too few serves a part of it, one
without room nothing. Rates come from the operations that zones have seen, of all machine types, since an
operation does not say which it was. There are no prices here: the real history has gaps as well.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from localcloud.clock import PACIFIC, rfc3339
from localcloud.compute.links import last, region_of
from localcloud.compute.refusals import invalid_field
from localcloud.compute.site import Site

DAYS = 30
MOST_VMS = 1000
"""The limits that are known of a request."""
MODELS = ("FLEX_START", "SPOT")
SHAPES = ("ANY", "ANY_SINGLE_ZONE", "BALANCED")
TYPES = ("PREEMPTION", "PRICE")
_CUSTOM = re.compile(r"(?:[a-z0-9]+-)?custom-.+")
_TPU = re.compile(r"(?:ct|tpu)[0-9].*")
_PREEMPTED = "compute.instances.preempted"
_STOPS = frozenset({_PREEMPTED, "compute.instances.guestTerminate", "delete", "stop", "suspend"})


class Scores(NamedTuple):
    """How likely a request is served, and how long most of its VMs live at least."""

    obtainability: float
    uptime: timedelta

    def fields(self) -> dict[str, Any]:
        """As the API writes them."""
        return {
            "obtainability": self.obtainability,
            "estimatedUptime": f"{int(self.uptime.total_seconds())}s",
        }


class Wish(NamedTuple):
    """So many VMs of a provisioning model, in these zones, spread as the shape says."""

    zones: Sequence[str]
    size: int
    shape: str
    model: str


HIGH = Scores(0.9, timedelta(hours=1))
MEDIUM = Scores(0.5, timedelta(minutes=10))
LOW = Scores(0.1, timedelta(minutes=1))


def check_machine(site: Site, machine: str, zones: Collection[str], field: str, *, cards: bool) -> None:
    """Make sure that there is advice on a machine type.

    Raises:
        ApiError: 400 for custom types, TPUs, N1 with GPUs, and what the zones do not offer. The pages name
            these limits; the wordings are ours.
    """
    if _CUSTOM.fullmatch(machine):
        raise invalid_field(field, machine, "Custom machine types are not supported.")
    if _TPU.fullmatch(machine):
        raise invalid_field(field, machine, "TPU machine types are not supported.")
    if cards:
        raise invalid_field(field, machine, "Machine types with attached GPUs are not supported.")
    if not any(site.catalog.machine(machine, zone) for zone in zones):
        raise invalid_field(field, machine, "The machine type does not exist in the requested zones.")


def recommend(site: Site, machines: Sequence[str], wish: Wish) -> dict[str, Any]:
    """The recommendation: the first of the machine types that scores best, and where its VMs would be."""
    rooms = {machine: _rooms(site, machine, wish) for machine in machines}
    best = max(machines, key=lambda machine: _score(rooms[machine], wish))
    shards = [
        {"zone": zone, "machineType": best, "instanceCount": count, "provisioningModel": wish.model}
        for zone, count in _spread(rooms[best], wish).items()
        if count
    ]
    return {"scores": _score(rooms[best], wish).fields(), "shards": shards}


def _rooms(site: Site, machine: str, wish: Wish) -> dict[str, int]:
    """How many of a machine type each zone that offers it has room for."""
    zones = [zone for zone in wish.zones if site.catalog.machine(machine, zone)]
    left = {zone: site.stock.left(zone, machine, wish.model) for zone in zones}
    return {zone: MOST_VMS if count is None else min(count, MOST_VMS) for zone, count in left.items()}


def _score(rooms: Mapping[str, int], wish: Wish) -> Scores:
    single = wish.shape == "ANY_SINGLE_ZONE"
    room = max(rooms.values(), default=0) if single else sum(rooms.values())
    if room >= wish.size:
        return HIGH
    return MEDIUM if room else LOW


def _spread(rooms: Mapping[str, int], wish: Wish) -> dict[str, int]:
    """How many VMs each zone would get; where there is no room, all that were asked for in the first."""
    order = sorted(rooms, key=lambda zone: (-rooms[zone], zone))
    if wish.shape == "ANY_SINGLE_ZONE":
        order = order[:1]
    counts = dict.fromkeys(order, 0)
    for number in range(wish.size):
        with_room = [zone for zone in order if counts[zone] < rooms[zone]] or order[:1]
        counts[with_room[number % len(with_room) if wish.shape == "BALANCED" else 0]] += 1
    return counts


def preemption_days(site: Site, scope: str) -> list[dict[str, Any]]:
    """The rate of each of the last days, of a zone or region: preempted by all that stopped."""
    now = site.clock.now()
    today = now.astimezone(PACIFIC).replace(hour=0, minute=0, second=0, microsecond=0)
    preempted, stopped = Counter[datetime](), Counter[datetime]()
    for operation in site.operations.shelf.all():
        kind, zone = operation["operationType"], last(operation.get("zone", ""))
        if kind in _STOPS and scope in {zone, region_of(zone) if zone else ""}:
            day = datetime.fromisoformat(operation["insertTime"]).astimezone(PACIFIC)
            day = day.replace(hour=0, minute=0, second=0, microsecond=0)
            stopped[day] += 1
            preempted[day] += kind == _PREEMPTED
    days = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    return [
        {
            "interval": {"startTime": rfc3339(day), "endTime": rfc3339(day + timedelta(days=1))},
            "preemptionRate": preempted[day] / stopped[day] if stopped[day] else 0.0,
        }
        for day in days
    ]
