"""Changes of an instance's resource: each gives the fields that are to be replaced."""

from collections.abc import Callable, Mapping
from typing import Any

from localcloud.compute.api.call import Call
from localcloud.compute.api.disks import attach, detach
from localcloud.compute.build import scheduling
from localcloud.compute.build.checks import check_labels, check_metadata, check_tags
from localcloud.compute.build.instance import metadata, tags
from localcloud.compute.build.machine import accelerators, has_tpu, machine_type
from localcloud.compute.ids import fingerprint
from localcloud.compute.refusals import invalid_field, stale
from localcloud.compute.registry import Vm
from localcloud.errors import ApiError

Fields = Mapping[str, Any]


def _set_labels(vm: Vm, call: Call) -> Fields:
    body = call.read("InstancesSetLabelsRequest")
    if body.get("labelFingerprint") != vm.resource["labelFingerprint"]:
        raise stale("Labels fingerprint either invalid or resource labels have changed")
    labels = body.get("labels", {})
    check_labels(labels)
    return {"labels": labels or None, "labelFingerprint": fingerprint(labels)}


def _set_metadata(vm: Vm, call: Call) -> Fields:
    body = call.read("Metadata")
    if body.get("fingerprint") != vm.resource["metadata"]["fingerprint"]:
        raise stale("Supplied fingerprint does not match current metadata fingerprint.")
    items = body.get("items", [])
    check_metadata(items)
    return {"metadata": metadata(items)}


def _set_tags(vm: Vm, call: Call) -> Fields:
    body = call.read("Tags")
    if body.get("fingerprint") != vm.resource["tags"]["fingerprint"]:
        raise stale("Supplied fingerprint does not match current tags fingerprint.")
    items = body.get("items", [])
    check_tags(items)
    return {"tags": tags(items)}


_KEPT = ("preemptible", "provisioningModel")
_WHEN_STOPPED = (
    *_KEPT,
    "instanceTerminationAction",
    "maxRunDuration",
    "terminationTime",
    "preemptionNoticeDuration",
)


def _set_scheduling(vm: Vm, call: Call) -> Fields:
    """The options as a whole are replaced; what makes the instance a spot VM stays unless given."""
    body = call.read("Scheduling")
    before = vm.resource["scheduling"]
    kept = {} if "provisioningModel" in body else {key: before[key] for key in _KEPT if key in before}
    wanted = {**kept, **body}
    accelerated = bool(vm.resource.get("guestAccelerators")) or has_tpu(call.site, vm.resource)
    after = scheduling.complete(wanted, accelerated=accelerated, now=call.site.clock.now())
    changed = [key for key in _WHEN_STOPPED if key in body and before.get(key) != after.get(key)]
    if changed and vm.status != "TERMINATED":
        message = f"Scheduling option {changed[0]} can only be changed while the instance is TERMINATED."
        raise ApiError(400, "badRequest", message)
    untouched = {key: before[key] for key in _WHEN_STOPPED if key in before and key not in body}
    return {"scheduling": {**untouched, **after}}


def _set_deletion_protection(_vm: Vm, call: Call) -> Fields:
    return {"deletionProtection": call.switch("deletionProtection", default=True)}


def _set_machine_type(vm: Vm, call: Call) -> Fields:
    text = call.read("InstancesSetMachineTypeRequest").get("machineType", "")
    if vm.status != "TERMINATED":
        raise ApiError(
            400, "badRequest", f"Instance is {vm.status}; it must be stopped to change its machine type."
        )
    machine = machine_type(call.site, vm.zone, text, "instancesSetMachineTypeRequest.machineType")
    gpus = accelerators(call.site, vm.zone, machine, [])
    return {
        "machineType": call.site.links.link(f"zones/{vm.zone}/machineTypes/{machine.name}"),
        "guestAccelerators": gpus or None,
    }


def _set_disk_auto_delete(vm: Vm, call: Call) -> Fields:
    device, wanted = call.query.get("deviceName", ""), call.switch("autoDelete")
    if device not in [disk["deviceName"] for disk in vm.resource["disks"]]:
        raise invalid_field("deviceName", device, "No disk of the instance has this device name.")
    return {
        "disks": [
            {**disk, "autoDelete": wanted} if disk["deviceName"] == device else disk
            for disk in vm.resource["disks"]
        ]
    }


CHANGES: Mapping[str, Callable[[Vm, Call], Fields]] = {
    "attachDisk": attach,
    "detachDisk": detach,
    "setLabels": _set_labels,
    "setMetadata": _set_metadata,
    "setTags": _set_tags,
    "setScheduling": _set_scheduling,
    "setDeletionProtection": _set_deletion_protection,
    "setMachineType": _set_machine_type,
    "setDiskAutoDelete": _set_disk_auto_delete,
}
"""Method of `instances` → the fields that it replaces; each raises `ApiError` for what cannot be."""
