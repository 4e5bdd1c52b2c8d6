"""Identity and Access Management v1: service accounts, which no caller needs to be one of."""

import base64
import re
import zlib
from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcloud.http import Json
from localcloud.rpc import RpcError, page
from localcloud.rpc.parameters import binding
from localcloud.rpc.rest import read_body
from localcloud.rpc.shapes import stored_shapes

_ACCOUNT_ID = re.compile(r"[a-z](?:[-a-z0-9]{4,28}[a-z0-9])", re.ASCII)
MOST_A_PAGE = 100


class CreateBody(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A `CreateServiceAccountRequest`."""

    account_id: str = ""
    service_account: dict[str, Any] = {}


class ServiceAccounts:
    """The accounts by their addresses; Compute Engine's own is there from the start."""

    def __init__(self, *, project: str, number: str) -> None:
        self._project = project
        self._number = number
        self._accounts: dict[str, Mapping[str, Any]] = {}
        email = f"{number}-compute@developer.gserviceaccount.com"
        self._add(email, {"displayName": "Compute Engine default service account"})

    def routes(self) -> list[BaseRoute]:
        """The REST paths at `/v1/projects/P/serviceAccounts`."""
        base = "/v1/projects/{project}/serviceAccounts"
        methods = [
            Route(base, self._create, methods=["POST"]),
            Route(base, self._list, methods=["GET"]),
            Route(f"{base}/{{account}}", self._get, methods=["GET"]),
            Route(f"{base}/{{account}}", self._delete, methods=["DELETE"]),
        ]
        return [*binding(methods)]

    def admin_routes(self) -> list[BaseRoute]:
        """There is nothing to be done to them by hand."""
        return []

    def _add(self, email: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
        unique = str(100_000_000_000_000_000_000 + zlib.crc32(email.encode()))
        texts = {key: given[key] for key in ("displayName", "description") if given.get(key)}
        self._accounts[email] = {
            "name": f"projects/{self._project}/serviceAccounts/{email}",
            "projectId": self._project,
            "uniqueId": unique,
            "email": email,
            **texts,
            "etag": base64.b64encode(b"\x01" + zlib.crc32(repr(texts).encode()).to_bytes(4, "big")).decode(),
            "oauth2ClientId": unique,
        }
        return self._accounts[email]

    def _check(self, request: Request, *others: str) -> None:
        if request.path_params["project"] not in (self._project, self._number, *others):
            raise RpcError("PERMISSION_DENIED", "The caller does not have permission")

    def _find(self, request: Request) -> Mapping[str, Any]:
        """The account of this address or unique id. `-` stands for the project that it is of."""
        self._check(request, "-")
        wanted = request.path_params["account"]
        for email, account in self._accounts.items():
            if wanted in (email, account["uniqueId"]):
                return account
        raise RpcError("NOT_FOUND", "Unknown service account")

    async def _create(self, request: Request) -> Response:
        self._check(request)
        body = await read_body(
            request, CreateBody, message="CreateServiceAccountRequest", shapes=stored_shapes(__package__)
        )
        if not _ACCOUNT_ID.fullmatch(body.account_id):
            text = (
                f"The account id {body.account_id!r} must have 6 to 30 lower case letters, digits or hyphens."
            )
            raise RpcError("INVALID_ARGUMENT", text)
        email = f"{body.account_id}@{self._project}.iam.gserviceaccount.com"
        if email in self._accounts:
            text = (
                f"Service account {body.account_id} already exists within project projects/{self._project}."
            )
            raise RpcError("ALREADY_EXISTS", text)
        return Json(self._add(email, body.service_account))

    async def _list(self, request: Request) -> Response:
        self._check(request)
        size = request.query_params.get("pageSize", "0")
        if not size.lstrip("-").isdecimal():
            raise RpcError("INVALID_ARGUMENT", f"pageSize must be a number, not {size!r}.")
        token = request.query_params.get("pageToken", "")
        names, token = page(self._accounts, size=int(size) or 20, token=token, most=MOST_A_PAGE)
        found = [self._accounts[name] for name in names]
        return Json({"accounts": found, **({"nextPageToken": token} if token else {})})

    async def _get(self, request: Request) -> Response:
        return Json(self._find(request))

    async def _delete(self, request: Request) -> Response:
        del self._accounts[self._find(request)["email"]]
        return Json({})
