"""What the GPU metrics of one VM say: it works, it idles, or nobody knows."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import Enum
from functools import lru_cache
from itertools import takewhile
from typing import NamedTuple

import msgspec

from spotwarden.model.accelerators import noun
from spotwarden.model.fleet import Machine
from spotwarden.model.load import Buckets, GpuLoads, VmLoad
from spotwarden.model.rule_limits import IdleLimits

MINUTE = timedelta(minutes=1)
"""How often an agent reports (Google: "Ops Agent metrics", GPU metrics are sampled each 60 s)."""


class LoadState(Enum):
    """`CONTENT` is a VM that works, and one that is too young to be judged."""

    CONTENT = "content"
    IDLE = "idle"
    UNKNOWN = "unknown"


class LoadVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """`since` is when the idle time began, as far as the metrics reach back; `top` the busiest GPU in it.

    `gap` says what is missing where nobody knows, "" where nothing was ever reported.
    """

    state: LoadState
    since: datetime | None = None
    top: float = 0.0
    gap: str = ""


CONTENT = LoadVerdict(state=LoadState.CONTENT)
NOTHING = VmLoad(top=())


class LoadBucket(NamedTuple):
    """One bucket of one VM; -1 where nothing was reported or nobody asked."""

    start: datetime
    end: datetime
    top: float
    points: int
    gpus: int


def able_from(machine: Machine, grace: timedelta) -> datetime | None:
    """From when on its GPUs could be at work and its agent report; None where nobody knows."""
    born = machine.started or machine.created
    return born + grace if born else None


def verdict(
    machine: Machine, loads: GpuLoads, limits: IdleLimits, now: datetime, able: datetime
) -> LoadVerdict:
    """What holds at this moment, for a VM that can report from `able` on.

    The window is the time before the first warning. All of its buckets must be there but for what may still
    come; a bucket in which one GPU was busy makes the VM busy, whatever else is missing.
    """
    buckets = _buckets(loads.rows.get(machine.id), loads.grid)
    window = buckets[limits.warn[0] // -loads.grid.step :]
    if any(point.top >= limits.threshold for point in window):
        return CONTENT
    silent = all(bucket.top < 0 for bucket in buckets)
    if silent and now >= able + limits.lag + loads.grid.step:
        return LoadVerdict(state=LoadState.UNKNOWN)
    if silent or window[0].start < able:
        return CONTENT
    settled = now - limits.lag
    for load_bucket in window:
        if gap := _gap(load_bucket, machine, limits.coverage, settled):
            return LoadVerdict(state=LoadState.UNKNOWN, gap=gap)
    before = takewhile(
        lambda item: (
            item.top < limits.threshold
            and item.start >= able
            and not _gap(item, machine, limits.coverage, settled)
        ),
        reversed(buckets[: -len(window)]),
    )
    stretch = [*window, *before]
    return LoadVerdict(
        state=LoadState.IDLE,
        since=min(candidate.start for candidate in stretch),
        top=max(each.top for each in stretch),
    )


def last_work(row: VmLoad | None, grid: Buckets, threshold: float) -> datetime | None:
    """When one of its GPUs was busy last, as far as the metrics tell."""
    return max((bucket.end for bucket in _buckets(row, grid) if bucket.top >= threshold), default=None)


def _buckets(row: VmLoad | None, grid: Buckets) -> list[LoadBucket]:
    row = row or NOTHING
    columns = (_padded(values, grid.count) for values in (row.top, row.points, row.gpus))
    return [
        LoadBucket(start, end, top, int(points), int(gpus))
        for (start, end), top, points, gpus in zip(_spans(grid), *columns, strict=True)
    ]


@lru_cache(maxsize=16)
def _spans(grid: Buckets) -> Sequence[tuple[datetime, datetime]]:
    """When each bucket begins and ends: the same for all VMs of a look."""
    starts = [grid.end - grid.step * (grid.count - index) for index in range(grid.count)]
    return tuple((start, start + grid.step) for start in starts)


def _padded(values: Sequence[float], count: int) -> Sequence[float]:
    """So many of them; -1 is what nobody asked for."""
    return values if len(values) == count else (*values, *(-1.0,) * count)[:count]


def _gap(bucket: LoadBucket, machine: Machine, coverage: float, settled: datetime) -> str:
    """What a bucket lacks of the points that must have come by `settled`; "" for nothing.

    Where more GPUs reported than there are, an agent came back under another name for them: then the points
    of one GPU stand in two rows, and one point of each has to do.
    """
    gpus = machine.gpus
    minutes = (min(bucket.end, settled) - bucket.start) // MINUTE
    if minutes < 1:
        return ""
    if bucket.gpus < 1 or bucket.points < 1:
        return f"nothing was reported {_when(bucket)}"
    if bucket.gpus < gpus:
        return f"{bucket.gpus} of {gpus} {noun(machine.gpu)}s reported {_when(bucket)}"
    needed = max(1, int(coverage * minutes))
    if bucket.gpus == gpus and bucket.points < needed:
        return f"{bucket.points} of {minutes} points came {_when(bucket)}"
    return ""


def _when(bucket: LoadBucket) -> str:
    return f"between {bucket.start:%H:%M} and {bucket.end:%H:%M} UTC"
