"""Passing requests on, as the HTTP proxy of a virtual machine."""

from collections.abc import AsyncIterator

import httpx
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from localcloud.outbound import NO_TLS

HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""Headers that belong to one connection and must not be passed on (RFC 9110 section 7.6.1)."""

CONNECT_SECONDS = 10


class Forwarder:
    """Passes requests on through this computer's own network settings, byte by byte."""

    def __init__(self) -> None:
        self._client: httpx.AsyncClient | None = None

    async def forward(self, request: Request) -> Response:
        """Pass a request on and its answer back; 501 for a tunnel, 502 where nobody answers."""
        host = request.headers.get("host", "")
        if request.method == "CONNECT":
            return PlainTextResponse("This proxy passes on plain http only; use https without it.\n", 501)
        try:
            answer = await self.send(request, host)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            said = f"{type(error).__name__}: {error}"
            return PlainTextResponse(f"The virtual machine cannot reach {host}: {said}\n", 502)
        return relay(answer)

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            await self._client.aclose()

    async def send(self, request: Request, host: str) -> httpx.Response:
        """Pass a request on; `httpx.HTTPError` where nobody answers."""
        if self._client is None:
            self._client = _connections()
        target = request.scope["raw_path"].decode("latin-1")
        if question := request.scope["query_string"].decode("latin-1"):
            target += f"?{question}"
        headers = [(name, value) for name, value in request.headers.items() if name not in HOP_BY_HOP]
        if "accept-encoding" not in request.headers:
            headers.append(("accept-encoding", "identity"))  # httpx would ask for gzip on its own
        outgoing = self._client.build_request(
            request.method,
            f"http://{host}{target}",
            headers=headers,
            content=request.stream() if _has_body(request) else None,
        )
        return await self._client.send(outgoing, stream=True)


def _connections() -> httpx.AsyncClient:
    timeout = httpx.Timeout(None, connect=CONNECT_SECONDS)
    limits = httpx.Limits(max_connections=None)
    return httpx.AsyncClient(timeout=timeout, limits=limits, verify=NO_TLS)


def _has_body(request: Request) -> bool:
    return "content-length" in request.headers or "transfer-encoding" in request.headers


def relay(answer: httpx.Response) -> Response:
    """The answer of another server as ours, as it comes."""

    async def body() -> AsyncIterator[bytes]:
        try:
            async for chunk in answer.aiter_raw():
                yield chunk
        finally:
            await answer.aclose()

    response = StreamingResponse(body(), status_code=answer.status_code)
    kept = [(name, value) for name, value in answer.headers.raw if name.lower().decode() not in HOP_BY_HOP]
    response.raw_headers = [(name.lower(), value) for name, value in kept]
    return response
