"""The paths of clients that take STORAGE_EMULATOR_HOST for the base of the JSON API, as Node's does."""

import re

from starlette.types import ASGIApp, Receive, Scope, Send

SHORT = re.compile(rb"/(b|b/.*|projects/[^/]+/(serviceAccount|hmacKeys(/.*)?))")
BASE = "/storage/v1"


class EmulatorPaths:
    """`/b/BUCKET` is `/storage/v1/b/BUCKET`. No bucket has so short a name, and no other API such a path."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on under its whole path."""
        if scope["type"] == "http" and SHORT.fullmatch(scope["raw_path"]):
            whole = {"path": BASE + scope["path"], "raw_path": BASE.encode() + scope["raw_path"]}
            scope = {**scope, **whole}
        await self._app(scope, receive, send)
