"""HTTP calls that the local cloud makes: pushes of Pub/Sub, targets of Scheduler."""

import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Self

import httpx
from aiohttp import BaseConnector, ClientError, ClientSession, ClientTimeout, DummyCookieJar, TCPConnector

from localcloud.clock import machine_now
from localcloud.signing import signing_key

# One push subscription or job has its own, smaller limit; this one protects the machine.
MOST_CONNECTIONS = 200
LONGEST_LINE = 64 * 1024
"""Bytes of a line of an answer's head."""


@dataclass(frozen=True, kw_only=True)
class CallIdentity:
    """The service account that a call is made as, and whom it shows its identity token to."""

    email: str
    audience: str


@dataclass(frozen=True, kw_only=True)
class Outgoing:
    """One call to make; `timeout` covers all of it, and `caller` signs it."""

    url: str
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    timeout: timedelta
    caller: CallIdentity | None = None


class UnreachableError(Exception):
    """Nobody answered: no listener, a broken connection, or not in time. Says which URL and why."""


Post = Callable[[Outgoing], Awaitable[int]]
"""Make a call and return the status of its answer; `UnreachableError` when there is none."""


class Outbound:
    """Makes the calls over kept connections. Redirects are not followed, proxies of the machine not used."""

    def __init__(self) -> None:
        self._session: ClientSession | None = None
        self._tls: ssl.SSLContext | None = None

    async def post(self, call: Outgoing) -> int:
        """Make one call; this method is the `Post` that services take.

        Raises:
            UnreachableError: there was no answer, or HTTP can't carry one of its headers.
        """
        headers = _headers(call)
        if not all(text.isascii() and text.isprintable() for text in headers.values()):
            raise UnreachableError(f"{call.url}: a header has a character that HTTP can't carry")
        try:
            async with self._connections().request(
                call.method,
                call.url,
                headers=headers,
                data=call.body,
                allow_redirects=False,
                timeout=ClientTimeout(total=call.timeout.total_seconds()),
                ssl=self._trusted(call.url),
            ) as answer:
                await answer.read()
                return answer.status
        except (ClientError, TimeoutError, ValueError) as error:
            raise UnreachableError(f"{call.url}: {type(error).__name__}: {error}") from error

    def _connections(self) -> ClientSession:
        if self._session is None:
            self._session = connections(TCPConnector(limit=MOST_CONNECTIONS))
        return self._session

    def _trusted(self, url: str) -> ssl.SSLContext | bool:
        """Certificates are read when the first call needs them."""
        if not url.lower().startswith("https:"):
            return False
        if self._tls is None:
            self._tls = httpx.create_ssl_context(trust_env=False)
        return self._tls

    async def close(self) -> None:
        """Drop the kept connections."""
        if self._session is not None:
            await self._session.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()


def connections(connector: BaseConnector) -> ClientSession:
    """A client that sends and gives what it is told, byte by byte: nothing is added, unpacked or followed.

    Not httpx's, which takes up to ten times the processor time for a call: a storm makes thousands.
    """
    return ClientSession(
        connector=connector,
        cookie_jar=DummyCookieJar(),
        skip_auto_headers=("Accept", "Accept-Encoding", "Content-Type", "User-Agent"),
        auto_decompress=False,
        max_line_size=LONGEST_LINE,
        max_field_size=LONGEST_LINE,
        timeout=ClientTimeout(total=None),
    )


def _headers(call: Outgoing) -> dict[str, str]:
    """Those that were asked for, and an OIDC token that says who calls."""
    if not call.caller:
        return dict(call.headers)
    # Whoever verifies it goes by this machine's time.
    token = signing_key().token(call.caller.email, call.caller.audience, machine_now())
    return {**call.headers, "authorization": f"Bearer {token}"}


NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For a client of plain http: httpx reads all certificates else, which takes up to a fifth of a second."""
