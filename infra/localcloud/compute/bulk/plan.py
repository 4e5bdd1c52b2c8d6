"""What a bulk request asks for: how many, by which names, and in which zones. Nothing is changed here."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from localcloud.compute.bulk.flexible import FIELD as POLICY
from localcloud.compute.bulk.flexible import Shape, read_shapes
from localcloud.compute.refusals import invalid_field
from localcloud.errors import ApiError

MOST = 5000
_HASHES = re.compile(r"([^#]*)(#{1,18})([^#]*)")
FIELD = "bulkInsertInstanceResource"

Left = Callable[[str], int | None]
"""How many such machines a zone has left; None where there is no limit."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A bulk request, read. `names` is empty where they follow `pattern`; `most` limits single zones.

    `shapes` are the machine types among which it may be chosen; none where the properties say it.
    """

    count: int
    least: int
    pattern: str
    names: Sequence[str]
    each: Mapping[str, Mapping[str, Any]]
    properties: Mapping[str, Any]
    shape: str
    denied: Collection[str]
    most: Mapping[str, int]
    shapes: Sequence[Shape] = ()


def read_plan(body: Mapping[str, Any], base: Mapping[str, Any] | None) -> Plan:
    """Read a bulk request in normal form; `base` is what its template says.

    Raises:
        ApiError: 400 when the counts or the names cannot be.
    """
    each = body.get("perInstanceProperties", {})
    pattern = body.get("namePattern", "")
    count = int(body.get("count", len(each)))
    least = int(body.get("minCount", count))
    _check_counts(count, least)
    _check_names(pattern, each, count)
    zones = _zones(body)
    return Plan(
        count=count,
        least=least,
        pattern=pattern,
        names=[item.get("name") or key for key, item in each.items()],
        each={candidate.get("name") or key: candidate for key, candidate in each.items()},
        properties={**(base or {}), **body.get("instanceProperties", {})},
        shape=body.get("locationPolicy", {}).get("targetShape", "ANY_SINGLE_ZONE"),
        denied=[zone for zone, rule in zones.items() if rule.get("preference") == "DENY"],
        most={
            zone: rule["constraints"]["maxCount"]
            for zone, rule in zones.items()
            if rule.get("constraints", {}).get("maxCount")
        },
        shapes=_shapes(body),
    )


def _shapes(body: Mapping[str, Any]) -> Sequence[Shape]:
    if "instanceFlexibilityPolicy" not in body:
        return ()
    found = read_shapes(body["instanceFlexibilityPolicy"])
    if not found:
        raise invalid_field(f"{POLICY}.instanceSelections", "", "No machine types are specified.")
    return found


def _zones(body: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    locations = body.get("locationPolicy", {}).get("locations", {})
    return {key.rpartition("/")[2]: rule for key, rule in locations.items()}


def _check_counts(count: int, least: int) -> None:
    if not 1 <= count <= MOST:
        raise invalid_field(f"{FIELD}.count", count, f"Must be from 1 to {MOST}.")
    if not 1 <= least <= count:
        raise invalid_field(f"{FIELD}.minCount", least, f"Must be from 1 to the count, {count}.")


def _check_names(pattern: str, each: Mapping[str, Any], count: int) -> None:
    if bool(pattern) == bool(each):
        message = "Exactly one of namePattern and perInstanceProperties must be set."
        raise ApiError(400, "invalid", f"Invalid value for field '{FIELD}'. {message}")
    if pattern and not _HASHES.fullmatch(pattern):
        why = "It must contain one continuous sequence of 1 to 18 placeholder hash characters (#)."
        raise invalid_field(f"{FIELD}.namePattern", pattern, why)
    if each and len(each) != count:
        why = f"It must be the number of perInstanceProperties, {len(each)}."
        raise invalid_field(f"{FIELD}.count", count, why)


def numbered(pattern: str, count: int, taken: Collection[str]) -> list[str]:
    """Names by a pattern, from the greatest number among `taken` on: `inst-##` gives `inst-01`, `inst-02`."""
    match = _HASHES.fullmatch(pattern)
    if match is None:
        raise ValueError(f"{pattern!r} is no name pattern")
    before, hashes, after = match.groups()
    mine = re.compile(re.escape(before) + r"(\d{" + str(len(hashes)) + r",18})" + re.escape(after))
    last = max((int(found[1]) for name in taken if (found := mine.fullmatch(name))), default=0)
    return [f"{before}{number:0{len(hashes)}}{after}" for number in range(last + 1, last + count + 1)]


def spread(plan: Plan, zones: Sequence[str], left: Left) -> list[str]:
    """The zone of each instance, by the target shape ("About bulk creation of VMs").

    Where there is not enough room, the rest is asked for in the first zone all the same: it fails there.
    """
    room = {zone: _room(plan, zone, left) for zone in zones}
    if plan.shape == "BALANCED":
        chosen = _in_turn(plan.count, room)
    elif plan.shape == "ANY":
        chosen = [zone for zone, number in room.items() for _ in range(number)][: plan.count]
    else:
        roomy = next((zone for zone in zones if room[zone] >= plan.count), None)
        chosen = [roomy or max(zones, key=lambda zone: room[zone])] * plan.count
    return chosen + [zones[0]] * (plan.count - len(chosen))


def _room(plan: Plan, zone: str, left: Left) -> int:
    limits = [plan.count, plan.most.get(zone, plan.count)]
    stock = left(zone)
    return min([*limits, stock] if stock is not None else limits)


def _in_turn(count: int, room: Mapping[str, int]) -> list[str]:
    rest = dict(room)
    chosen: list[str] = []
    while len(chosen) < count and any(rest.values()):
        for zone in [zone for zone, number in rest.items() if number][: count - len(chosen)]:
            rest[zone] -= 1
            chosen.append(zone)
    return chosen
