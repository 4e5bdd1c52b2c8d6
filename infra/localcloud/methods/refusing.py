"""Query parameters that Google acts on and the local cloud does not: 501 with the name, before all else."""

from collections.abc import Collection, Iterable, Iterator
from urllib.parse import parse_qsl

from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from localcloud.errors import ApiError

_OFF = ("", "false", "0")


def refusing(routes: Iterable[BaseRoute], names: Collection[str]) -> Iterator[BaseRoute]:
    """The same routes; each refuses these parameters, unless their value asks for nothing."""
    for route in routes:
        if isinstance(route, Route):
            route.app = _Refusing(route.app, names)
        yield route


class _Refusing:
    """Passes on the calls that ask for nothing that is not done."""

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self._app = app
        self._names = names

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look at the parameters, and go on.

        Raises:
            ApiError: 501.
        """
        for name, value in parse_qsl(scope["query_string"].decode()):
            if name in self._names and value.lower() not in _OFF:
                raise ApiError(501, "notImplemented", f"The local cloud does not do the parameter {name}.")
        await self._app(scope, receive, send)
