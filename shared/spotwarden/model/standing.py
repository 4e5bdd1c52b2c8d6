"""How a job stands, in one word."""

from enum import Enum


class Standing(Enum):
    """How a job stands. `UNKNOWN` is one of which the bucket does not say enough."""

    QUEUED = "queued"
    RUNNING = "running"
    RECOVERING = "recovering"
    STALLED = "stalled"
    ENDED = "ended"
    FAILED = "failed"
    GAVE_UP = "gave up"
    STOPPED = "stopped"
    UNKNOWN = "unknown"
