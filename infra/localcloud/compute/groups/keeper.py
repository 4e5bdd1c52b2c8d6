"""Keeps a member of a group as it should be: made, made anew when it was lost, deleted when it is to go."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from localcloud.compute.audit import Caller, Subject
from localcloud.compute.build import build, with_base
from localcloud.compute.build.templates import template
from localcloud.compute.groups.group import Doing, GroupMember, ManagedGroup, vm_of
from localcloud.compute.groups.request import FIELD
from localcloud.compute.life import Ask, Commands
from localcloud.compute.links import last
from localcloud.compute.operations import Order, Running
from localcloud.compute.refusals import Failure
from localcloud.compute.registry import Vm
from localcloud.compute.site import Site
from localcloud.errors import ApiError

REPAIR = "compute.instances.repair.recreateInstance"
_FOREVER = timedelta(days=365)
LOST = ("TERMINATED", "SUSPENDED")
"""A VM that has come to this without its group's doing is repaired ("About repairing VMs")."""
_MOVING = ("PROVISIONING", "STAGING", "STOPPING", "SUSPENDING")


class Keeper:
    """Keeps the members of all groups. `changed` is called with a group of which something is new."""

    def __init__(self, site: Site, commands: Commands, changed: Callable[[ManagedGroup], None]) -> None:
        self._site = site
        self._commands = commands
        self._changed = changed

    async def keep(self, group: ManagedGroup, member: GroupMember) -> None:
        """Look after a member until it is gone or abandoned."""
        while not member.abandoned:
            member.woken.clear()
            vm = vm_of(self._site, group, member)
            if member.leaving and vm is None:
                break
            await self._look(group, member, vm)
        group.members.pop(member.name, None)
        if not group.members:
            group.empty.set()
        self._changed(group)

    async def _look(self, group: ManagedGroup, member: GroupMember, vm: Vm | None) -> None:
        """Do the next thing that there is to do about a member, or wait until there is one."""
        if group.in_bulk and not member.vm_id:
            await member.woken.wait()
        elif vm and (member.leaving or member.rebuild or member.doing is Doing.RECREATING):
            await self._remove(group, member, vm)
        elif lost := _lost(group, member, vm):
            await self._miss(group, member, lost)
        elif vm is None:
            await self._make(group, member)
        else:
            if vm.status not in _MOVING:
                self._is(group, member, Doing.NONE)
            await member.woken.wait()

    async def _miss(self, group: ManagedGroup, member: GroupMember, state: str) -> None:
        """Make a lost VM anew, or let it be where the group is told to."""
        if group.repairs:
            await self._repair(group, member, state)
        else:
            self._is(group, member, Doing.NONE)
            await member.woken.wait()

    @property
    def ask(self) -> Ask:
        """Groups act as the Google APIs service agent of the project."""
        return Ask(caller=Caller(email=f"{self._site.project_number}@cloudservices.gserviceaccount.com"))

    def _is(self, group: ManagedGroup, member: GroupMember, doing: Doing) -> None:
        member.doing = doing
        self._changed(group)

    async def _make(self, group: ManagedGroup, member: GroupMember) -> None:
        """Make its VM; a failure is kept, and it is tried again a while later."""
        forced = group.fields["instanceLifecyclePolicy"]["forceUpdateOnRepair"] == "YES"
        if forced or member.rebuild:
            member.template, member.rebuild = str(group.fields["instanceTemplate"]), False
        member.failure = await self._insert(group, member)
        if member.failure is None:
            self._is(group, member, Doing.NONE)
        else:
            await self._later(group)

    async def _insert(self, group: ManagedGroup, member: GroupMember) -> Failure | None:
        site = self._site
        try:
            site.registry.check_free(group.zone, member.name)
            running = self._commands.insert(build(site, group.zone, self.request(group, member)), self.ask)
        except ApiError as error:
            return _failure(error)
        member.vm_id = running.order.target_id
        self._changed(group)
        return await self._ended(running)

    def request(self, group: ManagedGroup, member: GroupMember) -> dict[str, Any]:
        """The request for its VM: what the template says, and by whom it was made."""
        properties = template(self._site, member.template, FIELD)
        number = self._site.project_number
        own = {
            "instance-template": f"projects/{number}/global/instanceTemplates/{last(member.template)}",
            "created-by": f"projects/{number}/{group.path}",
        }
        given = properties.get("metadata", {}).get("items", [])
        items = [item for item in given if item["key"] not in own]
        items += [{"key": key, "value": value} for key, value in own.items()]
        return with_base(properties, {"name": member.name, "metadata": {"items": items}})

    async def _remove(self, group: ManagedGroup, member: GroupMember, vm: Vm) -> None:
        """Delete its VM, since it is to go or to be made anew."""
        self._is(group, member, Doing.DELETING if member.leaving else Doing.RECREATING)
        try:
            running = self._commands.delete(vm, self.ask)
        except ApiError as error:
            member.failure = _failure(error)
            await self._later(group)
        else:
            await self._ended(running)

    async def _later(self, group: ManagedGroup) -> None:
        self._changed(group)
        await self._site.pace.pause(self._site.timings.regrouping)

    async def _repair(self, group: ManagedGroup, member: GroupMember, state: str) -> None:
        """Write down, a while after it was lost, that it is made anew."""
        await self._later(group)
        if member.leaving or member.abandoned or member.rebuild:
            return
        number = self._site.project_number
        path = f"zones/{group.zone}/instances/{member.name}"
        message = (
            f"Instance Group Manager 'projects/{number}/{group.path}' initiated recreateInstance on instance"
            f" 'projects/{number}/{path}'. Reason: Instance's intent is RUNNING but {state}."
        )
        order = Order(kind=REPAIR, scope=f"zones/{group.zone}", target=path, target_id=member.vm_id)
        running = self._site.operations.record(order, message)
        self._site.audit.happened(running, Subject(path=path, zone=group.zone, id=member.vm_id))
        self._is(group, member, Doing.RECREATING)

    async def _ended(self, running: Running) -> Failure | None:
        await self._site.operations.wait(running.order.scope, running.name, _FOREVER)
        return running.failure


def _failure(error: ApiError) -> Failure:
    return Failure(code=error.reason, message=error.message, http_status=error.status)


def _lost(group: ManagedGroup, member: GroupMember, vm: Vm | None) -> str:
    """How a VM is that the group has lost without its doing; "" for one that it has, or is about to make."""
    if vm is not None:
        return f"instance is {vm.status}" if vm.status in LOST else ""
    made = member.doing is Doing.NONE or (group.in_bulk and member.doing is Doing.CREATING)
    return "instance does not exist" if made and not member.rebuild else ""
