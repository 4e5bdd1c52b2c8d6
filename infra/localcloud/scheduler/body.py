"""A job as its callers write it: the message `Job` of Cloud Scheduler v1."""

import base64
import binascii
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec

from localcloud.rpc import RpcError
from localcloud.rpc.shapes import stored_shapes
from localcloud.scheduler.cron import Schedule, read_schedule

_JOB = re.compile(r"projects/(?P<project>[^/]+)/locations/[^/]+/jobs/[\w-]{1,500}", re.ASCII)
_DURATION = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)s", re.ASCII)
_WITH_BODY = ("POST", "PUT", "PATCH")
METHODS = ("POST", "GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS")

OUTPUT_ONLY = ("state", "status", "scheduleTime", "lastAttemptTime", "userUpdateTime", "satisfiesPzs")
"""What the server sets; whatever a caller writes there is ignored."""


class _Struct(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    pass


class PubsubTarget(_Struct, frozen=True):
    """A message to publish."""

    topic_name: str
    data: str = ""
    attributes: dict[str, str] = {}


class OidcToken(_Struct, frozen=True):
    """The identity of a call, for receivers of our own."""

    service_account_email: str
    audience: str = ""


class OAuthToken(_Struct, frozen=True):
    """The identity of a call, for Google's APIs."""

    service_account_email: str
    scope: str = ""


class HttpTarget(_Struct, frozen=True):
    """A call to make."""

    uri: str
    http_method: str = "POST"
    headers: dict[str, str] = {}
    body: str = ""
    oidc_token: OidcToken | None = None
    oauth_token: OAuthToken | None = None


class RetryConfig(_Struct, frozen=True):
    """How often a failed run is tried again, and when; the defaults are the documented ones."""

    retry_count: Annotated[int, msgspec.Meta(ge=0, le=5)] = 0
    max_retry_duration: str = "0s"
    min_backoff_duration: str = "5s"
    max_backoff_duration: str = "3600s"
    max_doublings: Annotated[int, msgspec.Meta(ge=0, le=100)] = 5

    def wait(self, failures: int) -> timedelta:
        """The wait after so many failures: doubled `max_doublings` times, then grown evenly."""
        least, doublings = seconds(self.min_backoff_duration), self.max_doublings
        before = failures - 1
        doubled = least * 2.0 ** min(before, doublings)
        grown = doubled * (1 + max(0, before - doublings))
        return min(timedelta(seconds=seconds(self.max_backoff_duration)), timedelta(seconds=min(grown, 1e9)))


class JobBody(_Struct, frozen=True):
    """One job."""

    name: str = ""
    description: str = ""
    schedule: str = ""
    time_zone: str = "UTC"
    pubsub_target: PubsubTarget | None = None
    http_target: HttpTarget | None = None
    retry_config: RetryConfig = RetryConfig()
    attempt_deadline: str = ""


def read_job(raw: Mapping[str, Any], project: str) -> tuple[JobBody, Schedule]:
    """Check a job and read its schedule.

    Raises:
        RpcError: INVALID_ARGUMENT, with what cannot be; UNIMPLEMENTED for App Engine.
    """
    if "appEngineHttpTarget" in raw:
        raise RpcError("UNIMPLEMENTED", "The local cloud has no App Engine.")
    given = {key: value for key, value in raw.items() if key not in OUTPUT_ONLY}
    try:
        body = msgspec.convert(given, JobBody)
    except msgspec.ValidationError as error:
        raise invalid(f"Invalid JSON payload received. {error}") from error
    match = _JOB.fullmatch(body.name)
    if match is None or match["project"] != project:
        raise invalid(f'Job name must be formatted: "projects/{project}/locations/LOCATION_ID/jobs/JOB_ID".')
    if (body.pubsub_target is None) == (body.http_target is None):
        raise invalid("A job has one target: pubsubTarget or httpTarget.")
    _check_target(body, project)
    for duration in (body.retry_config.max_retry_duration, body.attempt_deadline or "180s"):
        seconds(duration)
    body.retry_config.wait(1)
    return body, read_schedule(body.schedule, body.time_zone)


def read_payload(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A job in normal form; clients that write enums as numbers mean the HTTP methods in this order, from 1.

    Raises:
        RpcError: INVALID_ARGUMENT.
    """
    job = stored_shapes(__package__).read("Job", raw)
    call = job.get("httpTarget", {})
    if isinstance(number := call.get("httpMethod"), int):
        if not 1 <= number <= len(METHODS):
            raise invalid(f"HttpTarget.httpMethod {number} is none of {', '.join(METHODS)}.")
        call["httpMethod"] = METHODS[number - 1]
    return job


def _check_target(body: JobBody, project: str) -> None:
    if target := body.pubsub_target:
        if not target.topic_name.startswith(f"projects/{project}/topics/"):
            raise invalid("The topic must be in the same project as the Cloud Scheduler job.")
        if not decoded(target.data) and not target.attributes:
            raise invalid("Pubsub message must contain either non-empty data, or at least one attribute.")
    if call := body.http_target:
        if urlsplit(call.uri).scheme not in ("http", "https") or not urlsplit(call.uri).hostname:
            raise invalid(f'HttpTarget.uri must begin with "http://" or "https://", not {call.uri!r}.')
        if call.http_method not in METHODS:
            raise invalid(f"HttpTarget.httpMethod {call.http_method!r} is none of {', '.join(METHODS)}.")
        if decoded(call.body) and call.http_method not in _WITH_BODY:
            raise invalid(f"HttpTarget.body is not allowed with {call.http_method}.")


def decoded(text: str) -> bytes:
    """The bytes of a base64 field; both alphabets are taken, as protobuf's JSON does.

    Raises:
        RpcError: INVALID_ARGUMENT.
    """
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise invalid(f"{text!r} is not base64.") from error


def seconds(duration: str) -> float:
    """The seconds of a duration such as `3.5s`.

    Raises:
        RpcError: INVALID_ARGUMENT.
    """
    match = _DURATION.fullmatch(duration)
    if match is None:
        raise invalid(f"{duration!r} is not a valid duration such as 180s.")
    return float(match[1])


def invalid(why: str) -> RpcError:
    """The refusal of what a caller wrote."""
    return RpcError("INVALID_ARGUMENT", why)
