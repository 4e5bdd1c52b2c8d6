"""Disks that are made together with the machine (--create-disk)."""

from typing import Any

from spotwarden.create_script.gcloud.images import disk_image, instant_snapshot, snapshot
from spotwarden.create_script.gcloud.letters import BULK, CONTAINER, CREATE, TEMPLATE
from spotwarden.create_script.gcloud.lists import label_key, label_value
from spotwarden.create_script.gcloud.mounts import device_name
from spotwarden.create_script.gcloud.scene import GcloudScene, compact
from spotwarden.create_script.gcloud.security import disk_kms_key
from spotwarden.create_script.gcloud.values import Misfit, whole_gb

_FLAG = "create-disk"
_ARCHITECTURES = ("ARCHITECTURE_UNSPECIFIED", "ARM64", "X86_64")
_ACTIONS = ("RECREATE_DISK", "RECREATE_DISK_IF_SOURCE_CHANGED", "USE_EXISTING_DISK")
_REPLICAS = 2


def new_disk(scene: GcloudScene, disk: dict[str, Any]) -> dict[str, Any]:
    """Give one new disk as the API wants it."""
    managed = None if scene.command == CONTAINER else disk_kms_key(scene, disk)
    return compact(
        autoDelete=disk.get("auto-delete", scene.command != TEMPLATE),
        boot=disk.get("boot", False),
        deviceName=device_name(scene, disk),
        diskEncryptionKey=managed,
        initializeParams=_params(scene, disk),
        interface=interface_of(disk.get("interface")),
        mode=mode_of(disk),
        type="PERSISTENT",
    )


def mode_of(disk: dict[str, Any]) -> str:
    """Give the mode of a disk; whatever is not rw is read-only."""
    return "READ_WRITE" if disk.get("mode", "rw") == "rw" else "READ_ONLY"


def interface_of(word: str | None) -> str | None:
    """Give the interface of a disk; anything that is not SCSI counts as NVME."""
    return None if not word else ("SCSI" if word == "SCSI" else "NVME")


def disk_type(scene: GcloudScene, flag: str, name: str | None, *, replicas: int = 0) -> str | None:
    """Give the type of a disk: a URL, in `bulk create` the bare name; two replicas make it a regional one."""
    if not name or scene.bare:
        return name or None
    if replicas == _REPLICAS:
        return scene.link(flag, name, "regionDiskTypes", project=scene.project, region=scene.region.lower())
    return scene.zonal(flag, name, "diskTypes")


def _params(scene: GcloudScene, disk: dict[str, Any]) -> dict[str, Any]:
    with scene.blame(_FLAG):
        size = whole_gb(disk.get("size"))
    replicas = disk.get("replica-zones", [])
    image = disk_image(scene, disk)
    source = None
    if scene.command != CONTAINER:
        source = snapshot(scene, _FLAG, disk.get("source-snapshot"), disk.get("source-snapshot-region"))
    instant = instant_snapshot(scene, _FLAG, disk.get("source-instant-snapshot"))
    return compact(
        architecture=_architecture(scene, disk),
        description=disk.get("description"),
        diskName=disk.get("name"),
        diskSizeGb=size,
        diskType=disk_type(scene, _FLAG, disk.get("type"), replicas=len(replicas)),
        enableConfidentialCompute=(scene.command == CREATE and disk.get("confidential-compute")) or None,
        labels=_labels(scene, disk),
        onUpdateAction=_action(scene, disk),
        multiWriter=(scene.command == CREATE and disk.get("multi-writer")) or None,
        provisionedIops=_text(disk.get("provisioned-iops")),
        provisionedThroughput=_text(disk.get("provisioned-throughput")),
        replicaZones=_replica_zones(scene, replicas),
        resourcePolicies=disk.get("disk-resource-policy") or None,
        sourceImage=None if source or instant else image,
        sourceInstantSnapshot=instant,
        sourceSnapshot=None if instant else source,
        storagePool=_pool(scene, disk.get("storage-pool")),
    )


def _text(number: int | None) -> str | None:
    return str(number) if number else None


def _replica_zones(scene: GcloudScene, zones: list[str]) -> list[str] | None:
    if scene.command == CONTAINER:
        return None
    return [scene.link(_FLAG, zone, "zones", project=scene.project) for zone in zones] or None


def _pool(scene: GcloudScene, name: str | None) -> str | None:
    return scene.zonal(_FLAG, name, "storagePools") if name else None


def _architecture(scene: GcloudScene, disk: dict[str, Any]) -> str | None:
    word: str | None = disk.get("architecture")
    if word and word not in _ARCHITECTURES:
        raise scene.args.refusal(_FLAG, f"the architecture {word!r} is not one of ARM64, X86_64")
    return word or None


def _action(scene: GcloudScene, disk: dict[str, Any]) -> str | None:
    word: str | None = disk.get("on-update-action")
    if word and word not in _ACTIONS:
        raise scene.args.refusal(_FLAG, f"the on-update-action {word!r} is not one of {', '.join(_ACTIONS)}")
    return word or None


def _labels(scene: GcloudScene, disk: dict[str, Any]) -> dict[str, str] | None:
    """Labels of disks are sent by the beta and alpha commands only; v1 forgets them."""
    if scene.track == "v1" or scene.command == BULK:
        return None
    labels: dict[str, str] = {}
    with scene.blame(_FLAG):
        for piece in disk.get("labels") or []:
            parts = piece.split("=")
            if len(parts) != 2 or parts[0] in labels:  # noqa: PLR2004 — KEY=VALUE
                raise Misfit(f"the label {piece!r} is not of the form KEY=VALUE, or is given twice")
            labels[label_key(parts[0])] = label_value(parts[1])
    return labels or None
