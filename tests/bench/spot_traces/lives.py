"""A replay as the job itself sees it: from when to when its VMs were up, and whether they were taken."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from spotwarden.recovery.forecast.markets import Reach

from .market import HOUR, Zone
from .ours import ours
from .replay import Job, Rule, Run, State
from .rules import Fixed


class ReplayedLife(NamedTuple):
    """One stay in a zone, in seconds of the trace."""

    start: float
    end: float
    lost: bool

    @property
    def hours(self) -> float:
        """How long its VMs were up."""
        return (self.end - self.start) / HOUR


def lives(job: Job, rule: Rule, zones: Sequence[Zone]) -> tuple[list[ReplayedLife], State]:
    """Every stay of a run, and how the run ended."""
    run, found = Run(job, rule, zones), []
    while not run.over:
        start, before = run.state.now, run.state.restarts
        run.step()
        lost = run.state.restarts > before
        if lost or run.state.place:
            found.append(ReplayedLife(start, run.state.now - job.notice * lost, lost))
    return found, run.state


def waits(found: Sequence[ReplayedLife]) -> list[float]:
    """The hours without VMs after each loss that others followed."""
    return [(after.start - life.end) / HOUR for life, after in pairwise(found)]


def moving(reach: Reach, home: Zone, zones: Sequence[Zone]) -> tuple[Rule, list[Zone]]:
    """The rule of a job that may move so far when it is lost, and the zones that it has.

    It moves for no lower price: a forecast is of losses.
    """
    if reach is Reach.ZONE:
        return Fixed(zone=home.name), [home]
    near = [zone for zone in zones if reach is Reach.REGIONS or zone.region == home.region]
    return ours(near, home.name, moves=False), near
