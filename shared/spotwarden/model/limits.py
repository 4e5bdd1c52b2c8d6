"""The limits of recovery that a team agreed on; `infra/policy.toml` says why these defaults."""

from datetime import timedelta

import msgspec


class RecoveryLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All durations in seconds or ISO 8601 in the policy file."""

    max_restarts: int = 50
    lease: timedelta = timedelta(minutes=5)
    settle: timedelta = timedelta(minutes=3)
    log_delay: timedelta = timedelta(minutes=2)
    first_backoff: timedelta = timedelta(seconds=30)
    longest_backoff: timedelta = timedelta(minutes=10)
    short_life: timedelta = timedelta(minutes=5)
    short_lives: int = 2
    start_tries: int = 2
    early_notice: timedelta = timedelta(minutes=5)


class PlacementLimits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How places are chosen.

    `regions` are those a job may move to besides its own, by preference. A place is not asked for `block`
    after a stockout, and stands behind others for `fragile`; its trouble halves every `half_life`. Spot has
    had its chance when only `deadline_restarts` times `restart_cost` are left besides the work.
    """

    move: bool = True
    regions: tuple[str, ...] = ()
    block: timedelta = timedelta(minutes=10)
    fragile: timedelta = timedelta(hours=1)
    half_life: timedelta = timedelta(minutes=30)
    on_demand_after: int | None = None
    restart_cost: timedelta = timedelta(minutes=12)
    deadline_restarts: float = 2.5
    offers_fresh: timedelta = timedelta(days=1)
