"""What is known of places: how long spot VMs live there, and how long room is waited for."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from enum import Enum

import msgspec

from spotwarden.model.moment import Moment
from spotwarden.recovery.forecast.hazards import mean_life

ASKED = 1.0
"""Hours from one request for spot beside an on-demand VM to the next, in the table."""


class Reach(Enum):
    """How far a job may move when it loses its place."""

    ZONE = "zone"
    REGION = "region"
    REGIONS = "regions"


class SpotMarket(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was seen of jobs that want `vms` VMs at once, in one zone or moving as far as `reach` says.

    `place` is "" for the mean of all places. `rates` are losses an hour from each age of `AGES` on. `waits`
    are hours without VMs after a loss, `back` those until who asks once an hour beside an on-demand VM is
    given one, and `ages` those that a place had been open at any moment: quantiles, evenly from the least to
    the most. Openings of minutes end a wait, and are mostly missed by who asks once an hour.
    """

    vms: int
    reach: Reach
    place: str = ""
    rates: tuple[float, ...]
    waits: tuple[float, ...]
    back: tuple[float, ...]
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
    """The same of places that nobody has watched: of waits only the mean is taken over, and half of lives.

    Most waits for H100 spot VMs are of minutes and a few last for days, and new VMs are lost soonest. Whether
    that is so elsewhere nobody knows; what has this mean and nothing else is spread as chance spreads it
    (exponentially). Who asks once an hour is back half an hour after the end of such a wait; every other
    search misses what is open for minutes, as was seen.
    """
    count = len(market.waits)
    mean = sum(market.waits) / count
    waits = tuple(-mean * math.log(1.0 - (at + 0.5) / count) for at in range(count))
    even = 1.0 / mean_life(market.rates)
    return msgspec.structs.replace(
        market,
        rates=tuple((rate + even) / 2 for rate in market.rates),
        waits=waits,
        back=tuple(sorted((*market.back, *(wait + ASKED / 2 for wait in waits)))),
    )


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which this share of evenly spaced quantiles lies."""
    at = share * (len(values) - 1)
    low = int(at)
    if low >= len(values) - 1:
        return values[-1]
    return values[low] + (at - low) * (values[low + 1] - values[low])


def share_below(values: Sequence[float], value: float) -> float:
    """The share of evenly spaced quantiles that is less: what `quantile` undoes, where none are equal."""
    if not values[0] <= value < values[-1]:
        return 0.0 if value < values[0] else 1.0
    low = bisect_right(values, value) - 1
    return (low + (value - values[low]) / (values[low + 1] - values[low])) / (len(values) - 1)
