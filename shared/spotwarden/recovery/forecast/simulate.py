"""Play a job to its end, many times: lives of VMs, waits between them, and the work that each loss costs."""

import math
from collections.abc import Callable, Iterator
from typing import Protocol

import msgspec

from spotwarden.recovery.forecast.hazards import age_at
from spotwarden.recovery.forecast.markets import SpotMarket, quantile

RUNS = 300
LIVES = 60
"""Of one run; what is left then is taken to go on at the pace of all of them."""
NEVER = math.inf
LEAST = 1e-3
"""No place is a thousand times better, or worse, than what was seen."""


class Chance(Protocol):
    """What is drawn from; `random.Random` is one."""

    @property
    def random(self) -> Callable[[], float]:
        """Draw from 0 to 1."""

    @property
    def gammavariate(self) -> Callable[[float, float], float]:
        """Draw a positive number from a shape and a scale, with their product as its mean."""

    @property
    def gauss(self) -> Callable[[float, float], float]:
        """Draw around a mean, with a deviation."""


class Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """How far a job's places may differ from those that were seen: shapes of gamma distributions.

    The larger, the surer. `losses` and `waits` are those before anything has happened to the job, and each
    of its own losses and waits adds one. From then on they are `at_most` so much: places change, and what a
    job has seen of them is of its last days.
    """

    losses: float
    waits: float
    at_most: float


class Prospect(msgspec.Struct, frozen=True, kw_only=True):
    """A job as it is played on; times in hours.

    `left` is work, `spread` how far off that may be (1 is as much again), and `total` what is left where a
    loss costs all, None where work is saved. `setup` is from a VM's start to its first work; `up` is how
    long the job's VMs have been up, None while it has none; with `first` these are its first. `interval`
    is between two saves. `lost` counts losses, and `risk` those to be expected of what it went through;
    `waits` counts its waits, which were `slow` times as long as elsewhere. `spot` is false for
    VMs that are not preempted. On-demand VMs are taken when only work and `reserve` are left to the deadline.
    """

    market: SpotMarket
    doubt: Doubt
    left: float
    spread: float = 0.0
    total: float | None = None
    setup: float
    up: float | None = None
    first: bool = False
    interval: float
    lost: int = 0
    risk: float = 0.0
    waits: int = 0
    slow: float = 1.0
    spot: bool = True
    deadline: float | None = None
    reserve: float = 0.0

    @property
    def hard(self) -> float:
        """How many times as many losses as were seen elsewhere, by those of the job itself."""
        return max((self.doubt.losses + self.lost) / (self.doubt.losses + self.risk), LEAST)


class PlayedRun(msgspec.Struct, frozen=True, kw_only=True):
    """One way in which it may go: hours to the end, and of these up on spot and on on-demand VMs."""

    hours: float
    spot: float
    other: float = 0.0


def play(prospect: Prospect, chance: Chance, runs: int) -> Iterator[PlayedRun]:
    """Each run draws anew how hard its places are, and how far off the estimate of the work is."""
    for _ in range(runs):
        left = prospect.left
        if prospect.spread:
            left *= math.exp(min(chance.gauss(0.0, prospect.spread), 3.0))
        if not prospect.spot:
            rest = left + max(0.0, prospect.setup - (prospect.up or 0.0))
            yield PlayedRun(hours=rest, spot=0.0, other=rest)
        else:
            yield _run(prospect, left, chance)


def _run(prospect: Prospect, whole: float, chance: Chance) -> PlayedRun:
    """One life after the other, until the work is done, or must be done on on-demand VMs."""
    rates, waits = prospect.market.rates, prospect.market.waits
    hard, slow = _drawn(prospect, chance)
    age, setup = _entry(prospect, chance)
    hours = spot = since = 0.0
    if prospect.up is None:
        hours = quantile(waits, chance.random()) * slow
    left = whole
    for _ in range(LIVES):
        latest = NEVER if prospect.deadline is None else prospect.deadline - prospect.reserve - left
        if hours >= latest:
            need = prospect.setup + left
            return PlayedRun(hours=max(since, latest) + need, spot=spot, other=need)
        need = setup + left
        life = age_at(rates, age, -math.log(1.0 - chance.random()) / hard) - age
        if life >= need:
            return PlayedRun(hours=hours + need, spot=spot + need)
        saved = max(0.0, life - setup - chance.random() * prospect.interval)
        left = left - saved if prospect.total is None else prospect.total
        spot += life
        since = hours + life
        hours = since + quantile(waits, chance.random()) * slow
        age, setup = 0.0, prospect.setup
    return _continued(whole, left, hours, spot)


def _drawn(prospect: Prospect, chance: Chance) -> tuple[float, float]:
    """How many times as many losses, and as long waits, as were seen elsewhere."""
    doubt = prospect.doubt
    hard = prospect.hard * _factor(doubt.losses, prospect.lost, doubt.at_most, chance)
    return hard, prospect.slow / _factor(doubt.waits, prospect.waits, doubt.at_most, chance)


def _factor(shape: float, seen: int, at_most: float, chance: Chance) -> float:
    """How far off an estimate is that rests on so much."""
    sure = min(shape + seen, at_most) if seen else shape
    return max(chance.gammavariate(sure, 1.0 / sure), LEAST)


def _entry(prospect: Prospect, chance: Chance) -> tuple[float, float]:
    """The age of what it runs on, and what is left of its start."""
    if prospect.up is None:
        return 0.0, prospect.setup
    before = quantile(prospect.market.ages, chance.random()) if prospect.first else 0.0
    return before + prospect.up, max(0.0, prospect.setup - prospect.up)


def _continued(whole: float, left: float, hours: float, spot: float) -> PlayedRun:
    """What is left, at the pace of what was done; without any it never ends."""
    done = whole - left
    if done <= 0.0:
        return PlayedRun(hours=NEVER, spot=NEVER)
    times = whole / done
    return PlayedRun(hours=hours * times, spot=spot * times)
