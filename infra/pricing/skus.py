"""The price catalog of Cloud Billing → what one vCPU, one GiB and one GPU or TPU chip cost, by region.

Google bills them apart and names them in words ("Method: services.skus.list"). A description is read only
as a whole, so that commitments, reservations, sole tenancy and premiums are never taken for a price. Two
prices for one thing are left out, and so is a price of zero, which is a placeholder.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

STANDARD, SPOT, FLEX = range(3)
"""Where a price stands in a row."""
MODELS = {"": STANDARD, "Spot Preemptible ": SPOT, "DWS Defined Duration ": FLEX}
ATTACHED = {
    "": STANDARD,
    " attached to Spot Preemptible VMs": SPOT,
    " attached to DWS Defined Duration VMs": FLEX,
}
"""What the catalog calls flex-start is the Dynamic Workload Scheduler's defined duration."""

# Families whose name in the catalog is not that of their machine types.
FAMILIES = {
    "N1 Predefined": "n1",
    "Compute optimized": "c2",
    "A3Plus": "a3-megagpu",
    "A3Ultra": "a3-ultragpu",
    "Custom": "custom",
}
GPUS = {
    "Nvidia Tesla T4": "nvidia-tesla-t4",
    "Nvidia Tesla V100": "nvidia-tesla-v100",
    "Nvidia Tesla P100": "nvidia-tesla-p100",
    "Nvidia Tesla P4": "nvidia-tesla-p4",
    "Nvidia Tesla K80": "nvidia-tesla-k80",
    "Nvidia L4": "nvidia-l4",
    "Nvidia Tesla A100": "nvidia-tesla-a100",
    "Nvidia Tesla A100 80GB": "nvidia-a100-80gb",
    "Nvidia H100 80GB": "nvidia-h100-80gb",
    "Nvidia H100 80GB Mega": "nvidia-h100-mega-80gb",
    "Nvidia H100 Mega 80GB": "nvidia-h100-mega-80gb",
    "Nvidia H100 80GB Plus": "nvidia-h100-mega-80gb",
    "Nvidia H200 141GB": "nvidia-h200-141gb",
    "H200 141GB": "nvidia-h200-141gb",
    "Nvidia B200": "nvidia-b200",
    "RTX 6000 96GB": "nvidia-rtx-pro-6000",
}
CHIPS = {"V5e": "ct5lp-hightpu", "V5p": "ct5p-hightpu", "V6e": "ct6e-standard", "7x": "tpu7x-standard"}
"""TPUs: their machine types end in the number of chips, `ct6e-standard-4t`."""
SLICES = {"A4 Nvidia B200": "a4-highgpu"}
"""GPUs that are billed with their part of the machine's vCPUs and memory (`a4-highgpu-8g` has eight)."""

_MODEL = "|".join(re.escape(words) for words in MODELS if words)
_PART = re.compile(rf"(?P<model>{_MODEL}|)(?P<family>\S.*?)(?: Instance)? (?P<part>Core|Ram) running in \S.*")
_GPU = re.compile(
    r"(?P<gpu>(?:Nvidia|RTX|H200) .+?)(?: GPU)?"
    r"(?P<model> attached to (?:Spot Preemptible|DWS Defined Duration) VMs|) running in \S.*"
)
_TPU = re.compile(
    r"(?P<model>DWS Defined Duration |)(?:T(?:pu|PU))?(?P<chip>V\d\w?|7x)"
    r"(?P<spot> attached to Spot Preemptible VMs|) running in \S.*"
)
_SLICE = re.compile(rf"(?P<model>{_MODEL}|)(?P<gpu>\S.*?) \(1 gpu slice\) running in \S.*")
_SIMPLE = re.compile(r"(?P<family>[A-Z]\d[A-Z]{0,2})(?: AMD| Arm)?(?P<custom> Custom)?")
"""`N4D AMD Custom` is n4d-custom."""
UNITS = {"core": "h", "memory": "GiBy.h", "gpu": "h", "chip": "h", "slice": "h"}


class Unit(NamedTuple):
    """One thing that is billed: `kind` is core, memory, gpu, chip or slice, `name` of what."""

    kind: str
    name: str


Prices = Mapping[Unit, Mapping[str, tuple[float | None, ...]]]


def unit_prices(skus: Iterable[Mapping[str, Any]]) -> Prices:
    """USD an hour of each unit in each region: standard, spot, flex-start."""
    found: dict[tuple[Unit, str, int], set[float]] = defaultdict(set)
    for sku in skus:
        read = _read(sku.get("description", ""))
        if read is None:
            continue
        unit, model = read
        amount = _amount(sku, UNITS[unit.kind])
        for region in sku.get("serviceRegions", ()) if amount else ():
            found[unit, region, model].add(amount)
    prices: dict[Unit, dict[str, list[float | None]]] = defaultdict(dict)
    for (unit, region, model), amounts in found.items():
        row = prices[unit].setdefault(region, [None, None, None])
        row[model] = amounts.pop() if len(amounts) == 1 else None
    return {unit: {region: tuple(row) for region, row in rows.items()} for unit, rows in prices.items()}


def _read(description: str) -> tuple[Unit, int] | None:
    """The unit that a description speaks of, and how it is provisioned; None for all else."""
    if part := _SLICE.fullmatch(description):
        series = SLICES.get(part["gpu"])
        return (Unit("slice", series), MODELS[part["model"]]) if series else None
    if gpu := _GPU.fullmatch(description):
        name = GPUS.get(gpu["gpu"])
        return (Unit("gpu", name), ATTACHED[gpu["model"]]) if name else None
    if tpu := _TPU.fullmatch(description):
        chip = CHIPS.get(tpu["chip"])
        model = SPOT if tpu["spot"] else MODELS[tpu["model"]]
        return (Unit("chip", chip), model) if chip else None
    if part := _PART.fullmatch(description):
        family = _family(part["family"])
        kind = "core" if part["part"] == "Core" else "memory"
        return (Unit(kind, family), MODELS[part["model"]]) if family else None
    return None


def _family(words: str) -> str:
    if words in FAMILIES:
        return FAMILIES[words]
    simple = _SIMPLE.fullmatch(words)
    return f"{simple['family'].lower()}{'-custom' if simple['custom'] else ''}" if simple else ""


def _amount(sku: Mapping[str, Any], unit: str) -> float:
    """USD an hour of one unit from the first use on; 0 where it is not told so."""
    for pricing in sku.get("pricingInfo", ()):
        expression = pricing.get("pricingExpression", {})
        tiers = list(_tiers(expression))
        if expression.get("usageUnit") == unit and len(tiers) == 1:
            return tiers[0]
    return 0.0


def _tiers(expression: Mapping[str, Any]) -> Iterator[float]:
    for tier in expression.get("tieredRates", ()):
        price = tier.get("unitPrice", {})
        if price.get("currencyCode") == "USD":
            yield round(int(price.get("units", 0)) + int(price.get("nanos", 0)) / 10**9, 9)
