"""Play a job to its end, many times: lives of VMs, waits between them, and the work that each loss costs."""

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import NamedTuple, Protocol

import msgspec

from spotwarden.recovery.forecast.hazards import age_at
from spotwarden.recovery.forecast.markets import SpotMarket, quantile, share_below
from spotwarden.recovery.forecast.on_demand import DeadlinePlan

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
    job has seen of them is of its last days. `back` is that of how long a job with on-demand VMs looks for
    spot, beyond what its waits tell; None where that was seen.
    """

    losses: float
    waits: float
    at_most: float
    back: float | None = None


class Prospect(msgspec.Struct, frozen=True, kw_only=True):
    """A job as it is played on; times in hours.

    `left` is work, `spread` how far off that may be (1 is as much again), and `total` what is left where a
    loss costs all, None where work is saved. `setup` is from a VM's start to its first work; `up` is how
    long the job's VMs have been up, None while it has none; with `first` these are its first. `interval`
    is between two saves. `lost` counts losses, and `risk` those to be expected of what it went through;
    `waits` counts its waits, which were `slow` times as long as elsewhere; `waited` is for how long it has
    had no spot VM. `spot` is false for VMs that are not preempted. `plan` says when on-demand VMs are
    taken; None: never.
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
    lost: float = 0.0
    risk: float = 0.0
    waits: float = 0.0
    slow: float = 1.0
    waited: float = 0.0
    spot: bool = True
    plan: DeadlinePlan | None = None

    @property
    def returns(self) -> bool:
        """Whether it is only for now on VMs that are not preempted, if it is."""
        return self.plan is not None and self.plan.line is not None

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
        if not prospect.spot and not prospect.returns:
            rest = left + max(0.0, prospect.setup - (prospect.up or 0.0))
            yield PlayedRun(hours=rest, spot=0.0, other=rest)
        else:
            yield _Going(prospect, left, chance).to_its_end()


class _Closed(NamedTuple):
    """For how many hours no place has a spot VM, and until one is found beside an on-demand VM."""

    room: float
    back: float

    def after(self, waited: float) -> "_Closed":
        """What is left of them when so much is over."""
        return _Closed(max(self.room - waited, 0.0), max(self.back - waited, 0.0))

    def times(self, share: float) -> "_Closed":
        """This share of them."""
        return _Closed(self.room * share, self.back * share)


class _Going:
    """A run under way: the hours gone, those of its VMs so far, and the work left.

    Its next spot VM has an `age`, and works once `setup` is over.
    """

    def __init__(self, prospect: Prospect, left: float, chance: Chance) -> None:
        self.prospect, self.chance = prospect, chance
        self.hard, self.slow, self.far = _drawn(prospect, chance)
        self.age, self.setup = _entry(prospect, chance)
        self.whole = self.left = left
        self.hours = self.spot = self.other = 0.0

    def to_its_end(self) -> PlayedRun:
        """One life after the other, until the work is done."""
        prospect, chance = self.prospect, self.chance
        self._begin()
        for _ in range(LIVES):
            if self.left <= 0.0 < self.hours:
                return PlayedRun(hours=self.hours, spot=self.spot, other=self.other)
            need = self.setup + self.left
            life = min(self._life(self.age), need)
            self.hours += life
            self.spot += life
            if life >= need:
                return PlayedRun(hours=self.hours, spot=self.spot, other=self.other)
            saved = max(0.0, life - self.setup - chance.random() * prospect.interval)
            self.left = self.left - saved if prospect.total is None else prospect.total
            self.age, self.setup = 0.0, prospect.setup
            self._wait(self._closed())
        return self._continued()

    def _life(self, age: float) -> float:
        """How much longer a VM of this age lives."""
        wanted = -math.log(1.0 - self.chance.random()) / self.hard
        return age_at(self.prospect.market.rates, age, wanted) - age

    def _closed(self) -> _Closed:
        """How long no place has a spot VM."""
        return self._closed_at(self.chance.random())

    def _closed_at(self, share: float) -> _Closed:
        """The wait that is longer than this share of all."""
        market = self.prospect.market
        return _Closed(quantile(market.waits, share) * self.slow, quantile(market.back, share) * self.far)

    def _closed_on(self) -> _Closed:
        """How much longer no place has one, if the job has found none since it lost its last.

        Who comes by chance, as a job that had none yet, meets long waits more often, and midway.
        """
        prospect, chance, market = self.prospect, self.chance, self.prospect.market
        waits, times = (market.waits, self.slow) if prospect.spot else (market.back, self.far)
        waited = prospect.waited / times
        if waited >= waits[-1]:
            more = prospect.waited * (1.0 / math.sqrt(1.0 - chance.random()) - 1.0)
            return _Closed(more, more)
        if not prospect.first:
            share = share_below(waits, waited)
            found = self._closed_at(share + (1.0 - share) * chance.random())
            return found.after(prospect.waited)
        sums = list(accumulate(max(wait - waited, 0.0) for wait in waits))
        met = bisect_left(sums, chance.random() * sums[-1]) / max(len(waits) - 1, 1)
        return self._closed_at(met).after(prospect.waited).times(chance.random())

    def _begin(self) -> None:
        """What comes before its first spot VM: a wait, or what is left of its time on an on-demand VM."""
        up = self.prospect.up
        if not self.prospect.spot:
            self.age, self.setup = 0.0, self.prospect.setup
            self._on_demand(-(up or 0.0), self._closed_on().back)
        elif up is None:
            self._wait(self._closed_on())

    def _wait(self, closed: _Closed) -> None:
        """Until a place has a spot VM, or on-demand VMs are taken."""
        room, plan = self.hours + closed.room, self.prospect.plan
        turn = plan.turn(self.left, self.hours) if plan else NEVER
        if room <= turn:
            self.hours = room
        else:
            self._on_demand(turn, self.hours + closed.back)

    def _on_demand(self, begun: float, found: float) -> None:
        """Until it moves back to spot, which it finds from `found` on, or has done its work.

        A move is counted as a restart that is paid for in both VMs.
        """
        plan = self.prospect.plan
        ready = max(begun + self.prospect.setup, self.hours)
        done = ready + self.left
        until = min(max(found, plan.back(self.left, begun, ready) if plan else NEVER), done)
        self.other += until - max(begun, self.hours)
        if until < done:
            self.other += self.prospect.setup
            self.age = plan.line.quiet * self.chance.random() if plan and plan.line else 0.0
        self.hours, self.left = until, done - until

    def _continued(self) -> PlayedRun:
        """What is left, at the pace of what was done, or on on-demand VMs once the deadline asks for them."""
        done, plan = self.whole - self.left, self.prospect.plan
        pace = done / self.hours if done > 0.0 else 0.0
        end = self.hours + self.left / pace if pace else NEVER
        if plan is not None and pace < 1.0:
            turn = max((plan.last - self.left - pace * self.hours) / (1.0 - pace), self.hours)
            rest = self.left - pace * (turn - self.hours) + self.prospect.setup
            if turn < end:
                spot = self.spot * turn / self.hours
                return PlayedRun(hours=turn + rest, spot=spot, other=self.other + rest)
        if not pace:
            return PlayedRun(hours=NEVER, spot=NEVER)
        times = end / self.hours
        return PlayedRun(hours=end, spot=self.spot * times, other=self.other * times)


def _drawn(prospect: Prospect, chance: Chance) -> tuple[float, float, float]:
    """How many times as many losses, as long waits and as long searches for spot as were seen elsewhere."""
    doubt = prospect.doubt
    hard = prospect.hard * _factor(doubt.losses, prospect.lost, doubt.at_most, chance)
    slow = prospect.slow / _factor(doubt.waits, prospect.waits, doubt.at_most, chance)
    return hard, slow, slow / _factor(doubt.back, 0.0, doubt.at_most, chance) if doubt.back else slow


def _factor(shape: float, seen: float, at_most: float, chance: Chance) -> float:
    """How far off an estimate is that rests on so much."""
    sure = min(shape + seen, at_most) if seen else shape
    return max(chance.gammavariate(sure, 1.0 / sure), LEAST)


def _entry(prospect: Prospect, chance: Chance) -> tuple[float, float]:
    """The age of what it runs on, and what is left of its start."""
    if prospect.up is None:
        return 0.0, prospect.setup
    before = quantile(prospect.market.ages, chance.random()) if prospect.first else 0.0
    return before + prospect.up, max(0.0, prospect.setup - prospect.up)
