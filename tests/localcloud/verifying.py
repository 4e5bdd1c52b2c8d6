"""Google's own verifier of identity tokens, which fetches our certificates where it fetches Google's."""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
from google.oauth2 import id_token

from localcloud.http import build_app
from localcloud.signing import certificate_routes

GOOGLE = "https://www.googleapis.com"


class _Fetched:
    """An answer as google-auth's transports give it."""

    def __init__(self, answer: httpx.Response) -> None:
        self.status = answer.status_code
        self.data = answer.content
        self.headers: Mapping[str, str] = {}


def fetched(path: str) -> httpx.Response:
    """What we answer under a path that www.googleapis.com has."""

    async def go() -> httpx.Response:
        transport = httpx.ASGITransport(build_app(certificate_routes()))
        async with httpx.AsyncClient(transport=transport, base_url=GOOGLE) as client:
            return await client.get(path)

    return asyncio.run(go())


def verified(token: str, audience: str) -> dict[str, Any]:
    """What `verify_oauth2_token` finds in a token; it raises where we did not sign it for this audience."""

    def request(url: str, method: str = "GET", **_others: Any) -> _Fetched:
        assert method == "GET"
        assert url.startswith(GOOGLE)
        return _Fetched(fetched(url.removeprefix(GOOGLE)))

    return dict(id_token.verify_oauth2_token(token, request, audience))
