"""What VM time costs: whole millionths of a dollar for each cell, so that every table adds up."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import NamedTuple

from msgspec.structs import replace

from spotwarden.model.prices import Price, PriceTable, VmKind
from spotwarden.recovery.kinds.prices import price_of
from spotwarden.report.model.experiments import MILLION, Money

HOUR = 3_600
Sum = tuple[int, int, int]
"""Micros, priced and unpriced seconds."""


class CellCost(NamedTuple):
    """What one kind of VM costs, as it was and on demand."""

    paid: Price | None
    full: Price | None

    @property
    def dates(self) -> tuple[date, ...]:
        """The days of its prices."""
        return tuple({price.date for price in self if price})

    def cost(self, seconds: int) -> Sum:
        """Of so many seconds."""
        return _sum(self.paid, seconds)

    def on_demand(self, seconds: int) -> Sum:
        """What they would have cost without spot."""
        return _sum(self.full, seconds)

    def saved(self, seconds: int) -> Sum:
        """How much less they cost than that; unpriced where one of the two is not known."""
        if self.paid is None or self.full is None:
            return 0, 0, seconds
        return _sum(self.full, seconds)[0] - _sum(self.paid, seconds)[0], seconds, 0


def _sum(price: Price | None, seconds: int) -> Sum:
    if price is None:
        return 0, 0, seconds
    return round(price.per_hour * MILLION * seconds / HOUR), seconds, 0


class Till:
    """Prices by kind of VM, each looked up once."""

    def __init__(self, table: PriceTable) -> None:
        self._table = table
        self._cache: dict[VmKind, CellCost] = {}

    def bill(self, kind: VmKind) -> CellCost:
        """What this kind of VM costs."""
        if (known := self._cache.get(kind)) is None:
            full = replace(kind, provisioning="STANDARD")
            known = CellCost(price_of(kind, self._table), price_of(full, self._table))
            self._cache[kind] = known
        return known

    def basis(self) -> str:
        """What all sums rest on, in words."""
        if self._table.problem:
            return f"no prices: {self._table.problem}"
        dates = [item for bill in self._cache.values() for item in bill.dates]
        if not dates:
            return "no price is known"
        span = f"{min(dates)}" if min(dates) == max(dates) else f"{min(dates)} to {max(dates)}"
        return f"list prices of {span}, in US dollars, without discounts, disks and network"


def added(sums: Iterable[Money]) -> Money:
    """All of them together."""
    micros, priced, unpriced, dates = 0, timedelta(0), timedelta(0), []
    for money in sums:
        micros += money.micros
        priced += money.priced
        unpriced += money.unpriced
        if money.oldest:
            dates.append(money.oldest)
    return Money(micros=micros, priced=priced, unpriced=unpriced, oldest=min(dates, default=None))
