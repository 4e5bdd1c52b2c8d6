"""How often buckets may be made, deleted and changed ("Quotas & limits", Cloud Storage: buckets)."""

from collections.abc import Callable

from localcloud.errors import ApiError
from localcloud.limits.settings import Limits

# As people saw it: of creations googleapis/google-cloud-python#2161, of updates with the same words
# GoogleCloudPlatform/python-docs-samples#4033.
MESSAGE = "The project exceeded the rate limit for creating and deleting buckets."


class BucketLimits:
    """Counts what was done to buckets, and refuses what comes too soon. What is refused is not counted.

    `elapsed` counts seconds and never goes back. There is no burst: Google documents none.
    """

    def __init__(self, limits: Callable[[], Limits], *, elapsed: Callable[[], float]) -> None:
        self._limits = limits
        self._elapsed = elapsed
        self._made: float | None = None
        self._updated: dict[str, float] = {}

    def check_creation(self) -> None:
        """Raise `ApiError` 429 when it is too soon to create or delete a bucket of the project."""
        self._check(self._made, self._limits().bucket_creations)

    def count_creation(self) -> None:
        """Count a bucket that was created or deleted."""
        if self._limits().bucket_creations:
            self._made = self._elapsed()

    def check_update(self, bucket: str) -> None:
        """Raise `ApiError` 429 when it is too soon to change the metadata of this bucket."""
        self._check(self._updated.get(bucket), self._limits().bucket_updates)

    def count_update(self, bucket: str) -> None:
        """Count a change that was made."""
        if self._limits().bucket_updates:
            self._updated[bucket] = self._elapsed()

    def forget(self, bucket: str) -> None:
        """Drop what is known of a bucket that is gone."""
        self._updated.pop(bucket, None)

    def _check(self, last: float | None, rate: float) -> None:
        if rate and last is not None and self._elapsed() - last < 1 / rate:
            raise ApiError(429, "rateLimitExceeded", MESSAGE, domain="usageLimits")
