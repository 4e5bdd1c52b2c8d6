"""What VM time costs: whole millionths of a dollar for each cell, so that every table adds up."""

from collections.abc import Iterable
from datetime import timedelta

from msgspec.structs import replace

from spotwarden.decide.rules.prices import price_of
from spotwarden.model.prices import Kind, Price, PriceTable
from spotwarden.model.report import MILLION, Money

HOUR = 3_600


class Till:
    """Prices by kind of VM, each looked up once."""

    def __init__(self, table: PriceTable) -> None:
        self._table = table
        self._known: dict[Kind, Price | None] = {}

    def cost(self, kind: Kind, seconds: int) -> Money:
        """What so many seconds of this VM cost."""
        if not seconds:
            return Money()
        if kind not in self._known:
            self._known[kind] = price_of(kind, self._table)
        span = timedelta(seconds=seconds)
        if (price := self._known[kind]) is None:
            return Money(unpriced=span)
        return Money(micros=round(price.per_hour * MILLION * seconds / HOUR), priced=span, oldest=price.date)

    def on_demand(self, kind: Kind, seconds: int) -> Money:
        """What they would have cost without spot."""
        return self.cost(replace(kind, provisioning="STANDARD"), seconds)

    def saved(self, kind: Kind, seconds: int) -> Money:
        """How much less they cost than on demand; unpriced where one of the two is not known."""
        paid, full = self.cost(kind, seconds), self.on_demand(kind, seconds)
        if paid.unpriced or full.unpriced:
            return Money(unpriced=timedelta(seconds=seconds))
        return replace(
            full,
            micros=full.micros - paid.micros,
            oldest=min(filter(None, (paid.oldest, full.oldest)), default=None),
        )

    def basis(self) -> str:
        """What all sums rest on, in words."""
        if self._table.problem:
            return f"no prices: {self._table.problem}"
        dates = [price.date for price in self._known.values() if price]
        if not dates:
            return "no price is known"
        span = f"{min(dates)}" if min(dates) == max(dates) else f"{min(dates)} to {max(dates)}"
        return f"list prices of {span}, in US dollars, without discounts, disks and network"


def added(sums: Iterable[Money]) -> Money:
    """All of them together."""
    micros, priced, unpriced, dates = 0, timedelta(0), timedelta(0), []
    for one in sums:
        micros += one.micros
        priced += one.priced
        unpriced += one.unpriced
        if one.oldest:
            dates.append(one.oldest)
    return Money(micros=micros, priced=priced, unpriced=unpriced, oldest=min(dates, default=None))
