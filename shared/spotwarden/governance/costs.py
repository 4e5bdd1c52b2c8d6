"""What a VM costs: a price with its date, or nothing. Nobody's price is never counted as none."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta

import msgspec

from spotwarden.governance.price_list import gpu_rates, machine_rates
from spotwarden.model.fleet import Machine
from spotwarden.model.prices import Price, PriceTable, Rate, VmKind

PART_OF_REGION = 3
"""A zone's name has three parts, us-central1-a; the first two name its region."""


class VmCost(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a sum: `hours` of VMs have no known price; `oldest` is the date of the oldest rate."""

    amount: float = 0.0
    hours: float = 0.0
    oldest: date | None = None


def region_of(place: str) -> str:
    """The region of a zone; a region is its own."""
    return "-".join(place.split("-")[: PART_OF_REGION - 1])


def kind_of(machine: Machine) -> VmKind:
    """What the price of this VM depends on."""
    return VmKind(
        machine_type=machine.machine_type,
        gpu=machine.gpu,
        gpus=machine.gpus,
        region=region_of(machine.zone),
        provisioning=machine.provisioning,
    )


def price_of(kind: VmKind, table: PriceTable) -> Price | None:
    """USD an hour of one VM; None where any part of it has no known price."""
    whole = _newest(table, kind, machine=kind.machine_type)
    if whole is None:
        return None
    rate, amount = whole
    beyond = kind.gpus - rate.gpus
    if beyond <= 0:
        return Price(per_hour=amount, date=rate.date)
    each = _newest(table, kind, gpu=kind.gpu)
    if each is None:
        return None
    return Price(per_hour=amount + beyond * each[1], date=min(rate.date, each[0].date))


def _newest(
    table: PriceTable, kind: VmKind, *, machine: str = "", gpu: str = ""
) -> tuple[Rate, float] | None:
    """The newest rate that says what this costs, provisioned as it is, and what it says."""
    wanted = (machine, gpu, kind.region)
    found = [
        (rate, said)
        for rate in (*table.rates, *_listed(table, machine=machine, gpu=gpu))
        if (rate.machine, rate.gpu, rate.region) == wanted and (said := _said(rate, kind)) is not None
    ]
    return max(found, key=lambda item: item[0].date) if found and (machine or gpu) else None


def _listed(table: PriceTable, *, machine: str, gpu: str) -> Iterator[Rate]:
    for prices in table.lists:
        yield from machine_rates(prices, machine) if machine else gpu_rates(prices, gpu)


def _said(rate: Rate, kind: VmKind) -> float | None:
    """The rate of a VM that is provisioned so; what reservations cost stands in no price list."""
    return {"STANDARD": rate.standard, "SPOT": rate.spot, "FLEX_START": rate.flex}.get(kind.provisioning)


def bill(hours: Iterable[tuple[VmKind, float]], table: PriceTable) -> VmCost:
    """The sum of VMs of these kinds over so many hours each."""
    amount = unknown = 0.0
    dates = []
    for kind, span in hours:
        if (price := price_of(kind, table)) is None:
            unknown += span
            continue
        amount += price.per_hour * span
        dates.append(price.date)
    return VmCost(amount=amount, hours=unknown, oldest=min(dates, default=None))


def words(bill: VmCost) -> str:
    """The sum as a person reads it, with what is not in it."""
    if not bill.hours:
        return f"${bill.amount:.2f}"
    if not bill.amount:
        return f"not known: {_hours(bill)} no known price"
    return f"at least ${bill.amount:.2f}; {_hours(bill)} no known price"


def _hours(bill: VmCost) -> str:
    """How many, or of what has hardly begun only that it is."""
    shown = f"{bill.hours:.1f}"
    return "its VMs have" if shown == "0.0" else f"{shown} VM-hours have"


def basis(bill: VmCost, table: PriceTable, now: datetime, old: timedelta) -> str:
    """What the sum rests on: the day of its prices, and whether that is long ago."""
    if table.problem:
        return f"no prices: {table.problem}"
    if bill.oldest is None:
        return "no price is known"
    age = now.date() - bill.oldest
    return f"prices of {bill.oldest}" + (f", {age.days} days old" if age > old else "")
