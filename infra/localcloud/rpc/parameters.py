"""Query parameters that a method does not have: refused before all else, as by Google's front end.

`parameters.json` is derived from Google's discovery documents by
`tests/localcloud/conformance/write_methods.py`. Methods that are read by descriptors (`fields.py`) need none.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from urllib.parse import parse_qsl

import msgspec
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from localcloud.methods import known_method
from localcloud.rpc.fields import SYSTEM, unknown
from localcloud.rpc.shapes import camel


def binding(routes: Iterable[BaseRoute]) -> Iterator[BaseRoute]:
    """The same routes; each takes only parameters that its method has, by either of their names."""
    for route in routes:
        if isinstance(route, Route):
            route.app = _Binding(route.app)
        yield route


class _Binding:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look at the parameters, and go on.

        Raises:
            RpcError: INVALID_ARGUMENT, with the first that the method does not have.
        """
        if scope["query_string"]:
            method = known_method(scope["method"], scope["raw_path"].decode("ascii"))
            taken = _parameters().get(method)
            for name, _ in parse_qsl(scope["query_string"].decode(), keep_blank_values=True):
                if taken is not None and name not in SYSTEM and camel(name) not in taken:
                    raise unknown(name)
        await self._app(scope, receive, send)


@cache
def _parameters() -> Mapping[str, Collection[str]]:
    found: Mapping[str, Collection[str]] = msgspec.json.decode(
        files("localcloud.methods").joinpath("parameters.json").read_bytes()
    )
    return found
