"""`objects.get`, `list`, `patch`, `update` and `delete`."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from localcloud.http import Json, RawRoute, read_json
from localcloud.storage.acl.rules import object_list
from localcloud.storage.conditions import Conditions, NotModified, flag, number
from localcloud.storage.downloads import media
from localcloud.storage.etags import check_etag, tag_of
from localcloud.storage.fields import FIXED_IN_OBJECT, check_custom_time, merge, read_object
from localcloud.storage.index import load_blob
from localcloud.storage.links import StorageLinks, wants_full
from localcloud.storage.listing import ObjectQuery
from localcloud.storage.model import Blob, Fields
from localcloud.storage.resource import listing_json
from localcloud.storage.store import Store

LIST = "/storage/v1/b/{bucket}/o"
ONE = "/storage/v1/b/{bucket}/o/{object}"


class Objects:
    """What can be asked of objects and done to their metadata."""

    def __init__(self, *, store: Store, links: StorageLinks) -> None:
        self._store = store
        self._links = links

    def routes(self) -> list[RawRoute]:
        """The object paths, and the download path that `mediaLink` names."""
        return [
            RawRoute(LIST, self._list, methods=["GET"]),
            RawRoute(ONE, self._get, methods=["GET"]),
            RawRoute(ONE, self._patch, methods=["PATCH"]),
            RawRoute(ONE, self._update, methods=["PUT"]),
            RawRoute(ONE, self._delete, methods=["DELETE"]),
            RawRoute("/download" + ONE, self._get, methods=["GET"]),
        ]

    async def _list(self, request: Request) -> Response:
        query = request.query_params
        bucket = request.path_params["bucket"]
        if flag(query, "softDeleted"):  # nothing is kept after its deletion here
            self._store.buckets.get(bucket)
            return Json(listing_json("storage#objects", []))
        page = self._store.listing(bucket, ObjectQuery.read(query))
        items = self._links.blobs(bucket, map(load_blob, page.rows), full=wants_full(query))
        listed = listing_json("storage#objects", items, prefixes=page.prefixes, nextPageToken=page.token)
        return Json(listed)

    async def _get(self, request: Request) -> Response:
        blob = self._find(request)
        try:
            Conditions.read(request.query_params).check_read(blob)
            check_etag(request.headers, tag_of(request.scope, blob), reading=True)
        except NotModified:
            return Response(status_code=304)
        if request.query_params.get("alt") == "media":
            return media(request, blob, self._store.vault)
        return Json(self._links.blob(blob, full=wants_full(request.query_params)))

    async def _patch(self, request: Request) -> Response:
        body = await read_json(request)
        blob, fields = self._change(request, body)
        return self._changed(request, body, blob, merge(blob.fields, fields))

    async def _update(self, request: Request) -> Response:
        body = await read_json(request)
        blob, fields = self._change(request, body)
        return self._changed(request, body, blob, merge({}, fields))

    def _changed(self, request: Request, body: dict[str, Any], blob: Blob, fields: Fields) -> Response:
        acl = object_list(request.query_params, body, self._store.number)
        changed = self._store.change(blob, check_custom_time(blob.fields, fields), acl=acl)
        return Json(self._links.blob(changed, full=wants_full(request.query_params, default=True)))

    def _change(self, request: Request, body: dict[str, Any]) -> tuple[Blob, dict[str, Any]]:
        """The object as it is, and what is to be set; nothing is awaited after it was read."""
        fields = read_object(body)
        blob = self._find(request)
        Conditions.read(request.query_params).check(blob)
        check_etag(request.headers, tag_of(request.scope, blob), reading=False)
        return blob, {key: value for key, value in fields.items() if key not in FIXED_IN_OBJECT}

    async def _delete(self, request: Request) -> Response:
        query, path = request.query_params, request.path_params
        generation = number(query, "generation")
        check_etag(request.headers, tag_of(request.scope, self._find(request)), reading=False)
        self._store.delete(path["bucket"], path["object"], Conditions.read(query), generation)
        return Response(status_code=204)

    def _find(self, request: Request) -> Blob:
        path = request.path_params
        return self._store.get(path["bucket"], path["object"], number(request.query_params, "generation"))
