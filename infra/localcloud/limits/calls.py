"""What befalls every call, over HTTP and gRPC alike: its time on the way, and the quota that it counts in."""

import contextlib
from collections.abc import AsyncIterator, Callable
from datetime import datetime

from starlette.middleware import Middleware

from localcloud.limits.latency import Latency, LatencyMiddleware
from localcloud.limits.quotas import ApiQuotas, QuotaMiddleware
from localcloud.limits.settings import OFF, Limits


class CallLimits:
    """The limits of calls. `now` is the time of the cloud, `consumer` the number of the project."""

    def __init__(
        self, limits: Callable[[], Limits], *, now: Callable[[], datetime], consumer: Callable[[], str]
    ) -> None:
        self._latency = Latency(limits)
        self._quotas = ApiQuotas(limits, now=now, consumer=consumer)

    @classmethod
    def none(cls) -> "CallLimits":
        """No limits."""
        return cls(lambda: OFF, now=datetime.now, consumer=str)

    @contextlib.asynccontextmanager
    async def around(self, method: str) -> AsyncIterator[None]:
        """Do the work of a gRPC method in this block.

        Raises:
            RpcError: RESOURCE_EXHAUSTED beyond its quota.
        """
        async with self._latency.around():
            self._quotas.count(method)
            yield

    def middleware(self) -> list[Middleware]:
        """The same for HTTP."""
        return [
            Middleware(LatencyMiddleware, latency=self._latency),
            Middleware(QuotaMiddleware, quotas=self._quotas),
        ]
