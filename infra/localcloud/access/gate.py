"""Asks the owner and the rules about each request that a door took, and says no where they do."""

import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from localcloud.access.peers import BEFORE_TOKEN
from localcloud.access.rules import Asked, Rules
from localcloud.errors import ApiError

STRANGER = "localcloud.stranger"
"""Extension of a scope: why the connection is nobody's who is served, "" where it is."""
ABSOLUTE = "localcloud.absolute"
"""Extension of a scope: whether the request line has a whole URL."""

NO_TOKEN = 'Every call carries the token of this run on this machine: eval "$(spotwarden local env)"'  # noqa: S105 - a sentence
"""Why a call is refused where users cannot be told from each other."""


class Gate:
    """Passes on what may come in; all else gets 403 and a sentence.

    With a `prefix` only paths that begin with it may, where it is taken away before they are passed on; and
    calls whose access token is the prefix's, since gcloud uploads to the root of its endpoint.
    """

    def __init__(self, app: ASGIApp, rules: Rules, *, prefix: str = "") -> None:
        self._app = app
        self._rules = rules
        self._prefix = prefix

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request (ASGI)."""
        extensions = scope.get("extensions", {})
        if self._prefix and _carries(scope, self._prefix):
            scope = _without(scope, self._prefix)
        elif self._prefix and not _bears(scope, self._prefix.removeprefix(BEFORE_TOKEN)):
            await _refuse(NO_TOKEN)(scope, receive, send)
            return
        why = extensions.get(STRANGER, "") or self._rules.refusal(_asked(scope, extensions))
        await (_refuse(why) if why else self._app)(scope, receive, send)


def _carries(scope: Scope, prefix: str) -> bool:
    return secrets.compare_digest(scope["path"][: len(prefix) + 1].encode(), f"{prefix}/".encode())


def _bears(scope: Scope, token: str) -> bool:
    said = _headers(scope["headers"]).get("authorization", [""])
    return len(said) == 1 and secrets.compare_digest(said[0].encode(), f"Bearer {token}".encode())


def _without(scope: Scope, prefix: str) -> Scope:
    raw = scope["raw_path"][len(prefix) :]
    return {**scope, "path": scope["path"][len(prefix) :], "raw_path": raw}


def _asked(scope: Scope, extensions: Mapping[str, bool]) -> Asked:
    return Asked(
        method=scope["method"],
        path=scope["path"],
        headers=_headers(scope["headers"]),
        port=scope["server"][1],
        absolute=extensions.get(ABSOLUTE, False),
    )


def _headers(pairs: Sequence[tuple[bytes, bytes]]) -> Mapping[str, Sequence[str]]:
    headers: dict[str, list[str]] = defaultdict(list)
    for name, value in pairs:
        headers[name.decode("latin-1").lower()].append(value.decode("latin-1").strip())
    return headers


def _refuse(why: str) -> Response:
    body = msgspec.json.encode(ApiError(403, "forbidden", why).body())
    return Response(body, 403, media_type="application/json; charset=UTF-8", headers={"connection": "close"})
