"""An instance as Compute Engine's JSON shows it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tests.fakes.vms import Vm

IMAGE = "https://www.googleapis.com/compute/v1/projects/debian-cloud/global/images/debian-12"
_ROOT = "https://www.googleapis.com/compute/v1/projects/p"


def resource(vm: Vm) -> Mapping[str, Any]:
    """The resource that `instances.get` gives: what was asked for, and what Compute Engine made of it."""
    seen, zone = vm.seen, f"{_ROOT}/zones/{vm.seen.zone}"
    asked = {key: value for key, value in vm.body.items() if key not in {"disks", "networkInterfaces"}}
    machine = str(vm.body.get("machineType", "n1-standard-1")).rpartition("/")[2]
    return {
        **asked,
        "kind": "compute#instance",
        "id": seen.id,
        "name": seen.name,
        "zone": zone,
        "selfLink": f"{zone}/instances/{seen.name}",
        "status": seen.status.value,
        "creationTimestamp": _moment(seen.created),
        "lastStartTimestamp": _moment(seen.started),
        "machineType": f"{zone}/machineTypes/{machine}",
        "metadata": {"kind": "compute#metadata", "fingerprint": "MDA=", **vm.body.get("metadata", {})},
        "labels": dict(vm.body.get("labels", {})),
        "labelFingerprint": "MDE=",
        "disks": [_disk(zone, seen.name, index, disk) for index, disk in enumerate(vm.body.get("disks", ()))],
        "networkInterfaces": [
            _interface(index, one) for index, one in enumerate(vm.body.get("networkInterfaces", ({},)))
        ],
    }


def disk_of(vm: Vm, link: str) -> Mapping[str, Any] | None:
    """The disk of this link as `disks.get` gives it; None where it is not this VM's."""
    at = f"{_ROOT}/zones/{vm.seen.zone}"
    asked_for = vm.body.get("disks", ())
    sources = [_disk(at, vm.seen.name, index, disk)["source"] for index, disk in enumerate(asked_for)]
    if link not in sources:
        return None
    index = sources.index(link)
    asked = vm.body["disks"][index].get("initializeParams", {})
    zone, _, name = link.rpartition("/disks/")
    return {
        "kind": "compute#disk",
        "name": name,
        "selfLink": link,
        "zone": zone,
        "sizeGb": str(asked.get("diskSizeGb", "10")),
        "type": f"{zone}/diskTypes/{str(asked.get('diskType', 'pd-standard')).rpartition('/')[2]}",
        "sourceImage": str(asked.get("sourceImage", IMAGE)),
        "creationTimestamp": _moment(vm.seen.created),
        "users": [f"{zone}/instances/{vm.seen.name}"],
    }


def _moment(moment: datetime | None) -> str:
    return "" if moment is None else moment.isoformat(timespec="milliseconds")


def _disk(zone: str, name: str, index: int, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """An attached disk names its own disk; the image it was made from is not told."""
    own = name if index == 0 else f"{name}-{index}"
    kept = {key: value for key, value in asked.items() if key != "initializeParams"}
    return {
        "kind": "compute#attachedDisk",
        "source": f"{zone}/disks/{own}",
        "deviceName": f"persistent-disk-{index}",
        "index": index,
        "mode": "READ_WRITE",
        "type": "PERSISTENT",
        "diskSizeGb": str(asked.get("initializeParams", {}).get("diskSizeGb", "10")),
        **kept,
    }


def _interface(index: int, asked: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"kind": "compute#networkInterface", "name": f"nic{index}", "networkIP": "10.128.0.2", **asked}
