"""Sending the utilization of a machine's GPUs to Monitoring, as the Ops Agent does."""

import asyncio
from collections.abc import Mapping
from datetime import datetime

from localcloud.machines.gpus.cards import Card
from localcloud.machines.gpus.meter import Meter
from localcloud.machines.host import Host
from localcloud.machines.metadata.tree import Place
from localcloud.ports import Point, Resource

METRIC = "agent.googleapis.com/gpu/utilization"
"""Percent, per GPU ("Ops Agent metrics", section gpu)."""


def _labels(instance: Resource) -> dict[str, str]:
    """The labels of the monitored resource `gce_instance`."""
    place = Place.of(instance)
    return {"project_id": place.project, "instance_id": str(instance["id"]), "zone": place.zone}


async def report(meter: Meter, instance: Resource, host: Host) -> None:
    """Send one point for each GPU at the end of every metric period, for ever."""
    labels = _labels(instance)
    while True:
        await asyncio.sleep(host.metric_period.total_seconds())
        now = host.clock.now()
        for card, busy in zip(meter.cards, meter.read(), strict=True):
            host.measure(_point(card, labels, busy, now))


def _point(card: Card, labels: Mapping[str, str], busy: float, now: datetime) -> Point:
    return Point(
        metric=METRIC,
        metric_labels={"gpu_number": str(card.number), "model": card.model, "uuid": card.uuid},
        resource="gce_instance",
        resource_labels=labels,
        value=busy,
        at=now,
    )
