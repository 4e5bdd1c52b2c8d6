"""Our rule: `spotwarden.recovery.places.placement` makes each choice, by what happened to the jobs alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from spotwarden.model.limits import PlacementLimits, RecoveryLimits
from spotwarden.model.placement import PlaceEvent, PlacementRecord, PlaceNews
from spotwarden.recovery.places import deadline_line, moving, placement
from spotwarden.recovery.places.moving import Bill

from .market import Zone
from .replay import ON_DEMAND, Job, State, Wait

EPOCH = datetime(2025, 10, 4, 0, 10, tzinfo=UTC)
BACKOFF = RecoveryLimits()
MOVE = 720.0
"""Both VMs are paid for as long as a restart takes, and neither trains meanwhile: more than a move costs."""
HAND_OVER = 240.0
"""Both are paid for until the new one is set up and the old one is gone; the work goes on."""


def moment(seconds: float) -> datetime:
    """A second of the trace as a date."""
    return EPOCH + timedelta(seconds=seconds)


def _homed(zones: Sequence[Zone], home: str) -> list[str]:
    """A job's places: home, the rest of the region, then other regions by price, as a policy lists them."""
    region = next(one.region for one in zones if one.name == home)
    others = sorted(
        (one for one in zones if one.name != home), key=lambda one: (one.region != region, one.spot, one.name)
    )
    return [home, *(one.name for one in others)]


@dataclass
class Memory:
    """What is remembered of places, by one job or by a fleet that shares it."""

    limits: PlacementLimits = field(default_factory=PlacementLimits)
    record: PlacementRecord = field(default_factory=lambda: PlacementRecord(machine="a3-highgpu-8g"))

    def learn(self, place: str, event: PlaceEvent, now: float) -> None:
        """Learn one thing."""
        news = PlaceNews(place=place, event=event, at=moment(now))
        self.record = placement.learn(self.record, [news], self.limits)


@dataclass
class Ours:
    """The places in the order of the policy, with the back-off of the product between rounds of refusals."""

    places: Sequence[str]
    memory: Memory = field(default_factory=Memory)
    name: str = "job"
    review: float = 0.0
    overlap: float = MOVE
    trains_on: bool = False
    turns: int = 0
    waited: bool = False
    asked: dict[str, float] = field(default_factory=dict)
    prices: Mapping[str, float] = field(default_factory=dict)
    lost: tuple[str, float] | None = None
    on_demand: float = 0.0
    """USD an hour."""
    line: bool = True
    """Whether a job that may move takes an on-demand VM once it is behind; else at the last moment."""
    beside: bool = False
    """Whether its VM has a second name, so that it may ask for spot where its on-demand VM is."""
    apart: str = ""
    """Where its on-demand VM is that it may leave again."""

    def choose(self, state: State, job: Job) -> str | Wait:
        """Stay, turn to on-demand, ask the best place, or wait."""
        if state.place:
            return self._cheaper(state, job) or state.place
        self.apart = ""
        if self._why_on_demand(state, job):
            return ON_DEMAND
        chosen = self._place(state, job)
        if isinstance(chosen, Wait) and self._is_behind(state, job):
            self.waited = False
            self.apart = deadline_line.aside(self.places, {}, self.memory.record)
            chosen = ON_DEMAND
        if self.lost is not None:
            place, at = self.lost
            self.memory.learn(place, PlaceEvent.PREEMPTED, at)
            self.lost = None
        return chosen

    def _cheaper(self, state: State, job: Job) -> str:
        """Where a move pays; a job that went on-demand at the last moment stays there."""
        left, now, limits = timedelta(seconds=state.left), moment(state.now), self.memory.limits
        deadline = None if job.deadline is None else moment(job.deadline)
        dear = state.place == ON_DEMAND
        if not self.review or (dear and not self.apart) or state.now < state.ready:
            return ""
        if not moving.has_time(left, deadline, now, limits):
            return ""
        here, paid = (self.apart, self.on_demand) if dear else (state.place, self.prices[state.place])
        bill = Bill(here=here, paid=paid, prices=self.prices, left=left, beside=self.beside and dear)
        found = moving.cheaper(self.places, self.memory.record, now, limits, bill)
        return found.place if found else ""

    def _is_behind(self, state: State, job: Job) -> bool:
        alone = len(self.places) == 1
        if not (self.line and self.review and job.deadline is not None and (self.beside or not alone)):
            return False
        return moment(state.now) > deadline_line.waits_until(
            whole=timedelta(seconds=job.work),
            left=timedelta(seconds=state.left),
            began=moment(job.start),
            deadline=moment(job.deadline),
            late=deadline_line.BEHIND * self.memory.limits.restart_cost,
        )

    def _place(self, state: State, job: Job) -> str | Wait:
        now, memory = moment(state.now), self.memory
        best = placement.order(self.places, memory.record, now, memory.limits, self.prices)
        if not best and not self.waited:
            self.waited = True
            return Wait(self._until(state, job))
        self.waited = False
        place = best[0] if best else min(self.places, key=lambda one: self.asked.get(one, 0.0))
        self.asked[place] = state.now
        return place

    def _why_on_demand(self, state: State, job: Job) -> str:
        return placement.why_on_demand(
            preemptions=state.restarts,
            remaining=timedelta(seconds=state.left),
            deadline=None if job.deadline is None else moment(job.deadline),
            now=moment(state.now),
            limits=self.memory.limits,
        )

    def _until(self, state: State, job: Job) -> float:
        """The back-off after so many refusals, but not beyond the moment that turns to on-demand."""
        doubled = min(BACKOFF.first_backoff * 2 ** min(max(self.turns - 1, 0), 20), BACKOFF.longest_backoff)
        span = doubled + placement.jitter(self.name, self.turns, doubled / 5)
        until: float = state.now + span.total_seconds()
        if job.deadline is None:
            return until
        left = timedelta(seconds=state.left)
        last = placement.spot_until(left, moment(job.deadline), self.memory.limits)
        return min(until, (last - EPOCH).total_seconds())

    def refused(self, place: str, now: float) -> None:
        """Remember a stockout."""
        self.turns += 1
        self.memory.learn(place, PlaceEvent.STOCKOUT, now)

    def taken(self, place: str, now: float) -> None:
        """Remember a preemption once a place was chosen: news is written down at the end of a sweep."""
        self.lost = (place, now)

    def given(self, place: str, now: float) -> None:
        """Remember a success; the next back-off is short again."""
        self.turns = 0
        self.memory.learn(place, PlaceEvent.GAVE, now)


def ours(
    zones: Sequence[Zone],
    home: str,
    memory: Memory | None = None,
    name: str = "job",
    *,
    moves: bool = True,
    line: bool = True,
    kind: type[Ours] = Ours,
    beside: bool = True,
    hand_over: bool = False,
) -> Ours:
    """The rule of a job at home there, that knows the prices; without `moves` it stays until it is lost.

    A move costs a whole restart in both places, or with `hand_over` what it does.
    """
    prices = {zone.name: zone.spot for zone in zones}
    review = moving.TURNS * 60.0 if moves else 0.0
    dear = min(zone.on_demand for zone in zones)
    return kind(
        _homed(zones, home),
        memory or Memory(),
        name=name,
        prices=prices,
        review=review,
        on_demand=dear,
        line=line,
        beside=beside,
        overlap=HAND_OVER if hand_over else MOVE,
        trains_on=hand_over,
    )
