"""Google's errors, sorted once: what left a call open, what refused it. Everything else rises as it is."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTPException

import msgspec
import requests
import urllib3
from google.api_core import exceptions as api
from google.auth.exceptions import GoogleAuthError

from spotwarden import typed
from spotwarden.ports import RejectedError, UnansweredError

_NO_ANSWER = (
    ConnectionError,
    TimeoutError,
    HTTPException,
    api.RetryError,
    # Of gRPC alone, and what Google's own publisher tries again ("Retry requests", Pub/Sub).
    api.Aborted,
    api.Cancelled,
    requests.ConnectionError,
    requests.Timeout,
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ContentDecodingError,
    urllib3.exceptions.HTTPError,
)

REFUSALS = (api.GoogleAPICallError, GoogleAuthError)
"""What Google's libraries raise where something is missing or forbidden."""

LATER = frozenset(
    {
        "rateLimitExceeded",
        "userRateLimitExceeded",
        "CONCURRENT_OPERATIONS_QUOTA_EXCEEDED",
        "RATE_LIMIT_EXCEEDED",
    }
)
"""Reasons that come with a 403 and mean no more than *not now*."""

REFUSED = frozenset({"insufficientCapacity"})
"""Reasons that come with a 503 and yet are a plain no (Google: "Troubleshooting bulk VM creation")."""


QUOTA = re.compile("quota", re.IGNORECASE)
"""What a reason says that comes with a 403 for want of quota, beside `forbidden` or instead of it."""


class Complaint(msgspec.Struct, frozen=True):
    """One entry of `errors[]`, or of the `details[]` that newer answers carry instead."""

    reason: str = ""


class ErrorBody(msgspec.Struct, frozen=True):
    """The `error` object of Google's REST APIs, as far as it is read."""

    message: str = ""
    status: str = ""
    errors: Sequence[Complaint] = ()
    details: Sequence[Complaint] = ()

    @property
    def reasons(self) -> list[str]:
        """Its reason words, the most telling first."""
        return [item.reason for item in (*self.errors, *self.details) if item.reason]


class _Answer(msgspec.Struct, frozen=True):
    error: ErrorBody = ErrorBody()


typed.prepare(_Answer)


def leaves_open(status: int, reasons: Sequence[str] = ()) -> bool:
    """Whether an answer of this HTTP status leaves it open what was done, or only asks for patience."""
    if REFUSED.intersection(reasons):
        return False
    if LATER.intersection(reasons):
        return True
    return (
        status in {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS}
        or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    )


def is_unanswered(error: BaseException) -> bool:
    """Whether a call that ended in this error may have been carried out, or may be later."""
    if isinstance(error, _NO_ANSWER):
        return True
    if isinstance(error, GoogleAuthError):
        # A token that could not be fetched: what matters is why.
        return error.retryable or (error.__cause__ is not None and is_unanswered(error.__cause__))
    if isinstance(error, api.GoogleAPICallError):
        return error.code is None or leaves_open(int(error.code), _reasons(error))
    return False


def _reasons(error: api.GoogleAPICallError) -> list[str]:
    listed = [str(item.get("reason", "")) for item in error.errors if isinstance(item, dict)]
    return [*listed, error.reason] if error.reason else listed


class BusyError(UnansweredError):
    """The service asks for patience (429): the call was hardly carried out."""


@contextmanager
def unanswered() -> Iterator[None]:
    """Turn what leaves a call open into `UnansweredError`; let everything else rise."""
    try:
        yield
    except Exception as error:
        if not is_unanswered(error):
            raise
        busy = isinstance(error, api.TooManyRequests)
        raise (BusyError if busy else UnansweredError)(f"{type(error).__name__}: {error}") from error


def refusal(call: str, status: int, body: bytes) -> RejectedError | UnansweredError:
    """The error for a REST answer that is no success; `call` says what was asked."""
    error = _read(body)
    quota = next(filter(QUOTA.search, error.reasons), "")
    first = quota or (error.reasons[0] if error.reasons else error.status or f"http{status}")
    message = f"{error.message or 'no explanation was given'} ({call}: {status})"
    if leaves_open(status, error.reasons):
        return UnansweredError(f"{first}: {message}")
    return RejectedError(first, message)


def call_error(call: str, status: int, body: bytes) -> api.GoogleAPICallError:
    """The same as Google's own clients have it; `call` is the method and the address."""
    error = _read(body)
    reasons = [{"reason": reason} for reason in error.reasons]
    said = f"{call}: {error.message or 'unknown error'}"
    found: api.GoogleAPICallError = api.from_http_status(status, said, errors=reasons)
    return found


def _read(body: bytes) -> ErrorBody:
    try:
        return typed.decode(body, _Answer).error
    except msgspec.DecodeError:  # a proxy or a load balancer answers in HTML
        return ErrorBody(message=body[:300].decode(errors="replace"))
