"""The methods of managed instance groups and of the groups that they fill; of autoscalers there are none."""

from collections.abc import Callable

from starlette.routing import BaseRoute

from localcloud.compute import filtering
from localcloud.compute.api.call import Answer, Call, route
from localcloud.compute.api.collections import Shown, by_name, shown_routes
from localcloud.compute.api.immediate import begin
from localcloud.compute.groups import Groups
from localcloud.compute.groups.group import ManagedGroup, managed, vm_of
from localcloud.compute.groups.groups import GROUPS, MANAGERS
from localcloud.compute.life import Tasks
from localcloud.compute.operations import Order, Running
from localcloud.compute.refusals import invalid_field, not_found
from localcloud.compute.shelf import Row, Rows
from localcloud.compute.site import Site
from localcloud.errors import ApiError

_BASE = f"projects/{{project}}/zones/{{zone}}/{MANAGERS}"
_ITEM = f"{_BASE}/{{instanceGroupManager}}"
_MESSAGES = {
    "abandonInstances": "InstanceGroupManagersAbandonInstancesRequest",
    "deleteInstances": "InstanceGroupManagersDeleteInstancesRequest",
    "recreateInstances": "InstanceGroupManagersRecreateInstancesRequest",
}


class ManagedGroups:
    """The methods, over the groups that there are."""

    def __init__(self, site: Site, tasks: Tasks, groups: Groups) -> None:
        self._site = site
        self._tasks = tasks
        self._groups = groups

    def routes(self) -> list[BaseRoute]:
        """The routes of all of them."""
        site = self._site
        changes = {
            "resize": self._resize,
            "setInstanceTemplate": self._set_template,
            "createInstances": self._create,
        }
        return [
            *shown_routes(site, self._shown(MANAGERS, "InstanceGroupManager", "instanceGroupManager")),
            *shown_routes(site, self._shown(GROUPS, "InstanceGroup", "instanceGroup")),
            *shown_routes(site, _autoscalers(site)),
            route(site, "POST", _BASE, self._insert),
            route(site, "DELETE", _ITEM, self._delete),
            route(site, "POST", f"{_ITEM}/listManagedInstances", self._list_managed),
            route(
                site,
                "POST",
                f"projects/{{project}}/zones/{{zone}}/{GROUPS}/{{instanceGroup}}/listInstances",
                self._list_instances,
            ),
            *(self._change(name, change) for name, change in changes.items()),
            *(self._change(name, self._on_members(name)) for name in _MESSAGES),
        ]

    def _shown(self, collection: str, message: str, parameter: str) -> Shown:
        rows = self._site.things[collection].seen
        return Shown(
            name=collection,
            kind=f"compute#{parameter}",
            message=message,
            parameter=parameter,
            home="zones",
            rows=rows,
            get=by_name(self._site, collection, rows),
        )

    async def _insert(self, call: Call) -> Answer:
        given = call.read("InstanceGroupManager")

        def work() -> Running:
            group = self._groups.insert(call.part("zone"), given)
            return begin(call, self._tasks, "insert", group.path, group.fields)

        return call.once(work)

    async def _delete(self, call: Call) -> Answer:
        def work() -> Running:
            group = self._find(call)
            self._groups.begin_deletion(group)
            order = Order(
                kind="delete",
                scope=call.scope,
                target=group.path,
                target_id=group.fields["id"],
                user=call.caller.email,
                request_id=call.query.get("requestId", ""),
            )
            running = call.site.operations.begin(order)
            self._tasks.spawn(self._end(running, group))
            return running

        return call.once(work)

    async def _end(self, running: Running, group: ManagedGroup) -> None:
        running.start()
        await self._groups.gone(group)
        running.end()

    def _find(self, call: Call) -> ManagedGroup:
        return self._groups.find(call.part("zone"), call.part("instanceGroupManager"))

    def _change(self, name: str, change: Callable[[Call, ManagedGroup], None]) -> BaseRoute:
        async def handler(call: Call) -> Answer:
            def work() -> Running:
                group = self._find(call)
                change(call, group)
                return begin(call, self._tasks, name, group.path, group.fields)

            return call.once(work)

        return route(self._site, "POST", f"{_ITEM}/{name}", handler)

    def _resize(self, call: Call, group: ManagedGroup) -> None:
        text = call.query.get("size", "")
        if not (text.isdecimal() and text.isascii()):
            raise invalid_field("size", text, "It must be a number.")
        self._groups.resize(group, int(text))

    def _set_template(self, call: Call, group: ManagedGroup) -> None:
        body = call.read("InstanceGroupManagersSetInstanceTemplateRequest")
        self._groups.use_template(group, body.get("instanceTemplate", ""))

    def _create(self, call: Call, group: ManagedGroup) -> None:
        instances = call.read("InstanceGroupManagersCreateInstancesRequest").get("instances", [])
        self._groups.create(group, [str(instance.get("name", "")) for instance in instances])

    def _on_members(self, name: str) -> Callable[[Call, ManagedGroup], None]:
        def change(call: Call, group: ManagedGroup) -> None:
            body = call.read(_MESSAGES[name])
            texts = body.get("instances", [])
            if name == "recreateInstances":
                self._groups.recreate(group, texts)
            else:
                skip = body.get("skipInstancesOnValidationError", False)
                self._groups.remove(group, texts, abandon=name == "abandonInstances", skip=skip)

        return change

    async def _list_managed(self, call: Call) -> Answer:
        """All of them in one answer, as a group does whose lists are PAGELESS; pages are not asked for."""
        if call.query.get("orderBy"):
            raise ApiError(501, "notImplemented", "The local cloud does not do the parameter orderBy.")
        group, text = self._find(call), call.query.get("filter", "")
        matches = filtering.predicate(text, "ManagedInstance") if text.strip() else lambda _member: True
        shown = [managed(self._site, group, member) for member in group.members.values()]
        found = [member for member in shown if matches(member)]
        return {"managedInstances": found} if found else {}

    async def _list_instances(self, call: Call) -> Answer:
        """`instanceGroups.listInstances`."""
        wanted = call.read("InstanceGroupsListInstancesRequest").get("instanceState", "ALL")
        for name in ("filter", "orderBy", "pageToken"):
            if call.query.get(name):
                raise ApiError(501, "notImplemented", f"The local cloud does not do the parameter {name}.")
        group = self._groups.find(call.part("zone"), call.part("instanceGroup"))
        vms = [vm for member in group.members.values() if (vm := vm_of(self._site, group, member))]
        items = [
            {"instance": vm.resource["selfLink"], "status": vm.status}
            for vm in vms
            if wanted == "ALL" or vm.status == "RUNNING"
        ]
        path = f"zones/{group.zone}/{GROUPS}/{group.name}"
        return {
            "kind": "compute#instanceGroupsListInstances",
            "id": f"projects/{self._site.project}/{path}/listInstances",
            **({"items": items} if items else {}),
            "selfLink": self._site.links.link(f"{path}/listInstances"),
        }


def _autoscalers(site: Site) -> Shown:
    """None: nothing scales a group by itself. Who lists groups asks for them."""

    def rows() -> Rows:
        return {f"zones/{zone}": Row() for zone in site.catalog.zones}

    def get(call: Call, name: str) -> Answer:
        raise not_found(f"projects/{site.project}/{call.scope}/autoscalers/{name}")

    return Shown(
        name="autoscalers",
        kind="compute#autoscaler",
        message="Autoscaler",
        parameter="autoscaler",
        home="zones",
        rows=rows,
        get=get,
    )
