"""The HTTP side of a virtual machine's metadata server, on a loopback port of its own.

It answers under its own address (`GCE_METADATA_HOST`) and, as the machine's HTTP proxy, for the names that
it has on Compute Engine; a proxied request for any other host goes out. Rules and wordings are those of
"View and query VM metadata" in the Compute Engine documentation.
"""

import asyncio
from collections.abc import Callable
from datetime import datetime

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from localcloud.access import Rules
from localcloud.machines.metadata import guest_attributes, nodes, tokens, tree
from localcloud.machines.metadata.forward import Forwarder
from localcloud.machines.metadata.query import MetadataQuery
from localcloud.machines.metadata.refusal import NOT_ALLOWED, Refusal, not_found
from localcloud.ports import Resource

ROOT = "/computeMetadata/v1/"
LISTINGS = {"/": "computeMetadata/\n", "/computeMetadata/": "v1/\n"}
NAMES = frozenset({"metadata.google.internal", "metadata.google.internal.", "metadata", "169.254.169.254"})
RULES = Rules(names=NAMES, proxy=True)
"""What a virtual machine sends to others by way of us is for them to judge."""
LOOPBACK = frozenset({"127.0.0.1", "localhost"})
HEADERS = {
    "Metadata-Flavor": "Google",
    "Server": "Metadata Server for VM",
    "X-XSS-Protection": "0",
    "X-Frame-Options": "SAMEORIGIN",
}
WRITES = ("PUT", "DELETE")


class MetadataServer:
    """Answers from the instance as it was last given, and wakes those who wait for a change."""

    def __init__(
        self,
        instance: Resource,
        *,
        now: Callable[[], datetime],
        guest: guest_attributes.GuestAttributes | None = None,
    ) -> None:
        self._instance = instance
        self._now = now
        self._guest = guest or guest_attributes.GuestAttributes()
        self._forwarder = Forwarder()
        self._changed = asyncio.Event()

    def update(self, instance: Resource) -> None:
        """Answer from this resource from now on."""
        self._instance = instance
        self._wake()

    async def close(self) -> None:
        """Let go of connections to elsewhere."""
        await self._forwarder.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        request = Request(scope, receive)
        if _is_for_us(request.headers, port=scope["server"][1]):
            response = await self._respond(request)
        else:
            response = await self._forwarder.forward(request)
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        try:
            response = await self._answer(request)
        except Refusal as refusal:
            response = refusal.page(request.url.path)
        response.headers.update(HEADERS)
        return response

    async def _answer(self, request: Request) -> Response:
        path = request.scope["path"]
        if path in LISTINGS:
            return _text(LISTINGS[path])
        _require_honest(request.headers)
        if not path.startswith(ROOT):
            raise not_found()
        names = path.removeprefix(ROOT).split("/")
        if names[:2] == guest_attributes.PATH:
            guest_attributes.require_enabled(tree.attributes(self._instance))
        if request.method in WRITES:
            return await self._write(request, names)
        if request.method not in ("GET", "HEAD"):
            raise Refusal(405, f"The method {request.method} is not allowed here.")
        return await self._read(request, names)

    async def _write(self, request: Request, names: list[str]) -> Response:
        if names[:2] != guest_attributes.PATH:
            raise Refusal(405, "Only guest attributes can be written from inside.")
        if request.method == "PUT":
            self._guest.put(names[2:], (await request.body()).decode(errors="replace"))
        else:
            self._guest.delete(names[2:])
        self._wake()
        return Response(status_code=200)

    async def _read(self, request: Request, names: list[str]) -> Response:
        query = MetadataQuery.read(request.query_params)
        as_directory = names[-1] == ""
        path = names[:-1] if as_directory else names
        node = self._find(path)
        if nodes.is_directory(node) and not as_directory:
            return RedirectResponse(request.url.replace(path=f"{request.url.path}/"), status_code=301)
        if as_directory and not nodes.is_directory(node):
            raise not_found()
        if isinstance(node, nodes.Computed):
            return self._compute(request, path)
        if query.wait:
            _require_recursive(node, query)
            node = await self._after_change(path, query)
        return _render(node, query)

    def _find(self, path: list[str]) -> nodes.Node:
        try:
            return nodes.find(tree.grow(self._instance, self._guest.values), path)
        except KeyError:
            raise not_found() from None

    async def _after_change(self, path: list[str], query: MetadataQuery) -> nodes.Node:
        """The node once it is other than the client knows it, or as it is when the time is over."""
        node = self._find(path)
        known = query.last_etag or nodes.etag(node)
        try:
            async with asyncio.timeout(query.timeout.total_seconds() if query.timeout else None):
                while nodes.etag(node) == known:
                    await self._changed.wait()
                    node = self._find(path)
        except TimeoutError:
            pass
        return node

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _compute(self, request: Request, path: list[str]) -> Response:
        email = self._find([*path[:-1], "email"])
        if path[-1] == "token":
            return _json(nodes.as_json(nodes.Chosen(tokens.access_token(email))))
        audience = request.query_params.get("audience", "")
        if not audience:
            raise Refusal(400, "non-empty audience parameter required")
        wanted = tokens.Wanted(
            email=email,
            audience=audience,
            full=request.query_params.get("format", "standard") == "full",
            licenses=request.query_params.get("licenses", "FALSE").upper() == "TRUE",
        )
        return _text(tokens.identity_token(self._instance, wanted, self._now()))


def _is_for_us(headers: Headers, *, port: int) -> bool:
    """Whether the request is for the metadata server itself and did not only come to us as to a proxy."""
    host, _, asked = headers.get("host", "").partition(":")
    return (host in NAMES and asked in ("", "80")) or (host in LOOPBACK and asked == str(port))


def _require_honest(headers: Headers) -> None:
    """Refuse a request that a program was tricked into: without the header, or passed on by a proxy."""
    said = headers.get("metadata-flavor") == "Google" or headers.get("x-google-metadata-request") == "True"
    if not said:
        raise Refusal(403, NOT_ALLOWED + "Missing Metadata-Flavor:Google header.")
    if "x-forwarded-for" in headers:
        raise Refusal(403, NOT_ALLOWED + "Request must not contain an X-Forwarded-For header.")


def _require_recursive(node: nodes.Node, query: MetadataQuery) -> None:
    if nodes.is_directory(node) and not query.recursive:
        raise Refusal(400, "wait_for_change on a directory needs recursive=true.")


def _render(node: nodes.Node, query: MetadataQuery) -> Response:
    tag = nodes.etag(node)
    if nodes.is_directory(node) and not query.recursive:
        return _text(nodes.listing(node), tag)
    by_default = "json" if nodes.is_directory(node) or isinstance(node, nodes.Tags) else "text"
    if (query.alt or by_default) == "json":
        return _json(nodes.as_json(node), tag)
    return _text(nodes.as_text(node), tag)


def _text(body: str, tag: str = "") -> Response:
    return Response(body, media_type="application/text", headers=_tagged(tag))


def _json(body: str, tag: str = "") -> Response:
    return Response(body, media_type="application/json", headers=_tagged(tag))


def _tagged(tag: str) -> dict[str, str]:
    return {"ETag": tag} if tag else {}
