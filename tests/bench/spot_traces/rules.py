"""The rules that others published, and two that know more than anybody can."""

from collections.abc import Sequence
from dataclasses import dataclass

from .market import ROUND, Zone
from .replay import ON_DEMAND, Job, State, Wait


@dataclass
class Deaf:
    """A rule that learns nothing."""

    review: float = 0.0
    overlap: float = 0.0
    trains_on: bool = False

    def refused(self, place: str, now: float) -> None:
        """Ignore it."""

    taken = given = refused


def must_go(state: State, job: Job, starts: float) -> bool:
    """Whether the work left, with so many starts, fills the time to the deadline."""
    return job.deadline is not None and job.deadline - state.now <= state.left + starts * job.restart


def next_round(now: float) -> float:
    """The start of the next round."""
    return (now // ROUND + 1) * ROUND


@dataclass
class Fixed(Deaf):
    """One zone; on-demand only when the deadline leaves no choice (greedy)."""

    zone: str = ""
    market: Zone | None = None
    """The zone itself, for a rule that is told each round whether it has room."""
    tried: float = -1.0

    def choose(self, state: State, job: Job) -> str | Wait:
        """Stay, or ask once a round."""
        if state.place:
            return state.place
        if must_go(state, job, 2):
            return ON_DEMAND
        if self.tried == state.now // ROUND:
            return Wait(next_round(state.now))
        self.tried = state.now // ROUND
        return self.zone


@dataclass
class Uniform(Fixed):
    """Uniform Progress (Can't Be Late, NSDI '24): on-demand while behind a straight line to the deadline."""

    review: float = ROUND

    def choose(self, state: State, job: Job) -> str | Wait:
        """Prefer spot; fall back while behind, and return only with two restarts in hand."""
        behind = self._lead(state, job, 0.0) < 0
        if state.place and state.place != ON_DEMAND:
            return state.place
        if must_go(state, job, 2):
            return ON_DEMAND
        if state.place == ON_DEMAND and self._lead(state, job, 2 * job.restart) <= 0:
            return ON_DEMAND
        if self.tried != state.now // ROUND:
            self.tried = state.now // ROUND
            if state.place != ON_DEMAND or (self.market and self.market.open(state.now)):
                return self.zone
        if state.place == ON_DEMAND or behind:
            return ON_DEMAND
        return Wait(next_round(state.now))

    def _lead(self, state: State, job: Job, later: float) -> float:
        assert job.deadline is not None
        share = (state.now - job.start + later) / (job.deadline - job.start)
        return (job.work - state.left) - job.work * share


@dataclass
class ByPrice(Deaf):
    """Each time the cheapest zone that has room, asked for in that order (SkyPilot's default)."""

    zones: Sequence[Zone] = ()
    eager: bool = False
    """Put the region that was just lost last (SkyPilot's eager failover)."""
    turn: int = 0
    lost: str = ""

    def choose(self, state: State, job: Job) -> str | Wait:
        """Walk down the list; at its end wait for the next round."""
        if state.place:
            return state.place
        if must_go(state, job, 2):
            return ON_DEMAND
        places = self.ordered(state)
        if self.turn >= len(places):
            self.turn = 0
            return Wait(next_round(state.now))
        self.turn += 1
        return places[self.turn - 1]

    def ordered(self, _state: State) -> list[str]:
        """The zones in the order in which they are asked."""
        cheap = sorted(self.zones, key=lambda one: (self.eager and one.region == self.lost, one.spot))
        return [one.name for one in cheap]

    def given(self, _place: str, _now: float) -> None:
        """Begin at the top next time."""
        self.turn = 0

    def taken(self, place: str, _now: float) -> None:
        """Remember the region."""
        self.turn, self.lost = 0, place.rpartition("-")[0]


class Aged(ByPrice):
    """By price among zones that have been up for an hour; it must probe them all to know."""

    def ordered(self, state: State) -> list[str]:
        """The old ones first."""
        by_price = sorted(self.zones, key=lambda one: (one.up_for(state.now) < 6 * ROUND, one.spot))
        return [one.name for one in by_price]


class Longest(ByPrice):
    """Omniscient: the open zone that stays open longest, which makes the fewest restarts."""

    def ordered(self, state: State) -> list[str]:
        """The one that lasts first."""
        return [one.name for one in sorted(self.zones, key=lambda one: -self._lasts(one, state.now))]

    def _lasts(self, one: Zone, now: float) -> float:
        return one.changes(now) - now if one.open(now) else 0.0
