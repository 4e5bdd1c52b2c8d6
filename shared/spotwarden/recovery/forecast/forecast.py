"""When a job will end and for how much: half of the ways in which it may go are no later, nine in ten."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from spotwarden.model.facts import JobFacts
from spotwarden.model.launch import Launch
from spotwarden.model.limits import PlacementLimits
from spotwarden.model.moment import Moment
from spotwarden.model.placement import region_of
from spotwarden.model.policy import Policy
from spotwarden.recovery.forecast.course import HOUR, LONGEST, Course
from spotwarden.recovery.forecast.hazards import risk
from spotwarden.recovery.forecast.interval import SHORTEST, Saving, best_interval, kept
from spotwarden.recovery.forecast.markets import Reach, SeenMarkets, SpotMarket, market_of, unwatched
from spotwarden.recovery.forecast.on_demand import plan_of
from spotwarden.recovery.forecast.pasts import PastByPlace, SpotPast, past_of, together, told_of
from spotwarden.recovery.forecast.simulate import RUNS, Chance, Doubt, PlayedRun, Prospect, play
from spotwarden.recovery.places.deadline_line import follows_line

DOUBTS: Mapping[Reach, Doubt] = {
    Reach.ZONE: Doubt(losses=32, waits=8, at_most=12),
    Reach.REGION: Doubt(losses=64, waits=64, at_most=14, back=3),
    Reach.REGIONS: Doubt(losses=64, waits=64, at_most=12),
}
"""Chosen on even seeds, so that nine in ten runs end by P90: `tests/bench/forecast_coverage.py`."""
ELSEWHERE = Doubt(losses=8, waits=32, at_most=8, back=0.7)
"""Of places and machines that nobody has watched."""
NOTHING: PastByPlace = {}
SAVE = 1 / 60
"""Hours that a save is taken to hold the program up: no heartbeat tells it."""
INTERVAL = 0.5
"""Hours between two saves of a job that has not been seen to save."""
HALF, NINE_IN_TEN = 0.5, 0.9
DAY = 24


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """US dollars an hour of all of a job's VMs together, as spot VMs and as others; None: not known."""

    spot: float | None = None
    other: float | None = None


class Outlook(msgspec.Struct, frozen=True, kw_only=True):
    """By when the job ends, and for how much from now on: in half of all cases, and in nine of ten.

    None: no end is in sight, or no price is known. `unknown` says why nothing of all this is known, `trouble`
    why its work may not come to an end as it goes. `work` are the hours of undisturbed running that are left,
    `losses` those of VMs to expect in a day. `interval` is how often it saves in hours, as far as that has
    been seen, `best` how often it would pay most, and `gain` how much more work that keeps (1: as much
    again). `spot` is false for VMs that are not preempted. `place` is whose past it rests on, "" for that of
    all places; with `known` they are of the same machine type.
    """

    unknown: str = ""
    trouble: str = ""
    work: float = 0.0
    half: Moment | None = None
    most: Moment | None = None
    half_cost: float | None = None
    most_cost: float | None = None
    losses: float = 0.0
    interval: float | None = None
    best: float | None = None
    gain: float = 0.0
    spot: bool = True
    place: str = ""
    known: bool = False


def outlook(
    job: Course,
    seen: SeenMarkets,
    limits: PlacementLimits,
    rates: Rates,
    *,
    now: datetime,
    chance: Chance,
    runs: int = RUNS,
    others: PastByPlace = NOTHING,
) -> Outlook:
    """What to expect of the job from now on, by so many runs of it.

    `others` is the past of the project's other jobs on the same machine type; it counts where the table does
    not know the job's places.
    """
    if job.unknown:
        return Outlook(unknown=job.unknown)
    market, doubt = _market(job, seen, limits)
    past = SpotPast()
    if doubt is ELSEWHERE:
        market, past = unwatched(market), told_of(job.place, others)
    prospect = _prospect(job, market, doubt, limits, others=past, now=now)
    played = list(play(prospect, chance, runs))
    ends = [run.hours for run in played]
    costs = [_cost(run, rates) for run in played]
    return Outlook(
        trouble=_trouble(job, ends),
        work=job.left,
        half=_moment(now, share_of(ends, HALF)),
        most=_moment(now, share_of(ends, NINE_IN_TEN)),
        half_cost=_dollars(costs, HALF),
        most_cost=_dollars(costs, NINE_IN_TEN),
        spot=job.spot,
        place=market.place,
        known=_is_watched(job, seen),
        **(_advice(job, prospect) if job.spot else {}),
    )


def _advice(job: Course, prospect: Prospect) -> dict[str, Any]:
    """What a job on spot VMs has to expect of them, and how often it had better save."""
    rates = tuple(rate * prospect.hard for rate in prospect.market.rates)
    saving = Saving(save=SAVE, rates=rates, setup=prospect.setup, work=max(job.left, SAVE))
    best = best_interval(saving)
    has = kept(max(job.interval, SHORTEST), saving) if job.interval else 0.0
    return {
        "losses": risk(rates, 0.0, DAY),
        "interval": job.interval,
        "best": best,
        "gain": kept(best, saving) / has - 1.0 if has > 0.0 else 0.0,
    }


def share_of(values: Sequence[float], share: float) -> float:
    """The least value that this share of all does not exceed."""
    ranked = sorted(values)
    return ranked[math.ceil(share * len(ranked)) - 1]


def reach_of(job: Course, limits: PlacementLimits) -> Reach:
    """How far it may move, by its own file and the policy; a script that is bound to its zone is not seen."""
    return _reach(job.place, job.places, limits)


def _reach(home: str, places: Sequence[str] | None, limits: PlacementLimits) -> Reach:
    if not limits.move or places == ():
        return Reach.ZONE
    regions = {region_of(place) for place in (limits.regions if places is None else places)}
    return Reach.REGIONS if regions - {region_of(home)} else Reach.REGION


def holds_to_line(facts: JobFacts, policy: Policy) -> bool:
    """Whether recovery holds a job to its line: as far as its script tells, for nobody has looked up zones.

    In place of the other zones that it may go to there is its own once more.
    """
    launch = facts.launch
    if not isinstance(launch, Launch):
        return False
    if not launch.fixed and _reach(launch.place, facts.file.places, policy.placement) is not Reach.ZONE:
        facts = msgspec.structs.replace(
            facts, launch=msgspec.structs.replace(launch, choices=(*launch.choices, *launch.choices))
        )
    return follows_line(facts, policy)


def _machine(job: Course, seen: SeenMarkets) -> str:
    """The machine type: what is remembered of places has its GPUs behind it."""
    return seen.machine if _is_watched(job, seen) else job.machine


def _is_watched(job: Course, seen: SeenMarkets) -> bool:
    return f"{job.machine}-".startswith(f"{seen.machine}-")


def needs_others(job: Course, seen: SeenMarkets, limits: PlacementLimits) -> bool:
    """Whether the past of other jobs counts: where the table does not know the job's places."""
    return not job.unknown and _market(job, seen, limits)[1] is ELSEWHERE


def _market(job: Course, seen: SeenMarkets, limits: PlacementLimits) -> tuple[SpotMarket, Doubt]:
    """What the job is taken for, and how far off that may be."""
    reach = reach_of(job, limits)
    place = region_of(job.place) if reach is Reach.REGION else job.place
    market = market_of(seen, machine=_machine(job, seen), vms=job.vms, reach=reach, place=place)
    return market, _doubt(job, market, seen)


def _doubt(job: Course, market: SpotMarket, seen: SeenMarkets) -> Doubt:
    """A job that moves between regions is like any other of its machine type; else its place counts."""
    known = market.place or (market.reach is Reach.REGIONS and _is_watched(job, seen))
    return DOUBTS[market.reach] if known else ELSEWHERE


def _prospect(
    job: Course,
    market: SpotMarket,
    doubt: Doubt,
    limits: PlacementLimits,
    *,
    others: SpotPast,
    now: datetime,
) -> Prospect:
    interval = job.interval if job.interval is not None else INTERVAL
    up = max(0.0, (now - job.since) / HOUR) if job.since else None
    past = together(((1.0, own_past(job, up if job.spot else None)), (1.0, others)))
    return Prospect(
        market=market,
        doubt=doubt,
        left=job.left if up is not None else min(job.whole, job.left + interval / 2),
        spread=job.spread,
        total=job.whole if job.restarts else None,
        setup=job.setup if job.setup is not None else limits.restart_cost / HOUR,
        up=up,
        first=not job.lives,
        interval=interval,
        lost=past.lost,
        risk=past.risk(market.rates),
        waits=past.waits,
        slow=_slow(past, market, doubt),
        waited=max(0.0, (now - job.without) / HOUR) if job.without else 0.0,
        spot=job.spot,
        plan=plan_of(job, limits, now),
    )


def own_past(job: Course, up: float | None = None) -> SpotPast:
    """What the job's spot VMs went through; `up` is for how long the newest is, if it is one."""
    return past_of(job.lives, (*job.survived, *(() if up is None else (up,))), job.waits)


def _slow(past: SpotPast, market: SpotMarket, doubt: Doubt) -> float:
    """How many times as long its waits were as elsewhere; few of them say little.

    Waits of minutes tell nothing of the few that last for days, so their logarithms are compared.
    """
    if not past.waits:
        return 1.0
    elsewhere = past_of((), (), market.waits)
    longer = past.logs / past.waits - elsewhere.logs / elsewhere.waits
    return math.exp(longer * past.waits / (past.waits + doubt.waits))


def _cost(run: PlayedRun, rates: Rates) -> float:
    """What a run costs from now on; not a number where a price that it needs is not known."""
    parts = ((run.spot, rates.spot), (run.other, rates.other))
    return sum(hours * (math.nan if rate is None else rate) for hours, rate in parts if hours)


def _moment(now: datetime, hours: float) -> datetime | None:
    return now + hours * HOUR if hours <= LONGEST else None


def _dollars(costs: Sequence[float], share: float) -> float | None:
    """The sum that this share of all runs does not exceed; None where a price is not known, or no end is."""
    cost = math.nan if any(map(math.isnan, costs)) else share_of(costs, share)
    return cost if math.isfinite(cost) else None


def _trouble(job: Course, ends: Sequence[float]) -> str:
    """Why its work may not come to an end as it goes; "" where nothing speaks for that."""
    if job.restarts and job.spot:
        return f"it starts over after each lost VM, and needs {job.whole:.1f} h without one"
    done = sum(hours <= LONGEST for hours in ends) / len(ends)
    return "" if done >= NINE_IN_TEN else "it loses VMs faster than it saves its work"
