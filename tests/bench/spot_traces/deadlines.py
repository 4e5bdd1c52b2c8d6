"""Jobs that must be done in time: what that costs, and whether it is kept."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import mean

from .calibration import saving, us, v100, window
from .market import Zone, cant_be_late, h100, zone
from .ours import ours
from .placing import WORK, cheapest, seeds
from .replay import Job, State, replay
from .rules import ByPrice, Fixed, Uniform
from .table import Table, late

ASK, NOTICE = 20.0, 60.0
TIMES = (1.1, 1.25, 1.5)
"""The deadline, in times the work."""
RETURNS = {
    "to other zones, counted as a restart in both VMs": (False, False),
    "also beside its VM, counted so": (True, False),
    "to other zones, by a hand-over": (False, True),
    "also beside its VM, by a hand-over": (True, True),
}
"""Where a job with several zones goes back to from its on-demand VM: beside it as well, by a hand-over."""


def study() -> Iterator[Table]:
    """Many zones, a region's, two, and a single one."""
    yield _many()
    yield _region()
    yield _two()
    yield _single()


def _many() -> Table:
    zones = us(list(h100(1, held=True).values()))
    jobs = [window(at, ask=ASK, notice=NOTICE) for at in range(6)]
    home = cheapest(zones)
    rows = [
        _usd(
            "one zone, Uniform Progress, mean of 8",
            [(job, replay(job, Uniform(zone=z.name, market=z), [z])) for job in jobs for z in zones],
        ),
        _usd("eager failover", [(job, replay(job, ByPrice(zones=zones, eager=True), zones)) for job in jobs]),
        _usd("cheapest that has room", [(job, replay(job, ByPrice(zones=zones), zones)) for job in jobs]),
        _usd(
            "ours, mean of 8 homes",
            [(job, replay(job, ours(zones, z.name), zones)) for job in jobs for z in zones],
        ),
        _usd("ours, home is cheapest", [(job, replay(job, ours(zones, home), zones)) for job in jobs]),
        *([name, "6", "-", "-", usd] for name, usd in PUBLISHED),
    ]
    return Table(
        title="43.2 h of work, deadline 51.8 h, one H100 node, 8 US zones, restart 12 min, 50 GB to move; "
        "refusal 20 s, preemption heard of after 60 s",
        head=("", "runs", "late", "restarts", "USD"),
        rows=rows,
        note="Published: SkyNomad artifact, research/data/region_selection.csv, "
        "where refusals and news cost no time.",
    )


PUBLISHED = (
    ("published: Uniform Progress, probing all", "821"),
    ("published: eager failover", "710"),
    ("published: SkyNomad", "676"),
    ("published: optimum", "647"),
)


def _usd(name: str, outcomes: Sequence[tuple[Job, State]]) -> list[str]:
    return [
        name,
        str(len(outcomes)),
        str(sum(late(job, state) for job, state in outcomes)),
        f"{mean(state.restarts for _, state in outcomes):.1f}",
        f"{mean(state.cost for _, state in outcomes):,.0f}",
    ]


def in_region(odd: int) -> Iterator[tuple[Job, Zone, list[Zone]]]:
    """Jobs of 100 h with a deadline, each home, and the zones of its region, where that has several."""
    zones = us(list(h100(1, held=False).values()))
    for times in TIMES:
        for seed in seeds(odd):
            for home in zones:
                near = [zone for zone in zones if zone.region == home.region]
                if len(near) > 1:
                    yield replace(seed, deadline=seed.start + times * WORK), home, near


def _region() -> Table:
    runs = list(in_region(1))
    return Table(
        title="100 h of work, deadline after 110, 125 and 150 h, one H100 node, the zones of its region, "
        "restart 12 min; refusal 20 s, preemption heard of after 60 s",
        head=("goes back to spot", "runs", "late", "restarts", "USD"),
        rows=[
            _usd(
                how,
                [
                    (job, replay(job, ours(near, home.name, beside=beside, hand_over=hand_over), near))
                    for job, home, near in runs
                ],
            )
            for how, (beside, hand_over) in RETURNS.items()
        ],
        note="Odd seeds; `moving.BESIDE` was chosen on even ones.",
    )


def _two() -> Table:
    """Each pair of zones, both ways round; and each zone beside one that has on-demand VMs alone."""
    zones, windows = cant_be_late()
    named = {one.name: one for one in zones}
    pairs = [[one, named[sister(one.name)]] for one in zones]
    alone = [[one, zone("us-west-2c", [False] * len(one.up), one.spot, one.on_demand)] for one in zones]
    ways = [(f"goes back {how}", True, *of) for how, of in RETURNS.items()]
    last = ("on-demand at the last moment", False, True, False)
    rows = [
        _saved(
            f"{what}: {how}",
            [
                (
                    job,
                    replay(job, ours(there, there[0].name, line=line, beside=beside, hand_over=over), there),
                )
                for there in some
                for job in _jobs(windows[1::2])
            ],
        )
        for what, some, hows in (
            ("two zones", pairs, (last, *ways)),
            ("one with spot VMs, one without", alone, (last, ways[1])),
        )
        for how, line, beside, over in hows
    ]
    return Table(
        title="48 h of work, deadline 60 h, two zones (AWS V100, K80), restart 12 min; refusal 20 s, "
        "preemption heard of after 60 s",
        head=("", "runs", "late", "restarts", "saved"),
        rows=rows,
        note="Saved against 48 h on-demand; nobody is to be late. `BEHIND` was chosen on even windows.",
    )


def sister(name: str) -> str:
    """The other zone of its region, with the same machine."""
    return name.replace("-2a_", "-2b_") if "-2a_" in name else name.replace("-2b_", "-2a_")


def _jobs(starts: Sequence[int]) -> list[Job]:
    return [v100(at, ask=ASK, notice=NOTICE, shift=at % 600) for at in starts]


ONE_ZONE = {
    "on-demand at the last moment": (False, False),
    "by the line, a return counted as a restart in both": (True, False),
    "by the line, a return as a hand-over is": (True, True),
}
"""Whether its VMs have a second name, and hand over."""


def _alone(job: Job, zone: Zone, beside: bool, hand_over: bool) -> State:
    return replay(job, ours([zone], zone.name, beside=beside, hand_over=hand_over), [zone])


def _single() -> Table:
    zones, windows = cant_be_late()
    firsts = windows[1::2]
    pairs = [(v100(at, ask=ASK, notice=NOTICE, shift=at % 600), z) for z in zones for at in firsts]
    rows = [
        _saved("greedy", [(job, replay(job, Fixed(zone=z.name), [z])) for job, z in pairs]),
        _saved(
            "Uniform Progress", [(job, replay(job, Uniform(zone=z.name, market=z), [z])) for job, z in pairs]
        ),
        *(
            _saved(f"ours, {how}", [(job, _alone(job, zone, *of)) for job, zone in pairs])
            for how, of in ONE_ZONE.items()
        ),
        ["published: greedy", "2400", "0", "-", "21.0 %"],
        ["published: Uniform Progress", "2400", "0", "-", "27.2 %"],
        ["published: omniscient", "2400", "0", "-", "31.2 %"],
    ]
    return Table(
        title="48 h of work, deadline 60 h, one zone (AWS V100, K80), restart 12 min; refusal 20 s, "
        "preemption heard of after 60 s",
        head=("", "runs", "late", "restarts", "saved"),
        rows=rows,
        note="Saved against 48 h on-demand; nobody is to be late. `BEHIND` was chosen on even windows.",
    )


def _saved(name: str, outcomes: Sequence[tuple[Job, State]]) -> list[str]:
    *row, _ = _usd(name, outcomes)
    return [*row, f"{saving([state.cost for _, state in outcomes]):.1f} %"]
