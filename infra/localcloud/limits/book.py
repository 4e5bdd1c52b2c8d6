"""The limits in force, and the path that changes them."""

from collections.abc import Callable

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcloud.errors import ApiError
from localcloud.limits.settings import OFF, Limits

PATH = "/local/limits"


class LimitsBook:
    """Holds the limits in force; whoever goes by them asks, or is told by `follow` of each change."""

    def __init__(self, limits: Limits = OFF) -> None:
        self.now = limits
        self._followers: list[Callable[[Limits], None]] = []

    def follow(self, follower: Callable[[Limits], None]) -> None:
        """Tell somebody the limits, now and whenever they change."""
        self._followers.append(follower)
        follower(self.now)

    def set(self, limits: Limits) -> None:
        """Let these be in force."""
        self.now = limits
        for follower in self._followers:
            follower(limits)

    def admin_routes(self) -> list[BaseRoute]:
        """`/local/limits`: GET shows them, POST changes those that it names, DELETE lifts all."""
        return [
            Route(PATH, self._show, methods=["GET"]),
            Route(PATH, self._change, methods=["POST"]),
            Route(PATH, self._lift, methods=["DELETE"]),
        ]

    async def _show(self, _request: Request) -> Response:
        return Response(msgspec.json.encode(self.now), media_type="application/json")

    async def _change(self, request: Request) -> Response:
        """Without a name all are as they are by default."""
        try:
            given = msgspec.json.decode(await request.body() or b"{}", type=dict[str, object])
            shown = {**msgspec.to_builtins(self.now), **given} if given else {}
            self.set(msgspec.convert(shown, Limits))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ApiError(400, "invalid", f"These are no limits: {error}") from error
        return await self._show(request)

    async def _lift(self, request: Request) -> Response:
        self.set(OFF)
        return await self._show(request)
