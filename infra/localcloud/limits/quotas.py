"""API quotas a minute of the services beside Compute Engine, which counts its own (`compute.rates`).

They are refilled on the full minute. Google's consoles show them; documents name few: 60 reads a minute of
Cloud Logging are those of snarfed/bridgy-fed#620 (others have 120), 6,000 queries those of Cloud Monitoring.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from starlette.types import ASGIApp, Receive, Scope, Send

from localcloud.http import error_response
from localcloud.limits.settings import Limits
from localcloud.rpc import RpcError


@dataclass(frozen=True, kw_only=True)
class ApiQuota:
    """Calls that are counted together: over HTTP by method and path, over gRPC by service and method."""

    service: str
    title: str
    limit: int
    path: str
    grpc: str = ""

    @property
    def words(self) -> str:
        """How a refusal begins."""
        service = f"{self.service}.googleapis.com"
        return (
            f"Quota exceeded for quota metric '{self.title}' and limit '{self.title} per minute' of service"
            f" '{service}'"
        )


QUOTAS: Sequence[ApiQuota] = (
    ApiQuota(service="logging", title="Read requests", limit=60, path=r"POST /v2/entries:list"),
    ApiQuota(
        service="monitoring",
        title="Time series queries",
        limit=6000,
        path=r"GET /v3/projects/[^/]+/timeSeries",
        grpc="ListTimeSeries",
    ),
)


class ApiQuotas:
    """Counts the calls of this minute, and refuses those beyond the part of the quotas that holds."""

    def __init__(
        self, limits: Callable[[], Limits], *, now: Callable[[], datetime], consumer: Callable[[], str]
    ) -> None:
        self._limits = limits
        self._now = now
        self._consumer = consumer
        self._minute: datetime | None = None
        self._calls: dict[str, int] = {}

    def count(self, call: str) -> None:
        """Count a call, `METHOD PATH` or the name of a gRPC method.

        Raises:
            RpcError: RESOURCE_EXHAUSTED when none is left in this minute.
        """
        part = self._limits().api_quotas
        quota = next((quota for quota in QUOTAS if _matches(quota, call)), None)
        if not part or quota is None:
            return
        minute = self._now().replace(second=0, microsecond=0)
        if minute != self._minute:
            self._minute, self._calls = minute, {}
        calls = self._calls.get(quota.words, 0)
        if calls >= quota.limit * part:
            message = f"{quota.words} for consumer 'project_number:{self._consumer()}'."
            raise RpcError("RESOURCE_EXHAUSTED", message)
        self._calls[quota.words] = calls + 1


def _matches(quota: ApiQuota, call: str) -> bool:
    return call == quota.grpc or re.fullmatch(quota.path, call) is not None


class QuotaMiddleware:
    """Refuses calls beyond the quotas."""

    def __init__(self, app: ASGIApp, *, quotas: ApiQuotas) -> None:
        self._app = app
        self._quotas = quotas

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a call on, or refuse it."""
        try:
            if scope["type"] == "http":
                self._quotas.count(f"{scope['method']} {scope['path']}")
        except RpcError as error:
            await error_response(error)(scope, receive, send)
            return
        await self._app(scope, receive, send)
