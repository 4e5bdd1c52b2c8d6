"""How often one object and one bucket may be written ("Quotas & limits", Cloud Storage)."""

from collections.abc import Callable
from dataclasses import dataclass

from localcloud.errors import ApiError
from localcloud.limits.settings import Limits

DOUBLES_WITHIN = 20 * 60
"""Seconds of load in which a bucket doubles what it takes ("Ramp up request rate gradually")."""
LOADED = 0.5
"""A second is one of load from this part of the bucket's capacity on. Google publishes none."""


@dataclass(kw_only=True)
class _BucketLoad:
    """What a bucket was asked for in the current second, and how far it has grown."""

    second: int
    writes: int = 0
    loaded: int = 0
    """Seconds of load so far."""

    def advance(self, second: int, first: float) -> None:
        if second != self.second:
            self.loaded += self.writes >= LOADED * self.capacity(first)
            self.second, self.writes = second, 0

    def capacity(self, first: float) -> float:
        return first * float(2 ** (self.loaded / DOUBLES_WITHIN))


class WriteLimits:
    """Counts what was written, and refuses what comes too soon. What is refused is not counted.

    `elapsed` counts seconds and never goes back. There is no burst: Google documents none.
    """

    def __init__(self, limits: Callable[[], Limits], *, elapsed: Callable[[], float]) -> None:
        self._limits = limits
        self._elapsed = elapsed
        self._last: dict[tuple[str, str], float] = {}
        self._loads: dict[str, _BucketLoad] = {}

    def check(self, bucket: str, name: str) -> None:
        """Say whether this object may be written now.

        Raises:
            ApiError: 429 `rateLimitExceeded`.
        """
        limits, now = self._limits(), self._elapsed()
        last = self._last.get((bucket, name))
        if limits.object_writes and last is not None and now - last < 1 / limits.object_writes:
            raise _refusal(OBJECT.format(bucket=bucket, name=name))
        if limits.bucket_writes:
            load = self._load(bucket, now, limits.bucket_writes)
            if load.writes + 1 > load.capacity(limits.bucket_writes):
                raise _refusal(BUCKET)

    def count(self, bucket: str, name: str) -> None:
        """Count a write that was made."""
        limits, now = self._limits(), self._elapsed()
        if limits.bucket_writes:
            self._load(bucket, now, limits.bucket_writes).writes += 1
        if limits.object_writes:
            self._last.pop((bucket, name), None)
            self._last[bucket, name] = now
            self._forget(now - 1 / limits.object_writes)

    def _load(self, bucket: str, now: float, first: float) -> _BucketLoad:
        load = self._loads.setdefault(bucket, _BucketLoad(second=int(now)))
        load.advance(int(now), first)
        return load

    def _forget(self, until: float) -> None:
        """Drop what no longer matters; the longest ago comes first."""
        while self._last and self._last[oldest := next(iter(self._last))] <= until:
            del self._last[oldest]


# As people saw them: trinodb/trino#19943 (JSON), earth-mover/icechunk#954 (XML).
OBJECT = (
    "The object {bucket}/{name} exceeded the rate limit for object mutation operations (create, update, and "
    "delete). Please reduce your request rate. See https://cloud.google.com/storage/docs/gcs429."
)
BUCKET = (
    "You have exceeded your bucket's IO capacity. Please follow the request rate and access distribution "
    "guidelines at https://cloud.google.com/storage/docs/request-rate in order to avoid temporary limits on "
    "your bucket."
)


def _refusal(message: str) -> ApiError:
    return ApiError(429, "rateLimitExceeded", message, domain="usageLimits")
