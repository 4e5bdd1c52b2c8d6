"""The limits as data. Each default is what Google documents, or what was recorded."""

from typing import Annotated

import msgspec

Rate = Annotated[float, msgspec.Meta(ge=0, le=10**6)]


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is allowed. 0 lifts a limit.

    `object_writes`: changes a second of one object, counting creates, updates and deletes ("Quotas & limits",
    Cloud Storage). `bucket_writes`: changes a second of all objects of a bucket at first; that doubles within
    20 minutes of load ("Request rate and access distribution guidelines"). `function_timeouts`: after which
    part of its `timeout_seconds` a request to a function ends ("Set request timeout", Cloud Run).
    """

    object_writes: Rate = 1.0
    bucket_writes: Rate = 1000.0
    function_timeouts: Rate = 1.0


OFF = Limits(object_writes=0, bucket_writes=0, function_timeouts=0)
"""A cloud without limits."""
