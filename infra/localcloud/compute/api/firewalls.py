"""The methods that change a firewall rule: `firewalls.patch` and `firewalls.update`."""

from starlette.routing import BaseRoute

from localcloud.compute.api.call import Answer, Call, route
from localcloud.compute.api.immediate import begin
from localcloud.compute.build import firewalls
from localcloud.compute.life import Tasks
from localcloud.compute.operations import Running
from localcloud.compute.refusals import not_found
from localcloud.compute.shelf import Resource
from localcloud.compute.site import Site


def firewall_routes(site: Site, tasks: Tasks) -> list[BaseRoute]:
    """The routes of both; a rule is made, shown and deleted as other resources are."""

    async def patch(call: Call) -> Answer:
        cleared = [name for name, value in call.body.items() if value is None]
        given = call.read("Firewall")
        return _change(call, tasks, "patch", firewalls.patched(site, _found(call), given, cleared))

    async def update(call: Call) -> Answer:
        given = call.read("Firewall")
        return _change(call, tasks, "update", firewalls.replaced(site, _found(call), given))

    item = "projects/{project}/global/firewalls/{firewall}"
    return [route(site, "PATCH", item, patch), route(site, "PUT", item, update)]


def _found(call: Call) -> Resource:
    shelf, wanted = call.site.things["firewalls"], call.part("firewall")
    found = shelf.get("global", shelf.name_of("global", wanted))
    if found is None:
        raise not_found(f"projects/{call.site.project}/global/firewalls/{wanted}")
    return found


def _change(call: Call, tasks: Tasks, kind: str, after: Resource) -> Answer:
    def work() -> Running:
        call.site.things["firewalls"].put("global", after["name"], after)
        return begin(call, tasks, kind, f"global/firewalls/{after['name']}", after)

    return call.once(work)
