"""What a VM costs by the hour, as far as anybody has written it down."""

from collections.abc import Mapping
from datetime import date

import msgspec


class VmKind(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about a VM that its price depends on; disks, network and discounts come on top."""

    machine_type: str = ""
    gpu: str = ""
    gpus: int = 0
    region: str = ""
    provisioning: str = "STANDARD"


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """USD an hour of one machine type in one region, or of one GPU; None where nobody has said.

    A machine's rate includes `gpus` GPUs; those that it has beyond them are looked for by `gpu`. `date` is
    the day on which the price was read, `source` where.
    """

    machine: str = ""
    gpu: str = ""
    gpus: int = 0
    region: str
    standard: float | None = None
    spot: float | None = None
    flex: float | None = None
    date: date
    source: str = ""


Amounts = tuple[float | None, ...]
"""USD an hour: standard, spot, flex-start; what is not known is None, or left out at the end."""

ByRegion = Mapping[str, Amounts]


class PriceList(msgspec.Struct, frozen=True, kw_only=True):
    """What a program has read on one day from one source, by name and region.

    `machines` are whole ones, and `series` one vCPU of all whose names begin so (`n2-standard`). `gpus` is
    one GPU that is attached, by its type, and `included` how many come with a machine, where any do. `cores`
    and `memory` are one vCPU and one GiB of custom types (`n2-custom`, of N1 `custom`).
    """

    date: date
    source: str
    machines: Mapping[str, ByRegion] = {}
    series: Mapping[str, ByRegion] = {}
    gpus: Mapping[str, ByRegion] = {}
    included: Mapping[str, int] = {}
    cores: Mapping[str, ByRegion] = {}
    memory: Mapping[str, ByRegion] = {}


class PriceTable(msgspec.Struct, frozen=True, kw_only=True):
    """All rates that are known; `problem` says why there are none, "" where the table could be read.

    Of what stands in `lists` the rates are made when they are asked for.
    """

    rates: tuple[Rate, ...] = ()
    problem: str = ""
    lists: tuple[PriceList, ...] = ()


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """USD an hour; `date` is that of the oldest rate in it."""

    per_hour: float
    date: date
