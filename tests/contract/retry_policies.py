"""How patient the adapters of these tests are."""

from collections.abc import Callable
from datetime import timedelta

from spotwarden.gcp.retry_policy import RetryPolicy
from spotwarden.gcp.storage import CloudStorage

OpenStore = Callable[..., CloudStorage]

QUICK = RetryPolicy(first_pause=timedelta(milliseconds=1), longest_pause=timedelta(milliseconds=5))
"""As in the product, but for pauses that a test need not sit through."""

SHORT = RetryPolicy(
    first_pause=timedelta(milliseconds=1),
    longest_pause=timedelta(milliseconds=5),
    in_all=timedelta(milliseconds=50),
)
"""Gives up soon."""
