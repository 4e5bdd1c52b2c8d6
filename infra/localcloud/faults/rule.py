"""A fault as data: which calls it hits and what happens to them."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Annotated

import msgspec

from localcloud.errors import ApiError

SERVICES: Mapping[str, str] = {
    r"/(batch/)?compute/": "compute",
    r"/((batch|upload|download|resumable/upload)/)?storage/": "storage",
    r"/v1/projects/[^/]+/(topics|subscriptions|snapshots|schemas)": "pubsub",
    r"/v1/projects/[^/]+/locations/[^/]+/jobs": "scheduler",
    r"/v2/": "logging",
    r"/v3/projects/[^/]+/": "monitoring",
    r"/(computeMetadata/|token)": "metadata",
}
"""Which service a path belongs to, by a pattern at its start."""

# (reason, message) as the real APIs word them; Cloud Storage's from its "HTTP status and error codes" page.
WORDINGS: Mapping[int, tuple[str, str]] = {
    403: ("rateLimitExceeded", "Quota exceeded for quota metric 'Queries' and limit 'Queries per minute'."),
    408: ("uploadBrokenConnection", "Request timed out. Please try again."),
    429: ("rateLimitExceeded", "Rate Limit Exceeded. Please reduce your request rate."),
    500: ("internalError", "We encountered an internal error. Please try again."),
    502: ("badGateway", "Bad Gateway"),
    503: ("backendError", "Service Unavailable. Please try again."),
    504: ("gatewayTimeout", "The server did not answer in time."),
}


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which calls are hit, how, and how often. An empty string or an absent limit means any.

    `path` is a regular expression searched in the decoded path; `method` is the HTTP method, for gRPC the
    method's own name (`Publish`). `status` answers with it, `cut` drops the connection, `delay_seconds` waits
    first; with `after_work` the service does its work and it is the answer that is lost or late.
    `count` limits the calls hit, `probability` draws each from `seed`, `for_seconds` ends the rule.
    """

    service: str = ""
    method: str = ""
    path: str = ""
    status: Annotated[int, msgspec.Meta(ge=400, le=599)] | None = None
    reason: str = ""
    message: str = ""
    retry_after_seconds: Annotated[int, msgspec.Meta(ge=0)] | None = None
    cut: bool = False
    delay_seconds: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    after_work: bool = False
    count: Annotated[int, msgspec.Meta(ge=1)] | None = None
    probability: Annotated[float, msgspec.Meta(gt=0, le=1)] = 1.0
    seed: int = 0
    for_seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None

    def __post_init__(self) -> None:
        if self.status and self.cut:
            raise ValueError(
                "`status` and `cut` exclude each other: a connection that is cut carries no answer"
            )
        if not (self.status or self.cut or self.delay_seconds):
            raise ValueError("nothing would happen: give `status`, `cut` or `delay_seconds`")
        if self.service and self.service not in SERVICES.values():
            known = ", ".join(sorted(SERVICES.values()))
            raise ValueError(f"no service {self.service!r}; there are {known}")
        try:
            re.compile(self.path)
        except re.error as error:
            raise ValueError(f"`path` is no regular expression: {error}") from error

    def matches(self, service: str, method: str, path: str) -> bool:
        """Whether a call is of the kind this rule is about."""
        return (
            self.service in ("", service)
            and self.method.upper() in ("", method.upper())
            and re.search(self.path, path) is not None
        )

    def effect(self) -> "Effect":
        """What happens to a call that is hit."""
        reason, message = WORDINGS.get(self.status or 503, ("backendError", "Backend Error"))
        error = ApiError(self.status or 503, self.reason or reason, self.message or message)
        delay = timedelta(seconds=self.delay_seconds)
        headers = {} if self.retry_after_seconds is None else {"retry-after": str(self.retry_after_seconds)}
        return Effect(
            error=error if self.status else None,
            headers=headers,
            cut=self.cut,
            delay=delay,
            after_work=self.after_work,
        )


@dataclass(frozen=True, kw_only=True)
class Effect:
    """What befalls one call: first `delay`, then `error` or `cut` or neither; before the work or after it."""

    error: ApiError | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    delay: timedelta = timedelta(0)
    after_work: bool = False

    @property
    def loses_answer(self) -> bool:
        """Whether the caller never sees what the service answers."""
        return self.cut or self.error is not None

    async def wait(self) -> None:
        """Let the delay pass."""
        if self.delay:
            await asyncio.sleep(self.delay.total_seconds())


def service_of(path: str) -> str:
    """The service that a URL path belongs to; empty when none does."""
    return next((name for pattern, name in SERVICES.items() if re.match(pattern, path)), "")
