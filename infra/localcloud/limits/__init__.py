"""What Google's services allow in a time, and how long they take: `Limits` is data, `LimitsBook` holds it."""

from localcloud.limits.book import LimitsBook
from localcloud.limits.buckets import BucketLimits
from localcloud.limits.calls import CallLimits
from localcloud.limits.inserts import InsertTimes
from localcloud.limits.late_log import LateLog
from localcloud.limits.latency import Latency, LatencyMiddleware
from localcloud.limits.quotas import ApiQuotas
from localcloud.limits.settings import OFF, Limits, limited
from localcloud.limits.writes import WriteLimits

__all__ = [
    "OFF",
    "ApiQuotas",
    "BucketLimits",
    "CallLimits",
    "InsertTimes",
    "LateLog",
    "Latency",
    "LatencyMiddleware",
    "Limits",
    "LimitsBook",
    "WriteLimits",
    "limited",
]
