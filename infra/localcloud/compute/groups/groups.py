"""The managed instance groups of the project, and what is asked of them."""

import secrets
import string
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from localcloud.compute.build import build, network, with_base
from localcloud.compute.build.checks import check_name
from localcloud.compute.build.templates import template
from localcloud.compute.groups.bulk import BulkCreation
from localcloud.compute.groups.group import Doing, GroupMember, ManagedGroup, instance_group_of, resource_of
from localcloud.compute.groups.keeper import Keeper
from localcloud.compute.groups.request import FIELD, check_size, read_group, template_link
from localcloud.compute.groups.slices import check_resize, shape_of
from localcloud.compute.life import Commands, Tasks
from localcloud.compute.refusals import already_exists, invalid_field, not_found, not_ready
from localcloud.compute.registry import Vm
from localcloud.compute.shelf import Shelf
from localcloud.compute.site import Site

_LETTERS = string.ascii_lowercase + string.digits
MANAGERS, GROUPS = "instanceGroupManagers", "instanceGroups"


class Groups:
    """Makes, shows, changes and deletes them. Each member has a task that keeps it."""

    def __init__(self, site: Site, tasks: Tasks, commands: Commands) -> None:
        self._site = site
        self._tasks = tasks
        self._keeper = Keeper(site, commands, self._show)
        self._bulk = BulkCreation(site, commands, self._show)
        self._groups: dict[tuple[str, str], ManagedGroup] = {}
        site.registry.watch(self._moved)

    def insert(self, zone: str, given: Mapping[str, Any]) -> ManagedGroup:
        """Make a group; its VMs come about afterwards.

        Raises:
            ApiError: 400, 404 or 409 when there can be no such group, 501 for what is not done.
        """
        site, fields = self._site, read_group(self._site, zone, given)
        name = fields["name"]
        path = f"zones/{zone}/{MANAGERS}/{name}"
        if (zone, name) in self._groups:
            raise already_exists(f"projects/{site.project}/{path}")
        self._check(zone, fields)
        shape = shape_of(site, zone, fields)
        whole = {
            "kind": "compute#instanceGroupManager",
            "id": site.numbers.take(),
            "creationTimestamp": site.now(),
            **fields,
            "zone": site.links.link(f"zones/{zone}"),
            "instanceGroup": site.links.link(f"zones/{zone}/{GROUPS}/{name}"),
            "selfLink": site.links.link(path),
        }
        group = ManagedGroup(zone=zone, fields=whole, shape=shape)
        self._groups[zone, name] = group
        self._grow(group)
        return group

    def _check(self, zone: str, fields: Mapping[str, Any]) -> None:
        """Refuse at once a template of which no VM could be made in this zone."""
        given = {"name": f"{fields['baseInstanceName']}-0000".replace("--", "-")}
        base = template(self._site, fields["instanceTemplate"], FIELD)
        trial = build(self._site, zone, with_base(base, given))
        network.release(self._site, zone, trial.resource["networkInterfaces"])

    def find(self, zone: str, name_or_id: str) -> ManagedGroup:
        """The group of this name or id.

        Raises:
            ApiError: 404 when there is none.
        """
        name = self._shelf(MANAGERS).name_of(f"zones/{zone}", name_or_id)
        group = self._groups.get((zone, name))
        if group is None:
            raise not_found(f"projects/{self._site.project}/zones/{zone}/{MANAGERS}/{name_or_id}")
        return group

    def resize(self, group: ManagedGroup, size: int) -> None:
        """Let it have so many VMs. Of too many those go first that do not run, then the newest.

        Raises:
            ApiError: 400 when it is no size, not for a group in bulk mode as this one is, or not what its
                topology takes; or the group is being deleted.
        """
        self._expect_kept(group)
        check_size(size, "size")
        check_resize(group, size)
        group.fields = {**group.fields, "targetSize": size}
        self._grow(group)
        newest_first = group.staying[::-1]
        dispensable = sorted(newest_first, key=lambda member: member.doing is Doing.NONE)
        for member in dispensable[: max(len(dispensable) - size, 0)]:
            self._drop(member)
        self._show(group)

    def use_template(self, group: ManagedGroup, text: str) -> None:
        """Let new VMs be made by another template; those that there are stay as they are.

        Raises:
            ApiError: 400 or 404 when there is none, or the group is being deleted.
        """
        self._expect_kept(group)
        field = "instanceGroupManagersSetInstanceTemplateRequest.instanceTemplate"
        link = template_link(self._site, text, field)
        self._check(group.zone, {**group.fields, "instanceTemplate": link})
        fields = {**group.fields, "instanceTemplate": link}
        group.shape = shape_of(self._site, group.zone, fields)
        group.fields = fields
        self._show(group)

    def recreate(self, group: ManagedGroup, texts: Sequence[str]) -> None:
        """Make these VMs anew.

        Raises:
            ApiError: 400 when one is none of the group's, or the group is being deleted.
        """
        self._expect_kept(group)
        for member in self._members(group, texts):
            member.rebuild = True
            member.woken.set()

    def remove(
        self, group: ManagedGroup, texts: Sequence[str], *, abandon: bool = False, skip: bool = False
    ) -> None:
        """Delete these VMs, or let them be nobody's, and want so many fewer; `skip` those of nobody.

        Raises:
            ApiError: 400 when one is none of the group's, or the group is being deleted.
        """
        self._expect_kept(group)
        leaving = self._members(group, texts, skip=skip)
        for member in leaving:
            if abandon:
                member.abandoned = True
                del group.members[member.name]
                member.woken.set()
            else:
                self._drop(member)
        group.fields = {**group.fields, "targetSize": group.fields["targetSize"] - len(leaving)}
        self._show(group)

    def begin_deletion(self, group: ManagedGroup) -> None:
        """Delete all VMs of a group; `gone` returns when there is none any more.

        Raises:
            ApiError: 400 when it is being deleted already.
        """
        self._expect_kept(group)
        group.deleting = True
        group.fields = {**group.fields, "targetSize": 0}
        for member in group.staying:
            self._drop(member)
        self._show(group)

    async def gone(self, group: ManagedGroup) -> None:
        """Return when its last VM is deleted, and let it be gone."""
        while group.members:
            group.empty.clear()
            await group.empty.wait()
        del self._groups[group.zone, group.name]
        for collection in (MANAGERS, GROUPS):
            self._shelf(collection).take(f"zones/{group.zone}", group.name)

    def create(self, group: ManagedGroup, names: Sequence[str]) -> None:
        """Make VMs of these names beside those that there are.

        Raises:
            ApiError: 400 or 409 when a name is none, is given twice or is taken; and as `resize`.
        """
        self._expect_kept(group)
        size = group.fields["targetSize"] + len(names)
        check_size(size, "instances")
        taken = {*group.members, *self._site.registry.names(group.zone)}
        for name in names:
            check_name(name)
            if name in taken:
                raise already_exists(f"projects/{self._site.project}/zones/{group.zone}/instances/{name}")
            taken.add(name)
        check_resize(group, size)
        group.fields = {**group.fields, "targetSize": size}
        self._grow(group, names)

    def _grow(self, group: ManagedGroup, names: Sequence[str] = ()) -> None:
        """Add what is missing, under these names as far as they go."""
        given = iter(names)
        for _ in range(group.fields["targetSize"] - len(group.staying)):
            name = next(given, None) or self._new_name(group)
            member = GroupMember(name=name, template=str(group.fields["instanceTemplate"]))
            group.members[name] = member
            self._tasks.spawn(self._keeper.keep(group, member))
        if group.in_bulk and not group.bulk.in_progress and any(not item.vm_id for item in group.staying):
            group.bulk.in_progress = True
            self._tasks.spawn(self._bulk.fill(group, self._keeper.request, self._keeper.ask))
        self._show(group)

    def _new_name(self, group: ManagedGroup) -> str:
        """The base name and four letters: no other VM of the zone has it."""
        taken = {*group.members, *self._site.registry.names(group.zone)}
        while True:
            tail = "".join(secrets.choice(_LETTERS) for _ in range(4))
            name = f"{group.fields['baseInstanceName']}-{tail}"
            if name not in taken:
                return name

    def _drop(self, member: GroupMember) -> None:
        member.leaving, member.doing = True, Doing.DELETING
        member.woken.set()

    def _members(
        self, group: ManagedGroup, texts: Sequence[str], *, skip: bool = False
    ) -> Collection[GroupMember]:
        found: dict[str, GroupMember] = {}
        for at, text in enumerate(texts):
            field = f"instances[{at}]"
            place = f"zones/{group.zone}"
            reference = self._site.links.read(text, field=field, collection="instances", scope=place)
            member = group.members.get(reference.name)
            if member and not member.leaving and reference.scope == place:
                found[member.name] = member
            elif not skip:
                raise invalid_field(field, text, f"It is no member of '{group.name}'.")
        return found.values()

    def _expect_kept(self, group: ManagedGroup) -> None:
        if group.deleting:
            raise not_ready(f"projects/{self._site.project}/{group.path}")

    def _moved(self, vm: Vm) -> None:
        """Wake who keeps this VM, if anybody does."""
        for group in self._groups.values():
            member = group.members.get(vm.name)
            if member and group.zone == vm.zone:
                member.woken.set()
                self._show(group)

    def _show(self, group: ManagedGroup) -> None:
        if self._groups.get((group.zone, group.name)) is group:
            scope = f"zones/{group.zone}"
            self._shelf(MANAGERS).put(scope, group.name, resource_of(self._site, group))
            self._shelf(GROUPS).put(scope, group.name, instance_group_of(self._site, group))

    def _shelf(self, collection: str) -> Shelf:
        return self._site.things[collection]
