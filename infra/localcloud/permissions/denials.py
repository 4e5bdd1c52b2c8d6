"""Permissions that are taken from everybody who comes by the main entrance: you, commands and VMs."""

from difflib import get_close_matches

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from localcloud.errors import ApiError
from localcloud.permissions.caller import call_without
from localcloud.permissions.creation import ASKED
from localcloud.permissions.tables import METHODS, ROUTES

_KNOWN = {
    *ASKED,
    *(permission for row in ROUTES.values() for permission, _bucket in row),
    *(asked.permission for row in METHODS.values() for asked in row if "*" not in asked.permission),
}
"""Every permission that a call can need."""


class Denial(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A permission to take away, or several, of which none is taken where one is unknown."""

    permission: str = ""
    permissions: tuple[str, ...] = ()


class Denials:
    """The permissions that are missing now. Functions keep what their rows grant."""

    def __init__(self) -> None:
        self.missing: frozenset[str] = frozenset()

    def take(self, *permissions: str) -> None:
        """Refuse each call that needs one of them from now on.

        Raises:
            ApiError: 400 for a permission that no call needs; then none is taken.
        """
        for permission in permissions:
            if permission not in _KNOWN:
                near = get_close_matches(permission, _KNOWN, n=1)
                meant = f" Did you mean {near[0]}?" if near else ""
                others = " Nothing was denied." if len(permissions) > 1 else ""
                words = f"no call needs the permission {permission!r}.{meant}{others}"
                raise ApiError(400, "invalid", words)
        self.missing |= {*permissions}

    def clear(self) -> None:
        """Give everything back."""
        self.missing = frozenset()

    def apply(self) -> None:
        """Take them from the call that is being answered."""
        call_without(self.missing)

    def admin_routes(self) -> list[BaseRoute]:
        """`/local/denials`: POST a permission, GET all, DELETE all."""
        return [
            Route("/local/denials", self._post, methods=["POST"]),
            Route("/local/denials", self._get, methods=["GET"]),
            Route("/local/denials", self._delete, methods=["DELETE"]),
        ]

    async def _post(self, request: Request) -> Response:
        try:
            denial = msgspec.json.decode(await request.body(), type=Denial)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ApiError(400, "invalid", f"this is not a valid denial: {error}") from error
        self.take(*(denial.permissions or (denial.permission,)))
        return await self._get(request)

    async def _get(self, _request: Request) -> Response:
        return JSONResponse({"denied": sorted(self.missing)})

    async def _delete(self, request: Request) -> Response:
        self.clear()
        return await self._get(request)


class DenialsMiddleware:
    """Applies them to HTTP calls."""

    def __init__(self, app: ASGIApp, *, denials: Denials) -> None:
        self._app = app
        self._denials = denials

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on."""
        self._denials.apply()
        await self._app(scope, receive, send)
