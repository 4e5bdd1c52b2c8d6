"""What a virtual machine tells Monitoring while it is on: GPUs, processor, lines of its log."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from localcloud.machines.gpus.cards import Card
from localcloud.machines.gpus.meter import Meter, Processes
from localcloud.machines.host import Host
from localcloud.machines.metadata.tree import MetadataPlace
from localcloud.ports import Point, Resource

CPU = "compute.googleapis.com/instance/cpu/utilization"
"""A fraction, as the hypervisor sees it ("Google Cloud metrics"); here one core at work is all of it."""
LINES = "logging.googleapis.com/log_entry_count"
"""Log entries, by log and severity ("Google Cloud metrics")."""

_PROCESSOR = Card(number=0, model="", uuid="", memory_mib=0)


class Report(Protocol):
    """One kind of measurement; `by_agent` where it takes an agent in the machine."""

    by_agent: bool

    def points(self, now: datetime) -> Iterator[Point]:
        """What there is to tell of the time since it was last asked."""


def labels(instance: Resource) -> Mapping[str, str]:
    """The labels of the monitored resource `gce_instance`."""
    place = MetadataPlace.of(instance)
    return {"project_id": place.project, "instance_id": str(instance["id"]), "zone": place.zone}


class CpuReport:
    """How busy the processes of a machine were, whatever else this computer does; the hypervisor sees it."""

    by_agent = False

    def __init__(self, processes: Processes, instance: Resource) -> None:
        self._meter = Meter([_PROCESSOR], processes, whose=lambda _environment, _cards: (0,))
        self._name = str(instance["name"])
        self._resource = labels(instance)

    def points(self, now: datetime) -> Iterator[Point]:
        """One."""
        [percent] = self._meter.read()
        yield Point(
            metric=CPU,
            metric_labels={"instance_name": self._name},
            resource="gce_instance",
            resource_labels=self._resource,
            value=percent / 100,
            at=now,
        )


class LogReport:
    """How many lines a machine's console has got; the Ops Agent would send each to Logging."""

    by_agent = True

    def __init__(self, count: Callable[[], int], instance: Resource) -> None:
        self._count = count
        self._told = count()
        self._resource = labels(instance)

    def points(self, now: datetime) -> Iterator[Point]:
        """One, or none where nothing was said."""
        lines = self._count()
        new, self._told = lines - self._told, lines
        if new > 0:
            yield Point(
                metric=LINES,
                metric_labels={"log": "syslog", "severity": "DEFAULT"},
                resource="gce_instance",
                resource_labels=self._resource,
                value=new,
                at=now,
            )


async def tell(
    name: str, reports: Sequence[Report], host: Host, *, awake: Callable[[], bool] = lambda: True
) -> None:
    """Send what there is about the machine of this name at the end of every metric period, for ever.

    Of a machine that is suspended nothing is heard.
    """
    while True:
        await asyncio.sleep(host.metric_period.total_seconds())
        now = host.clock.now()
        for report in reports:
            points = list(report.points(now))
            if awake() and (host.agents.runs(name) or not report.by_agent):
                for point in points:
                    host.measure(point)
