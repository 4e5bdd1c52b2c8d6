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
