"""The limits as data. Each default is what Google documents, or what was recorded."""

from collections.abc import Iterable
from typing import Annotated

import msgspec

Chance = Annotated[float, msgspec.Meta(ge=0, le=1)]
Rate = Annotated[float, msgspec.Meta(ge=0, le=10**6)]


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is allowed, and what takes time. 0 lifts a limit."""

    seed: int = 0
    """Of all that is drawn."""
    latency_seconds: Rate = 0.02
    """The mean of what a call to a service and its answer are on their way."""
    object_writes: Rate = 1.0
    """Creates, updates and deletes a second of one object ("Quotas & limits", Cloud Storage)."""
    bucket_writes: Rate = 1000.0
    """The same of all objects of a bucket at first ("Request rate and access distribution guidelines")."""
    bucket_creations: Rate = 0.5
    """Creates and deletes of buckets a second in the project ("Quotas & limits": one every two seconds)."""
    bucket_updates: Rate = 1.0
    """Updates of its metadata a second of one bucket (same page)."""
    function_timeouts: Rate = 1.0
    """After which part of its `timeout_seconds` a request to a function ends ("Set request timeout")."""
    api_quotas: Rate = 1.0
    """Which part of the published quotas a minute holds ("Compute Engine rate quotas" and others)."""
    insert_times: Rate = 1.0
    """Which part of the recorded times an insert or a start takes: half of them 20.5 s, 99 % 75.5 s."""
    log_lag_seconds: Rate = 1.0
    """How far the list of operations is behind, and how late an audit entry is on average; not published."""
    metric_lag_seconds: Rate = 240.0
    """How long after its time a point of a VM cannot be seen ("Google Cloud metrics": up to 240 s)."""
    doubled: Chance = 0.01
    """Which part of the messages that are pushed come twice ("Subscription overview": at least once)."""
    late: Chance = 0.02
    """Which part of them are late, by up to `late_seconds`. Google publishes neither."""
    late_seconds: Rate = 3.0


OFF = Limits(
    latency_seconds=0,
    object_writes=0,
    bucket_writes=0,
    bucket_creations=0,
    bucket_updates=0,
    function_timeouts=0,
    api_quotas=0,
    insert_times=0,
    log_lag_seconds=0,
    metric_lag_seconds=0,
    doubled=0,
    late=0,
    late_seconds=0,
)
"""A cloud without limits."""


def limited(words: Iterable[str], usual: Limits) -> Limits:
    """The usual limits with those changes that a command names: `NAME=VALUE`, or `off` for none at all.

    Raises:
        ValueError: a word is no limit; says which.
    """
    limits = usual
    for word in words:
        if word == "off":
            limits = OFF
            continue
        name, _, value = word.partition("=")
        try:
            limits = msgspec.convert(
                {**msgspec.to_builtins(limits), name: float(value)}, Limits, strict=False
            )
        except (ValueError, msgspec.ValidationError) as error:
            raise ValueError(f"{word!r} is no limit: {error}") from error
    return limits
