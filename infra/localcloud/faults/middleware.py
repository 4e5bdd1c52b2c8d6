"""Does to HTTP calls what the plan says."""

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from localcloud.faults.book import Faults
from localcloud.faults.rule import Effect, service_of

CUT = "localcloud.cut"
"""Name of the ASGI extension whose `abort` drops the connection under a call."""

ADMIN = "/local/"


class FaultMiddleware:
    """Applies the rules to HTTP calls. The admin paths are never hit, or nobody could end a rule."""

    def __init__(self, app: ASGIApp, *, faults: Faults) -> None:
        self._app = app
        self._faults = faults

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on, or do to it what the plan says."""
        effect = self._plan(scope)
        if effect is None:
            await self._app(scope, receive, send)
        elif effect.after_work:
            await self._after(effect, scope, receive, send)
        else:
            await effect.wait()
            if effect.loses_answer:
                await _lose(effect, scope, receive, send)
            else:
                await self._app(scope, receive, send)

    def _plan(self, scope: Scope) -> Effect | None:
        if scope["type"] != "http" or scope["path"].startswith(ADMIN):
            return None
        return self._faults.plan(service_of(scope["path"]), scope["method"], scope["path"])

    async def _after(self, effect: Effect, scope: Scope, receive: Receive, send: Send) -> None:
        if not effect.loses_answer:
            await self._app(scope, receive, _late(effect, send))
            return
        await self._app(scope, receive, nowhere)
        await effect.wait()
        await _lose(effect, scope, receive, send)


async def nowhere(_message: Message) -> None:
    """An ASGI `send` whose answer is lost."""


def _late(effect: Effect, send: Send) -> Send:
    """A `send` that lets the delay pass before an answer starts."""

    async def late(message: Message) -> None:
        if message["type"] == "http.response.start":
            await effect.wait()
        await send(message)

    return late


async def _lose(effect: Effect, scope: Scope, receive: Receive, send: Send) -> None:
    if effect.error is None:
        await cut(scope, receive)
        return
    response = JSONResponse(
        effect.error.body(), status_code=effect.error.status, headers=dict(effect.headers)
    )
    await response(scope, receive, send)


async def cut(scope: Scope, receive: Receive) -> None:
    """Drop the connection and wait until the server has noticed, or it would still try to answer."""
    scope["extensions"][CUT]["abort"]()
    while (await receive())["type"] != "http.disconnect":
        pass
