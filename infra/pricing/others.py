"""What others have made of the price catalog → price lists, for whoever can't ask it.

Three shapes are read: a table of VMs by zone, as schedulers keep them (`InstanceType`, `AcceleratorName`,
`Region`, `Price`, `SpotPrice`), a book of instances (`{MACHINE: {cpu, ram, cost: {REGION: {hour,
hour_spot}}}}`), and a list of ours, whose predefined machines say what custom ones cost on demand. What such
tables say wrongly is left out: placeholders, spot prices that are not below the other, and zones of one
region that differ.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from pricing.lists import ByMachine, MachineTypes, Row, known_types, price_list, rounded
from pricing.skus import Prices, Unit

PLACEHOLDER = 700.0
"""What such a table writes where it knows nothing."""
ATTACHED = {
    "T4": "nvidia-tesla-t4",
    "V100": "nvidia-tesla-v100",
    "P100": "nvidia-tesla-p100",
    "P4": "nvidia-tesla-p4",
}
"""GPUs that N1 takes; all others come with a machine and are priced with it."""
SLICES = {"tpu-v6e-1": ("ct6e", 1), "tpu-v5litepod-1": ("ct5lp", 1), "tpu-v5p-8": ("ct5p", 4)}
"""The smallest slice of each TPU, the family of its machines and its chips; v5p counts two cores a chip."""
WHOLE = {("B200", 8): "a4-highgpu-8g"}
"""GPUs with which the vCPUs and the memory of their machine are billed: only their spot price is read.

On demand such tables take the price of a reservation, or of flex-start, for it.
"""
PREMIUM = 1.05
"""Custom types on demand cost 5 % more than predefined ones ("VM instance pricing")."""
PREDEFINED = {"n2": (4, 8, 1), "n2d": (4, 8, 1), "e2": (4, 8, 1), "n4": (4, 8, 2)}
"""GiB for each vCPU of standard, highmem and highcpu machines: the third proves what the first two say."""
DOUBT = 1e-3
"""By how much of its price the third may be off."""


class Solved(NamedTuple):
    """What one vCPU and one GiB cost."""

    core: float
    memory: float


def of_vms(
    rows: Iterable[Mapping[str, str]], source: str, day: date, types: MachineTypes | None = None
) -> dict[str, Any]:
    """The list of a table of VMs by zone: GPUs that N1 takes, TPUs by the machine, and A4 on spot."""
    known, units = types or known_types(), defaultdict[tuple[str, int], dict[str, Row]](dict)
    for (name, count), places in _by_accelerator(rows).items():
        for region, found in places.items():
            # Zones of one region that differ say nothing of it.
            if len(found) == 1 and found != {(None, None)}:
                [units[name, count][region]] = found
    attached: Prices = {Unit("gpu", gpu): units[name, 1] for name, gpu in ATTACHED.items()}
    machines = {machine: found for machine, found in _whole(units, known) if found}
    return price_list(source, day, machines, attached, known)


def custom_n1(
    instances: Mapping[str, Any], pair: Sequence[str], proof: str, source: str, day: date
) -> dict[str, Any]:
    """The list of custom N1 of a book of instances: two machines of a pair tell, a third proves it."""
    sizes = {name: (instances[name]["cpu"], instances[name]["ram"]) for name in (*pair, proof)}
    costs = {name: instances[name]["cost"] for name in sizes}
    cores: dict[str, Row] = {}
    memory: dict[str, Row] = {}
    for region in set.intersection(*(set(cost) for cost in costs.values())):
        solved = [
            _solve(*((*sizes[name], costs[name][region].get(column)) for name in (*pair, proof)))
            for column in ("hour", "hour_spot")
        ]
        if solved[0]:
            cores[region] = tuple(each and each.core for each in solved)
            memory[region] = tuple(each and each.memory for each in solved)
    return _customs(source, day, {"custom": cores}, {"custom": memory})


def at_premium(listed: Mapping[str, Any], source: str) -> dict[str, Any]:
    """The list of custom types on demand, of one that has predefined machines by the vCPU."""
    cores: dict[str, dict[str, Row]] = defaultdict(dict)
    memory: dict[str, dict[str, Row]] = defaultdict(dict)
    for family, each in PREDEFINED.items():
        kinds = [_one_vcpu(listed, f"{family}-{kind}") for kind in ("standard", "highmem", "highcpu")]
        for region in set.intersection(*(set(kind) for kind in kinds)):
            solved = _solve(*((1, gib, kind[region]) for gib, kind in zip(each, kinds, strict=True)))
            if solved:
                cores[f"{family}-custom"][region] = (solved.core * PREMIUM,)
                memory[f"{family}-custom"][region] = (solved.memory * PREMIUM,)
    return _customs(source, date.fromisoformat(listed["date"]), cores, memory)


def _by_accelerator(
    rows: Iterable[Mapping[str, str]],
) -> Mapping[tuple[str, int], Mapping[str, set[Row]]]:
    found: dict[tuple[str, int], dict[str, set[Row]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        if not row["InstanceType"] and row["AcceleratorName"]:
            name, count = row["AcceleratorName"], int(float(row["AcceleratorCount"]))
            found[name, count][row["Region"]].add(_row(row))
    return found


def _row(row: Mapping[str, str]) -> Row:
    standard, spot = _known(row["Price"]), _known(row["SpotPrice"])
    cheaper = spot if spot is not None and standard is not None and spot < standard else None
    return standard, cheaper


def _known(text: str) -> float | None:
    amount = float(text) if text else 0.0
    return amount if 0 < amount != PLACEHOLDER else None


def _whole(
    units: Mapping[tuple[str, int], Mapping[str, Row]], types: MachineTypes
) -> Iterator[tuple[str, Mapping[str, Row]]]:
    """Machines that are priced by their accelerators alone."""
    for slice_name, (family, chips) in SLICES.items():
        places = units.get((slice_name, 1), {})
        for machine in (machine for machine in types.values() if machine.family == family):
            yield (
                machine.name,
                {region: _times(row, machine.chips / chips) for region, row in places.items()},
            )
    for accelerator, machine_name in WHOLE.items():
        spot = {region: (None, row[1]) for region, row in units.get(accelerator, {}).items() if row[1]}
        yield machine_name, spot


def _times(row: Row, count: float) -> Row:
    return tuple(None if amount is None else amount * count for amount in row)


def _solve(*sizes: tuple[float, float, float | None]) -> Solved | None:
    """What a vCPU and a GiB cost, by (vCPUs, GiB, USD) of two machines; None where a third contradicts."""
    (cpu, gib, usd), (cpus, gibs, more), (third_cpus, third_gibs, third) = sizes
    if usd is None or more is None or third is None:
        return None
    memory = (more - usd * cpus / cpu) / (gibs - gib * cpus / cpu)
    core = (usd - memory * gib) / cpu
    off = abs(core * third_cpus + memory * third_gibs - third)
    return Solved(core, memory) if min(core, memory) > 0 and off <= DOUBT * third else None


def _one_vcpu(listed: Mapping[str, Any], series: str) -> Mapping[str, float]:
    """USD an hour on demand, by region: of the series, else of its smallest machine there.

    The largest machines of a series may have less memory for each vCPU than the others.
    """
    whole = {series: 1, **dict(_sizes(listed.get("machines", {}), series))}
    known: ByMachine = {**listed.get("series", {}), **listed.get("machines", {})}
    found: dict[str, float] = {}
    for name, vcpus in sorted(whole.items(), key=lambda item: item[1]):
        for region, row in known.get(name, {}).items():
            if row and row[0] is not None:
                found.setdefault(region, row[0] / vcpus)
    return found


def _sizes(machines: Iterable[str], series: str) -> Iterator[tuple[str, int]]:
    for name in machines:
        begins, _, vcpus = name.rpartition("-")
        if begins == series and vcpus.isdigit():
            yield name, int(vcpus)


def _customs(source: str, day: date, cores: ByMachine, memory: ByMachine) -> dict[str, Any]:
    parts = {"cores": rounded(cores), "memory": rounded(memory)}
    return {"date": day.isoformat(), "source": source, **parts}
