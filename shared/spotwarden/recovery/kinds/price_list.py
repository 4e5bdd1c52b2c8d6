"""A list of prices → the rates of one machine type or one GPU type."""

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest

from spotwarden.model.prices import Amounts, ByRegion, PriceList, Rate

MIB = 1024
_SIZED = re.compile(r"(?P<series>[a-z0-9]+-[a-z]+)-(?P<vcpus>[0-9]{1,4})")
_CUSTOM = re.compile(r"(?P<kind>(?:[a-z0-9]+-)?custom)-(?P<vcpus>[0-9]{1,4})-(?P<mib>[0-9]{1,8})")
"""Types with extended memory, and shared-core ones, are billed otherwise and match neither."""


def machine_rates(prices: PriceList, machine: str) -> Iterator[Rate]:
    """Its rate in each region that has one."""
    for region, amounts in _of_machine(prices, machine).items():
        yield _rate(prices, amounts, region, machine=machine, gpus=prices.included.get(machine, 0))


def gpu_rates(prices: PriceList, gpu: str) -> Iterator[Rate]:
    """The rate of one such GPU in each region that has one."""
    for region, amounts in prices.gpus.get(gpu, {}).items():
        yield _rate(prices, amounts, region, gpu=gpu, gpus=1)


def _of_machine(prices: PriceList, machine: str) -> ByRegion:
    if machine in prices.machines:
        return prices.machines[machine]
    if sized := _SIZED.fullmatch(machine):
        return _times(prices.series.get(sized["series"], {}), int(sized["vcpus"]))
    if custom := _CUSTOM.fullmatch(machine):
        cores = _times(prices.cores.get(custom["kind"], {}), int(custom["vcpus"]))
        memory = _times(prices.memory.get(custom["kind"], {}), int(custom["mib"]) / MIB)
        return {region: _sum(cores[region], memory[region]) for region in cores.keys() & memory.keys()}
    return {}


def _times(rates: ByRegion, count: float) -> Mapping[str, Amounts]:
    return {
        region: tuple(None if amount is None else amount * count for amount in amounts)
        for region, amounts in rates.items()
    }


def _sum(one: Amounts, other: Amounts) -> Amounts:
    pairs = zip_longest(one, other)
    return tuple(None if left is None or right is None else left + right for left, right in pairs)


def _rate(
    prices: PriceList, amounts: Amounts, region: str, *, machine: str = "", gpu: str = "", gpus: int = 0
) -> Rate:
    standard, spot, flex = (*amounts, None, None, None)[:3]
    return Rate(
        machine=machine,
        gpu=gpu,
        gpus=gpus,
        region=region,
        standard=standard,
        spot=spot,
        flex=flex,
        date=prices.date,
        source=prices.source,
    )
