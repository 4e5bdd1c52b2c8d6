"""Cloud Resource Manager v1: the project, and its IAM policy."""

from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcloud.clock import Clock, rfc3339
from localcloud.errors import ApiError
from localcloud.http import Json
from localcloud.permissions import holds
from localcloud.projects.policy import ProjectPolicy
from localcloud.rpc import RpcError, page
from localcloud.rpc.parameters import binding
from localcloud.rpc.rest import Body, read_body
from localcloud.rpc.shapes import stored_shapes

ALIVE = "lifecycleState:ACTIVE"
"""The filter that gcloud sends, which leaves nothing out here."""


class GetBody(msgspec.Struct, frozen=True, kw_only=True):
    """A `GetIamPolicyRequest`; a policy is given back as it was written, whatever version is asked for."""

    options: dict[str, Any] = {}


class SetBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A `SetIamPolicyRequest`."""

    policy: dict[str, Any] = {}
    update_mask: str = ""


class TestBody(msgspec.Struct, frozen=True, kw_only=True):
    """A `TestIamPermissionsRequest`."""

    permissions: list[str] = []


class ProjectService:
    """The one project, which its `owner` owns; `number` is its number."""

    def __init__(self, *, project: str, number: str, owner: str, clock: Clock) -> None:
        self._id = project
        self._number = number
        self._created = rfc3339(clock.now())
        self._policy = ProjectPolicy([{"role": "roles/owner", "members": [f"user:{owner}"]}])

    def routes(self) -> list[BaseRoute]:
        """The REST paths at `/v1/projects`."""
        item = "/v1/projects/{project}"
        methods = [
            Route("/v1/projects", self._list, methods=["GET"]),
            Route(item, self._get, methods=["GET"]),
            Route(f"{item}:getIamPolicy", self._get_policy, methods=["POST"]),
            Route(f"{item}:setIamPolicy", self._set_policy, methods=["POST"]),
            Route(f"{item}:testIamPermissions", self._test, methods=["POST"]),
        ]
        return [*binding(methods)]

    def admin_routes(self) -> list[BaseRoute]:
        """There is nothing to be done to it by hand."""
        return []

    def _check(self, request: Request) -> None:
        """Google does not say of a project whether it is not there or not yours."""
        if request.path_params["project"] not in (self._id, self._number):
            raise RpcError("PERMISSION_DENIED", "The caller does not have permission")

    def _resource(self) -> Mapping[str, Any]:
        return {
            "projectNumber": self._number,
            "projectId": self._id,
            "lifecycleState": "ACTIVE",
            "name": self._id,
            "createTime": self._created,
        }

    async def _list(self, request: Request) -> Response:
        if request.query_params.get("filter", "") not in {"", ALIVE}:
            raise ApiError(501, "notImplemented", "The local cloud does not do the parameter filter.")
        size = request.query_params.get("pageSize", "0")
        if not size.lstrip("-").isdecimal():
            raise RpcError("INVALID_ARGUMENT", f"pageSize must be a number, not {size!r}.")
        names, token = page([self._id], size=int(size), token=request.query_params.get("pageToken", ""))
        found = [self._resource() for _ in names]
        return Json({"projects": found, **({"nextPageToken": token} if token else {})})

    async def _get(self, request: Request) -> Response:
        self._check(request)
        return Json(self._resource())

    async def _get_policy(self, request: Request) -> Response:
        self._check(request)
        await _body(request, GetBody, "GetIamPolicyRequest")
        return Json(self._policy.present)

    async def _set_policy(self, request: Request) -> Response:
        self._check(request)
        body = await _body(request, SetBody, "SetIamPolicyRequest")
        return Json(self._policy.replace(body.policy, body.update_mask))

    async def _test(self, request: Request) -> Response:
        """The permissions that the caller holds of those it asks for; the owner holds all."""
        self._check(request)
        body = await _body(request, TestBody, "TestIamPermissionsRequest")
        held = [name for name in body.permissions if holds(name)]
        return Json({"permissions": held} if held else {})


async def _body(request: Request, kind: type[Body], message: str) -> Body:
    return await read_body(request, kind, message=message, shapes=stored_shapes(__package__))
