"""`bucketAccessControls`, `defaultObjectAccessControls` and `objectAccessControls`: list, get and change."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from localcloud.errors import ApiError
from localcloud.http import Json, RawRoute, read_json
from localcloud.storage.acl.lists import BUCKET_ROLES, OBJECT_ROLES, OWNER, Acl, check_public, read_entry
from localcloud.storage.acl.rules import check_lists
from localcloud.storage.acl.shown import (
    bucket_acl,
    bucket_entry,
    default_acl,
    default_entry,
    entity_of,
    object_acl,
    object_entry,
)
from localcloud.storage.conditions import Conditions, number
from localcloud.storage.links import StorageLinks
from localcloud.storage.model import Blob, Bucket
from localcloud.storage.store import Store

BUCKET = "/storage/v1/b/{bucket}"


class AccessList(ABC):
    """The methods of one kind of list."""

    path: str
    kind: str
    roles: tuple[str, ...] = OBJECT_ROLES
    what = "a bucket"

    def __init__(self, *, store: Store, links: StorageLinks) -> None:
        self._store = store
        self._links = links

    def routes(self) -> list[RawRoute]:
        """The six of them."""
        entry = self.path + "/{entity}"
        return [
            RawRoute(self.path, self._list, methods=["GET"]),
            RawRoute(self.path, self._insert, methods=["POST"]),
            RawRoute(entry, self._get, methods=["GET"]),
            RawRoute(entry, self._change, methods=["PATCH"]),
            RawRoute(entry, self._change, methods=["PUT"]),
            RawRoute(entry, self._delete, methods=["DELETE"]),
        ]

    @abstractmethod
    def find(self, request: Request) -> Acl:
        """The list that a request is about; raise `ApiError` 404 or 412."""

    @abstractmethod
    def write(self, request: Request, acl: Acl) -> None:
        """Put another list in its place."""

    @abstractmethod
    def show(self, request: Request, entity: str, role: str) -> dict[str, Any]:
        """An entry as a resource."""

    async def _list(self, request: Request) -> Response:
        acl = self._found(request, "get")
        items = [self.show(request, entity, role) for entity, role in acl.items()]
        return Json({"kind": self.kind, "items": items})

    async def _get(self, request: Request) -> Response:
        entity = request.path_params["entity"]
        return Json(self.show(request, entity, self._role(self._found(request, "get"), entity)))

    async def _insert(self, request: Request) -> Response:
        entity, role = read_entry(await read_json(request), self.roles)
        return self._put(request, entity, role)

    async def _change(self, request: Request) -> Response:
        entity = request.path_params["entity"]
        body = await read_json(request)
        old = self._role(self._found(request, "update"), entity)
        _, role = read_entry({"entity": entity, "role": body.get("role", old)}, self.roles)
        return self._put(request, entity, role)

    def _put(self, request: Request, entity: str, role: str) -> Response:
        acl = {**self._found(request, "update"), entity: role}
        check_public(acl, self._bucket(request).fields)
        self.write(request, acl)
        return Json(self.show(request, entity, role))

    async def _delete(self, request: Request) -> Response:
        entity = request.path_params["entity"]
        acl = self._found(request, "update")
        self._role(acl, entity)
        self.write(request, {name: role for name, role in acl.items() if name != entity})
        return Response(status_code=204)

    def _found(self, request: Request, verb: str) -> Acl:
        check_lists(self._bucket(request), verb, self.what)
        return self.find(request)

    def _bucket(self, request: Request) -> Bucket:
        return self._store.buckets.get(request.path_params["bucket"])

    def _role(self, acl: Acl, entity: str) -> str:
        if entity not in acl:
            raise ApiError(404, "notFound", f"The specified ACL entry does not exist: {entity}")
        return acl[entity]


class BucketAccessList(AccessList):
    """Who may do what with a bucket."""

    path = BUCKET + "/acl"
    kind = "storage#bucketAccessControls"
    roles = BUCKET_ROLES

    def find(self, request: Request) -> Acl:
        """As it is."""
        return bucket_acl(self._bucket(request), self._links.project_number)

    def write(self, request: Request, acl: Acl) -> None:
        """As the next metageneration of the bucket."""
        self._store.buckets.change(self._bucket(request), acl=acl)

    def show(self, request: Request, entity: str, role: str) -> dict[str, Any]:
        """`BucketAccessControl`."""
        return bucket_entry(self._bucket(request), self._links.base_url(), entity, role)


class DefaultAccessList(AccessList):
    """Who may do what with the objects that are made in a bucket from now on."""

    path = BUCKET + "/defaultObjectAcl"
    kind = "storage#objectAccessControls"

    def find(self, request: Request) -> Acl:
        """As it is, if the bucket is as the conditions want it."""
        bucket = self._bucket(request)
        Conditions.read(request.query_params).check_bucket(bucket)
        return default_acl(bucket, self._links.project_number)

    def write(self, request: Request, acl: Acl) -> None:
        """As the next metageneration of the bucket."""
        self._store.buckets.change(self._bucket(request), default_acl=acl)

    def show(self, request: Request, entity: str, role: str) -> dict[str, Any]:
        """`ObjectAccessControl`."""
        return default_entry(self._bucket(request), entity, role)


class ObjectAccessList(AccessList):
    """Who may do what with an object, or with one generation of it."""

    path = BUCKET + "/o/{object}/acl"
    kind = "storage#objectAccessControls"
    what = "an object"

    def find(self, request: Request) -> Acl:
        """As it is."""
        return object_acl(self._blob(request), self._links.project_number, self._links.owner)

    def write(self, request: Request, acl: Acl) -> None:
        """As the next metageneration of the object, whose owner stays in it."""
        blob = self._blob(request)
        if acl.get(entity_of(blob, self._links.owner)) != OWNER:
            raise ApiError(400, "invalid", "The owner of an object stays its OWNER.")
        self._store.change(blob, blob.fields, acl=acl)

    def show(self, request: Request, entity: str, role: str) -> dict[str, Any]:
        """`ObjectAccessControl`."""
        return object_entry(self._blob(request), self._links.base_url(), entity, role)

    def _blob(self, request: Request) -> Blob:
        path = request.path_params
        return self._store.get(path["bucket"], path["object"], number(request.query_params, "generation"))


def access_routes(*, store: Store, links: StorageLinks) -> Iterable[RawRoute]:
    """The paths of all three kinds."""
    for kind in (BucketAccessList, DefaultAccessList, ObjectAccessList):
        yield from kind(store=store, links=links).routes()
