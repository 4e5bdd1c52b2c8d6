"""The limits as data. Each default is what Google documents, or what was recorded."""

from typing import Annotated

import msgspec

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
    function_timeouts: Rate = 1.0
    """After which part of its `timeout_seconds` a request to a function ends ("Set request timeout")."""


OFF = Limits(latency_seconds=0, object_writes=0, bucket_writes=0, function_timeouts=0)
"""A cloud without limits."""
