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

WORDINGS: Mapping[tuple[str, int], tuple[str, str]] = {
    ("compute", 403): (
        "rateLimitExceeded",
        (
            "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute' of service "
            "'compute.googleapis.com' for consumer 'project_number:1'."
        ),
    ),
    ("storage", 429): (
        "rateLimitExceeded",
        (
            "The object exceeded the rate limit for object mutation operations (create, update, and delete). "
            "Please reduce your request rate. See https://cloud.google.com/storage/docs/gcs429."
        ),
    ),
    ("", 403): ("forbidden", "Forbidden"),
    ("", 408): ("requestTimeout", "Request Timeout"),
    ("", 429): ("rateLimitExceeded", "Rate Limit Exceeded"),
    ("", 500): ("internalError", "Internal error encountered."),
    ("", 502): ("badGateway", "Bad Gateway"),
    ("", 503): ("backendError", "Backend Error"),
    ("", 504): ("gatewayTimeout", "Gateway Timeout"),
}
"""(service, status) → reason and message as people saw them in real answers; service "" for all others."""

UNKNOWN = ("backendError", "Backend Error")


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

    def effect(self, service: str) -> "Effect":
        """What happens to a call of this service that is hit."""
        status = self.status or 503
        reason, message = WORDINGS.get((service, status)) or WORDINGS.get(("", status), UNKNOWN)
        error = ApiError(status, self.reason or reason, self.message or message)
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
