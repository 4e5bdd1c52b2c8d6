"""The methods of `zoneOperations`, `regionOperations` and `globalOperations`."""

from starlette.routing import BaseRoute

from localcloud.compute.api.call import Answer, Call, route
from localcloud.compute.api.collections import Shown, list_in_scope, list_over_all
from localcloud.compute.site import Site


def operation_routes(site: Site) -> list[BaseRoute]:
    """Their routes, the aggregated list included."""
    operations = site.operations

    async def get(call: Call) -> Answer:
        return operations.get(call.scope, call.part("operation"))

    async def wait(call: Call) -> Answer:
        return await operations.wait(call.scope, call.part("operation"))

    async def delete(call: Call) -> Answer:
        operations.forget(call.scope, call.part("operation"))
        return {}

    async def listed(call: Call) -> Answer:
        return list_in_scope(call, shown)

    async def over_all(call: Call) -> Answer:
        return list_over_all(call, shown)

    shown = Shown(
        name="operations",
        kind="compute#operation",
        message="Operation",
        parameter="operation",
        home="zones",
        rows=operations.shelf.seen,
        get=lambda call, name: operations.get(call.scope, name),
        all_homes=True,
    )
    routes: list[BaseRoute] = [route(site, "GET", "projects/{project}/aggregated/operations", over_all)]
    for place in ("zones/{zone}", "regions/{region}", "global"):
        base = f"projects/{{project}}/{place}/operations"
        item = f"{base}/{{operation}}"
        routes += [
            route(site, "GET", base, listed),
            route(site, "GET", item, get),
            route(site, "DELETE", item, delete),
            route(site, "POST", f"{item}/wait", wait),
        ]
    return routes
