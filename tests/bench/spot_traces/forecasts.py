"""Forecasts of replayed jobs beside what became of them; and the intervals that they advise."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from math import floor
from random import Random
from statistics import mean
from typing import Any, NamedTuple

from spotwarden.model.attempt import Attempt, AttemptState, StepRange
from spotwarden.model.jobfile import JobFile
from spotwarden.model.limits import PlacementLimits
from spotwarden.recovery.forecast.course import Course, JobPast, course
from spotwarden.recovery.forecast.forecast import SAVE, Outlook, Rates, outlook
from spotwarden.recovery.forecast.interval import LONGEST, SHORTEST, STEP, Saving, best_interval
from spotwarden.recovery.forecast.markets import Reach, market_of
from spotwarden.recovery.forecast.pasts import PastByPlace, SpotPast, past_of
from spotwarden.recovery.forecast.table import read_markets
from spotwarden.recovery.observed.fates import Fate

from .calibration import us, v100
from .deadlines import sister
from .lives import ReplayedLife, lives, moving, waits
from .market import HOUR, Zone, cant_be_late, h100
from .ours import moment
from .placing import SPAN, WORK, seeds
from .replay import Job, State
from .table import Table

SIZES = (1, 8, 16)
SETUP = 0.2
LAST = 6 * SPAN
BEFORE = 96 * HOUR
MOMENTS = {"at submit": 0.0, "at 10 %": 0.1, "at 50 %": 0.5}
REGIONS = PlacementLimits(regions=("us-central1", "us-east4", "us-east5", "us-west1"))
HOME = PlacementLimits()


class ForecastRun(NamedTuple):
    """A replay from its start to its end, and how far its job may move."""

    job: Job
    home: Zone
    reach: Reach
    lives: Sequence[ReplayedLife]
    state: State
    vms: int = 1
    machine: str = "a3-highgpu-8g"

    def course(self, share: float) -> tuple[Course, float] | None:
        """What is known when so much of the work is done, and when that is; None where it never is."""
        whole = self.job.work / HOUR
        done = 0.0
        ran: list[ReplayedLife] = []
        if not share:
            here = bool(self.lives) and self.lives[0].start - self.job.start < 2 * self.job.ask
            return self._course(whole, [], self.job.start if here else None), self.job.start
        for life in self.lives:
            worked = max(0.0, life.hours - SETUP)
            if done + worked >= share * whole:
                now = life.start + (SETUP + share * whole - done) * HOUR
                return self._course((1 - share) * whole, [*ran, life], life.start), now
            done += worked
            ran.append(life)
        return None

    def _course(self, left: float, ran: Sequence[ReplayedLife], since: float | None) -> Course:
        return Course(
            place=self.home.name,
            machine=self.machine,
            vms=self.vms,
            places=() if self.reach is Reach.ZONE else None,
            whole=self.job.work / HOUR,
            left=left,
            setup=SETUP,
            interval=0.0,
            since=None if since is None else moment(since),
            lives=tuple(life.hours for life in ran[:-1]),
            waits=tuple(waits(ran)),
        )

    def foretold(self, share: float, others: PastByPlace) -> tuple[Outlook, float] | None:
        """The forecast at that moment, with the moment; `others` is what other jobs went through before."""
        found = self.course(share)
        if found is None:
            return None
        course, now = found
        limits = REGIONS if self.reach is Reach.REGIONS else HOME
        chance = Random(f"{self.home.name} {self.job.start} {self.vms}")
        rates = Rates(spot=self.home.spot, other=self.home.on_demand)
        told = outlook(course, read_markets(), limits, rates, now=moment(now), chance=chance, others=others)
        return told, now


def coverage(odd: int) -> Iterator[Table]:
    """How many runs end by P50 and by P90: of the machine that the table knows, then of another."""
    names = {Reach.ZONE: "one zone", Reach.REGION: "its region", Reach.REGIONS: "all regions"}
    runs = list(replayed(odd))
    groups = {
        "all": runs,
        **{name: [run for run in runs if run.reach is reach] for reach, name in names.items()},
    }
    yield Table(
        title=f"100 h of work, 1, 8 and 16 H100 VMs, {'odd' if odd else 'even'} seeds: share of runs that end"
        " by P90 (aim 88 to 92 %), by P50, and P90 / end",
        head=("", "runs", *(f"{what} {when}" for when in MOMENTS for what in ("P90", "P50", "ratio"))),
        rows=[[name, str(len(group)), *_columns(group)] for name, group in groups.items()],
        note="The table of zones is of the whole trace. Numbers of doubt were chosen on even seeds. "
        "A run that does not end in the trace, twice over, counts as ending there.",
    )
    strange = list(_elsewhere(odd))
    yield Table(
        title="A machine that the table does not know: 48 h of work, one zone (AWS V100, K80)",
        head=("", "runs", *(f"{what} {when}" for when in MOMENTS for what in ("P90", "P50", "ratio"))),
        rows=[
            ["no other job", str(len(strange)), *_columns(strange)],
            ["another job there for 4 days before", str(len(strange)), *_columns(strange, _before)],
            ["the same in the region's other zone", str(len(strange)), *_columns(strange, _before_beside)],
        ],
        note="Traces of Can't Be Late (NSDI '24). The doubt about other machines was chosen on even windows.",
    )


def replayed(odd: int) -> Iterator[ForecastRun]:
    """Each home, each start, as far as the job may move."""
    for vms in SIZES:
        zones = us(list(h100(vms, held=False).values()))
        for job in seeds(odd):
            for home in zones:
                for reach in Reach:
                    rule, there = moving(reach, home, zones)
                    if reach is Reach.REGION and len(there) == 1:
                        continue
                    yield ForecastRun(job, home, reach, *lives(job, rule, there), vms)


def _elsewhere(odd: int) -> Iterator[ForecastRun]:
    zones, windows = cant_be_late()
    for first in windows[odd::20]:
        job = replace(
            v100(first, ask=20, notice=60, shift=first % 600), deadline=None, horizon=first * 600 + SPAN
        )
        for zone in zones:
            rule, there = moving(Reach.ZONE, zone, zones)
            yield ForecastRun(job, zone, Reach.ZONE, *lives(job, rule, there), machine="p3.2xlarge")


def _nothing(_run: ForecastRun) -> PastByPlace:
    return {}


def _before(run: ForecastRun) -> PastByPlace:
    return {run.home.name: _seen_in(run.home, run.job.start)}


def _before_beside(run: ForecastRun) -> PastByPlace:
    other = next(zone for zone in cant_be_late()[0] if zone.name == sister(run.home.name))
    return {other.name: _seen_in(other, run.job.start)}


def _seen_in(zone: Zone, until: float) -> SpotPast:
    """What a job went through that stood in the zone before, as far back as there is a trace."""
    at = max(0.0, until - BEFORE)
    lost: list[float] = []
    others: list[float] = []
    closed: list[float] = []
    while at < until:
        ends = min(max(zone.changes(at), at + 1), until)
        span = (ends - at) / HOUR
        if zone.open(at):
            (lost if ends < until else others).append(span)
        elif ends < until:
            closed.append(span)
        at = ends
    return past_of(lost, others, closed)


def _columns(
    runs: Sequence[ForecastRun], others: Callable[[ForecastRun], PastByPlace] = _nothing
) -> Iterator[str]:
    for share in MOMENTS.values():
        told = [(run, *found) for run in runs if (found := run.foretold(share, others(run)))]
        by: dict[str, list[float]] = defaultdict(list)
        for run, what, now in told:
            end = moment(run.state.now)
            by["half"].append(what.half is None or end <= what.half)
            by["most"].append(what.most is None or end <= what.most)
            if what.most:
                by["ratio"].append((what.most - moment(now)) / max(end - moment(now), timedelta(minutes=1)))
        yield f"{100 * mean(by['most']):.1f} %"
        yield f"{100 * mean(by['half']):.1f} %"
        yield f"{mean(by['ratio']):.2f}"


def advice() -> Iterator[Table]:
    """What the advised interval costs against the best one in hindsight, where a save takes a minute."""
    rows = []
    for vms in (1, 16):
        zones = us(list(h100(vms, held=False).values()))
        rows += [_regret(vms, home, Reach.ZONE, zones) for home in zones]
        rows.append(_regret(vms, min(zones, key=lambda zone: zone.spot), Reach.REGIONS, zones))
    yield Table(
        title="Interval of saves for 100 h of work, odd seeds: hours beyond the best one's (aim: 5 %)",
        head=("", "VMs", "advised", "best", "hours", "regret"),
        rows=rows,
        note="A save takes a minute, a start 12 min. The trace repeats; it ends a run after 2,114 h.",
    )


def _regret(vms: int, home: Zone, reach: Reach, zones: Sequence[Zone]) -> list[str]:
    market = market_of(read_markets(), machine="a3-highgpu-8g", vms=vms, reach=reach, place=home.name)
    rule = moving(reach, home, zones)[1]
    stays = []
    for job in seeds(1):
        endless = replace(job, work=50 * WORK, horizon=job.start + LAST)
        stays.append((job.start, lives(endless, moving(reach, home, zones)[0], rule)[0]))
    tried = [SHORTEST]
    while tried[-1] * STEP <= LONGEST:
        tried.append(tried[-1] * STEP)
    hours = {interval: mean(_needed(start, ran, interval) for start, ran in stays) for interval in tried}
    best = min(tried, key=lambda interval: hours[interval])
    work = WORK / HOUR
    told = best_interval(Saving(save=SAVE, rates=market.rates, setup=SETUP, work=work))
    regret = mean(_needed(start, ran, told) for start, ran in stays) / hours[best] - 1
    name = "moves" if reach is Reach.REGIONS else home.name
    spans = (f"{told * 60:.0f} min", f"{best * 60:.0f} min", f"{hours[best]:.0f}")
    return [name, str(vms), *spans, f"{100 * regret:.1f} %"]


def _needed(start: float, ran: Sequence[ReplayedLife], interval: float) -> float:
    """The hours that 100 h of work take on these VMs, saved so often."""
    left = WORK / HOUR
    for life in ran:
        room = life.hours - SETUP
        need = left + SAVE * floor(left / interval)
        if room >= need:
            return (life.start - start) / HOUR + SETUP + need
        if room > 0:
            left -= floor(room / (interval + SAVE)) * interval
    return LAST / HOUR


def treadmill() -> Iterator[Table]:
    """A public case, 48.5 h of work on spot VMs that keep none of it: 3,198 h were billed."""
    seen, rows = read_markets(), []
    for number in (1, 2, 3):
        now = moment(24 * HOUR * number)
        job = course(
            JobPast(
                now=now,
                attempts=[_begun(at, number) for at in range(1, number + 1)],
                file=JobFile(work=timedelta(hours=48.5), places=()),
                step=500,
                steps=4850,
                first_step=0,
                moved=now,
            )
        )
        told = outlook(job, seen, HOME, Rates(spot=1.0), now=now, chance=Random(number))
        rows.append(
            [f"in life {number}", f"{told.most_cost:,.0f}" if told.most_cost else "-", told.trouble or "-"]
        )
    yield Table(
        title="48.5 h of work that begins anew after each loss (public: 3,198 h billed), a life a day",
        head=("", "P90 of hours from now", "told (aim: within three lives)"),
        rows=rows,
    )


def _begun(number: int, newest: int) -> Attempt:
    """An attempt of a day, of which the one before had come far and was lost."""
    at = moment(24 * HOUR * (number - 1))
    lost: dict[str, Any] = {
        "lost": at,
        "fate": Fate.PREEMPTED.value,
        "lost_work": StepRange(first=0, last=2300),
    }
    return Attempt(
        job="j", number=number, state=AttemptState.RUNNING, created=at, updated=at, started=at,
        instances={"j": str(number)}, **(lost if number > 1 else {}),
    )  # fmt: skip
