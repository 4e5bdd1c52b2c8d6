"""What Google expects of spot capacity in one place, for one machine type."""

from datetime import datetime, timedelta

import msgspec


class CapacityAdvice(msgspec.Struct, frozen=True, kw_only=True):
    """How likely a request for spot VMs is served (0 to 1), and how long most of them live at least.

    None where Google did not say. It promises neither ("View the availability of Spot VMs").
    """

    obtainability: float | None = None
    uptime: timedelta | None = None


class SpotPrice(msgspec.Struct, frozen=True, kw_only=True):
    """The list price of a spot VM in USD an hour, from `since` on; `until` is None while it holds."""

    since: datetime
    until: datetime | None = None
    per_hour: float


class CapacityHistory(msgspec.Struct, frozen=True, kw_only=True):
    """What spot VMs of a machine type went through, oldest first.

    `preemption` is for each day the share (0 to 1) of those that stopped which were preempted; `prices` are
    those of a region, of about a year ("View the preemption rate and pricing for Spot VMs").
    """

    preemption: tuple[float, ...] = ()
    prices: tuple[SpotPrice, ...] = ()
