"""The lease on an attempt: until a request is answered, one sweep alone sends it."""

from datetime import datetime

from spotwarden.model.attempt import Attempt, Lease
from spotwarden.model.limits import RecoveryLimits
from spotwarden.model.tick import Tick
from spotwarden.recovery.observed.identity import CLOCKS_APART


def lease(limits: RecoveryLimits, tick: Tick) -> Lease:
    """The lease that this sweep takes."""
    return Lease(holder=tick.sweep, until=tick.now + limits.lease)


def until(attempt: Attempt) -> datetime | None:
    """Until when the request may be sent: then somebody whose clock is ahead may take the attempt over."""
    return attempt.lease.until - CLOCKS_APART if attempt.lease else None


def is_held_by_another(attempt: Attempt, tick: Tick) -> bool:
    """Whether another sweep has the lease, and may still send the request."""
    held = attempt.lease
    return held is not None and held.holder != tick.sweep and held.until > tick.now
