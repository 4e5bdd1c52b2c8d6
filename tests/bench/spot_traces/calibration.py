"""Rows that others published, replayed here: how far the replay can be trusted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import mean

from .market import HOUR, ROUND, Zone, cant_be_late, h100
from .replay import EGRESS, Job, replay
from .rules import Aged, ByPrice, Fixed, Uniform
from .table import Table

SPAN = 2114 * ROUND
EARLIER: Mapping[int, Mapping[str, tuple[Callable[..., ByPrice], str, str]]] = {
    1: {
        "by price": (ByPrice, "101.3", "6.7"),
        "cheapest up for an hour": (Aged, "101.1", "5.7"),
        "next region": (partial(ByPrice, eager=True), "102.2", "10.2"),
    },
    16: {
        "by price": (ByPrice, "121.9", "-"),
        "cheapest up for an hour": (Aged, "117.8", "-"),
        "next region": (partial(ByPrice, eager=True), "119.3", "-"),
    },
}
WORK, DEADLINE, WINDOW = 43.19444 * HOUR, 51.83333 * HOUR, 311 * ROUND
"""The job of the SkyNomad replays: six windows of 311 rounds, the job five sixths of a window."""


def study() -> Iterator[Table]:
    """Published beside replayed."""
    rows = [*_skynomad(), *_cant_be_late()]
    yield Table(
        title="Published figures, replayed (requests are answered at once, preemptions known at once)",
        head=("", "runs", "published", "replayed", "difference"),
        rows=[
            [name, str(runs), f"{theirs:,.1f} {unit}", f"{ours:,.1f} {unit}", f"{ours - theirs:+,.1f}"]
            for name, runs, theirs, ours, unit in rows
        ],
        note="Published: artifact of SkyNomad (NSDI '27), research/data/region_selection.csv, 'US Only (8)'; "
        "evaluation windows of Can't Be Late (NSDI '24).",
    )
    yield Table(
        title="Our own earlier replay, other code and starts: 100 h of work, restart 6 min, 20 starts",
        head=("", "hours then", "hours", "restarts then", "restarts"),
        rows=[[name, *figures] for name, figures in _earlier()],
        note="That one looked once a round, so here a preemption is heard of after half a round.",
    )


def us(zones: Sequence[Zone]) -> list[Zone]:
    """The eight zones in the US."""
    return [one for one in zones if one.name.startswith("us-")]


def window(at: int, *, ask: float = 0.0, notice: float = 0.0) -> Job:
    """The job of the SkyNomad replays in its n-th window."""
    start = at * WINDOW
    return Job(
        work=WORK, restart=720, start=start, deadline=start + DEADLINE, egress=EGRESS, ask=ask, notice=notice
    )


def v100(first: int, *, ask: float = 0.0, notice: float = 0.0, shift: float = 0.0) -> Job:
    """The job of Can't Be Late: 48 h of work, 60 h of time."""
    start = first * ROUND + shift
    return Job(work=48 * HOUR, restart=720, start=start, deadline=start + 60 * HOUR, ask=ask, notice=notice)


def _skynomad() -> Iterator[tuple[str, int, float, float, str]]:
    zones = us(list(h100(1, held=True).values()))
    eager = [replay(window(at), ByPrice(zones=zones, eager=True), zones).cost for at in range(6)]
    yield "H100, 8 zones: eager failover", 6, 709.8, mean(eager), "USD"
    uniform = [
        replay(window(at), Uniform(zone=one.name, market=one), [one]).cost for at in range(6) for one in zones
    ]
    yield "H100, one zone: Uniform Progress", 48, 1503.9, mean(uniform), "USD"


def _earlier() -> Iterator[tuple[str, list[str]]]:
    for vms, rows in EARLIER.items():
        zones = us(list(h100(vms, held=True).values()))
        for name, (rule, then_hours, then_restarts) in rows.items():
            starts = [k * (SPAN - 150 * HOUR) / 20 // ROUND * ROUND for k in range(20)]
            jobs = [Job(work=100 * HOUR, restart=360, start=at, notice=ROUND / 2) for at in starts]
            states = [(job, replay(job, rule(zones=zones), zones)) for job in jobs]
            hours = mean((state.now - job.start) / HOUR for job, state in states)
            restarts = mean(state.restarts for _, state in states)
            yield f"{vms} VM, {name}", [then_hours, f"{hours:.1f}", then_restarts, f"{restarts:.1f}"]


def _cant_be_late() -> Iterator[tuple[str, int, float, float, str]]:
    zones, windows = cant_be_late()
    for name, kind, published in (("greedy", Fixed, 21.0), ("Uniform Progress", Uniform, 27.2)):
        costs = []
        for one in zones:
            costs += [replay(v100(first), kind(zone=one.name, market=one), [one]).cost for first in windows]
        yield f"V100 and K80, one zone: {name}", len(costs), published, saving(costs), "% saved"


def saving(costs: Sequence[float]) -> float:
    """Percent saved against 48 hours on-demand."""
    return 100 * (1 - mean(costs) / (48 * 3.06))
