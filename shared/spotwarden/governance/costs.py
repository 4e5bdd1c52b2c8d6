"""What a VM costs: a price with its date, or nothing. Nobody's price is never counted as none."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta

import msgspec

from spotwarden.model.fleet import Machine
from spotwarden.model.placement import region_of
from spotwarden.model.prices import PriceTable, VmKind
from spotwarden.recovery.kinds.prices import price_of


class VmCost(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a sum: `hours` of VMs have no known price; `oldest` is the date of the oldest rate."""

    amount: float = 0.0
    hours: float = 0.0
    oldest: date | None = None


def kind_of(machine: Machine) -> VmKind:
    """What the price of this VM depends on."""
    return VmKind(
        machine_type=machine.machine_type,
        gpu=machine.gpu,
        gpus=machine.gpus,
        region=region_of(machine.zone),
        provisioning=machine.provisioning,
    )


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


def unpriced(time: timedelta) -> str:
    """How much VM time is not in a sum for want of a price, as a person reads it; "" where there is none."""
    if not time:
        return ""
    shown = f"{time / timedelta(hours=1):,.1f}"
    return f"{'less than 0.1' if shown == '0.0' else shown} VM-hours have no known price"


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
