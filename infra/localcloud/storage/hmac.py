"""HMAC keys of service accounts: made, listed and deleted. The XML API, which takes them, is not done."""

import base64
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from localcloud.clock import Clock, rfc3339
from localcloud.errors import ApiError
from localcloud.http import Json, RawRoute, read_json
from localcloud.storage.conditions import UNMET, flag
from localcloud.storage.listing import page_size
from localcloud.storage.project import check_project
from localcloud.storage.resource import etag, listing_json

ALL = "/storage/v1/projects/{project}/hmacKeys"
ONE = ALL + "/{accessId}"
ACTIVE, INACTIVE, DELETED = "ACTIVE", "INACTIVE", "DELETED"


@dataclass(frozen=True, kw_only=True)
class HmacKey:
    """A key; its secret is told once and not kept."""

    access_id: str
    email: str
    created: datetime
    updated: datetime
    state: str = ACTIVE
    version: int = 1


class HmacKeys:
    """The keys of one project, in memory only."""

    def __init__(self, *, project: str, clock: Clock, base_url: Callable[[], str]) -> None:
        self._project = project
        self._clock = clock
        self._base_url = base_url
        self._keys: dict[str, HmacKey] = {}

    def routes(self) -> list[RawRoute]:
        """The paths of `projects.hmacKeys`."""
        return [
            RawRoute(ALL, self._create, methods=["POST"]),
            RawRoute(ALL, self._list, methods=["GET"]),
            RawRoute(ONE, self._get, methods=["GET"]),
            RawRoute(ONE, self._update, methods=["PUT"]),
            RawRoute(ONE, self._delete, methods=["DELETE"]),
        ]

    async def _create(self, request: Request) -> Response:
        check_project(request.path_params["project"], self._project)
        email = request.query_params.get("serviceAccountEmail", "")
        if not email:
            message = "Required parameter: serviceAccountEmail"
            raise ApiError(400, "required", message, location="serviceAccountEmail")
        now = self._clock.now()
        access_id = "GOOG1E" + base64.b32encode(secrets.token_bytes(35)).decode()[:55]
        key = self._keys[access_id] = HmacKey(access_id=access_id, email=email, created=now, updated=now)
        secret = base64.b64encode(secrets.token_bytes(30)).decode()
        return Json({"kind": "storage#hmacKey", "metadata": self._metadata(key), "secret": secret})

    async def _list(self, request: Request) -> Response:
        check_project(request.path_params["project"], self._project)
        query = request.query_params
        shown = [key for key in sorted(self._keys.values(), key=_access_id) if _matches(key, query)]
        page = shown[: page_size(query)]
        token = page[-1].access_id if len(page) < len(shown) else ""
        items = [self._metadata(key) for key in page]
        return Json(listing_json("storage#hmacKeysMetadata", items, nextPageToken=token))

    async def _get(self, request: Request) -> Response:
        return Json(self._metadata(self._key(request)))

    async def _update(self, request: Request) -> Response:
        body = await read_json(request)
        key = self._key(request)
        if body.get("etag") not in (None, "", etag(key.version)):
            raise ApiError(412, "conditionNotMet", UNMET)
        if body.get("state") not in (ACTIVE, INACTIVE):
            raise ApiError(400, "invalid", f"The state of an HMAC key is {ACTIVE} or {INACTIVE}.")
        return Json(self._metadata(self._change(key, body["state"])))

    async def _delete(self, request: Request) -> Response:
        key = self._key(request)
        if key.state == ACTIVE:
            raise ApiError(400, "invalid", f"Cannot delete keys in {ACTIVE!r} state.")
        self._change(key, DELETED)
        return Response(status_code=204)

    def _change(self, key: HmacKey, state: str) -> HmacKey:
        changed = replace(key, state=state, version=key.version + 1, updated=self._clock.now())
        self._keys[key.access_id] = changed
        return changed

    def _key(self, request: Request) -> HmacKey:
        check_project(request.path_params["project"], self._project)
        access_id = request.path_params["accessId"]
        key = self._keys.get(access_id)
        if key is None or key.state == DELETED:
            raise ApiError(404, "notFound", f"Access ID {access_id} not found in project {self._project}.")
        return key

    def _metadata(self, key: HmacKey) -> dict[str, Any]:
        path = f"/storage/v1/projects/{self._project}/hmacKeys/{key.access_id}"
        return {
            "kind": "storage#hmacKeyMetadata",
            "id": f"{self._project}/{key.access_id}",
            "selfLink": self._base_url() + path,
            "accessId": key.access_id,
            "projectId": self._project,
            "serviceAccountEmail": key.email,
            "state": key.state,
            "timeCreated": rfc3339(key.created),
            "updated": rfc3339(key.updated),
            "etag": etag(key.version),
        }


def _access_id(key: HmacKey) -> str:
    return key.access_id


def _matches(key: HmacKey, query: Mapping[str, str]) -> bool:
    return (
        query.get("serviceAccountEmail", key.email) == key.email
        and key.access_id > query.get("pageToken", "")
        and (key.state != DELETED or flag(query, "showDeletedKeys"))
    )
