"""REST APIs of Google, spoken through google-auth: the bytes of a request as they are, in and out."""

import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cached_property, lru_cache
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

import google.auth
import msgspec
from google.auth.credentials import AnonymousCredentials, Credentials

from spotwarden.gcp.authorized import Authorized
from spotwarden.gcp.endpoint import checked_endpoint, is_loopback
from spotwarden.gcp.errors import refusal, unanswered
from spotwarden.gcp.retry_policy import RetryPolicy

_SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
PLAIN = "(),/*"
"""Need no escape in a query (RFC 3986), and stand in each list of fields."""
_SERVICE = "K_SERVICE"
"""Where Cloud Run says which service this is ("Container runtime contract")."""


@lru_cache(maxsize=16)
def kept_service(endpoint: str, user_agent: str, *, anonymous: bool) -> Authorized:
    """This service, for the life of the process: each sweep goes on with its connections and its token."""
    return Authorized(endpoint, _credentials(anonymous=anonymous), user_agent)


def _credentials(*, anonymous: bool) -> Credentials:
    if anonymous:
        return AnonymousCredentials()
    credentials, _project = google.auth.default(scopes=_SCOPES)
    return credentials


def agent(environ: Mapping[str, str]) -> str:
    """Who asks, for the audit log: `spotwarden`, in a function with its deployed name behind it."""
    service = environ.get(_SERVICE, "")
    return f"spotwarden/{service}" if service else "spotwarden"


class Rest:
    """Sends one request at a time and translates its errors. Safe to use from several threads.

    `refused` makes an error of an answer that is no success, from what was asked, its status and its body.
    """

    def __init__(
        self,
        *,
        endpoint: str,
        retry_policy: RetryPolicy,
        refused: Callable[[str, int, bytes], Exception] = refusal,
    ) -> None:
        self._endpoint = checked_endpoint(endpoint)
        self._retry_policy = retry_policy
        self._refused = refused

    @cached_property
    def _service(self) -> Authorized:
        return kept_service(self._endpoint, agent(os.environ), anonymous=is_loopback(self._endpoint))

    def close(self) -> None:
        """Give the connections back; the next call opens new ones."""
        if "_service" in self.__dict__:
            self._service.close()

    def get(self, path: str, query: Mapping[str, str | list[str]]) -> bytes:
        """Fetch; `RejectedError`, or `UnansweredError` when the patience is over."""
        return self._retry_policy.insist(lambda: self._send("GET", path, query, None))

    def post(
        self,
        path: str,
        query: Mapping[str, str],
        body: Mapping[str, Any] | None,
        *,
        ready: Callable[[], None] = lambda: None,
    ) -> bytes:
        """Send a body, or None, that the service can be sent twice, as by a `requestId`; errors as `get`.

        `ready` is called before each try, and raises where there shall be none.
        """
        data = None if body is None else msgspec.json.encode(body)

        def once() -> bytes:
            ready()
            return self._send("POST", path, query, data)

        return self._retry_policy.insist(once)

    def ask(self, path: str, body: Mapping[str, Any], timeout: timedelta) -> bytes:
        """Post a question once: what nobody waits for is not asked again. Errors as `get`."""
        return self._send("POST", path, {}, msgspec.json.encode(body), timeout)

    def delete(
        self, path: str, query: Mapping[str, str], *, ready: Callable[[], None] = lambda: None
    ) -> bytes:
        """Delete what can be deleted twice, as by a `requestId`; `ready` as in `post`, errors as `get`."""

        def once() -> bytes:
            ready()
            return self._send("DELETE", path, query, None)

        return self._retry_policy.insist(once)

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str | list[str]],
        data: bytes | None,
        timeout: timedelta | None = None,
    ) -> bytes:
        timeouts = self._retry_policy.timeouts
        with unanswered():
            answer = self._service.request(
                method,
                f"{path}?{urlencode(query, doseq=True, safe=PLAIN)}" if query else path,
                data,
                {"Content-Type": "application/json"} if data is not None else {},
                # Google's API never redirects; whoever does shall not get our token.
                (timeout.total_seconds(),) * 2 if timeout else timeouts,
            )
        if not HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
            raise self._refused(f"{method} {path}", answer.status, answer.content)
        return answer.content
