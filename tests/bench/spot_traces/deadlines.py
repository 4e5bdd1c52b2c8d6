"""Jobs that must be done in time: what that costs, and whether it is kept."""

from collections.abc import Iterator, Sequence
from statistics import mean

from .calibration import saving, us, v100, window
from .market import Zone, cant_be_late, h100, zone
from .ours import ours
from .placing import cheapest
from .replay import Job, State, replay
from .rules import ByPrice, Fixed, Uniform
from .table import Table, late

ASK, NOTICE = 20.0, 60.0


def study() -> Iterator[Table]:
    """Many zones, two, and a single one."""
    yield _many()
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


def _two() -> Table:
    """Each pair of zones, both ways round; and each zone beside one that has on-demand VMs alone."""
    zones, windows = cant_be_late()
    named = {one.name: one for one in zones}
    pairs = [[one, named[sister(one.name)]] for one in zones]
    alone = [[one, zone("us-west-2c", [False] * len(one.up), one.spot, one.on_demand)] for one in zones]
    starts = windows[1::2]
    rows = [
        _saved(
            f"{what}: {how}",
            [
                (job, replay(job, ours(there, there[0].name, line=line), there))
                for there in some
                for job in _jobs(starts)
            ],
        )
        for what, some in (("two zones", pairs), ("one with spot VMs, one without", alone))
        for how, line in (("on-demand at the last moment", False), ("ours, by the line", True))
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
