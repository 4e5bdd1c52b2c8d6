"""Which virtual machines run Google's Ops Agent: all of them, unless somebody says otherwise."""

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcloud.errors import ApiError
from localcloud.http import Json


class Setting(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of `/local/agent`: whether VMs of this name, there already or yet to come, have one."""

    node: str
    runs: bool = True


class Agents:
    """Knows them by name. Without an agent nothing is heard of a VM's GPUs and log, as on a plain image."""

    def __init__(self) -> None:
        self._without: set[str] = set()

    def runs(self, name: str) -> bool:
        """Whether the VM of this name has one."""
        return name not in self._without

    def admin_routes(self) -> list[BaseRoute]:
        """`/local/agent`: POST sets it for a name, GET says who has none."""
        return [
            Route("/local/agent", self._set, methods=["POST"]),
            Route("/local/agent", self._show, methods=["GET"]),
        ]

    async def _set(self, request: Request) -> Response:
        try:
            said = msgspec.json.decode(await request.body(), type=Setting)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ApiError(400, "invalid", f"This says nothing about an agent: {error}") from error
        if said.runs:
            self._without.discard(said.node)
        else:
            self._without.add(said.node)
        return await self._show(request)

    async def _show(self, _request: Request) -> Response:
        return Json({"without": sorted(self._without)})
