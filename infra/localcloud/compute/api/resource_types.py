"""The methods of the collections that users fill: disks, addresses, images, templates, and others."""

from collections.abc import Callable

from starlette.routing import BaseRoute

from localcloud.compute.api.call import Answer, Call, route
from localcloud.compute.api.collections import Shown, by_name, shown_routes
from localcloud.compute.api.immediate import begin
from localcloud.compute.life import Tasks
from localcloud.compute.operations import Running
from localcloud.compute.resource_types import IMAGES, RESOURCE_TYPES, ResourceType, drop, make
from localcloud.compute.shelf import Resource, Rows
from localcloud.compute.site import Site


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
            return call.once(
                lambda: self._begin(
                    call, "delete", resource_type, drop(call.site, resource_type, call.scope, name)
                )
            )

        return [
            route(self._site, "POST", base, insert),
            route(self._site, "DELETE", f"{base}/{{{resource_type.parameter}}}", delete),
        ]

    def _begin(self, call: Call, kind: str, resource_type: ResourceType, resource: Resource) -> Running:
        path = f"{call.scope}/{resource_type.collection}/{resource['name']}"
        return begin(call, self._tasks, kind, path, resource)
