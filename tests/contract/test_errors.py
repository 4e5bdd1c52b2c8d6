"""Which of the many errors of Google's libraries leave a call open, and which do not."""

import http.client
import json

import pytest
import requests
import urllib3
from google.api_core import exceptions as api
from google.auth.exceptions import DefaultCredentialsError, RefreshError, TransportError
from google.rpc.error_details_pb2 import ErrorInfo

from spotwarden.gcp.errors import is_unanswered, refusal, unanswered
from spotwarden.ports import RejectedError, UnansweredError


def caused(error: Exception, cause: Exception) -> Exception:
    """An error as `raise … from …` makes it."""
    error.__cause__ = cause
    return error


def reason(error: type[api.GoogleAPICallError], word: str) -> Exception:
    """An error that carries a reason word."""
    return error("m", errors=[{"reason": word}])


@pytest.mark.parametrize(
    "error",
    [
        requests.ConnectionError("refused"),
        requests.ReadTimeout("slow"),
        requests.exceptions.ChunkedEncodingError("cut"),
        urllib3.exceptions.ProtocolError("cut"),
        http.client.IncompleteRead(b""),
        ConnectionResetError(),
        TimeoutError(),
        api.TooManyRequests("m"),
        api.InternalServerError("m"),
        api.BadGateway("m"),
        api.ServiceUnavailable("m"),
        api.GatewayTimeout("m"),
        api.DeadlineExceeded("m"),
        api.ResourceExhausted("m"),
        api.RetryError("m", cause=TimeoutError()),
        reason(api.Forbidden, "rateLimitExceeded"),
        reason(api.Forbidden, "RATE_LIMIT_EXCEEDED"),
        api.Forbidden("m", error_info=ErrorInfo(reason="RATE_LIMIT_EXCEEDED")),
        api.Aborted("m"),
        api.Cancelled("m"),
        RefreshError("the metadata server is busy", retryable=True),
        caused(TransportError("m"), requests.ConnectionError("refused")),
        caused(RefreshError("m"), caused(TransportError("m"), requests.ConnectionError("refused"))),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_outage_leaves_a_call_open(error: Exception):
    """It becomes `UnansweredError`, which keeps the error's own words."""
    assert is_unanswered(error)
    with pytest.raises(UnansweredError, match=type(error).__name__), unanswered():
        raise error


@pytest.mark.parametrize(
    "error",
    [
        api.BadRequest("m"),
        api.Unauthorized("m"),
        api.Forbidden("m"),
        api.NotFound("m"),
        api.Conflict("m"),
        api.PreconditionFailed("m"),
        reason(api.Forbidden, "quotaExceeded"),
        reason(api.ServiceUnavailable, "insufficientCapacity"),
        RefreshError("the key was revoked"),
        caused(RefreshError("m"), TransportError("the metadata server says no")),
        DefaultCredentialsError("nobody is logged in"),
        ValueError("a mistake of ours"),
        FileNotFoundError("another"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_everything_else_rises_as_it_is(error: Exception):
    """To wait would not help, and to call it an outage would hide it."""
    with pytest.raises(type(error)) as risen, unanswered():
        raise error
    assert risen.value is error


def forbidden(*reasons: str, details: str = "") -> bytes:
    """The body of a 403 with these reasons, in the older form, or in the newer one."""
    body = {
        "code": 403,
        "message": "no",
        "errors": [{"reason": one, "domain": "global"} for one in reasons],
        "details": [{"reason": details}] if details else [],
        "status": "PERMISSION_DENIED",
    }
    return json.dumps({"error": body}).encode()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (forbidden("forbidden"), "forbidden"),
        (forbidden("forbidden", details="IAM_PERMISSION_DENIED"), "forbidden"),
        (forbidden(), "PERMISSION_DENIED"),
        (forbidden("quotaExceeded"), "quotaExceeded"),
        (forbidden("forbidden", "quotaExceeded"), "quotaExceeded"),
        (forbidden("forbidden", details="QUOTA_EXCEEDED"), "QUOTA_EXCEEDED"),
        (b"<html>", "http403"),
    ],
)
def test_a_403_is_told_apart_by_its_reasons(body: bytes, code: str):
    """A quota is one wherever it stands among them; a right that is missing keeps Compute Engine's word."""
    refused = refusal("insert", 403, body)
    assert isinstance(refused, RejectedError)
    assert refused.code == code


@pytest.mark.parametrize(
    "body", [forbidden("rateLimitExceeded"), forbidden("forbidden", details="RATE_LIMIT_EXCEEDED")]
)
def test_a_403_that_is_a_rate_limit_is_no_refusal(body: bytes):
    """The same request may be sent again."""
    assert isinstance(refusal("insert", 403, body), UnansweredError)
