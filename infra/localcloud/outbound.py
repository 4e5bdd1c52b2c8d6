"""HTTP calls that the local cloud makes: pushes of Pub/Sub, targets of Scheduler."""

import asyncio
import ssl
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from importlib.util import find_spec
from typing import Self

import httpx

from localcloud.answer import NoAnswerError
from localcloud.calls_here import CallsHere, is_here
from localcloud.clock import machine_now
from localcloud.signing import signing_key

# One push subscription or job has its own, smaller limit; this one protects the machine.
MOST_CONNECTIONS = 200


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
        # httpx tries to import this optional package several times a call, and Python searches the disk each
        # time. Told once that it is not there, pushes are 1.4 times as fast.
        if "sniffio" not in sys.modules and find_spec("sniffio") is None:
            sys.modules["sniffio"] = None  # type: ignore[assignment] # "None: the import fails at once"
        self._here = CallsHere(MOST_CONNECTIONS)
        self._plain = _connections(NO_TLS)
        self._secure: httpx.AsyncClient | None = None

    async def post(self, call: Outgoing) -> int:
        """Make one call; this method is the `Post` that services take.

        Raises:
            UnreachableError: there was no answer.
        """
        headers, seconds = _headers(call), call.timeout.total_seconds()
        try:
            if is_here(call.url, headers):
                async with asyncio.timeout(seconds):
                    return await self._here.call(call.method, call.url, headers, call.body)
            answer = await self._client(call.url).request(
                call.method, call.url, headers=headers, content=call.body, timeout=seconds
            )
        except (httpx.HTTPError, httpx.InvalidURL, NoAnswerError, TimeoutError, ValueError) as error:
            raise UnreachableError(f"{call.url}: {type(error).__name__}: {error}") from error
        return answer.status_code

    def _client(self, url: str) -> httpx.AsyncClient:
        """Certificates are read when the first call needs them."""
        if not url.lower().startswith("https:"):
            return self._plain
        if self._secure is None:
            self._secure = _connections(httpx.create_ssl_context(trust_env=False))
        return self._secure

    async def close(self) -> None:
        """Drop the kept connections."""
        await self._here.close()
        await self._plain.aclose()
        if self._secure is not None:
            await self._secure.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()


def _connections(tls: ssl.SSLContext) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=MOST_CONNECTIONS, max_keepalive_connections=MOST_CONNECTIONS)
    return httpx.AsyncClient(limits=limits, trust_env=False, verify=tls)


def _headers(call: Outgoing) -> dict[str, str]:
    """Those that were asked for, and an OIDC token that says who calls."""
    if not call.caller:
        return dict(call.headers)
    # Whoever verifies it goes by this machine's time.
    token = signing_key().token(call.caller.email, call.caller.audience, machine_now())
    return {**call.headers, "authorization": f"Bearer {token}"}


NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For a client of plain http: httpx reads all certificates else, which takes up to a fifth of a second."""
