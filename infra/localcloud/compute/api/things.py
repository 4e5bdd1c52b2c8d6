"""The methods of the collections that users fill: disks, addresses, images, templates, and others."""

from collections.abc import Callable

from starlette.routing import BaseRoute

from localcloud.compute.api.call import Answer, Call, route
from localcloud.compute.api.collections import Shown, by_name, shown_routes
from localcloud.compute.life import Tasks
from localcloud.compute.operations import Order, Running
from localcloud.compute.shelf import Resource, Rows
from localcloud.compute.site import Site
from localcloud.compute.things import IMAGES, THINGS, Thing, drop, make


class Things:
    """The methods that make and delete them."""

    def __init__(self, site: Site, tasks: Tasks) -> None:
        self._site = site
        self._tasks = tasks

    def routes(self) -> list[BaseRoute]:
        """The routes of all collections in the table, and those that change images."""
        made: list[BaseRoute] = []
        for thing in THINGS:
            if thing is not IMAGES:
                made += shown_routes(self._site, self._shown(thing))
        return [*made, *(one for thing in THINGS for one in self._changing(thing))]

    def _shown(self, thing: Thing) -> Shown:
        rows: Callable[[], Rows] = self._site.things[thing.collection].seen
        return Shown(
            name=thing.collection,
            kind=thing.kind,
            message=thing.message,
            parameter=thing.parameter,
            home=thing.home,
            rows=rows,
            get=by_name(self._site, thing.collection, rows),
            has_aggregated=thing.has_aggregated,
        )

    def _changing(self, thing: Thing) -> list[BaseRoute]:
        place = {"zones": "zones/{zone}", "regions": "regions/{region}", "global": "global"}[thing.home]
        base = f"projects/{{project}}/{place}/{thing.collection}"

        async def insert(call: Call) -> Answer:
            given = call.read(thing.message)
            if "sourceImage" in call.query:
                given["sourceImage"] = call.query["sourceImage"]
            return call.once(
                lambda: self._begin(call, "insert", thing, make(call.site, thing, call.scope, given))
            )

        async def delete(call: Call) -> Answer:
            name = call.site.things[thing.collection].name_of(call.scope, call.part(thing.parameter))
            return call.once(
                lambda: self._begin(call, "delete", thing, drop(call.site, thing, call.scope, name))
            )

        return [
            route(self._site, "POST", base, insert),
            route(self._site, "DELETE", f"{base}/{{{thing.parameter}}}", delete),
        ]

    def _begin(self, call: Call, kind: str, thing: Thing, resource: Resource) -> Running:
        order = Order(
            kind=kind,
            scope=call.scope,
            target=f"{call.scope}/{thing.collection}/{resource['name']}",
            target_id=resource["id"],
            user=call.caller.email,
            request_id=call.query.get("requestId", ""),
        )
        running = self._site.operations.begin(order)
        self._tasks.spawn(self._settle(running))
        return running

    async def _settle(self, running: Running) -> None:
        await self._site.pace.pause(self._site.timings.accepting)
        running.start()
        await self._site.pace.pause(self._site.timings.changing)
        running.end()
