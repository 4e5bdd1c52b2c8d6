"""What stands in front of a function: its port, and who may come in.

The function itself listens on a Unix socket in a folder that nobody else may enter, so that the port's rules
hold for it, too, and functions-framework is run as it is.
"""

from pathlib import Path

import httpx
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from localcloud.access import Rules
from localcloud.deployment.manifest import Function
from localcloud.faults.middleware import cut
from localcloud.listener import Listener
from localcloud.machines.metadata.forward import Forwarder, relay
from localcloud.place import Place

BINDS = "unix:{folder}/{name}"
"""What functions-framework takes for a host; it puts a colon and the port behind it."""


class Front:
    """Passes on to a function what may come in at its place."""

    def __init__(self, function: Function, place: Place, folder: Path) -> None:
        self.host = BINDS.format(folder=folder, name=function.name)
        self.socket = folder / f"{function.name}:{place.port}"
        self._forwarder = Forwarder(uds=self.socket)
        self._listener = Listener(self, port=place.port, rules=rules_of(function))

    async def start(self) -> None:
        """Listen; whoever comes before the function does is cut off."""
        await self._listener.start()

    async def stop(self) -> None:
        """Let nobody in any more."""
        await self._listener.stop()
        await self._forwarder.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        request = Request(scope, receive)
        try:
            answer = await self._forwarder.send(request, request.headers.get("host", ""))
        except httpx.HTTPError:
            await cut(scope, receive)  # as where nobody listens, or somebody dies over it
            return
        await relay(answer)(scope, receive, send)


def rules_of(function: Function) -> Rules:
    """A function for people has pages and takes forms; events come as JSON."""
    if function.signature == "http":
        return Rules(pages=_all)
    return Rules(json=_all)


def _all(_path: str) -> bool:
    return True
