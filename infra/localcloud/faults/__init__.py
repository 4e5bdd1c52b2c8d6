"""What the cloud does to people, on demand: refusals, cut connections, answers lost after success, delays.

A `Rule` is data. `Faults.plan` says what befalls a call; `FaultMiddleware` (HTTP) and `Faults.around`
(gRPC) do it.
"""

from localcloud.faults.book import Faults
from localcloud.faults.middleware import CUT, FaultMiddleware
from localcloud.faults.retry_middleware import RetryMiddleware
from localcloud.faults.retry_tests import RetryTests
from localcloud.faults.rule import Effect, Rule, service_of

__all__ = [
    "CUT",
    "Effect",
    "FaultMiddleware",
    "Faults",
    "RetryMiddleware",
    "RetryTests",
    "Rule",
    "service_of",
]
