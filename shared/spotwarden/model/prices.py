"""What a VM costs by the hour, as far as anybody has written it down."""

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
    date: date
    source: str = ""


class PriceTable(msgspec.Struct, frozen=True, kw_only=True):
    """All rates that are known; `problem` says why there are none, "" where the table could be read."""

    rates: tuple[Rate, ...] = ()
    problem: str = ""


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """USD an hour; `date` is that of the oldest rate in it."""

    per_hour: float
    date: date
