"""The disks of an instance that ran → disks of a request.

An instance names its disks and does not say what they were made from; the disks themselves do. A disk that
goes with its instance is made again, one that stays is attached again.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.urls import last, partial

Disk = Mapping[str, Any]
OLDER = timedelta(minutes=5)
"""A disk this much older than its instance was there before; one that is made with it is made in seconds."""

_ATTACHED = ("autoDelete", "boot", "deviceName", "interface", "mode", "type")
_KEPT = ("description", "labels", "provisionedIops", "provisionedThroughput")
_LINKS = ("replicaZones", "resourcePolicies", "sourceImage", "sourceSnapshot", "storagePool")
# What a create cannot name as the source of a new disk, or what has been lost with the instance.
_STRANGE = ("sourceDisk", "sourceInstantSnapshot", "sourceMachineImage", "sourceStorageObject")


def disks_of(resource: Mapping[str, Any], known: Mapping[str, Disk]) -> list[dict[str, Any]]:
    """The disks that make the instance's own ones again; `known` are disk resources by their URL.

    Raises:
        Refused: what a disk was made from is not known, or is lost.
    """
    by_path = {partial(link): disk for link, disk in known.items()}
    return [_disk(resource, attached, by_path) for attached in resource.get("disks", ())]


def _disk(resource: Mapping[str, Any], attached: Disk, known: Mapping[str, Disk]) -> dict[str, Any]:
    outside = {field: attached[field] for field in _ATTACHED if field in attached}
    if attached.get("type") == "SCRATCH":
        return {**outside, **_local(resource, attached)}
    key = key_of(attached, "diskEncryptionKey")
    source = partial(attached.get("source", ""))
    if not attached.get("autoDelete"):
        return {**outside, **key, "source": source}
    if source not in known:
        raise ScriptRefused(
            f"what the disk {last(source)} was made from is unknown: the disk was never looked at"
        )
    return {**outside, **key, "initializeParams": _params(resource, attached, known[source])}


def _local(resource: Mapping[str, Any], attached: Disk) -> dict[str, Any]:
    if attached.get("interface", "SCSI") not in {"NVME", "SCSI"}:
        raise ScriptRefused(f"a local disk with the interface {attached['interface']} can't be requested")
    size = {"diskSizeGb": attached["diskSizeGb"]} if "diskSizeGb" in attached else {}
    return {**size, "initializeParams": {"diskType": f"{partial(resource['zone'])}/diskTypes/local-ssd"}}


def _params(resource: Mapping[str, Any], attached: Disk, disk: Disk) -> dict[str, Any]:
    _check_content(resource, attached, disk)
    kept = {field: disk[field] for field in _KEPT if disk.get(field)}
    links = {field: _partials(disk[field]) for field in _LINKS if disk.get(field)}
    secret = {"enableConfidentialCompute": True} if disk.get("enableConfidentialCompute") else {}
    keys = dict(_keys(disk))
    shape = {"diskSizeGb": disk["sizeGb"], "diskType": partial(disk["type"])}
    return {**kept, **links, **secret, **keys, **shape, **_name(resource, disk)}


def _check_content(resource: Mapping[str, Any], attached: Disk, disk: Disk) -> None:
    """Refuse to make an empty or an old disk of one that held something else."""
    name, filled = disk["name"], disk.get("sourceImage") or disk.get("sourceSnapshot")
    strange = next((field for field in _STRANGE if disk.get(field) and not filled), None)
    if strange:
        raise ScriptRefused(
            f"the disk {name} was made from {last(disk[strange])}, which a create cannot name"
        )
    if attached.get("boot") and not filled:
        raise ScriptRefused(f"what the boot disk {name} was made from is unknown to Compute Engine")
    if _moment(disk) < _moment(resource) - OLDER:
        raise ScriptRefused(f"the disk {name} was there before {resource['name']} and is deleted with it")


def _moment(resource: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(resource["creationTimestamp"])


def _name(resource: Mapping[str, Any], disk: Disk) -> dict[str, str]:
    """The name of a disk, where it is not derived from the instance's."""
    name = resource["name"]
    derived = re.fullmatch(rf"{re.escape(name)}|{re.escape(name[:60])}-\d+", disk["name"])
    return {} if derived else {"diskName": disk["name"]}


def _keys(disk: Disk) -> Iterator[tuple[str, Any]]:
    for field in ("sourceImageEncryptionKey", "sourceSnapshotEncryptionKey"):
        yield from key_of(disk, field).items()


def key_of(holder: Mapping[str, Any], field: str) -> dict[str, Any]:
    """The key in this field, if any: one of Cloud KMS, in whichever version it has by then.

    Raises:
        Refused: it is a key of the customer's own, which the API does not show.
    """
    key = holder.get(field)
    if not key:
        return {}
    if "kmsKeyName" not in key:
        raise ScriptRefused(
            "it is encrypted with a key of the customer's own, which Compute Engine does not show"
        )
    return {field: {**key, "kmsKeyName": key["kmsKeyName"].partition("/cryptoKeyVersions/")[0]}}


def _partials(value: str | list[str]) -> str | list[str]:
    return [partial(link) for link in value] if isinstance(value, list) else partial(value)
