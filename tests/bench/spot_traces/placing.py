"""A job without a deadline: how long it takes, what it costs, how often it is restarted."""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta

from spotwarden.model.limits import PlacementLimits

from .calibration import us
from .market import HOUR, ROUND, Zone, h100
from .ours import Memory, ours
from .replay import Job, Rule, Run, replay, together
from .rules import Aged, ByPrice, Fixed, Longest
from .table import FIGURES, Outcome, Table, figures

WORK = 100 * HOUR
SPAN = 2114 * ROUND
SEEDS = 24
BLOCK_ONLY = PlacementLimits(fragile=timedelta(), half_life=timedelta())


def study() -> Iterator[Table]:
    """One VM, and 8 and 16 that must stand together."""
    for vms in (1, 8, 16):
        zones = us(list(h100(vms, held=False).values()))
        yield Table(
            title=f"100 h of work, {vms} H100 VM, all or nothing, 8 US zones, restart 12 min; "
            "refusal 20 s, preemption heard of after 60 s",
            head=("", *FIGURES),
            rows=[[name, *figures(outcomes)] for name, outcomes in _outcomes(zones, alone=vms == 1)],
            note="Traces: GCP H100 probes, October 2025 (SkyNomad artifact); prices of 2025-10-23. "
            "* knows what nobody can know without probing.",
        )


def seeds(odd: int) -> list[Job]:
    """Starts over the trace, half of all: the even ones were for choosing, the odd ones are for reporting."""
    starts = [
        (k * (SPAN - 1.5 * WORK) / SEEDS) // ROUND * ROUND + k * 97 % ROUND for k in range(odd, SEEDS, 2)
    ]
    return [Job(work=WORK, restart=720, start=at, horizon=2 * SPAN, ask=20, notice=60) for at in starts]


def cheapest(zones: Sequence[Zone]) -> str:
    """The zone with the lowest price."""
    return min(zones, key=lambda one: (one.spot, one.name)).name


def _outcomes(zones: list[Zone], *, alone: bool) -> Iterator[tuple[str, list[Outcome]]]:
    """A gang is never moved while it runs."""
    jobs = seeds(1)
    home = cheapest(zones)
    yield "one zone, mean of 8", [(job, replay(job, Fixed(zone=z.name), [z])) for job in jobs for z in zones]
    yield "cheapest that has room", _each(jobs, zones, lambda: ByPrice(zones=zones))
    yield "eager failover", _each(jobs, zones, lambda: ByPrice(zones=zones, eager=True))
    yield "ours, home is cheapest", _each(jobs, zones, lambda: ours(zones, home, moves=alone))
    yield "ours, mean of 8 homes", _from_each_home(jobs, zones, PlacementLimits(), moves=alone)
    if alone:
        yield "  that are never moved", _from_each_home(jobs, zones, PlacementLimits(), moves=False)
    yield "  with nothing but the block", _from_each_home(jobs, zones, BLOCK_ONLY, moves=alone)
    yield "  8 jobs share a memory", fleet(jobs, zones, moves=alone)
    yield "cheapest up for an hour *", _each(jobs, zones, lambda: Aged(zones=zones))
    yield "omniscient: lasts longest *", _each(jobs, zones, lambda: Longest(zones=zones))


def _from_each_home(
    jobs: Sequence[Job], zones: list[Zone], limits: PlacementLimits, *, moves: bool
) -> list[Outcome]:
    return [
        (job, replay(job, ours(zones, one.name, Memory(limits=limits), moves=moves), zones))
        for job in jobs
        for one in zones
    ]


def _each(jobs: Sequence[Job], zones: list[Zone], rule: Callable[[], Rule]) -> list[Outcome]:
    return [(job, replay(job, rule(), zones)) for job in jobs]


def fleet(jobs: Sequence[Job], zones: list[Zone], *, moves: bool) -> list[Outcome]:
    """For each seed eight jobs at a time, one at home in each zone, that learn from one another."""
    outcomes = []
    for job in jobs:
        memory = Memory()
        runs = [Run(job, ours(zones, one.name, memory, name=one.name, moves=moves), zones) for one in zones]
        outcomes += [(job, state) for state in together(runs)]
    return outcomes
