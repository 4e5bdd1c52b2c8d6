"""A managed instance group and its members, and how the API shows them."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from localcloud.compute.catalog import CatalogMachine
from localcloud.compute.ids import fingerprint
from localcloud.compute.refusals import Failure
from localcloud.compute.registry import Vm
from localcloud.compute.site import Site


class Doing(Enum):
    """What a group does about a member (`ManagedInstance.currentAction`)."""

    NONE = "NONE"
    CREATING = "CREATING"
    RECREATING = "RECREATING"
    DELETING = "DELETING"


_ACTIONS = (
    *("abandoning", "creating", "creatingWithoutRetries", "deleting", "none", "recreating", "refreshing"),
    *("restarting", "resuming", "starting", "stopping", "suspending", "verifying"),
)


@dataclass(kw_only=True, eq=False)
class GroupMember:
    """A VM of a group: its name, which stays, and the VM of this name that is the group's.

    `vm_id` is "" until there is one. `leaving`: it is to be deleted. `rebuild`: it is to be made anew, as
    somebody asked. `woken` is set whenever there may be something to do.
    """

    name: str
    template: str
    vm_id: str = ""
    doing: Doing = Doing.CREATING
    leaving: bool = False
    rebuild: bool = False
    abandoned: bool = False
    failure: Failure | None = None
    woken: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, kw_only=True)
class GroupShape:
    """What VMs a group has: their machine type, whether they are Flex-start VMs, and their topology or ""."""

    machine: CatalogMachine | None
    flexible: bool
    topology: str


@dataclass(kw_only=True, eq=False)
class BulkProgress:
    """How far a group in bulk mode is with making its VMs; `last_check` is what was found."""

    in_progress: bool = False
    last_check: Mapping[str, Any] = field(default_factory=dict)

    def checked(self, short: Failure | None, at: str) -> None:
        """Keep what stood in the way, if anything did."""
        error = {"errors": [{"code": short.code, "message": short.message}]} if short else None
        self.last_check = {"timestamp": at, **({"error": error} if error else {})}


@dataclass(kw_only=True, eq=False)
class ManagedGroup:
    """One group; `fields` is what its resource says that does not change by itself."""

    zone: str
    fields: Mapping[str, Any]
    members: dict[str, GroupMember] = field(default_factory=dict)
    deleting: bool = False
    empty: asyncio.Event = field(default_factory=asyncio.Event)
    bulk: BulkProgress = field(default_factory=BulkProgress)
    shape: GroupShape

    @property
    def in_bulk(self) -> bool:
        """Whether its VMs are made all or none."""
        return bool(self.fields["targetSizePolicy"]["mode"] == "BULK")

    @property
    def repairs(self) -> bool:
        """Whether it makes anew what it has lost."""
        return bool(self.fields["instanceLifecyclePolicy"]["defaultActionOnFailure"] == "REPAIR")

    @property
    def name(self) -> str:
        """Its name, unique in its zone."""
        return str(self.fields["name"])

    @property
    def path(self) -> str:
        """`zones/Z/instanceGroupManagers/N`."""
        return f"zones/{self.zone}/instanceGroupManagers/{self.name}"

    @property
    def staying(self) -> list[GroupMember]:
        """The members that are not to be deleted, in the order in which they joined."""
        return [member for member in self.members.values() if not member.leaving]


def vm_of(site: Site, group: ManagedGroup, member: GroupMember) -> Vm | None:
    """The member's own VM; None while there is none, whoever else has its name."""
    vm = site.registry.by_id(member.vm_id)
    return vm if vm and vm.zone == group.zone else None


def resource_of(site: Site, group: ManagedGroup) -> dict[str, Any]:
    """The `compute#instanceGroupManager` resource as it is now."""
    counts = Counter(member.doing.value.lower() for member in group.members.values())
    running = [vm_of(site, group, member) for member in group.members.values()]
    settled = counts["none"] == len(group.members) and not group.bulk.in_progress
    well = all(vm and vm.status == "RUNNING" for vm in running)
    template, size = group.fields["instanceTemplate"], group.fields["targetSize"]
    outdated = any(member.template != template for member in group.members.values())
    return {
        **group.fields,
        "fingerprint": fingerprint([template, size]),
        "versions": [{"instanceTemplate": template, "targetSize": {"calculated": size}}],
        "currentActions": {name: counts[name] for name in _ACTIONS},
        "status": {
            "isStable": settled and (well or not group.repairs),
            "allInstancesConfig": {"effective": True},
            "stateful": {"hasStatefulConfig": False, "perInstanceConfigs": {"allEffective": True}},
            "versionTarget": {"isReached": not outdated},
            **_slice_status(group, running, well=well),
        },
    }


def _slice_status(group: ManagedGroup, vms: Sequence[Vm | None], *, well: bool) -> dict[str, Any]:
    """What only some groups say: those in bulk mode, those of TPUs, and those with a topology."""
    shown: dict[str, Any] = {}
    if group.in_bulk:
        check = {"lastProgressCheck": group.bulk.last_check} if group.bulk.last_check else {}
        shown["bulkInstanceOperation"] = {"inProgress": group.bulk.in_progress, **check}
    if group.shape.machine and group.shape.machine.chips:
        none = "pending" if group.bulk.in_progress and group.shape.flexible else "nonExistent"
        shown["currentInstanceStatuses"] = Counter(vm.status.lower() if vm else none for vm in vms)
    if group.shape.topology:
        # How long it takes to connect the chips, and what of it fails, is not done.
        state = "ACTIVE" if well and vms else "INCOMPLETE"
        shown["appliedAcceleratorTopologies"] = [
            {"acceleratorTopology": group.shape.topology, "state": state}
        ]
    return shown


def instance_group_of(site: Site, group: ManagedGroup) -> dict[str, Any]:
    """The `compute#instanceGroup` resource of the VMs that there are."""
    there = [vm for member in group.members.values() if (vm := vm_of(site, group, member))]
    card: Mapping[str, Any] = there[0].resource["networkInterfaces"][0] if there else {}
    return {
        "kind": "compute#instanceGroup",
        "id": group.fields["id"],
        "creationTimestamp": group.fields["creationTimestamp"],
        "name": group.name,
        "description": f"This instance group is controlled by Instance Group Manager '{group.name}'."
        " To modify instances in this group, use the Instance Group Manager API:"
        " https://cloud.google.com/compute/docs/reference/latest/instanceGroupManagers",
        "fingerprint": fingerprint(group.name),
        **{key: card[key] for key in ("network", "subnetwork") if key in card},
        "zone": group.fields["zone"],
        "size": len(there),
        "selfLink": group.fields["instanceGroup"],
    }


def managed(site: Site, group: ManagedGroup, member: GroupMember) -> dict[str, Any]:
    """A member, as `listManagedInstances` shows it."""
    vm = vm_of(site, group, member)
    shown: dict[str, Any] = {
        "name": member.name,
        "instance": site.links.link(f"zones/{group.zone}/instances/{member.name}"),
        "currentAction": member.doing.value,
        "targetStatus": "DELETED" if member.leaving else "RUNNING",
    }
    if not member.leaving:
        shown["version"] = {"instanceTemplate": member.template}
    if vm:
        shown |= {"id": vm.id, "instanceStatus": vm.status}
    if member.failure:
        error = {"code": member.failure.code, "message": member.failure.message}
        shown["lastAttempt"] = {"errors": {"errors": [error]}}
    return shown
