"""Partial answers of every method: `fields` is read and checked before anything is done.

`answers.json` says which fields an answer can have. It is derived from Google's discovery documents by
`tests/localcloud/conformance/write_methods.py`.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs

import msgspec
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from localcloud.errors import ApiError
from localcloud.methods.known import known_method
from localcloud.partial import Mask, read_mask

CHOSEN = "localcloud.chosen"
"""Where the scope of a call holds the fields that its answer is to have."""

ANY, LEAF = None, 0
Shape = Any
"""`ANY`, `LEAF`, the name of a message, `{"*": shape}` for a map or the fields of an unnamed message."""


def choosing(routes: Iterable[BaseRoute]) -> Iterator[BaseRoute]:
    """The same routes; each reads `fields`."""
    for route in routes:
        if isinstance(route, Route):
            route.app = _Choosing(route.app)
        yield route


def choose(scope: Scope, verb: str, text: str) -> None:
    """Let the answer of this call have these fields.

    Raises:
        ApiError: 400 when they are no selection of fields, or one is none of the method's answer.
    """
    mask = read_mask(text)
    shape = _answers()["methods"].get(known_method(verb, scope["raw_path"].decode("ascii")), ANY)
    _check(mask, shape)
    scope[CHOSEN] = mask


class _Choosing:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the parameter, and go on.

        Raises:
            ApiError: 400.
        """
        if b"fields=" in scope["query_string"] and not scope["path"].startswith("/local/"):
            query = parse_qs(scope["query_string"].decode(), keep_blank_values=True)
            for text in (*query.get("fields", ()), *query.get("$fields", ())):
                choose(scope, scope["method"], text)
        await self._app(scope, receive, send)


def _check(mask: Mask, shape: Shape) -> None:
    fields = _answers()["messages"][shape] if isinstance(shape, str) else shape
    if fields is ANY:
        return
    for name, below in mask.items():
        if name == "*":
            continue
        inner = fields.get(name, fields.get("*", LEAF)) if fields != LEAF else LEAF
        if fields == LEAF or (name not in fields and "*" not in fields):
            raise ApiError(400, "invalidParameter", f"Invalid field selection {name}", location="fields")
        _check(below, inner)


@cache
def _answers() -> Mapping[str, Mapping[str, Shape]]:
    found: Mapping[str, Mapping[str, Shape]] = msgspec.json.decode(
        files(__package__).joinpath("answers.json").read_bytes()
    )
    return found
