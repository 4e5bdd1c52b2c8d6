"""Rate quotas: how many calls a minute a project may make ("Compute Engine rate quotas").

Every call is counted, by the group that Google counts it in. A group is limited only where a knob says so;
like the real ones, limits are refilled on the full minute.
"""

from collections.abc import Callable, Mapping
from datetime import datetime

import msgspec

from localcloud.errors import ApiError

READ_ONE = ("serialPort", "getEffectiveFirewalls", "getGuestAttributes")
"""Last words of a path that gets one thing, though it ends in no name."""


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Calls that are counted together. `limit` a minute is the default that Google published last.

    That was in 2025; the page of April 2026 names the same groups without figures, and newer, simpler ones of
    which it says only that they allow more.
    """

    metric: str
    title: str
    limit: int = 1500


MUTATIONS = Group(metric="default_per_region", title="Queries")
GETS = Group(metric="read_requests_per_region", title="Read requests")
LISTS = Group(metric="list_requests_per_region", title="List requests")
OPERATIONS = Group(metric="operation_read_requests_per_region", title="Operation read requests")
WAITS = Group(metric="heavy_weight_read_requests_per_region", title="Heavy-weight read requests", limit=750)
AGGREGATED = Group(metric="heavy_weight_read_requests", title="Heavy-weight read requests", limit=750)
GLOBAL_MUTATIONS = Group(metric="default", title="Queries")
GLOBAL_GETS = Group(metric="read_requests", title="Read requests")
GLOBAL_LISTS = Group(metric="list_requests", title="List requests")
GLOBAL_OPERATIONS = Group(metric="operation_read_requests", title="Operation read requests")

GROUPS: Mapping[str, Group] = {
    group.metric: group
    for group in (
        MUTATIONS,
        GETS,
        LISTS,
        OPERATIONS,
        WAITS,
        AGGREGATED,
        GLOBAL_MUTATIONS,
        GLOBAL_GETS,
        GLOBAL_LISTS,
        GLOBAL_OPERATIONS,
    )
}


def group_of(method: str, template: str) -> Group:
    """The group of a method of the API; `template` is its path with names in braces."""
    parts = template.split("/")
    local = "{zone}" in parts or "{region}" in parts
    if "aggregated" in parts:
        return AGGREGATED
    if "operations" in parts and parts[-1] == "wait":
        return WAITS if local else AGGREGATED
    if method != "GET":
        return MUTATIONS if local else GLOBAL_MUTATIONS
    if not (parts[-1].startswith("{") or parts[-1] in READ_ONE):
        return LISTS if local else GLOBAL_LISTS
    if "operations" in parts:
        return OPERATIONS if local else GLOBAL_OPERATIONS
    return GETS if local else GLOBAL_GETS


class Count(msgspec.Struct, kw_only=True):
    """The calls of one group in one region, or "": let through, refused, and at most in one minute."""

    calls: int = 0
    refused: int = 0
    busiest_minute: int = 0
    minute: datetime | None = None
    this_minute: int = 0


class Rates:
    """Counts calls, and refuses those over a limit. Without limits nothing is refused."""

    def __init__(self, *, now: Callable[[], datetime], consumer: Callable[[], str]) -> None:
        self._now = now
        self._consumer = consumer
        self.limits: dict[str, int] = {}
        self._counts: dict[tuple[str, str], Count] = {}

    def limit(self, metric: str, limit: int | None) -> None:
        """Limit a group to so many calls a minute, in each region; None lifts the limit."""
        self.limits.pop(metric, None)
        if limit is not None:
            self.limits[metric] = limit

    def limit_as_published(self, part: float = 1.0) -> None:
        """Limit every group to the default that Google published last, or to a part of it; 0 lifts all."""
        self.limits = {group.metric: int(group.limit * part) for group in GROUPS.values() if part}

    def reset(self) -> None:
        """Lift all limits, and count from zero."""
        self.limits.clear()
        self._counts.clear()

    def counts(self) -> Mapping[tuple[str, str], Count]:
        """What was counted, by group and region."""
        return self._counts

    def count(self, group: Group, region: str) -> None:
        """Count a call.

        Raises:
            ApiError: 403 `rateLimitExceeded` when its group has none left in this minute.
        """
        count = self._counts.setdefault((group.metric, region), Count())
        minute = self._now().replace(second=0, microsecond=0)
        if count.minute != minute:
            count.minute, count.this_minute = minute, 0
        if count.this_minute >= self.limits.get(group.metric, count.this_minute + 1):
            count.refused += 1
            raise self._refusal(group, region)
        count.calls += 1
        count.this_minute += 1
        count.busiest_minute = max(count.busiest_minute, count.this_minute)

    def _refusal(self, group: Group, region: str) -> ApiError:
        interval = "per minute per region" if region else "per minute"
        message = (
            f"Quota exceeded for quota metric '{group.title}' and limit '{group.title} {interval}' of service"
            f" 'compute.googleapis.com' for consumer 'project_number:{self._consumer()}'."
        )
        return ApiError(403, "rateLimitExceeded", message)
