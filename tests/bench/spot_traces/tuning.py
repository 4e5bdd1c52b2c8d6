"""The numbers of the policy, one changed at a time: chosen on even seeds, reported on odd ones."""

from collections.abc import Iterator
from datetime import timedelta
from statistics import mean

from msgspec.structs import replace

from spotwarden.model.limits import PlacementLimits

from .calibration import saving, us, v100
from .market import HOUR, Zone, cant_be_late, h100
from .ours import Memory, Ours, ours
from .placing import cheapest, seeds
from .replay import replay
from .table import Table, late

CHOSEN = PlacementLimits()
MINUTE = timedelta(minutes=1)
SWEEPS = {
    "block": (5, 10, 20, 30, 60),
    "fragile": (0, 10, 30, 60, 120),
    "half_life": (0, 15, 30, 60, 120),
}
HOMES = ("us-central1-a", "us-east5-a", "us-west1-a")
"""Beside the cheapest zone: one home in each region."""


def study() -> Iterator[Table]:
    """Each number of placement, then the margin before a deadline."""
    markets = {vms: us(list(h100(vms, held=False).values())) for vms in (1, 8, 16)}
    for name, values in SWEEPS.items():
        rows = []
        for value in values:
            limits = replace(CHOSEN, **{name: value * MINUTE})
            rows.append(
                [
                    _marked(limits, f"{value} min"),
                    *_figures(limits, markets, 0),
                    *_figures(limits, markets, 1),
                ]
            )
        yield Table(
            title=f"{name}: 100 h of work, mean over 4 homes and 1, 8, 16 VMs",
            head=(
                "",
                *(f"{what} {half}" for half in ("even", "odd") for what in ("h", "restarts", "asked", "USD")),
            ),
            rows=rows,
        )
    yield _margins()


def _marked(limits: PlacementLimits, text: str) -> str:
    return f"{text} (chosen)" if limits == CHOSEN else text


def _figures(limits: PlacementLimits, markets: dict[int, list[Zone]], odd: int) -> list[str]:
    runs = []
    for vms, zones in markets.items():
        for home in (cheapest(zones), *HOMES):
            rule = [(job, ours(zones, home, Memory(limits=limits), moves=vms == 1)) for job in seeds(odd)]
            runs += [(job, replay(job, one, zones)) for job, one in rule]
    return [
        f"{mean((state.now - job.start) / HOUR for job, state in runs):.2f}",
        f"{mean(state.restarts for _, state in runs):.1f}",
        f"{mean(state.asks for _, state in runs):.0f}",
        f"{mean(state.cost for _, state in runs):,.0f}",
    ]


def _margins() -> Table:
    zones, windows = cant_be_late()
    rows = []
    for margin in (1.0, 1.5, 2.0, 2.5, 3.0):
        limits = replace(CHOSEN, deadline_restarts=margin)
        jobs = [v100(first, ask=20, notice=120, shift=first % 600) for first in windows[1::2]]
        runs = [
            (job, replay(job, Ours([one.name], Memory(limits=limits)), [one]))
            for one in zones
            for job in jobs
        ]
        missed = [state.now - (job.deadline or 0) for job, state in runs if late(job, state)]
        worst = f"{max(missed, default=0) / 60:.1f} min"
        saved = f"{saving([state.cost for _, state in runs]):.1f} %"
        name = _marked(limits, f"{margin:.1f} restarts")
        rows.append([name, str(len(runs)), str(len(missed)), worst, saved])
    return Table(
        title="deadline_restarts: 48 h of work, deadline 60 h, a single zone, news after 120 s",
        head=("", "runs", "late", "by at most", "saved"),
        rows=rows,
    )
