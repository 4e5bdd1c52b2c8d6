"""Asks for the permissions of each route before it is answered."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from localcloud.permissions.account import Need
from localcloud.permissions.caller import demand, is_limited
from localcloud.permissions.creation import created
from localcloud.permissions.tables import ROUTES, PermissionAsk

_CREATES = ("/instances", "/instances/bulkInsert")


def checked(routes: Iterable[BaseRoute]) -> Iterator[BaseRoute]:
    """The same routes, for callers who may call them.

    Raises:
        LookupError: the tables do not know one.
    """
    for route in routes:
        if not isinstance(route, Route):
            raise TypeError(f"{route} is no route whose permissions could be known")
        verbs = (route.methods or set()) - {"HEAD"}
        if unknown := [verb for verb in sorted(verbs) if (verb, route.path) not in ROUTES]:
            raise LookupError(f"{', '.join(unknown)} {route.path} is in no table of permissions")
        route.app = _Checked(route.app, route.path)
        yield route


class _Checked:
    """Passes on the calls of those who may."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self._app = app
        self._path = path
        self._creates = path.startswith("/compute/") and path.endswith(_CREATES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Ask, and go on.

        Raises:
            ApiError: 403.
        """
        if is_limited():
            verb = "GET" if scope["method"] == "HEAD" else scope["method"]
            demand(*_needs(ROUTES[verb, self._path], scope, self._path))
            if verb == "POST" and self._creates:
                body, receive = await _read(receive)
                demand(*created(_place(scope), body, scope["query_string"].decode()))
        await self._app(scope, receive, send)


def _needs(asked: Sequence[PermissionAsk], scope: Scope, path: str) -> Iterator[Need]:
    parts: Mapping[str, str] = scope["path_params"]
    for permission, bucket in asked:
        yield Need(
            permission=permission,
            on=_resource(permission, scope, path),
            bucket=parts.get(bucket, ""),
            thing=parts.get("object", ""),
        )


def _resource(permission: str, scope: Scope, path: str) -> str:
    """The resource as Compute Engine names it: a list is asked of the project, an action of its instance."""
    if permission.endswith(".list"):
        return f"projects/{scope['path_params'].get('project', '')}"
    place = _place(scope)
    return place if path.endswith("}") else place.rpartition("/")[0] or place


def _place(scope: Scope) -> str:
    """The path from the project on."""
    path: str = scope["path"]
    return path[max(path.find("projects/"), 0) :]


async def _read(receive: Receive) -> tuple[Mapping[str, Any], Receive]:
    """The JSON object of a body, `{}` for anything else, and the body as it came, to be read again."""
    messages: list[Message] = []
    while True:
        messages.append(await receive())
        if not messages[-1].get("more_body"):
            break
    whole = b"".join(message.get("body", b"") for message in messages)
    rest = iter(messages)

    async def again() -> Message:
        return next(rest, None) or await receive()

    try:
        body = json.loads(whole)
    except (ValueError, RecursionError):
        body = {}
    return body if isinstance(body, dict) else {}, again
