"""REST APIs of Google, spoken through google-auth: the bytes of a request as they are, in and out."""

import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cached_property
from http import HTTPStatus
from typing import Any

import google.auth
import msgspec
from google.auth.credentials import AnonymousCredentials, Credentials
from google.auth.transport.requests import AuthorizedSession

from spotwarden.gcp.endpoint import checked_endpoint, is_loopback
from spotwarden.gcp.errors import refusal, unanswered
from spotwarden.gcp.retry_policy import RetryPolicy
from spotwarden.gcp.session import settle

_SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
_SERVICE = "K_SERVICE"
"""Where Cloud Run says which service this is ("Container runtime contract")."""


def _credentials(endpoint: str) -> Credentials:
    if is_loopback(endpoint):
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
    def _session(self) -> AuthorizedSession:
        session = AuthorizedSession(_credentials(self._endpoint))
        session.headers["User-Agent"] = agent(os.environ)
        settle(session, self._endpoint)
        return session

    def close(self) -> None:
        """Give the connections back; the next call opens new ones."""
        if "_session" in self.__dict__:
            self._session.close()

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
        with unanswered():
            answer = self._session.request(
                method,
                self._endpoint + path,
                params=query,
                data=data,
                headers={"Content-Type": "application/json"} if data is not None else None,
                timeout=timeout.total_seconds() if timeout else self._retry_policy.timeouts,
                # Google's API never redirects; whoever does shall not get our token.
                allow_redirects=False,
            )
        if not HTTPStatus.OK <= answer.status_code < HTTPStatus.MULTIPLE_CHOICES:
            raise self._refused(f"{method} {path}", answer.status_code, answer.content)
        content: bytes = answer.content
        return content
