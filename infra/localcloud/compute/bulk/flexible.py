"""Which machine type each instance of a bulk request gets that lets Compute Engine choose among several.

Source: "About instance flexibility for VMs created in bulk" (Google). Those with a lower rank come first;
one without a rank has 0 (`InstanceFlexibilityPolicyInstanceSelection.rank`). Which of one rank goes first is
not documented but for reservations and the risk of preemption: here it is the order of the request.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

FIELD = "bulkInsertInstanceResource.instanceFlexibilityPolicy"
ANYWHERE = 1 << 30
"""Room without a limit."""

Room = Callable[[str, str, Mapping[str, int]], int | None]
"""How many more of a machine type a zone has, beside those that are taken there; None for any number."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """A machine type that may be taken, and what its selection says over the other properties."""

    machine: str
    rank: int = 0
    over: Mapping[str, Any] = field(default_factory=dict)


def read_shapes(policy: Mapping[str, Any]) -> list[Shape]:
    """The machine types of a policy, those that go first first."""
    shapes = [
        Shape(
            machine=machine,
            rank=int(selection.get("rank", 0)),
            over={key: selection[key] for key in ("disks", "minCpuPlatform") if key in selection},
        )
        for selection in policy.get("instanceSelections", {}).values()
        for machine in selection.get("machineTypes", ())
    ]
    return sorted(shapes, key=lambda shape: shape.rank)


def chosen(
    count: int, target: str, offers: Mapping[str, Sequence[Shape]], room: Room
) -> list[tuple[str, Shape]]:
    """The zone and the machine type of each instance; `offers` are the shapes that a zone has.

    Where there is not enough room, the rest is asked for as the first shape of a zone: it fails there.
    """
    if target == "BALANCED":
        found = list(_in_turn(count, offers, room))
    elif target == "ANY":
        found = list(_by_rank(count, offers, room))
    else:
        whole = {zone: list(_filled(count, zone, shapes, room)) for zone, shapes in offers.items()}
        best = max(whole, key=lambda zone: _worth(whole[zone]))
        found = [(best, shape) for shape in whole[best]]
    zone, shapes = next(iter([(found[0][0], offers[found[0][0]])] if found else offers.items()))
    return found + [(zone, shapes[0])] * (count - len(found))


def _worth(shapes: Sequence[Shape]) -> tuple[int, list[int]]:
    """How many instances a zone has room for, and then how far they are preferred."""
    return len(shapes), sorted((-shape.rank for shape in shapes), reverse=True)


def _filled(count: int, zone: str, shapes: Iterable[Shape], room: Room) -> Iterator[Shape]:
    taken: Counter[str] = Counter()
    for shape in shapes:
        limit = room(zone, shape.machine, taken)
        number = min(count - taken.total(), ANYWHERE if limit is None else limit)
        taken[shape.machine] += number
        yield from [shape] * number


def _by_rank(count: int, offers: Mapping[str, Sequence[Shape]], room: Room) -> Iterator[tuple[str, Shape]]:
    """Every zone is asked for the preferred shapes before any is asked for others."""
    taken: dict[str, Counter[str]] = {zone: Counter() for zone in offers}
    pairs = [(shape.rank, zone, shape) for zone, shapes in offers.items() for shape in shapes]
    for _, zone, shape in sorted(pairs, key=lambda pair: pair[0]):
        limit = room(zone, shape.machine, taken[zone])
        left = count - sum(counter.total() for counter in taken.values())
        number = min(left, ANYWHERE if limit is None else limit)
        taken[zone][shape.machine] += number
        yield from [(zone, shape)] * number


def _in_turn(count: int, offers: Mapping[str, Sequence[Shape]], room: Room) -> Iterator[tuple[str, Shape]]:
    """One in each zone after the other, as what is preferred of what it has left."""
    whole = {zone: list(_filled(count, zone, shapes, room)) for zone, shapes in offers.items()}
    number = 0
    for turn in range(count):
        for zone, shapes in whole.items():
            if turn < len(shapes) and number < count:
                number += 1
                yield zone, shapes[turn]
