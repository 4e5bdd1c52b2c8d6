"""An ASGI middleware that keeps every exchange of an app, to be held against the discovery documents.

recorder = Recorder()
app = build_app(routes, middleware=[recorder.middleware()])
...
assert recorder.findings() == []
"""

import json
from typing import Any
from urllib.parse import parse_qsl

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.localcloud.conformance.discovery import Discovery, Exchange

LARGEST = 8 << 20
"""A body beyond this is content, not JSON, and is not kept."""


class Recorder:
    """Keeps the exchanges of one or more apps; batches are seen as the calls they are made of."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []

    def middleware(self) -> Middleware:
        """What `build_app` takes."""
        return Middleware(_Recording, recorder=self)

    def findings(self) -> list[str]:
        """Everything that Google's documents of compute v1 and storage v1 do not allow."""
        apis = [Discovery.load("compute", "v1"), Discovery.load("storage", "v1")]
        return [
            finding
            for exchange in self.exchanges
            for api in apis
            if api.covers(exchange.path)
            for finding in api.check(exchange)
        ]


class _Recording:
    def __init__(self, app: ASGIApp, *, recorder: Recorder) -> None:
        self._app = app
        self._recorder = recorder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        asked, answered = _Body(), _Body()
        status = 0

        async def hear() -> Message:
            message = await receive()
            asked.add(message.get("body", b""))
            return message

        async def say(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            answered.add(message.get("body", b""))
            answered.type = _header(message.get("headers", ()), b"content-type") or answered.type
            await send(message)

        asked.type = _header(scope["headers"], b"content-type")
        await self._app(scope, hear, say)
        # A long question comes as a POST that says it is a GET: the documents know it as the GET.
        instead = _header(scope["headers"], b"x-http-method-override")
        question = asked.text() if instead else scope["query_string"].decode()
        exchange = Exchange(
            method=instead or scope["method"],
            path=scope["raw_path"].decode(),
            query=parse_qsl(question, keep_blank_values=True),
            request=asked.json(),
            status=status,
            response=answered.json(),
        )
        self._recorder.exchanges.append(exchange)


class _Body:
    """A body on its way."""

    def __init__(self) -> None:
        self.type = ""
        self._raw = b""

    def add(self, data: bytes) -> None:
        if len(self._raw) <= LARGEST:
            self._raw += data

    def text(self) -> str:
        """As it came."""
        return self._raw.decode()

    def json(self) -> Any:
        """Its value, or None when it is not JSON."""
        if "json" not in self.type or not self._raw or len(self._raw) > LARGEST:
            return None
        try:
            return json.loads(self._raw)
        except ValueError:
            return None


def _header(headers: Any, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in headers if key.lower() == name), "")
