"""What stands in front of a function: its port, and who may come in.

The function itself listens on a Unix socket in a folder that nobody else may enter, so that the port's rules
hold for it, too, and functions-framework is run as it is.
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from localcloud.access import Rules
from localcloud.deployment.manifest import Function
from localcloud.deployment.socket_call import FunctionSocket, NoAnswerError
from localcloud.faults.middleware import cut
from localcloud.limits import OFF, Limits
from localcloud.listener import Listener
from localcloud.place import Place

BINDS = "unix:{folder}/{name}"
"""What functions-framework takes for a host; it puts a colon and the port behind it."""


TIMEOUT = (
    "%s: the request has been terminated because it has reached the maximum request timeout of %g s; "
    "the function goes on"
)

_log = logging.getLogger(__name__)


class Front:
    """Passes on to a function what may come in at its place.

    A request that takes longer than the function's `timeout_seconds` is answered 504. As on Cloud Run the
    function is not told, nor is it ended.
    """

    def __init__(
        self, function: Function, place: Place, folder: Path, *, limits: Callable[[], Limits] = lambda: OFF
    ) -> None:
        self._function = function
        self._limits = limits
        self.host = BINDS.format(folder=folder, name=function.name)
        self.socket = folder / f"{function.name}:{place.port}"
        self._function_socket = FunctionSocket(self.socket)
        self._listener = Listener(self, port=place.port, rules=rules_of(function))

    async def start(self) -> None:
        """Listen; whoever comes before the function does is cut off."""
        await self._listener.start()

    async def stop(self) -> None:
        """Let nobody in any more."""
        await self._listener.stop()
        await self._function_socket.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        begun = False

        async def begin(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        seconds = self._limits().function_timeouts * self._function.timeout_seconds
        try:
            async with asyncio.timeout(seconds or None):
                await self._pass_on(scope, receive, begin)
        except TimeoutError:
            _log.warning(TIMEOUT, self._function.name, seconds)
            if begun:
                await cut(scope, receive)
            else:
                await PlainTextResponse("upstream request timeout", 504)(scope, receive, send)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._function_socket.pass_on(Request(scope, receive), send)
        except NoAnswerError:
            await cut(scope, receive)  # as where nobody listens, or somebody dies over it


def rules_of(function: Function) -> Rules:
    """A function for people has pages and takes forms; events come as JSON."""
    if function.signature == "http":
        return Rules(pages=_all)
    return Rules(json=_all)


def _all(_path: str) -> bool:
    return True
