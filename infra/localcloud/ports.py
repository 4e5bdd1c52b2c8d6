"""What the services of the local cloud need of each other; each gets these as arguments.

Everything runs in one asyncio loop on one thread, so a state change between two awaits is atomic
and nothing needs a lock.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

Resource = Mapping[str, Any]

Publish = Callable[[str, bytes, Mapping[str, str]], str]
"""Publish (topic `projects/P/topics/T`, data, attributes) → message id; `ApiError` 404 without the topic."""

Audit = Callable[[Resource], None]
"""Write one log entry, in the JSON form of Cloud Logging's `LogEntry`."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One measurement for Monitoring: a number at one moment, or over the minute before it."""

    metric: str
    metric_labels: Mapping[str, str] = field(default_factory=dict)
    resource: str
    resource_labels: Mapping[str, str] = field(default_factory=dict)
    value: float
    at: datetime


Measure = Callable[[Point], None]


class Machines(Protocol):
    """What runs behind an instance: processes of this computer, or nothing at all.

    Instances are given as their whole `compute#instance` resource; `id` is the key. One more key, `preempted`
    (a bool, never part of an API answer), is the metadata value `instance/preempted`.
    """

    async def boot(self, instance: Resource) -> None:
        """Start the instance's processes and its startup script; return once they are started."""

    async def shut_down(self, instance_id: str, grace: timedelta) -> None:
        """Run the shutdown script for at most `grace`, then end every process; return when none is left."""

    async def suspend(self, instance_id: str) -> None:
        """Let every process stand still where it is; return when all do."""

    async def resume(self, instance_id: str) -> None:
        """Let the processes of a suspended instance go on."""

    async def kill(self, instance_id: str) -> None:
        """End every process at once, with no shutdown script; return when none is left."""

    def update(self, instance: Resource) -> None:
        """Let the metadata server of this instance answer from the resource as it is now."""

    def forget(self, instance_id: str) -> None:
        """Drop what is in memory of a deleted instance; its folder stays as long as the state folder."""

    def console(self, instance_id: str) -> str:
        """What the instance wrote to its first serial port so far; empty when nothing is known of it."""

    def guest_attributes(self, instance_id: str) -> Mapping[str, Mapping[str, str]]:
        """What the guest wrote about itself, by namespace and key; empty when nothing is known of it."""
