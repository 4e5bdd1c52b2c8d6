"""The connections to one REST service, and the token that each request carries."""

from collections.abc import Mapping
from functools import cached_property, partial
from http import HTTPStatus
from typing import NamedTuple
from urllib.parse import urlsplit

import requests
from google.auth.credentials import Credentials
from google.auth.transport.requests import Request
from urllib3 import BaseHTTPResponse, HTTPConnectionPool, Timeout

from spotwarden.gcp.session import pool_of, settle
from spotwarden.gcp.tally import count, note_date, service_of

Seconds = tuple[float, float]
"""To connect, and to wait for each piece of an answer."""


class Answered(NamedTuple):
    """An answer's status, and its whole body, unpacked."""

    status: int
    content: bytes


class Authorized:
    """One service, asked with these credentials. Safe to use from several threads.

    `requests` chooses the connections, by proxies and certificates, and fetches tokens; what is asked goes
    right into urllib3, for it takes half the time there: `requests` works each call's URL, cookies and
    headers out anew.
    """

    def __init__(self, endpoint: str, credentials: Credentials, agent: str) -> None:
        self._url = endpoint
        self._below = urlsplit(endpoint).path
        self._credentials = credentials
        self._session = requests.Session()
        settle(self._session, endpoint)
        self._token_session = requests.Session()
        self._token_session.mount("https://", requests.adapters.HTTPAdapter(max_retries=3))
        self._headers = {**self._session.headers, "User-Agent": agent}

    @cached_property
    def _pool(self) -> HTTPConnectionPool:
        return pool_of(self._session, self._url)

    def close(self) -> None:
        """Give the connections back; the next request opens new ones."""
        self.__dict__.pop("_pool", None)
        self._session.close()
        self._token_session.close()

    def request(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str], timeouts: Seconds
    ) -> Answered:
        """Ask; where the token is refused, once more with a new one. A redirect is an answer like any other.

        Raises what urllib3 and google-auth raise, and `requests` where a token cannot be fetched.
        """
        ask = partial(Request(self._token_session), timeout=timeouts[1])
        sent = {**self._headers, **headers}
        self._credentials.before_request(ask, method, self._url + path, sent)
        answer = self._send(method, path, data, sent, timeouts)
        if answer.status == HTTPStatus.UNAUTHORIZED:
            self._credentials.refresh(ask)
            self._credentials.apply(sent)
            answer = self._send(method, path, data, sent, timeouts)
        return Answered(answer.status, answer.data)

    def _send(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str], timeouts: Seconds
    ) -> BaseHTTPResponse:
        count(service_of(self._url + path))
        answer = self._pool.urlopen(
            method,
            self._below + path,
            body=data,
            headers=headers,
            retries=False,
            redirect=False,
            assert_same_host=False,
            timeout=Timeout(connect=timeouts[0], read=timeouts[1]),
        )
        note_date(answer.headers.get("Date", ""))
        return answer
