"""Which place is asked next, and when a job has waited for spot long enough.

The numbers come from replays of real traces: see docs/placement.md and `tests/bench/spot_traces.py`.
Moments are compared by their distance, so that a clock that is off by a minute, or a moment that cannot
be, neither raises nor blocks a place for longer than the limit says.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from spotwarden.model.limits import PlacementLimits
from spotwarden.model.placement import PlaceEvent, PlacementRecord, PlaceNews, ZoneAvailability
from spotwarden.recovery.places.expected import NOTHING, UNKNOWN, Expected, advised, expected, worded

TROUBLE_AT_MOST = 10.0
"""A storm takes hundreds of VMs from one zone; that is one bad hour, not hundreds to be forgotten."""
CLEAR = ZoneAvailability()
Prices = Mapping[str, float]
"""USD an hour, by place."""
NO_PRICES: Prices = {}


def learn(record: PlacementRecord, news: Iterable[PlaceNews], limits: PlacementLimits) -> PlacementRecord:
    """Add what places did to what is remembered; news no newer than the newest of its kind counts once."""
    availability = dict(record.availability)
    for item in sorted(news, key=lambda candidate: candidate.at):
        if item.event is PlaceEvent.NO_NOTICE:
            record = replace(record, no_notice=_newer(record.no_notice, item.at))
            continue
        availability[item.place] = _after(availability.get(item.place, CLEAR), item, limits)
    return replace(record, availability=availability)


def order(
    places: Sequence[str],
    record: PlacementRecord,
    now: datetime,
    limits: PlacementLimits,
    prices: Prices = NO_PRICES,
) -> tuple[str, ...]:
    """Put the places that may be asked now in order, best first; `places[0]` is home.

    Left out are those that had none within `block`. Behind stand those that had none within `fragile`,
    then those with more trouble, counted in whole events after decay, then those of which Google expects
    less, then those that cost more; else the given order stays. A place without a price counts as costing
    what the first given does, and where that has none, prices say nothing.
    """
    advice = advised(record, now, limits)
    at_first = prices.get(places[0]) if places else None

    def rank(place: str) -> tuple[bool, int, Expected, float]:
        availability = record.availability.get(place, CLEAR)
        return (
            _within(availability.out, now, limits.fragile),
            round(trouble(availability, now, limits)),
            expected(advice.get(place, UNKNOWN)) if advice else NOTHING,
            prices.get(place, at_first) if at_first is not None else 0.0,
        )

    return tuple(sorted((place for place in places if not _blocked(place, record, now, limits)), key=rank))


def is_quiet(place: str, record: PlacementRecord, now: datetime, limits: PlacementLimits) -> bool:
    """Whether nobody was refused there, nor lost a VM, within `fragile`: as far as our own jobs have seen."""
    availability = record.availability.get(place, CLEAR)
    return not _within(availability.out, now, limits.fragile) and not _within(
        availability.taken, now, limits.fragile
    )


def why_there(
    places: Sequence[str],
    record: PlacementRecord,
    now: datetime,
    limits: PlacementLimits,
    prices: Prices = NO_PRICES,
) -> str:
    """Say what Google expects, where that puts another place first than all else does; "" where not."""
    first = order(places, record, now, limits, prices)[:1]
    else_first = order(places, replace(record, advice=None), now, limits, prices)[:1]
    if first == else_first:
        return ""
    advice = advised(record, now, limits)
    here, there = (worded(advice.get(place, UNKNOWN)) for place in (*first, *else_first))
    return f"Google expects {here}; of {else_first[0]} {there}"


def trouble(availability: ZoneAvailability, now: datetime, limits: PlacementLimits) -> float:
    """The count of stockouts and preemptions as it stands now, each halved every `half_life`."""
    return availability.trouble * _fade(availability.at, now, limits) if availability.at else 0.0


def jitter(job: str, turn: int, span: timedelta) -> timedelta:
    """Spread jobs evenly over `span`: the same job and turn always get the same delay."""
    digest = hashlib.sha256(f"{job}/{turn}".encode(errors="replace")).digest()
    return span * (int.from_bytes(digest[:4]) / 2**32)


def why_on_demand(
    *,
    preemptions: int,
    remaining: timedelta | None,
    deadline: datetime | None,
    now: datetime,
    limits: PlacementLimits,
) -> str:
    """Say why the next attempt should not be spot; empty where spot is right."""
    if limits.on_demand_after is not None and preemptions >= limits.on_demand_after:
        return f"preempted {preemptions} times, on-demand from {limits.on_demand_after} on"
    if deadline is None or remaining is None or now < spot_until(remaining, deadline, limits):
        return ""
    return (
        f"the deadline {deadline:%Y-%m-%d %H:%M} UTC leaves no time to wait: {_hours(remaining)} of work left"
    )


def spot_until(remaining: timedelta, deadline: datetime, limits: PlacementLimits) -> datetime:
    """The moment up to which a job can wait for spot, and lose it once, and still make its deadline."""
    needed = remaining + limits.deadline_restarts * limits.restart_cost
    first = datetime.min.replace(tzinfo=deadline.tzinfo)
    return deadline - needed if needed < deadline - first else first


def move_until(remaining: timedelta, deadline: datetime, limits: PlacementLimits) -> datetime:
    """The moment up to which a job can be moved: it may lose the VM right after, and still finish in time."""
    return spot_until(remaining + limits.restart_cost, deadline, limits)


def _after(availability: ZoneAvailability, news: PlaceNews, limits: PlacementLimits) -> ZoneAvailability:
    match news.event:
        case PlaceEvent.GAVE:
            return replace(availability, given=_newer(availability.given, news.at))
        case PlaceEvent.STOCKOUT if availability.out is None or news.at > availability.out:
            return replace(_troubled(availability, news.at, limits), out=news.at)
        case PlaceEvent.PREEMPTED if availability.taken is None or news.at > availability.taken:
            return replace(_troubled(availability, news.at, limits), taken=news.at)
    return availability


def _troubled(availability: ZoneAvailability, at: datetime, limits: PlacementLimits) -> ZoneAvailability:
    """One more event; whichever of memory and event is older has faded by the time of the newer."""
    newest = _newer(availability.at, at)
    count = trouble(availability, newest, limits) + _fade(at, newest, limits)
    return replace(availability, trouble=min(count, TROUBLE_AT_MOST), at=newest)


def _newer(moment: datetime | None, other: datetime) -> datetime:
    return other if moment is None else max(moment, other)


def _fade(at: datetime, now: datetime, limits: PlacementLimits) -> float:
    if limits.half_life <= timedelta():
        return 0.0
    return math.pow(0.5, abs(now - at) / limits.half_life)


def _within(at: datetime | None, now: datetime, span: timedelta) -> bool:
    return at is not None and abs(now - at) < span


def _blocked(place: str, record: PlacementRecord, now: datetime, limits: PlacementLimits) -> bool:
    return _within(record.availability.get(place, CLEAR).out, now, limits.block)


def _hours(span: timedelta) -> str:
    return f"{span / timedelta(hours=1):.1f} h"
