"""Managed instance groups of the Compute Engine in memory, and what a slice is made of besides."""

import itertools
import re
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import msgspec

from spotwarden.model.instance import Operation, Status
from spotwarden.model.placement import region_of
from spotwarden.model.request import Request
from spotwarden.model.slices import GroupMember, SeenGroup
from spotwarden.ports import RejectedError
from tests.fakes.advising import Advising
from tests.fakes.clock import VirtualClock
from tests.fakes.creating import STOCKOUT, instance, machine_of
from tests.fakes.fate import NOBODY
from tests.fakes.vms import Timings, Vm

SERVICE_AGENT = "1234567890@cloudservices.gserviceaccount.com"
"""Who a group makes and deletes its VMs as."""
AGAIN = timedelta(seconds=30)
"""How long a group waits before it tries again what has failed, or makes anew what is lost."""
GROUP_IDS = "7"
"""What the ids of groups begin with, and those of VMs do not."""
_POLICIES = re.compile(r"/compute/\w+/projects/[^/]+/regions/([^/]+)/resourcePolicies")
_TEMPLATES = re.compile(r"/compute/\w+/projects/[^/]+/global/instanceTemplates")
_GROUPS = re.compile(r"/compute/\w+/projects/[^/]+/zones/([^/]+)/instanceGroupManagers")


class Member(msgspec.Struct, kw_only=True, eq=False):
    """A VM that a group is to have; `vm_id` is "" until there is one."""

    name: str
    vm_id: str = ""
    leaving: bool = False
    error: str = ""


class MemoryGroup(msgspec.Struct, kw_only=True, eq=False):
    """One group; `ending` are the operations that delete it."""

    id: str
    name: str
    zone: str
    body: Mapping[str, Any]
    created: datetime
    size: int = 0
    members: dict[str, Member] = {}
    error: str = ""
    ending: list[Operation] = []

    @property
    def in_bulk(self) -> bool:
        """Whether its VMs are made all or none."""
        return bool(self.body.get("targetSizePolicy", {}).get("mode") == "BULK")

    @property
    def repairs(self) -> bool:
        """Whether it makes anew what it has lost."""
        life = self.body.get("instanceLifecyclePolicy", {})
        return bool(life.get("defaultActionOnFailure", "REPAIR") == "REPAIR")


class Grouping(Advising):
    """Policies, templates and groups by name."""

    def __init__(self, clock: VirtualClock, timings: Timings, zones: Collection[str]) -> None:
        super().__init__(clock, timings, zones)
        self.policies: dict[tuple[str, str], Mapping[str, Any]] = {}
        self.templates: dict[str, Mapping[str, Any]] = {}
        self.groups: dict[tuple[str, str], MemoryGroup] = {}
        self._group_ids = itertools.count(7_000_000_000_000_000_001)
        self.vms.watchers.append(self._moved)

    def group(self, zone: str, name: str, group_id: str = "") -> SeenGroup | None:
        """As `Compute.group`."""
        return self.trouble.around("group", name, self._group, zone, name, group_id)

    def _group(self, zone: str, name: str, group_id: str) -> SeenGroup | None:
        self.vms.catch_up()
        found = self.groups.get((zone, name))
        if found is None or group_id not in {"", found.id}:
            return None
        members = tuple(self._seen(member) for member in found.members.values())
        tried = next((member.error for member in members if member.error), "")
        error = found.error or tried
        return SeenGroup(
            id=found.id,
            name=name,
            zone=zone,
            size=found.size,
            members=members,
            created=found.created,
            error=error,
        )

    def _seen(self, member: Member) -> GroupMember:
        vm = self.vms.living.get(member.vm_id)
        return GroupMember(
            name=member.name,
            id=member.vm_id if vm else "",
            status=vm.seen.status if vm else None,
            leaving=member.leaving,
            error=member.error,
        )

    def fill_group(
        self,
        zone: str,
        name: str,
        group_id: str,
        nodes: Collection[str],
        request_id: str,
        *,
        before: datetime | None = None,
    ) -> Operation:
        """As `Compute.fill_group`."""

        def fill() -> Operation:
            self._in_time(before)
            group = self._kept(zone, name, group_id)
            taken = {vm.seen.name for vm in self.vms.living.values() if vm.seen.zone == zone}
            for node in nodes:
                if node in taken | {*group.members}:
                    raise _taken(f"zones/{zone}/instances/{node}")
            operation = self._done("createInstances", zone, name, group.id, request_id)
            group.size += len(nodes)
            new = [Member(name=node) for node in nodes]
            group.members.update((member.name, member) for member in new)
            self.vms.later(timedelta(seconds=2), lambda: self._grow(group))
            return operation

        return self.trouble.around("fill_group", name, self._ask, request_id, fill)

    def delete_group(
        self, zone: str, name: str, group_id: str, request_id: str, *, before: datetime | None = None
    ) -> Operation:
        """As `Compute.delete_group`."""

        def delete() -> Operation:
            self._in_time(before)
            return self._delete(self._kept(zone, name, group_id), self.caller, request_id)

        return self.trouble.around("delete_group", name, self._once, request_id, delete)

    def _delete(self, group: MemoryGroup, user: str, request_id: str = "") -> Operation:
        operation = self.vms.log_new("delete", group.zone, group.name, group.id, user, request_id=request_id)
        group.size, group.ending = 0, [operation]
        for member in [*group.members.values()]:
            self._drop(group, member)
        self._gone(group)
        return operation

    def delete_template(self, name: str, request_id: str, *, before: datetime | None = None) -> Operation:
        """As `Compute.delete_template`."""

        def delete() -> Operation:
            self._in_time(before)
            if name not in self.templates:
                raise RejectedError(
                    "notFound", f"The resource 'global/instanceTemplates/{name}' was not found"
                )
            if user := next((group for group in self.groups.values() if _template(group) == name), None):
                raise RejectedError("resourceInUseByAnotherResource", f"{name} is used by {user.name}")
            del self.templates[name]
            return self._done("delete", "global", name, "", request_id)

        return self.trouble.around("delete_template", name, self._once, request_id, delete)

    def owner_deletes_group(self, name: str, *, user: str = NOBODY) -> None:
        """Delete a group as a person would."""
        self.vms.catch_up()
        found = next(group for group in self.groups.values() if group.name == name)
        if not found.ending:
            self._delete(found, user)

    def make_part(self, request: Request, request_id: str) -> Operation | None:
        """Make what a slice needs before its VMs; None where the request is for something else."""
        name = str(request.body.get("name", ""))
        if match := _POLICIES.fullmatch(request.path):
            if (match[1], name) in self.policies:
                raise _taken(f"regions/{match[1]}/resourcePolicies/{name}")
            self.policies[match[1], name] = request.body
            return self._done("insert", match[1], name, "", request_id)
        if _TEMPLATES.fullmatch(request.path):
            if name in self.templates:
                raise _taken(f"global/instanceTemplates/{name}")
            self.templates[name] = request.body
            return self._done("insert", "global", name, "", request_id)
        if match := _GROUPS.fullmatch(request.path):
            return self._make_group(match[1], name, request.body, request_id)
        return None

    def _make_group(self, zone: str, name: str, body: Mapping[str, Any], request_id: str) -> Operation:
        policy = body.get("resourcePolicies", {}).get("workloadPolicy", "").rpartition("/")[2]
        template = str(body["instanceTemplate"]).rpartition("/")[2]
        if policy and (region_of(zone), policy) not in self.policies:
            raise _missing(f"regions/{region_of(zone)}/resourcePolicies/{policy}")
        if template not in self.templates:
            raise _missing(f"global/instanceTemplates/{template}")
        if (zone, name) in self.groups:
            raise _taken(f"zones/{zone}/instanceGroupManagers/{name}")
        made = MemoryGroup(
            id=str(next(self._group_ids)),
            name=name,
            zone=zone,
            body=body,
            created=self.clock.now(),
            members={},
        )
        self.groups[zone, name] = made
        return self._done("insert", zone, name, made.id, request_id)

    def _done(self, kind: str, place: str, name: str, target_id: str, request_id: str) -> Operation:
        operation = self.vms.log_new(kind, place, name, target_id, self.caller, request_id=request_id)
        self.vms.later(timedelta(seconds=1), lambda: self.vms.end(operation))
        return operation

    def _kept(self, zone: str, name: str, group_id: str) -> MemoryGroup:
        found = self.groups.get((zone, name))
        if found is None or found.id != group_id:
            raise _missing(f"zones/{zone}/instanceGroupManagers/{name}")
        if found.ending:
            raise RejectedError("resourceNotReady", f"{name} is being deleted")
        return found

    def _grow(self, group: MemoryGroup) -> None:
        """Make what there is no VM of: all or none in bulk mode, else as many as there is room for."""
        missing = [member for member in group.members.values() if not (member.vm_id or member.leaving)]
        if not missing or group.ending:
            return
        body = self._body(group)
        left = self._left.get(group.zone, len(missing))
        room = 0 if (group.zone, machine_of(body)) in self._without else left
        short = room < len(missing)
        group.error = STOCKOUT if short and group.in_bulk else ""
        some = missing[: 0 if short and group.in_bulk else room]
        for member in missing:
            member.error = STOCKOUT if member not in some and not group.in_bulk else ""
        for member in some:
            self._take_room(group.zone, machine_of(body))
            self._make(group, member, body)
        if short:
            self.vms.later(AGAIN, lambda: self._grow(group))

    def _make(self, group: MemoryGroup, member: Member, body: Mapping[str, Any]) -> None:
        taken = {vm.seen.name for vm in self.vms.living.values() if vm.seen.zone == group.zone}
        if member.name in taken:
            member.error = f"alreadyExists: The resource '{member.name}' already exists"
            self.vms.later(AGAIN, lambda: self._grow(group))
            return
        seen = instance(self.vms.next_id(), member.name, group.zone, body, self.clock.now())
        vm = Vm(seen=seen, body={**body, "name": member.name}, launch="")
        member.vm_id = seen.id
        operation = self.vms.begin("insert", seen, SERVICE_AGENT)
        self.vms.add(vm)
        self.vms.later(self._timings.start, lambda: self._settle(vm, operation, Status.RUNNING))

    def _body(self, group: MemoryGroup) -> Mapping[str, Any]:
        properties = dict(self.templates[_template(group)]["properties"])
        own = [
            {"key": "instance-template", "value": f"global/instanceTemplates/{_template(group)}"},
            {"key": "created-by", "value": f"zones/{group.zone}/instanceGroupManagers/{group.name}"},
        ]
        given = [*properties.get("metadata", {}).get("items", ()), *own]
        return {**properties, "metadata": {"items": given}}

    def _drop(self, group: MemoryGroup, member: Member) -> None:
        member.leaving = True
        vm = self.vms.living.get(member.vm_id)
        if vm is None:
            del group.members[member.name]
        else:
            undo = self.vms.begin("delete", vm.seen, SERVICE_AGENT)
            self.vms.take_down(vm, undo, self._while_leaving(vm), remove=True)

    def _while_leaving(self, vm: Vm) -> timedelta:
        return self._timings.stop if vm.seen.status is Status.RUNNING else self._timings.refuse

    def _gone(self, group: MemoryGroup) -> None:
        """Have a group no more once its last VM is gone."""
        if group.ending and not group.members and self.groups.get((group.zone, group.name)) is group:
            del self.groups[group.zone, group.name]
            for operation in group.ending:
                self.vms.end(operation)

    def _moved(self, vm: Vm, _before: Status | None) -> None:
        """Let a group know that a VM of it is gone, or stands still."""
        for group in [*self.groups.values()]:
            member = group.members.get(vm.seen.name)
            if member is None or member.vm_id != vm.seen.id:
                continue
            if vm.seen.id not in self.vms.living and member.leaving:
                del group.members[member.name]
                self._gone(group)
            elif group.repairs and (vm.seen.id not in self.vms.living or vm.seen.status is Status.TERMINATED):
                self.vms.later(AGAIN, partial(self._repair, group, member, vm.seen.id))

    def _repair(self, group: MemoryGroup, member: Member, lost: str) -> None:
        """Make a lost VM anew, under its name, where nobody has done so."""
        if group.ending or member.leaving or member.vm_id != lost:
            return
        vm = self.vms.living.get(lost)
        if vm is None:
            member.vm_id = ""
            self._grow(group)
        elif vm.seen.status is Status.TERMINATED:
            undo = self.vms.begin("delete", vm.seen, SERVICE_AGENT)
            self.vms.take_down(vm, undo, self._timings.refuse, remove=True)


def _template(group: MemoryGroup) -> str:
    return str(group.body["instanceTemplate"]).rpartition("/")[2]


def _taken(what: str) -> RejectedError:
    return RejectedError("alreadyExists", f"The resource '{what}' already exists")


def _missing(what: str) -> RejectedError:
    return RejectedError("notFound", f"The resource '{what}' was not found")
