"""Write what the H100 probes say of places: `python -m tests.bench.spot_traces.write_markets`.

Zones are counted over the whole trace; jobs that move are replayed from even seeds, with our placement.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import msgspec

from spotwarden.recovery.forecast.hazards import AGES
from spotwarden.recovery.forecast.markets import ASKED, Reach, SeenMarkets, SpotMarket
from spotwarden.recovery.forecast.table import FILE
from spotwarden.recovery.places.deadline_line import aside
from spotwarden.recovery.places.moving import BESIDE

from .calibration import us
from .lives import ReplayedLife, lives, moving, waits
from .market import HOUR, ROUND, Zone, h100
from .ours import Ours
from .placing import seeds
from .replay import Job, Rule, Run

SIZES = (1, 8, 16)
QUANTILES = 21
LEAST_EXPOSURE = 0.5
"""Hours at an age, below which no rate is told from chance."""
SINCE = datetime(2025, 10, 4, 0, 10, tzinfo=UTC)
ROUNDS = 2114


def main() -> None:
    """Write the table, one row a line."""
    head, rows = written()
    FILE.write_text(f"{head}\n{rows}\n]}}\n", encoding="utf-8")


def written() -> tuple[str, str]:
    """Its first line and its rows."""
    seen = SeenMarkets(
        machine="a3-highgpu-8g",
        since=SINCE,
        until=SINCE + timedelta(seconds=ROUNDS * ROUND),
        source="probes of 16 spot VMs each ten minutes, SkyNomad artifact (NSDI '27)",
        market=(),
    )
    head = msgspec.json.encode(seen).decode().removesuffix("]}")
    return head, ",\n".join(msgspec.json.encode(row).decode() for vms in SIZES for row in markets(vms))


def markets(vms: int) -> Iterator[SpotMarket]:
    """The rows for so many VMs: zones, then regions, then all of them."""
    yield from of_zones(vms)
    there = us(list(h100(vms, held=False).values()))
    for region in sorted({zone.region for zone in there}):
        yield _replayed(vms, Reach.REGION, region, [zone for zone in there if zone.region == region])
    yield _replayed(vms, Reach.REGION, "", there)
    yield _replayed(vms, Reach.REGIONS, "", there)


def of_zones(vms: int) -> Iterator[SpotMarket]:
    """The rows of jobs that stay in their zone, and that of all zones together."""
    zones = [zone for zone in h100(vms, held=False).values() if any(zone.up)]
    stays = {zone.name: _stays(zone) for zone in zones}
    for zone in zones:
        ages = _ages(stays[zone.name])
        yield _row(vms, Reach.ZONE, zone.name, stays[zone.name], _closed(zone), _back_to(zone), ages)
    every = [stay for zone in zones for stay in stays[zone.name]]
    gone = [wait for zone in zones for wait in _closed(zone)]
    back = [hours for zone in zones for hours in _back_to(zone)]
    yield _row(vms, Reach.ZONE, "", every, gone, back, _ages(every))


def _stays(zone: Zone) -> list[ReplayedLife]:
    """Each time that it was open; the last one has not ended."""
    edges = [0, *zone.edges]
    return [
        ReplayedLife(first * ROUND, last * ROUND - 1, last < len(zone.up))
        for first, last in pairwise(edges)
        if zone.up[first]
    ]


def _closed(zone: Zone) -> list[float]:
    edges = [0, *zone.edges]
    return [(last - first) * ROUND / HOUR for first, last in pairwise(edges) if not zone.up[first]]


def _back_to(zone: Zone) -> list[float]:
    """The hours from each time that it closed until it is found open by who asks once an hour."""
    closes = (edge * ROUND for edge in zone.edges[:-1] if zone.up[edge - 1])
    return [_asked(at, [zone]) for at in closes]


def _asked(since: float, zones: Sequence[Zone], taken: str = "") -> float:
    """After how many hours one is found open by who asks once an hour, but seldom the one that is `taken`."""
    times = 1
    while not any(
        zone.open(since + times * ASKED * HOUR) for zone in zones if zone.name != taken or times % BESIDE == 0
    ):
        times += 1
    return times * ASKED


def _ages(stays: Sequence[ReplayedLife]) -> list[float]:
    """For how long it had been open, at each round in which it was."""
    return [at * ROUND / HOUR for stay in stays for at in range(int(stay.hours * HOUR // ROUND) + 1)]


def _replayed(vms: int, reach: Reach, place: str, zones: Sequence[Zone]) -> SpotMarket:
    found: list[ReplayedLife] = []
    gaps: list[float] = []
    back: list[float] = []
    for job in seeds(0):
        for home in zones:
            there = moving(reach, home, zones)
            seen, _ = lives(job, *there)
            found += seen
            gaps += waits(seen)
            back += _back(job, *moving(reach, home, zones))
    return _row(vms, reach, place, found, gaps, back, [0.0])


def _back(job: Job, rule: Rule, zones: Sequence[Zone]) -> Iterator[float]:
    """The same after each loss, beside an on-demand VM: in its zone a job that may move asks less often."""
    run = Run(job, rule, zones)
    assert isinstance(rule, Ours)
    while not run.over:
        run.step()
        if run.state.lost:
            taken = aside(rule.places, {}, rule.memory.record) if len(zones) > 1 else ""
            yield _asked(run.state.now, zones, taken)


def _row(
    vms: int,
    reach: Reach,
    place: str,
    stays: Sequence[ReplayedLife],
    gaps: Sequence[float],
    back: Sequence[float],
    ages: Sequence[float],
) -> SpotMarket:
    return SpotMarket(
        vms=vms,
        reach=reach,
        place=place,
        rates=tuple(_rates(stays)),
        waits=_quantiles(gaps or [0.0]),
        back=_quantiles(back or [ASKED]),
        ages=_quantiles(ages),
    )


def _rates(stays: Sequence[ReplayedLife]) -> Iterator[float]:
    """Losses an hour from each age on."""
    for first, last in pairwise((*AGES, float("inf"))):
        exposed = sum(max(0.0, min(stay.hours, last) - first) for stay in stays)
        lost = sum(stay.lost and first <= stay.hours < last for stay in stays)
        yield round(lost / max(exposed, LEAST_EXPOSURE), 4)


def _quantiles(values: Sequence[float]) -> tuple[float, ...]:
    ranked = sorted(values)
    if ranked[0] == ranked[-1]:
        return (round(ranked[0], 3),)
    last = len(ranked) - 1
    return tuple(round(ranked[round(step * last / (QUANTILES - 1))], 3) for step in range(QUANTILES))


if __name__ == "__main__":
    main()
