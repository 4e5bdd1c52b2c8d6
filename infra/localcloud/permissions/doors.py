"""Doors: ports in front of the same services, each for one account, so that its calls need no token."""

import re
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import grpc
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from localcloud.access.services import SERVICES
from localcloud.deployment import Function, Manifest, Where
from localcloud.endpoints import Endpoints
from localcloud.faults import Faults
from localcloud.grpc_server import GrpcServer
from localcloud.limits import CallLimits
from localcloud.listener import Listener
from localcloud.permissions.account import Account
from localcloud.permissions.caller import call_as

_PART = re.compile(r"\{[a-z]+\}")
"""One folder's or object's name in a pattern of `bucket_writes`, such as `{job}`."""


class Doors:
    """Opens a door for each function of a deployment, and tells what came through."""

    def __init__(
        self,
        *,
        handlers: Sequence[grpc.GenericRpcHandler],
        faults: Faults,
        limits: CallLimits | None = None,
    ) -> None:
        self._limits = limits
        self._handlers = handlers
        self._faults = faults
        self._undo = AsyncExitStack()
        self.accounts: dict[str, Account] = {}

    async def open(
        self, app: ASGIApp, manifest: Manifest, where: Where, *, home: Path
    ) -> Mapping[str, Mapping[str, str]]:
        """Open them, and give each function's own environment: the services, as seen from its door."""
        environments = {}
        for function in manifest.functions:
            account = account_of(function, where)
            grpc_target = await self._open(app, account)
            seen = Endpoints(http=account.entrance, grpc=grpc_target, project=where.project, home=home)
            environments[function.name] = seen.environment()
            self.accounts[function.name] = account
        return environments

    async def _open(self, app: ASGIApp, account: Account) -> str:
        http = await self._undo.enter_async_context(Listener(_Entering(app, account), rules=SERVICES))
        account.entrance = http.url
        server = GrpcServer(self._handlers, faults=self._faults, account=account, limits=self._limits)
        await self._undo.enter_async_context(server)
        return server.target

    async def close(self) -> None:
        """Close all."""
        await self._undo.aclose()

    def admin_routes(self) -> list[BaseRoute]:
        """`/local/permissions`: what each function was allowed, was refused, and has not used so far."""
        return [Route("/local/permissions", self._show, methods=["GET"])]

    async def _show(self, _request: Request) -> Response:
        shown = [
            {
                "function": account.name,
                "account": account.email,
                "used": sorted(account.used),
                "refused": dict(sorted(account.refused.items())),
                "unused": account.unused,
                "written": sorted(account.written),
                "unwritten": sorted(account.writes.keys() - account.written),
            }
            for account in self.accounts.values()
        ]
        return JSONResponse({"permissions": shown})


def account_of(function: Function, where: Where) -> Account:
    """The service account of a function, with the roles of its row."""
    return Account(
        name=function.name,
        email=f"spotwarden-{function.deployed_name}@{where.project}.iam.gserviceaccount.com",
        permissions=frozenset(function.permissions),
        bucket=where.bucket,
        bucket_permissions=frozenset(function.bucket_permissions),
        writes={pattern: _written(pattern, where.prefix) for pattern in function.bucket_writes},
    )


def _written(pattern: str, prefix: str) -> re.Pattern[str]:
    """Which objects a pattern of `bucket_writes` means, below the bucket-wide prefix."""
    folder = "[^/]+".join(map(re.escape, _PART.split(pattern)))
    return re.compile(re.escape(prefix) + folder + (".*" if pattern.endswith("/") else ""), re.DOTALL)


class _Entering:
    """Lets every call in as one of this account's."""

    def __init__(self, app: ASGIApp, account: Account) -> None:
        self._app = app
        self._account = account

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer it."""
        call_as(self._account)
        await self._app(scope, receive, send)
