"""One job, one rule, one trace: what it cost, how long it took, how often it was taken away."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Protocol

from .market import HOUR, Zone

ON_DEMAND = "on-demand"
A_MOMENT = 1e-6
EGRESS = 1.0
"""USD for 50 GB of checkpoint that move to another region, as in the SkyNomad replays."""


@dataclass(frozen=True)
class Job:
    """A job; all spans and moments in seconds.

    `restart` is what each start costs, `ask` how long a refused request takes, `notice` how long it takes
    to hear of a preemption; at `horizon` the replay ends, done or not.
    """

    work: float
    restart: float
    start: float
    deadline: float | None = None
    horizon: float = 0.0
    ask: float = 0.0
    notice: float = 0.0
    gang: int = 1
    egress: float = 0.0


@dataclass
class State:
    """How a run stands: where it runs, is `ready` from, was `last`, and has just `lost`; "" for none."""

    now: float
    left: float
    place: str = ""
    ready: float = 0.0
    restarts: int = 0
    asks: int = 0
    refused: int = 0
    moves: int = 0
    cost: float = 0.0
    last: str = ""
    lost: str = ""


@dataclass(frozen=True)
class Wait:
    """Ask nobody until then."""

    until: float


class Rule(Protocol):
    """What is being compared. A rule learns only what it asks for, or what it breaks the rules to know."""

    review: float
    """How often a running job is looked at, seconds; 0 for never."""
    overlap: float
    """For how long the old VM is paid for beside the new one in a move, seconds."""
    trains_on: bool
    """Whether the old VM works in a move until the new one does; else a move costs a restart."""

    def choose(self, state: State, job: Job) -> str | Wait:
        """Name the place to be in: a zone, on-demand, or nowhere until a moment."""

    def refused(self, place: str, now: float) -> None:
        """Hear that a zone had none."""

    def taken(self, place: str, now: float) -> None:
        """Hear that a VM was preempted."""

    def given(self, place: str, now: float) -> None:
        """Hear that a request was served."""


class Run:
    """One job under one rule, step by step, so that several can go on side by side."""

    def __init__(self, job: Job, rule: Rule, zones: Sequence[Zone]) -> None:
        self.job, self.rule = job, rule
        self.zones = {one.name: one for one in zones}
        self.state = State(now=job.start, left=job.work)

    @property
    def over(self) -> bool:
        """Whether it is done, or the replay has come to its end."""
        return self.state.left <= 0 or bool(self.job.horizon and self.state.now >= self.job.horizon)

    def step(self) -> None:
        """Hear of a preemption, choose, and do that until the next thing happens."""
        state = self.state
        if state.lost:
            self.rule.taken(state.lost, state.now)
            state.lost = ""
        wanted = self.rule.choose(state, self.job)
        if isinstance(wanted, Wait):
            state.place, state.now = "", max(wanted.until, state.now + 1)
        elif wanted == state.place or _enter(wanted, state, self.job, self.rule, self.zones):
            _run(state, self.job, self.rule, self.zones)


def replay(job: Job, rule: Rule, zones: Sequence[Zone]) -> State:
    """Run one job to its end, or to the horizon."""
    return together([Run(job, rule, zones)])[0]


def together(runs: Sequence[Run]) -> list[State]:
    """Run them all, always the one that is furthest behind, so that nobody hears of the future."""
    queue = [(run.state.now, at) for at, run in enumerate(runs)]
    while queue:
        _, at = heappop(queue)
        runs[at].step()
        if not runs[at].over:
            heappush(queue, (runs[at].state.now, at))
    return [run.state for run in runs]


def _enter(wanted: str, state: State, job: Job, rule: Rule, zones: dict[str, Zone]) -> bool:
    """Ask for a place; who runs goes on where it is if that refuses."""
    if wanted != ON_DEMAND:
        state.asks += 1
        if not zones[wanted].open(state.now):
            state.refused += 1
            rule.refused(wanted, state.now)
            if state.place:
                return True
            state.now += job.ask
            return False
        rule.given(wanted, state.now)
        if state.last and zones[state.last].region != zones[wanted].region:
            state.cost += job.egress
        state.last = wanted
    ready = state.now + job.restart
    if state.place:
        state.moves += 1
        state.cost += _price(state.place, zones) * job.gang * rule.overlap / HOUR
        ready = max(state.ready, state.now) if rule.trains_on else ready
    state.place, state.ready = wanted, ready
    return True


def _price(place: str, zones: dict[str, Zone]) -> float:
    return min(zone.on_demand for zone in zones.values()) if place == ON_DEMAND else zones[place].spot


def _run(state: State, job: Job, rule: Rule, zones: dict[str, Zone]) -> None:
    """Run until the work is done, the zone closes, or the rule wants to look again."""
    place = state.place
    spot = place != ON_DEMAND
    ends = [max(state.ready, state.now) + state.left]
    closes = zones[place].changes(state.now) if spot else float("inf")
    ends.append(closes)
    if rule.review:
        ends.append((state.now // rule.review + 1) * rule.review)
    until = min(ends)
    left = state.left - max(0.0, until - max(state.now, state.ready))
    state.left = left if left > A_MOMENT else 0.0
    state.cost += _price(place, zones) * job.gang * (until - state.now) / HOUR
    state.now = until
    if state.left > 0 and until == closes and not zones[place].open(until):
        state.place, state.lost, state.restarts, state.now = "", place, state.restarts + 1, until + job.notice
