"""Does to calls of Cloud Storage what their retry test says."""

import re

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from localcloud.errors import ApiError
from localcloud.faults.middleware import cut, nowhere
from localcloud.faults.retry_tests import Instruction, RetryTests
from localcloud.methods import known_method

HEADER = "x-retry-test-id"
INSERT = "storage.objects.insert"
UPLOAD = re.compile(r"/(resumable/)?upload/storage/")
PIECE = re.compile(r"bytes (\d+)-(\d+)/.*")
GOOD = 300
NAMES = {
    "storage.projects.serviceAccount.get": "storage.serviceaccount.get",
    "storage.projects.hmacKeys.create": "storage.hmacKey.create",
    "storage.projects.hmacKeys.delete": "storage.hmacKey.delete",
    "storage.projects.hmacKeys.get": "storage.hmacKey.get",
    "storage.projects.hmacKeys.list": "storage.hmacKey.list",
    "storage.projects.hmacKeys.update": "storage.hmacKey.update",
}
"""Methods that the testbench calls otherwise than the discovery document."""
RESOURCES = {
    "storage.bucketAccessControls": "storage.bucket_acl",
    "storage.defaultObjectAccessControls": "storage.default_object_acl",
    "storage.objectAccessControls": "storage.object_acl",
}
"""Resources of which it calls all methods otherwise."""


class RetryMiddleware:
    """Applies the next instruction for a method to a call that has the header."""

    def __init__(self, app: ASGIApp, *, tests: RetryTests) -> None:
        self._app = app
        self._tests = tests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on, or do to it what is next."""
        test = Headers(scope=scope).get(HEADER, "") if scope["type"] == "http" else ""
        if not test:
            await self._app(scope, receive, send)
            return
        try:
            await self._befall(test, scope, receive, send)
        except ApiError as error:
            await _refuse(error, scope, receive, send)

    async def _befall(self, test: str, scope: Scope, receive: Receive, send: Send) -> None:
        method = _method(scope)
        instruction = self._tests.next(test, method)
        if instruction is None:
            await self._app(scope, receive, send)
        elif instruction.broken_after:
            broken = _Broken(scope, receive, send, instruction.broken_after)
            await self._app(scope, receive, broken.send)
            if broken.cut:
                self._tests.done(test, method)
        elif instruction.after:
            await self._interrupt(test, instruction, scope, receive, send)
        else:
            self._tests.done(test, method)
            if instruction.status:
                raise instruction.error()
            await cut(scope, receive)

    async def _interrupt(
        self, test: str, instruction: Instruction, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Let the service have an upload up to so many bytes, and answer with the error then."""
        piece = PIECE.fullmatch(Headers(scope=scope).get("content-range", ""))
        if piece is None or not int(piece[1]) < instruction.after <= int(piece[2]) + 1:
            await self._app(scope, receive, send)
            return
        short = _Short(receive, instruction.after - int(piece[1]))
        await self._app(scope, short.receive, nowhere)
        await short.drain()
        self._tests.done(test, INSERT)
        raise instruction.error()


class _Broken:
    """An answer of which only the beginning arrives."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, limit: int) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._left = limit
        self._good = False
        self.cut = False

    async def send(self, message: Message) -> None:
        """As ASGI's `send`."""
        if message["type"] == "http.response.start":
            self._good = message["status"] < GOOD
        body = message.get("body", b"")
        if self.cut or not self._good or len(body) < self._left:
            self._left -= len(body)
            await (nowhere if self.cut else self._send)(message)
            return
        await self._send({**message, "body": body[: self._left], "more_body": True})
        self.cut = True
        await cut(self._scope, self._receive)


class _Short:
    """A request of which the service gets only the beginning."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self._receive = receive
        self._left = limit
        self._ended = False

    async def receive(self) -> Message:
        """As ASGI's `receive`."""
        if self._left <= 0:
            return {"type": "http.disconnect"}
        message = await self._next()
        body = message.get("body", b"")[: self._left]
        self._left -= len(body)
        return message if message["type"] != "http.request" else {**message, "body": body, "more_body": True}

    async def drain(self) -> None:
        """Read what the client still sends."""
        while not self._ended:
            await self._next()

    async def _next(self) -> Message:
        message = await self._receive()
        self._ended = message["type"] != "http.request" or not message.get("more_body")
        return message


def _method(scope: Scope) -> str:
    """The method's name; each piece of an upload is of `insert`."""
    path = scope["raw_path"].decode("ascii")
    if UPLOAD.match(path):
        return INSERT
    method = known_method(scope["method"], path)
    resource, _, verb = method.rpartition(".")
    return f"{RESOURCES[resource]}.{verb}" if resource in RESOURCES else NAMES.get(method, method)


async def _refuse(error: ApiError, scope: Scope, receive: Receive, send: Send) -> None:
    await JSONResponse(error.body(), status_code=error.status)(scope, receive, send)
