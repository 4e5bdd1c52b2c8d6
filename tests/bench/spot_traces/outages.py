"""How long zones stay closed, and how soon one that has opened closes again."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from .calibration import us
from .market import Zone, h100
from .table import Table


def study() -> Iterator[Table]:
    """The facts that `block` and `fragile` rest on."""
    rows = []
    for vms in (1, 16):
        zones = us(list(h100(vms, held=False).values()))
        out, up = _spells(zones, up=False), _spells(zones, up=True)
        ended = [_share([spell <= rounds for spell in out]) for rounds in (1, 3)]
        lost = [_share([spell == age for spell in up if spell >= age]) for age in (1, 3, 6, 12)]
        rows.append([f"{vms} VM", str(len(out)), *ended, *lost])
    yield Table(
        title="Outages of the 8 US zones, and how likely a zone closes in the next 10 minutes by its age",
        head=("", "outages", "over in 10 min", "in 30 min", "age 10 min", "30 min", "60 min", "120 min"),
        rows=rows,
        note="Traces: GCP H100 probes, October 2025; spells cut off by the trace are left out.",
    )


def _spells(zones: Sequence[Zone], *, up: bool) -> list[int]:
    """The lengths, in rounds, of all whole spells of being up, or of being out."""
    return [
        end - start
        for one in zones
        for start, end in pairwise(one.edges)
        if one.up[start] == up and end < len(one.up)
    ]


def _share(hits: Sequence[bool]) -> str:
    return f"{100 * sum(hits) / len(hits):.0f} %"
