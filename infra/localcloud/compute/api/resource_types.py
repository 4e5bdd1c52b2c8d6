"""The methods of the collections that users fill: disks, addresses, images, templates, and others."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.routing import BaseRoute

from localcloud.compute.api.call import Answer, Call, route
from localcloud.compute.api.collections import Shown, by_name, shown_routes
from localcloud.compute.api.immediate import begin
from localcloud.compute.build.checks import check_labels
from localcloud.compute.ids import fingerprint
from localcloud.compute.life import Tasks
from localcloud.compute.operations import Running
from localcloud.compute.refusals import Failure, not_found, stale
from localcloud.compute.resource_types import IMAGES, RESOURCE_TYPES, ResourceType, drop, late_refusal, make
from localcloud.compute.shelf import Resource, Rows
from localcloud.compute.site import Site

_LABELLED = ("addresses", "disks", "images", "snapshots")
_LABELS_REQUESTS = {
    "zones": "ZoneSetLabelsRequest",
    "regions": "RegionSetLabelsRequest",
    "global": "GlobalSetLabelsRequest",
}


class Things:
    """The methods that make and delete them."""

    def __init__(self, site: Site, tasks: Tasks) -> None:
        self._site = site
        self._tasks = tasks

    def routes(self) -> list[BaseRoute]:
        """The routes of all collections in the table, and those that change images."""
        made: list[BaseRoute] = []
        for resource_type in RESOURCE_TYPES:
            if resource_type is not IMAGES:
                made += shown_routes(self._site, self._shown(resource_type))
        return [
            *made,
            *(base_route for resource_type in RESOURCE_TYPES for base_route in self._changing(resource_type)),
        ]

    def _shown(self, resource_type: ResourceType) -> Shown:
        rows: Callable[[], Rows] = self._site.things[resource_type.collection].seen
        return Shown(
            name=resource_type.collection,
            kind=resource_type.kind,
            message=resource_type.message,
            parameter=resource_type.parameter,
            home=resource_type.home,
            rows=rows,
            get=by_name(self._site, resource_type.collection, rows),
            has_aggregated=resource_type.has_aggregated,
        )

    def _changing(self, resource_type: ResourceType) -> list[BaseRoute]:
        place = {"zones": "zones/{zone}", "regions": "regions/{region}", "global": "global"}[
            resource_type.home
        ]
        base = f"projects/{{project}}/{place}/{resource_type.collection}"

        async def insert(call: Call) -> Answer:
            given = call.read(resource_type.message)
            if "sourceImage" in call.query:
                given["sourceImage"] = call.query["sourceImage"]
            return call.once(
                lambda: self._begin(
                    call, "insert", resource_type, make(call.site, resource_type, call.scope, given)
                )
            )

        async def delete(call: Call) -> Answer:
            name = call.site.things[resource_type.collection].name_of(
                call.scope, call.part(resource_type.parameter)
            )
            return call.once(lambda: self._delete(call, resource_type, name))

        async def set_labels(call: Call) -> Answer:
            body = call.read(_LABELS_REQUESTS[resource_type.home])
            return call.once(
                lambda: self._begin(call, "setLabels", resource_type, _labelled(call, resource_type, body))
            )

        routes: list[BaseRoute] = [
            route(self._site, "POST", base, insert),
            route(self._site, "DELETE", f"{base}/{{{resource_type.parameter}}}", delete),
        ]
        if resource_type.collection in _LABELLED:
            routes.append(route(self._site, "POST", f"{base}/{{resource}}/setLabels", set_labels))
        return routes

    def _delete(self, call: Call, resource_type: ResourceType, name: str) -> Running:
        site, scope = call.site, call.scope
        found = site.things[resource_type.collection].get(scope, name)
        if found and (failure := late_refusal(site, resource_type, found)):
            return self._begin(call, "delete", resource_type, found, failure)
        return self._begin(call, "delete", resource_type, drop(site, resource_type, scope, name))

    def _begin(
        self,
        call: Call,
        kind: str,
        resource_type: ResourceType,
        resource: Resource,
        failure: Failure | None = None,
    ) -> Running:
        path = f"{call.scope}/{resource_type.collection}/{resource['name']}"
        return begin(call, self._tasks, kind, path, resource, failure=failure)


def _labelled(call: Call, resource_type: ResourceType, body: Mapping[str, Any]) -> Resource:
    """The resource with these labels in place of its own.

    Raises:
        ApiError: 404 when there is none, 412 when its labels have changed meanwhile.
    """
    shelf, wanted = call.site.things[resource_type.collection], call.part("resource")
    found = shelf.get(call.scope, shelf.name_of(call.scope, wanted))
    if found is None:
        path = f"{call.scope}/{resource_type.collection}/{wanted}"
        raise not_found(f"projects/{call.site.project}/{path}")
    if body.get("labelFingerprint") != found["labelFingerprint"]:
        raise stale("Labels fingerprint either invalid or resource labels have changed")
    labels = body.get("labels", {})
    check_labels(labels)
    rest = {key: value for key, value in found.items() if key != "labels"}
    after = {**rest, **({"labels": labels} if labels else {}), "labelFingerprint": fingerprint(labels)}
    shelf.put(call.scope, found["name"], after)
    return after
