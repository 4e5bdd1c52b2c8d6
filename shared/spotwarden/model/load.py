"""What Cloud Monitoring tells of VMs, reduced to one row for each instance id."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec


class Buckets(msgspec.Struct, frozen=True, kw_only=True):
    """The grid of all rows: buckets of `step`, the newest of which ends at `end`."""

    end: datetime
    step: timedelta
    count: int


class VmLoad(msgspec.Struct, frozen=True, kw_only=True):
    """One instance, bucket by bucket, oldest first; -1 where nothing was reported.

    `top` is the highest utilisation of any of its GPUs in percent, `points` the number of points of the
    GPU that has the fewest, `gpus` how many GPUs reported at all.
    """

    top: tuple[float, ...]
    points: tuple[int, ...] = ()
    gpus: tuple[int, ...] = ()


class GpuLoads(msgspec.Struct, frozen=True, kw_only=True):
    """The GPU metrics of a project, by instance id; `problem` says why nothing is known, "" for none."""

    grid: Buckets
    rows: Mapping[str, VmLoad] = {}
    problem: str = ""
