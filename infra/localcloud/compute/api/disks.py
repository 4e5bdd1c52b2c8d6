"""The methods of disks that change one: attaching, detaching, resizing, labels, and taking a snapshot."""

from collections.abc import Mapping
from typing import Any

from starlette.routing import BaseRoute

from localcloud.compute import attachments
from localcloud.compute.api.call import Answer, Call, route
from localcloud.compute.api.immediate import begin
from localcloud.compute.build.checks import check_labels
from localcloud.compute.build.disks import another
from localcloud.compute.ids import fingerprint
from localcloud.compute.life import Tasks
from localcloud.compute.operations import Running
from localcloud.compute.refusals import invalid_field, not_found, not_ready, stale, unsupported
from localcloud.compute.registry import Vm
from localcloud.compute.resource_types import SNAPSHOTS, make
from localcloud.compute.shelf import Resource
from localcloud.compute.site import Site
from localcloud.errors import ApiError

LARGEST_GB = 65536
"""A persistent disk has at most 64 TiB ("Persistent Disk limits")."""
BOOT_OF_RUNNING = "Detaching the boot disk of an instance that is not stopped is not supported."
_AT_REST = ("RUNNING", "TERMINATED")

Fields = Mapping[str, Any]


def attach(vm: Vm, call: Call) -> Fields:
    """`instances.attachDisk`: a disk that exists, as the last of the instance's."""
    if call.switch("forceAttach"):
        raise ApiError(501, "notImplemented", "The local cloud does not do the parameter forceAttach.")
    _expect_at_rest(vm, call)
    given = call.read("AttachedDisk")
    if "source" not in given:
        raise invalid_field("resource.source", "", "A disk to attach is required.")
    disks = vm.resource["disks"]
    attached = another(call.site, vm.zone, vm.resource, given)
    if any(disk["deviceName"] == attached["deviceName"] for disk in disks):
        why = "The instance has a disk of this device name already."
        raise invalid_field("resource.deviceName", attached["deviceName"], why)
    attachments.use(call.site, attached, vm.resource["selfLink"])
    return {"disks": [*disks, attached]}


def detach(vm: Vm, call: Call) -> Fields:
    """`instances.detachDisk`: the disk of this device name; it stays, whatever its `autoDelete` says."""
    _expect_at_rest(vm, call)
    device = call.query.get("deviceName", "")
    found = next((disk for disk in vm.resource["disks"] if disk["deviceName"] == device), None)
    if found is None or found["type"] == "SCRATCH":
        raise invalid_field("deviceName", device, "No disk of the instance has this device name.")
    if found["boot"] and vm.status != "TERMINATED":
        raise unsupported(BOOT_OF_RUNNING)
    attachments.release(call.site, found, vm.resource["selfLink"])
    return {"disks": [disk for disk in vm.resource["disks"] if disk is not found]}


def _expect_at_rest(vm: Vm, call: Call) -> None:
    if vm.status not in _AT_REST:
        raise not_ready(f"projects/{call.site.project}/{vm.path}")


def disk_routes(site: Site, tasks: Tasks) -> list[BaseRoute]:
    """The routes of a disk itself."""

    async def resize(call: Call) -> Answer:
        size = call.read("DisksResizeRequest").get("sizeGb", "")

        def work() -> Running:
            disk = _larger(call, int(size or 0))
            return begin(call, tasks, "resizeDisk", f"{call.scope}/disks/{disk['name']}", disk)

        return call.once(work)

    async def set_labels(call: Call) -> Answer:
        return call.once(lambda: _set_labels(call, tasks))

    async def create_snapshot(call: Call) -> Answer:
        given = call.read("Snapshot")

        def work() -> Running:
            disk = _found(call)
            make(site, SNAPSHOTS, "global", {**given, "sourceDisk": disk["selfLink"]})
            return begin(call, tasks, "createSnapshot", f"{call.scope}/disks/{disk['name']}", disk)

        return call.once(work)

    item = "projects/{project}/zones/{zone}/disks/{disk}"
    return [
        route(site, "POST", f"{item}/resize", resize),
        route(site, "POST", f"{item}/setLabels", set_labels),
        route(site, "POST", f"{item}/createSnapshot", create_snapshot),
    ]


def _found(call: Call) -> Resource:
    shelf, wanted = call.site.things["disks"], call.part("disk")
    found = shelf.get(call.scope, shelf.name_of(call.scope, wanted))
    if found is None:
        raise not_found(f"projects/{call.site.project}/{call.scope}/disks/{wanted}")
    return found


def _set_labels(call: Call, tasks: Tasks) -> Running:
    disk, body = _found(call), call.read("ZoneSetLabelsRequest")
    if body.get("labelFingerprint") != disk["labelFingerprint"]:
        raise stale("Labels fingerprint either invalid or resource labels have changed")
    labels = body.get("labels", {})
    check_labels(labels)
    rest = {key: value for key, value in disk.items() if key != "labels"}
    own = {"labels": labels} if labels else {}
    attachments.put(call.site, {**rest, **own, "labelFingerprint": fingerprint(labels)})
    return begin(call, tasks, "setLabels", f"{call.scope}/disks/{disk['name']}", disk)


def _larger(call: Call, size: int) -> Resource:
    """The disk with its new size, which the instances that use it show as well."""
    disk, site = _found(call), call.site
    if size < int(disk["sizeGb"]):
        why = f"Requested disk size cannot be smaller than current size ({disk['sizeGb']} GB)."
        raise invalid_field("sizeGb", size, why)
    if size > LARGEST_GB:
        raise invalid_field("sizeGb", size, f"Disk size cannot be greater than {LARGEST_GB} GB.")
    larger = {**disk, "sizeGb": str(size)}
    attachments.put(site, larger)
    for vm in site.registry:
        if vm.resource["selfLink"] in disk.get("users", ()):
            shown = [
                {**each, "diskSizeGb": str(size)} if each.get("source") == disk["selfLink"] else each
                for each in vm.resource["disks"]
            ]
            site.registry.change(vm, {"disks": shown})
    return larger
