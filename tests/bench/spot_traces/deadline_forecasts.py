"""Forecasts of replayed jobs that follow a line to a deadline, beside when they ended and what they cost."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from math import floor
from random import Random
from statistics import mean
from typing import NamedTuple

from spotwarden.model.limits import PlacementLimits
from spotwarden.recovery.forecast.course import Course
from spotwarden.recovery.forecast.forecast import Outlook, Rates, outlook
from spotwarden.recovery.forecast.table import read_markets

from .calibration import v100
from .deadlines import ASK, NOTICE, in_region, sister
from .market import HOUR, Zone, cant_be_late
from .ours import Ours, moment, ours
from .replay import ON_DEMAND, Job, Run, State, Wait
from .table import Table

SETUP = 0.2
MOMENTS = {"at submit": 0.0, "at 10 %": 0.1, "at 50 %": 0.5}
LATE = timedelta(minutes=10)
"""An end by the deadline is foretold to the minute; so much later it counts as foretold."""


class Stay(NamedTuple):
    """From when to when a job was in a place, and whether it was lost there."""

    place: str
    start: float
    end: float
    lost: bool


@dataclass(frozen=True)
class Stood:
    """How a run stood after one of its steps."""

    now: float
    left: float
    cost: float
    place: str
    stays: int


@dataclass(frozen=True)
class LineRun:
    """A run from its start to its end."""

    job: Job
    home: Zone
    other: float
    machine: str
    stood: Sequence[Stood]
    stays: Sequence[Stay]

    def foretold(self, share: float, *, line: bool) -> tuple[Outlook, Stood] | None:
        """The forecast when so much of the work is done, and how the run stood."""
        whole = self.job.work / HOUR
        at = next((one for one in self.stood if one.left <= (1 - share) * self.job.work), None)
        if at is None or at.left <= 0:
            return None
        ran = self.stays[: at.stays]
        here = ran[-1] if ran and at.place else None
        if not share and self.stays[0].start - self.job.start < 2 * self.job.ask:
            here = self.stays[0]._replace(start=self.job.start)
        over = ran[:-1] if here else ran
        spot = [stay for stay in ran if stay.place != ON_DEMAND]
        course = Course(
            place=self.home.name,
            machine=self.machine,
            spot=here is None or here.place != ON_DEMAND,
            deadline=moment(self.job.deadline or 0.0),
            whole=whole,
            left=at.left / HOUR,
            setup=SETUP,
            interval=0.0,
            since=moment(here.start) if here else None,
            without=None if here and here.place != ON_DEMAND else moment(self._without(spot)),
            lives=tuple(_hours(stay) for stay in over if stay.lost),
            survived=tuple(_hours(stay) for stay in over if not stay.lost and stay.place != ON_DEMAND),
            waits=tuple((after.start - stay.end) / HOUR for stay, after in pairwise(spot) if stay.lost),
            began=moment(self.job.start),
            returns=line,
        )
        chance = Random(f"{self.home.name} {self.job.start}")
        rates = Rates(spot=self.home.spot, other=self.other)
        told = outlook(course, read_markets(), PlacementLimits(), rates, now=moment(at.now), chance=chance)
        return told, at

    def _without(self, spot: Sequence[Stay]) -> float:
        return spot[-1].end if spot else self.job.start


def _hours(stay: Stay) -> float:
    return (stay.end - stay.start) / HOUR


class Staying(Ours):
    """Ours, but a spot VM is left for no lower price: a forecast is of losses."""

    def choose(self, state: State, job: Job) -> str | Wait:
        """Stay on spot, or choose as ours does."""
        return state.place if state.place not in {"", ON_DEMAND} else super().choose(state, job)


def ran(job: Job, home: Zone, zones: Sequence[Zone], *, machine: str) -> LineRun:
    """A run by our own placement, moves and line."""
    run = Run(job, ours(zones, home.name, kind=Staying), zones)
    stood = [Stood(run.state.now, run.state.left, 0.0, "", 0)]
    stays: list[Stay] = []
    while not run.over:
        start, before, place, ready = run.state.now, run.state.restarts, run.state.place, run.state.ready
        run.step()
        state = run.state
        lost = state.restarts > before
        where = state.lost if lost else state.place
        if where:
            if place == where and state.ready == ready:
                stays[-1] = stays[-1]._replace(end=state.now - job.notice * lost, lost=lost)
            else:
                stays.append(Stay(where, start, state.now - job.notice * lost, lost))
        stood.append(Stood(state.now, state.left, state.cost, state.place, len(stays)))
    return LineRun(
        job=job,
        home=home,
        other=min(zone.on_demand for zone in zones),
        machine=machine,
        stood=stood,
        stays=stays,
    )


def replayed(odd: int) -> Mapping[str, list[LineRun]]:
    """H100 VMs with the zones of their region; then a machine that the table does not know.

    With the zones of all regions there is always room somewhere: nobody is ever behind.
    """
    found: dict[str, list[LineRun]] = defaultdict(list)
    for job, home, near in in_region(odd):
        found["H100, its region"].append(ran(job, home, near, machine="a3-highgpu-8g"))
    others, windows = cant_be_late()
    named = {zone.name: zone for zone in others}
    for first in windows[odd::6]:
        job = v100(first, ask=ASK, notice=NOTICE, shift=first % 600)
        for zone in others:
            pair = [zone, named[sister(zone.name)]]
            found["V100, K80, two zones"].append(ran(job, zone, pair, machine="p3.2xlarge"))
    return found


def coverage(odd: int) -> Iterator[Table]:
    """How many end by P90 and by P50, and for no more than that; with the line counted, and without."""
    groups = replayed(odd)
    for line in (True, False):
        yield Table(
            title=f"Jobs with a deadline that follow a line, one VM, {'odd' if odd else 'even'} starts, "
            f"{'line counted' if line else 'as if on-demand VMs came at the last moment'}: share of runs "
            "within P90 (P50) of the end, and of the bill; P90 / bill",
            head=("", "runs", *(f"{what} {when}" for when in MOMENTS for what in ("end", "bill", "ratio"))),
            rows=[[name, str(len(group)), *_columns(group, line=line)] for name, group in groups.items()],
            note="H100: 100 h of work, deadline after 1.1, 1.25 and 1.5 times that. V100, K80: 48 h in 60. "
            "An end up to 10 min later counts.",
        )


def _columns(runs: Sequence[LineRun], *, line: bool) -> Iterator[str]:
    for share in MOMENTS.values():
        by: dict[str, list[float]] = defaultdict(list)
        for run in runs:
            found = run.foretold(share, line=line)
            if found is None:
                continue
            told, at = found
            end, paid = moment(run.stood[-1].now) - LATE, run.stood[-1].cost - at.cost
            by["end 90"].append(told.most is None or end <= told.most)
            by["end 50"].append(told.half is None or end <= told.half)
            by["bill 90"].append(told.most_cost is None or paid <= told.most_cost)
            by["bill 50"].append(told.half_cost is None or paid <= told.half_cost)
            if told.most_cost:
                by["ratio"].append(told.most_cost / paid)
        yield f"{_percent(by['end 90'])} ({_percent(by['end 50'])})"
        yield f"{_percent(by['bill 90'])} ({_percent(by['bill 50'])})"
        yield f"{mean(by['ratio']):.2f}"


def _percent(values: Sequence[float]) -> str:
    return f"{floor(1000 * mean(values) + 0.5) / 10:.1f}"
