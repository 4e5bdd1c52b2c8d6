"""The utilization of a machine's GPUs as the Ops Agent tells Monitoring."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from localcloud.machines.gpus.meter import Meter
from localcloud.ports import Point

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
