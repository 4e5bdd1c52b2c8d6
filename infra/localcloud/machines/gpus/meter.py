"""Looking at the processes of a virtual machine to tell how busy its GPUs, or its processors, are."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

import psutil

from localcloud.machines.gpus.attribution import Sample, utilization, visible
from localcloud.machines.gpus.cards import Card
from localcloud.ports import Point

Processes = Callable[[], Iterable[psutil.Process]]
Whose = Callable[[Mapping[str, str], Sequence[Card]], tuple[int, ...]]
"""Which cards a process with this environment works for."""


class Meter:
    """Tells the utilization of each GPU since the last time that it was asked."""

    def __init__(self, cards: Sequence[Card], processes: Processes, whose: Whose = visible) -> None:
        self.cards = cards
        self._processes = processes
        self._whose = whose
        self._samples, self._at = self._look(), time.monotonic()

    def read(self) -> list[float]:
        """Percent, 0 to 100, for each GPU in order."""
        samples, at = self._look(), time.monotonic()
        elapsed = max(at - self._at, 1e-6)
        busy = utilization(self._samples, samples, elapsed=elapsed, cards=self.cards)
        self._samples, self._at = samples, at
        return busy

    @property
    def used(self) -> bool:
        """Whether any process worked for a card when this was last read."""
        return any(sample.gpus for sample in self._samples)

    def _look(self) -> list[Sample]:
        return [sample for process in self._processes() if (sample := self._sample(process))]

    def _sample(self, process: psutil.Process) -> Sample | None:
        try:
            times = process.cpu_times()
            return Sample(
                pid=process.pid,
                parent=process.ppid(),
                seconds=sum(times[:4]),  # user, system, and the same of children that were waited for
                gpus=self._whose(process.environ(), self.cards),
            )
        except (psutil.NoSuchProcess, psutil.AccessDenied, OSError):
            return None  # it has just ended, or is another user's


METRIC = "agent.googleapis.com/gpu/utilization"
"""Percent, per GPU ("Ops Agent metrics", section gpu)."""


class GpuReport:
    """Points of the GPUs of one machine; `resource` are its labels in Monitoring."""

    by_agent = True

    def __init__(self, meter: Meter, resource: Mapping[str, str]) -> None:
        self._meter = meter
        self._resource = resource

    def points(self, now: datetime) -> Iterator[Point]:
        """One for each GPU, about the time since the last ones."""
        for card, busy in zip(self._meter.cards, self._meter.read(), strict=True):
            yield Point(
                metric=METRIC,
                metric_labels={"gpu_number": str(card.number), "model": card.model, "uuid": card.uuid},
                resource="gce_instance",
                resource_labels=self._resource,
                value=busy,
                at=now,
            )
