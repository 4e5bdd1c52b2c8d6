"""What is told of VMs: their metrics, and what they say."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Protocol

from spotwarden.model.load import Buckets, GpuLoads
from spotwarden.model.logline import LogLine


class Metrics(Protocol):
    """Cloud Monitoring, in one project."""

    def gpus(self, grid: Buckets, *, ids: Collection[str] = (), counts: bool = True) -> GpuLoads:
        """How busy the GPUs of every instance were, or of these; what cannot be read is its `problem`.

        Without `counts` only `top` is asked for, which costs a third.
        """

    def tpus(self, grid: Buckets, *, ids: Collection[str]) -> GpuLoads:
        """The same of the TPU chips of these instances, with counts; no row where nothing is reported."""

    def cpus(self, since: datetime, until: datetime, *, ids: Collection[str] = ()) -> Mapping[str, float]:
        """The highest CPU utilisation of each instance in that time, in percent; `UnansweredError`."""

    def logged(
        self, since: datetime, until: datetime, *, ids: Collection[str] = ()
    ) -> Mapping[str, datetime]:
        """When each instance last wrote a log line in that time, to the minute or so; `UnansweredError`."""


class Logs(Protocol):
    """Cloud Logging, in one project."""

    def lines(self, ids: Collection[str], since: datetime, *, newest: int = 0) -> Iterable[LogLine]:
        """What instances have said since then, oldest first; with `newest` only so many of the last lines.

        They are asked for as they are taken. `RejectedError` where they may not be read; `UnansweredError`.
        """
