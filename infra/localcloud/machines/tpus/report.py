"""What a virtual machine with TPUs tells Monitoring."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from localcloud.machines.gpus.meter import Meter
from localcloud.ports import Point

METRIC = "tpu.googleapis.com/accelerator/duty_cycle"
"""Percent, per chip ("Google Cloud metrics", tpu)."""
WORKER = "tpu.googleapis.com/GceTpuWorker"


class TpuReport:
    """Points of the chips of one machine while a process uses them; the collector of Google's image sends it.

    `resource` are the labels of the machine as a `gce_instance`. That a worker's id is the machine's stands
    on no page of Google's.
    """

    by_agent = True

    def __init__(self, meter: Meter, resource: Mapping[str, str]) -> None:
        self._meter = meter
        self._resource = {
            "resource_container": resource["project_id"],
            "location": resource["zone"],
            "worker_id": resource["instance_id"],
        }

    def points(self, now: datetime) -> Iterator[Point]:
        """One for each chip, about the time since the last ones; none where no process uses the TPU."""
        busy = self._meter.read()
        if not self._meter.used:
            return
        for chip, percent in zip(self._meter.cards, busy, strict=True):
            yield Point(
                metric=METRIC,
                metric_labels={"accelerator_id": chip.uuid},
                resource=WORKER,
                resource_labels=self._resource,
                value=percent,
                at=now,
            )
