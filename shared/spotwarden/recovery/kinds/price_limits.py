"""What the kinds of VM of a ladder may cost: a place that is known to cost more is left out.

Nobody's price is never counted as none: a place without a known price is asked, and that is said.
"""

from collections.abc import Collection, Iterator
from datetime import timedelta

import msgspec

from spotwarden.model.facts import JobFacts
from spotwarden.model.jobfile import MachineOrder
from spotwarden.model.ladder import Rung, VmModel
from spotwarden.model.launch import Launch
from spotwarden.model.limits import PlacementLimits
from spotwarden.recovery.kinds.ladder import from_now_on, ladder_of
from spotwarden.recovery.kinds.machines import launches, said

UNKNOWN = float("inf")
A_DIME = 0.1
"""Below it a cent is too coarse."""
KINDS = {VmModel.SPOT: "spot", VmModel.FLEX: "Flex-start", VmModel.STANDARD: "on-demand"}


class ExpensivePlace(msgspec.Struct, frozen=True, kw_only=True):
    """A place that is not asked, since one VM costs so much there, USD an hour."""

    place: str
    machine: str
    price: float
    rung: Rung

    @property
    def words(self) -> str:
        """In words."""
        on = f" on {self.machine}" if self.machine else ""
        most = f"max_price is {usd(self.rung.max_price or 0.0)}"
        return f"{KINDS[self.rung.model]} in {self.place}{on} costs {usd(self.price)} an hour, {most}"


def usd(amount: float) -> str:
    """An amount of money for one hour."""
    return f"${amount:.2f}" if amount >= A_DIME else f"${amount:.3f}"


def prices_in(facts: JobFacts, launch: Launch, model: VmModel | None, *, spot: bool) -> dict[str, float]:
    """USD an hour of one VM of this launch and kind, by place, where it is known."""
    kind = model or (VmModel.SPOT if spot else VmModel.STANDARD)
    prices = facts.prices if launch is facts.launch else facts.other_prices.get(launch.machine, {})
    return {place: known[kind] for place, known in prices.items() if kind in known}


def needs_prices(facts: JobFacts, limits: PlacementLimits) -> bool:
    """Whether it matters what a VM costs though all its places cost the same."""
    bounded = any(rung.max_price is not None for rung in ladder_of(facts, limits))
    return bounded or facts.file.machine_order is MachineOrder.PRICE


def too_expensive(facts: JobFacts, rung: Rung) -> Iterator[ExpensivePlace]:
    """The places that this kind of VM is not asked of, on each machine type."""
    for launch in launches(facts):
        prices = prices_in(facts, launch, rung.model, spot=False)
        for place in (choice.place for choice in launch.choices):
            if rung.max_price is not None and prices.get(place, 0.0) > rung.max_price:
                machine = said(facts, launch)
                yield ExpensivePlace(place=place, machine=machine, price=prices[place], rung=rung)


def affordable(facts: JobFacts, rung: Rung, places: dict[str, list[str]]) -> dict[str, list[str]]:
    """Those of these places, by machine type, that are not known to cost too much."""
    beyond = {(item.machine, item.place) for item in too_expensive(facts, rung)}
    kept = {
        machine: [place for place in some if (machine, place) not in beyond]
        for machine, some in places.items()
    }
    return {machine: some for machine, some in kept.items() if some}


def kept_away(facts: JobFacts, limits: PlacementLimits, waited: timedelta) -> list[ExpensivePlace]:
    """What is not asked for its price: of the kind whose turn it is, and of those that are passed over."""
    found: list[ExpensivePlace] = []
    for rung in from_now_on(ladder_of(facts, limits), waited):
        found += too_expensive(facts, rung)
        if len(found) < sum(len(launch.choices) for launch in launches(facts)):
            break
    return found


def is_unpriced(
    facts: JobFacts, limits: PlacementLimits, model: VmModel | None, asked: tuple[str, str]
) -> bool:
    """Whether `max_price` says nothing of this machine type in this place, for nobody knows its price."""
    bounded = any(rung.model is model and rung.max_price for rung in ladder_of(facts, limits))
    machine, place = asked
    launch = next((launch for launch in launches(facts) if said(facts, launch) == machine), None)
    return bounded and launch is not None and place not in prices_in(facts, launch, model, spot=False)


def spot_limit(facts: JobFacts, limits: PlacementLimits) -> float | None:
    """The most that spot may cost by the ladder, USD an hour; None for no limit."""
    said_limits = [rung.max_price for rung in ladder_of(facts, limits) if rung.model is VmModel.SPOT]
    known = [limit for limit in said_limits if limit is not None]
    return max(known) if known and len(known) == len(said_limits) else None


def by_price(
    facts: JobFacts, model: VmModel | None, *, spot: bool, places: Collection[tuple[str, str]]
) -> list[Launch]:
    """The launches in the order in which they are asked for: as written, or the cheapest first.

    `places` are those that are open, with their machine type. A machine without a known price comes last.
    """
    ordered = list(launches(facts))
    if facts.file.machine_order is MachineOrder.WRITTEN:
        return ordered

    def cheapest(launch: Launch) -> float:
        known = prices_in(facts, launch, model, spot=spot)
        machine = said(facts, launch)
        return min(
            (known[place] for name, place in places if name == machine and place in known), default=UNKNOWN
        )

    return sorted(ordered, key=cheapest)
