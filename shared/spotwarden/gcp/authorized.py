"""The connections to one REST service, and the token that each request carries."""

from collections.abc import Mapping
from functools import cached_property, partial
from http import HTTPStatus
from threading import Lock
from time import monotonic
from typing import NamedTuple
from urllib.parse import urlsplit

import requests
from google.auth.credentials import Credentials
from google.auth.transport.requests import Request
from urllib3 import BaseHTTPResponse, HTTPConnectionPool, Timeout

from spotwarden.gcp.session import pool_of, settle
from spotwarden.gcp.tally import count, note_date, service_of

IDLE = 120
"""Seconds after which connections are opened anew: a function that waits is frozen, and whoever it spoke to
may have left meanwhile."""
Seconds = tuple[float, float]
"""To connect, and to wait for each piece of an answer."""


class Answered(NamedTuple):
    """An answer's status, its body and its headers."""

    status: int
    content: bytes
    headers: Mapping[str, str] = {}


class Authorized:
    """One service, asked with these credentials. Safe to use from several threads.

    `requests` chooses the connections, by proxies and certificates, and fetches tokens; what is asked goes
    right into urllib3, for it takes half the time there: `requests` works each call's URL, cookies and
    headers out anew.
    """

    def __init__(self, endpoint: str, credentials: Credentials, agent: str) -> None:
        self.url = endpoint
        self._below = urlsplit(endpoint).path
        self._credentials = credentials
        self._session = requests.Session()
        settle(self._session, endpoint)
        self._token_session = requests.Session()
        self._token_session.mount("https://", requests.adapters.HTTPAdapter(max_retries=3))
        self._lock, self._used = Lock(), monotonic()
        self._headers = {**self._session.headers, "User-Agent": agent}

    @cached_property
    def _pool(self) -> HTTPConnectionPool:
        return pool_of(self._session, self.url)

    def close(self) -> None:
        """Give the connections back; the next request opens new ones."""
        self.__dict__.pop("_pool", None)
        self._session.close()
        self._token_session.close()

    def _connections(self) -> HTTPConnectionPool:
        now = monotonic()
        with self._lock:
            idle, self._used = now - self._used, now
        if idle > IDLE:
            self.close()
        return self._pool

    def request(
        self,
        method: str,
        path: str,
        data: bytes | None,
        headers: Mapping[str, str],
        timeouts: Seconds,
        *,
        at_most: int | None = None,
    ) -> Answered:
        """Ask; where the token is refused, once more with a new one. A redirect is an answer like any other.

        The body is read whole and unpacked; with `at_most` as it comes, to one byte beyond that.

        Raises what urllib3 and google-auth raise, and `requests` where a token cannot be fetched.
        """
        ask = partial(Request(self._token_session), timeout=timeouts[1])
        sent = {**self._headers, **headers}
        self._credentials.before_request(ask, method, self.url + path, sent)
        send = partial(self._send, method, path, data, whole=at_most is None)
        answer = send(sent, timeouts)
        if answer.status == HTTPStatus.UNAUTHORIZED:
            answer.close()
            self._credentials.refresh(ask)
            self._credentials.apply(sent)
            answer = send(sent, timeouts)
        content = answer.data if at_most is None else _first(answer, at_most + 1)
        return Answered(answer.status, content, answer.headers)

    def _send(
        self,
        method: str,
        path: str,
        data: bytes | None,
        headers: Mapping[str, str],
        timeouts: Seconds,
        *,
        whole: bool,
    ) -> BaseHTTPResponse:
        count(service_of(self.url + path))
        connections = self._connections()
        # A proxy for plain http, as to another machine's emulator, is told the whole address.
        proxied = connections.proxy is not None and connections.scheme == "http"
        answer = connections.urlopen(
            method,
            (self.url if proxied else self._below) + path,
            body=data,
            headers=headers,
            retries=False,
            redirect=False,
            assert_same_host=False,
            timeout=Timeout(connect=timeouts[0], read=timeouts[1]),
            preload_content=whole,
            decode_content=whole,
        )
        note_date(answer.headers.get("Date", ""))
        return answer


def _first(answer: BaseHTTPResponse, size: int) -> bytes:
    """The first bytes; a connection on which there are more of them is of no use any more."""
    content = answer.read(size)
    if len(content) == size:
        answer.close()
    answer.release_conn()
    return content
