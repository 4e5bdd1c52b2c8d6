"""Prices of machines → a price list, as short as it can be said without saying anything else."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from localcloud.compute.catalog import Catalog, CatalogMachine
from pricing.skus import SLICES, Prices, Unit

Row = tuple[float | None, ...]
ByMachine = Mapping[str, Mapping[str, Row]]
_SIZED = re.compile(r"([a-z0-9]+-[a-z]+)-(\d+)")
_WITH_GPUS = re.compile(r"[a-z0-9]+-[a-z]+-(\d+)g")
CLOSE = 2e-4
"""Sizes of one series cost the same for each vCPU, but for what sources round off."""
DIGITS = 8
"""What is left of an amount: one vCPU of 416 is still right to a thousandth of a cent."""
SHARED_CORES = {"e2-micro": 0.25, "e2-small": 0.5, "e2-medium": 1.0}
"""vCPUs of E2 that are billed; the memory is billed whole ("E2 shared-core machine types")."""


UNPRICED = frozenset(("f1-micro", "g1-small"))
"""The shared cores of N1 have SKUs of their own, which nobody here reads."""
MachineTypes = Mapping[str, CatalogMachine]
G4_GPUS = {"6": 1, "12": 1, "24": 1, "48": 1, "96": 2, "192": 4, "384": 8}
"""By vCPUs, since its names do not tell; the small ones have a part of one GPU ("GPU machine types")."""
_CHIPS = re.compile(r"(?P<family>[a-z0-9]+)-[a-z]+-(?P<chips>\d+)t")


def known_types() -> MachineTypes:
    """The machine types of the local cloud's catalog."""
    return Catalog().machines


def machine_types(rows: Iterable[Mapping[str, Any]]) -> MachineTypes:
    """The machine types that `gcloud compute machine-types list --format=json` names, and the known ones.

    Of a shared core nobody says what is billed, but for E2 (`SHARED_CORES`): others are left out.
    """
    asked = (_read_type(row) for row in rows if not row.get("isSharedCpu"))
    return {**{machine.name: machine for machine in asked}, **known_types()}


def _read_type(row: Mapping[str, Any]) -> CatalogMachine:
    name, cards = str(row["name"]), row.get("accelerators", ())
    chips = _CHIPS.fullmatch(name)
    return CatalogMachine(
        name=name,
        family=name.partition("-")[0],
        vcpus=int(row["guestCpus"]),
        memory_mb=int(row["memoryMb"]),
        platform="",
        architecture=str(row.get("architecture", "")),
        gpus=sum(int(card["guestAcceleratorCount"]) for card in cards) if not chips else 0,
        gpu=str(cards[0]["guestAcceleratorType"]) if cards and not chips else "",
        chips=int(chips["chips"]) if chips else 0,
    )


def price_list(
    source: str,
    day: date,
    machines: ByMachine,
    units: Prices | None = None,
    types: MachineTypes | None = None,
) -> dict[str, Any]:
    """A list of `price-list.json`."""
    units, types = units or {}, types or known_types()
    series, left = _series(machines, types)
    parts = {
        "machines": left,
        "series": series,
        "gpus": {unit.name: rows for unit, rows in units.items() if unit.kind == "gpu"},
        "cores": {unit.name: rows for unit, rows in units.items() if _is_custom(unit, "core")},
        "memory": {unit.name: rows for unit, rows in units.items() if _is_custom(unit, "memory")},
    }
    listed = {name: rounded(part) for name, part in parts.items() if part}
    return {"date": day.isoformat(), "source": source, **listed, "included": dict(_included(left, types))}


def priced(units: Prices, types: MachineTypes | None = None) -> ByMachine:
    """What each predefined machine costs by its parts: where any of them is unknown, so is the machine."""
    found: dict[str, dict[str, Row]] = defaultdict(dict)
    known = types or known_types()
    for machine in (known[name] for name in known.keys() - UNPRICED):
        parts = _parts(machine)
        regions = [set(units.get(unit, {})) for unit, _ in parts]
        for region in set.intersection(*regions):
            row = _sum([(units[unit][region], count) for unit, count in parts])
            if any(amount is not None for amount in row):
                found[machine.name][region] = row
    return found


def render(lists: Iterable[Mapping[str, Any]]) -> str:
    """The file: a machine a line, so that a change of one is a change of one line."""
    return "[\n" + ",\n".join(_lines(prices) for prices in lists) + "\n]\n"


def _parts(machine: CatalogMachine) -> list[tuple[Unit, float]]:
    """What is billed for a machine: TPUs by the chip, A4 by the GPU.

    Local SSDs that come with a machine are billed apart.
    """
    if machine.chips:
        return [(Unit("chip", machine.name.rpartition("-")[0]), machine.chips)]
    if (series := machine.name.rpartition("-")[0]) in SLICES.values():
        return [(Unit("slice", series), machine.gpus)]
    family = machine.family
    if machine.name.startswith(("a3-megagpu", "a3-ultragpu")):
        family = machine.name.rpartition("-")[0]
    vcpus = SHARED_CORES.get(machine.name, float(machine.vcpus))
    parts: list[tuple[Unit, float]] = [
        (Unit("core", family), vcpus),
        (Unit("memory", family), machine.memory_mb / 1024),
    ]
    return [*parts, (Unit("gpu", machine.gpu), machine.gpus)] if machine.gpus else parts


def _sum(parts: Sequence[tuple[Row, float]]) -> Row:
    width = max(len(row) for row, _ in parts)
    padded = [((*row, *(None,) * (width - len(row))), count) for row, count in parts]
    return tuple(
        None
        if any(row[at] is None for row, _ in padded)
        else sum((row[at] or 0) * count for row, count in padded)
        for at in range(width)
    )


def _series(machines: ByMachine, types: MachineTypes) -> tuple[ByMachine, ByMachine]:
    """The series whose sizes cost the same for each vCPU in every region, and all other machines."""
    sizes: dict[str, dict[str, int]] = defaultdict(dict)
    for name in machines:
        if (sized := _SIZED.fullmatch(name)) and not _gpus_of(name, types):
            sizes[sized[1]][name] = int(sized[2])
    series = {name: found for name, of in sizes.items() if len(of) > 1 and (found := _one_vcpu(machines, of))}
    left = {
        name: rows for name, rows in machines.items() if (_SIZED.fullmatch(name) or [0, ""])[1] not in series
    }
    return series, left


def _one_vcpu(machines: ByMachine, sizes: Mapping[str, int]) -> Mapping[str, Row]:
    """One vCPU in each region; nothing where sizes differ, or where a region lacks any of them."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for name, vcpus in sizes.items():
        for region, row in machines[name].items():
            rows[region].append(_sum([(row, 1 / vcpus)]))
    alike = all(_alike(found) for found in rows.values())
    largest = max(sizes, key=lambda name: sizes[name])
    return (
        {region: found[[*sizes].index(largest)] for region, found in rows.items()}
        if (alike and all(len(found) == len(sizes) for found in rows.values()))
        else {}
    )


def _alike(rows: Sequence[Row]) -> bool:
    return all(
        len({amount is None for amount in column}) == 1
        and (column[0] is None or max(column) - min(column) <= CLOSE * max(column))
        for column in zip(*rows, strict=True)
    )


def _gpus_of(machine: str, types: MachineTypes) -> int:
    known = types.get(machine)
    if known is not None:
        return known.gpus or known.chips
    named = _WITH_GPUS.fullmatch(machine)
    if named:
        return int(named[1])
    series, _, vcpus = machine.rpartition("-")
    return G4_GPUS.get(vcpus, 0) if series == "g4-standard" else 0


def _included(machines: Iterable[str], types: MachineTypes) -> Iterable[tuple[str, int]]:
    return ((name, gpus) for name in sorted(machines) if (gpus := _gpus_of(name, types)))


def _is_custom(unit: Unit, kind: str) -> bool:
    return unit.kind == kind and (unit.name == "custom" or unit.name.endswith("-custom"))


def rounded(part: ByMachine) -> dict[str, dict[str, list[float | None]]]:
    """The rows of a part, in order, without what nobody knows at their end."""
    return {
        name: {region: _trimmed(row) for region, row in sorted(rows.items())}
        for name, rows in sorted(part.items())
        if rows
    }


def _trimmed(row: Row) -> list[float | None]:
    found = [None if amount is None else round(amount, DIGITS) for amount in row]
    while found and found[-1] is None:
        found.pop()
    return found


def _lines(prices: Mapping[str, Any]) -> str:
    parts = []
    for name, part in prices.items():
        if isinstance(part, dict) and part and isinstance(next(iter(part.values())), dict):
            rows = (
                f"{json.dumps(key)}:{json.dumps(row, separators=(',', ':'))}" for key, row in part.items()
            )
            parts.append(f"{json.dumps(name)}:{{\n" + ",\n".join(rows) + "}")
        else:
            parts.append(f"{json.dumps(name)}:{json.dumps(part)}")
    return "{" + ",\n".join(parts) + "}"
