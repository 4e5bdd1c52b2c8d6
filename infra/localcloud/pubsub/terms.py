"""How a subscription delivers, and what it counts."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """Seconds to wait after the first failed delivery, doubled after each further one, and the most."""

    least: float
    most: float

    def after(self, attempts: int) -> float:
        """The wait after this many failed deliveries."""
        return min(self.most, self.least * 2.0 ** min(attempts - 1, 60))


@dataclass(frozen=True, kw_only=True)
class Terms:
    """How a subscription delivers. Durations are seconds; without `attempts` nothing is ever given up."""

    ack_deadline: float
    retention: float
    backoff: Backoff | None = None
    attempts: int | None = None
    ordered: bool = False
    keep_done: bool = False


@dataclass(kw_only=True)
class Counts:
    """What has happened in a subscription since it was made."""

    delivered: int = 0
    acknowledged: int = 0
    failed: int = 0
    dead_lettered: int = 0
    expired: int = 0


@dataclass(frozen=True, kw_only=True)
class AskedTerms:
    """What a consumer asks a queue for: up to `limit` messages, leased to `holder`.

    `per_key` bounds how many of one ordering key are out at a time, `room` the bytes, but for the first
    message; `ack_deadline`, in seconds, replaces that of the subscription.
    """

    limit: int
    holder: object
    per_key: int | None = None
    room: int | None = None
    ack_deadline: float | None = None
