"""What is known of places: how long spot VMs live there, and how long room is waited for."""

import math
from collections.abc import Sequence
from enum import Enum

import msgspec

from spotwarden.model.moment import Moment


class Reach(Enum):
    """How far a job may move when it loses its place."""

    ZONE = "zone"
    REGION = "region"
    REGIONS = "regions"


class SpotMarket(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was seen of jobs that want `vms` VMs at once, in one zone or moving as far as `reach` says.

    `place` is "" for the mean of all places. `rates` are losses an hour from each age of `AGES` on. `waits`
    are hours without VMs after a loss, and `ages` those that a place had been open at any moment: quantiles,
    evenly from the least to the most.
    """

    vms: int
    reach: Reach
    place: str = ""
    rates: tuple[float, ...]
    waits: tuple[float, ...]
    ages: tuple[float, ...] = (0.0,)


class SeenMarkets(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that was seen of one machine type: when, and where that is published."""

    machine: str
    since: Moment
    until: Moment
    source: str
    market: tuple[SpotMarket, ...]


def market_of(seen: SeenMarkets, *, machine: str, vms: int, reach: Reach, place: str) -> SpotMarket:
    """The row that comes nearest: of this place where one is known, of as many VMs as possible."""

    def distance(row: SpotMarket) -> tuple[bool, float]:
        return row.place != "", abs(math.log2(row.vms / max(1, vms)))

    rows = [row for row in seen.market if row.reach is reach]
    own = [row for row in rows if row.place == place and machine == seen.machine and place]
    return min(own or rows, key=distance)


def unwatched(market: SpotMarket) -> SpotMarket:
    """The same of places that nobody has watched: of every other wait only the mean is taken over.

    Most waits for H100 spot VMs are of minutes and a few last for days. Whether that is so elsewhere nobody
    knows; what has this mean and nothing else is spread as chance spreads it (exponentially).
    """
    count = len(market.waits)
    mean = sum(market.waits) / count
    spread = (-mean * math.log(1.0 - (at + 0.5) / count) for at in range(count))
    return msgspec.structs.replace(market, waits=tuple(sorted((*market.waits, *spread))))


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share of evenly spaced quantiles lies."""
    at = share * (len(values) - 1)
    low = int(at)
    if low >= len(values) - 1:
        return values[-1]
    return values[low] + (at - low) * (values[low + 1] - values[low])
