"""New objects out of old ones: `rewrite`, `copy`, `move`, `compose`."""

import os
from contextlib import ExitStack
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from localcloud.errors import ApiError
from localcloud.http import Json, RawRoute, read_json
from localcloud.permissions import Need, demand
from localcloud.storage.acl.rules import object_list
from localcloud.storage.conditions import UNMET, Conditions, number
from localcloud.storage.contexts import drops, inherited, without_contexts
from localcloud.storage.fields import new_object, read_object
from localcloud.storage.links import StorageLinks, wants_full
from localcloud.storage.model import Blob, Draft
from localcloud.storage.names import check_object
from localcloud.storage.retention import without_holds
from localcloud.storage.store import Store

FROM = "/storage/v1/b/{sourceBucket}/o/{sourceObject}"
TO = "/b/{destinationBucket}/o/{destinationObject}"
MOST_SOURCES = 32


class Copies:
    """A copy shares its bytes with the original at once, as a second name of the same file."""

    def __init__(self, *, store: Store, links: StorageLinks) -> None:
        self._store = store
        self._links = links

    def routes(self) -> list[RawRoute]:
        """The paths of the four."""
        move = "/storage/v1/b/{bucket}/o/{sourceObject}/moveTo/o/{destinationObject}"
        return [
            RawRoute(FROM + "/rewriteTo" + TO, self._rewrite, methods=["POST"]),
            RawRoute(FROM + "/copyTo" + TO, self._copy_to, methods=["POST"]),
            RawRoute(move, self._move, methods=["POST"]),
            RawRoute("/storage/v1" + TO + "/compose", self._compose, methods=["POST"]),
        ]

    async def _rewrite(self, request: Request) -> Response:
        blob, resource = await self._copy(request)
        size = str(blob.content.size)
        answer = {"kind": "storage#rewriteResponse", "totalBytesRewritten": size, "objectSize": size}
        return Json({**answer, "done": True, "resource": resource})

    async def _copy_to(self, request: Request) -> Response:
        _, resource = await self._copy(request)
        return Json(resource)

    async def _copy(self, request: Request) -> tuple[Blob, dict[str, Any]]:
        """The copy, and how it is shown."""
        body = await read_json(request)
        path = request.path_params
        source = self._source(request, path["sourceBucket"])
        blob = self._write_copy(
            request, source, bucket=path["destinationBucket"], name=path["destinationObject"], body=body
        )
        return blob, self._links.blob(blob, full=wants_full(request.query_params, body))

    async def _move(self, request: Request) -> Response:
        path = request.path_params
        source = self._source(request, path["bucket"])
        self._store.check_movable(source)
        blob = self._write_copy(
            request, source, bucket=source.bucket, name=path["destinationObject"], body={}
        )
        # Two steps: after a crash in between both objects are there, but never neither.
        if blob.name != source.name:
            self._store.delete(source.bucket, source.name, Conditions(generation_is=source.generation))
        return Json(self._links.blob(blob))

    def _source(self, request: Request, bucket: str) -> Blob:
        query = request.query_params
        generation = number(query, "sourceGeneration")
        source = self._store.get(bucket, request.path_params["sourceObject"], generation)
        Conditions.read(query, "ifSource").check(source)
        return source

    def _write_copy(
        self, request: Request, source: Blob, *, bucket: str, name: str, body: dict[str, Any]
    ) -> Blob:
        """Write a copy; metadata in the body takes the place of the source's."""
        conditions = Conditions.read(request.query_params)
        asked = dict(new_object(read_object(body)))
        contexts = {"contexts": asked.pop("contexts")} if "contexts" in asked else {}
        given = {**(asked or without_holds(without_contexts(source.fields))), **contexts}
        fields = inherited(given, [source.fields], dropped=_drops(request))
        check_object(name)
        self._store.check(bucket, name, conditions)
        content = self._store.vault.copy(source.content)
        draft = Draft(
            bucket=bucket,
            name=name,
            content=content,
            fields=fields,
            components=source.components,
            acl=object_list(request.query_params, body, self._store.number, "destination"),
        )
        return self._store.write(draft, conditions)

    async def _compose(self, request: Request) -> Response:
        body = await read_json(request)
        path = request.path_params
        bucket, name = path["destinationBucket"], check_object(path["destinationObject"])
        conditions = Conditions.read(request.query_params)
        destination = body.get("destination") or {}
        # gcloud sends the checksums of the first source along here, so they are no claim about the result.
        asked = new_object(read_object(destination))
        sources = self._sources(bucket, body)
        fields = inherited(asked, [source.fields for source in sources], dropped=_drops(request))
        by_generation = {item["name"] for item in body["sourceObjects"] if item.get("generation")}
        if body.get("deleteSourceObjects"):
            self._check_deletable(sources, by_generation)
        self._store.check(bucket, name, conditions)
        with ExitStack() as closing:
            descriptors = [self._store.vault.open(source.content) for source in sources]
            for descriptor in descriptors:
                closing.callback(os.close, descriptor)
            content = await self._store.vault.join(descriptors)
        components = sum(source.components or 1 for source in sources)
        acl = object_list(request.query_params, destination, self._store.number, "destination")
        draft = Draft(
            bucket=bucket, name=name, content=content, fields=fields, components=components, acl=acl
        )
        whole = self._store.write(draft, conditions)
        if body.get("deleteSourceObjects"):
            self._delete_sources(sources, by_generation, whole)
        return Json(self._links.blob(whole))

    def _check_deletable(self, sources: list[Blob], by_generation: set[str]) -> None:
        for source in sources:
            on = source.name
            demand(Need(permission="storage.objects.delete", on=on, bucket=source.bucket, thing=on))
            self._store.check_movable(source, for_good=on in by_generation)

    def _delete_sources(self, sources: list[Blob], by_generation: set[str], whole: Blob) -> None:
        """Each once, for good where its generation was named; what the result replaced is gone already."""
        for name, generation in {(source.name, source.generation) for source in sources}:
            named = generation if name in by_generation else None
            if name != whole.name:
                self._store.delete(whole.bucket, name, Conditions(generation_is=generation), named)

    def _sources(self, bucket: str, body: dict[str, Any]) -> list[Blob]:
        items = body.get("sourceObjects")
        if not isinstance(items, list) or not 1 <= len(items) <= MOST_SOURCES:
            message = f"The number of source components must be between 1 and {MOST_SOURCES}."
            raise ApiError(400, "invalid", message)
        return [self._component(bucket, item) for item in items]

    def _component(self, bucket: str, item: Any) -> Blob:
        if not isinstance(item, dict):
            raise ApiError(400, "invalid", "Each of sourceObjects must be an object with a name.")
        texts = {key: str(item[key]) for key in ("generation",) if item.get(key) is not None}
        blob = self._store.get(bucket, check_object(item.get("name")), number(texts, "generation"))
        wanted = (item.get("objectPreconditions") or {}).get("ifGenerationMatch")
        if wanted is not None and str(wanted) != str(blob.generation):
            raise ApiError(412, "conditionNotMet", UNMET)
        return blob


def _drops(request: Request) -> bool:
    return drops(request.query_params.getlist("dropContextGroups"))
