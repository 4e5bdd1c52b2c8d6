"""All disks of a machine, in gcloud's order: boot disk, existing ones, new ones, local ones."""

from typing import Any

from spotwarden.create_script.gcloud import defaults
from spotwarden.create_script.gcloud.argv import Args
from spotwarden.create_script.gcloud.create_disks import disk_type, interface_of, mode_of, new_disk
from spotwarden.create_script.gcloud.images import instant_snapshot, snapshot
from spotwarden.create_script.gcloud.letters import BULK, CONTAINER, CREATE
from spotwarden.create_script.gcloud.links import ResourceLink, region_of
from spotwarden.create_script.gcloud.mounts import device_name
from spotwarden.create_script.gcloud.scene import GcloudScene, compact
from spotwarden.create_script.gcloud.security import KeyRing, key_ring, kms_key
from spotwarden.create_script.gcloud.tables import words
from spotwarden.create_script.gcloud.values import GIB, whole_gb

_INTERFACES = ("NVME", "SCSI")
# Beside a template no disk is sent at all, unless one of these flags asks for one.
_DISK_FLAGS = {
    CREATE: words(
        """
        boot-disk-auto-delete boot-disk-device-name boot-disk-interface boot-disk-kms-key
        boot-disk-kms-keyring boot-disk-kms-location boot-disk-kms-project boot-disk-type create-disk disk
        local-nvdimm local-ssd require-csek-key-create
        """
    ),
    CONTAINER: words(
        """
        boot-disk-auto-delete boot-disk-device-name boot-disk-provisioned-iops boot-disk-type create-disk disk
        local-nvdimm local-ssd
        """
    ),
    BULK: words("boot-disk-auto-delete boot-disk-device-name boot-disk-interface boot-disk-type local-ssd"),
}


def disks(scene: GcloudScene, name: str | None, image: ResourceLink | None) -> list[dict[str, Any]] | None:
    """Give the disks of the machine of this name; `image` is for a boot disk made from flags.

    None leaves the disks to a template. A disk with `boot=yes` takes the place of the boot disk.
    """
    if scene.from_template and not scene.args.given(*_DISK_FLAGS[scene.command]):
        return None
    keys = key_ring(scene)
    existing = [_existing(scene, disk, keys) for disk in scene.args["disk"] or []]
    new = [new_disk(scene, disk) for disk in scene.args["create-disk"] or []]
    boot = [] if image is None else [_boot(scene, name, image, keys)]
    named = sorted(existing + new, key=_boot_first)
    return boot + named + _memory_disks(scene) + _local_disks(scene)


def _boot_first(disk: dict[str, Any]) -> bool:
    return not disk["boot"]


def own_boot_disk(args: Args) -> bool:
    """Say whether a --disk or --create-disk is the boot disk."""
    return any(disk.get("boot") for disk in (args["disk"] or []) + (args["create-disk"] or []))


def check(scene: GcloudScene) -> None:
    """Raise `Refused` for disk flags that gcloud refuses before it builds anything."""
    args = scene.args
    with scene.blame("boot-disk-size"):
        whole_gb(args["boot-disk-size"])
    for disk in args["disk"] or []:
        _check_disk(scene, "disk", disk)
        if not disk.get("name") and ("name" not in disk or not scene.bare):
            raise args.refusal("disk", "needs the name of the disk")
        if len(args.names) > 1 and disk.get("mode") == "rw":
            raise args.refusal("disk", f"{disk['name']!r} cannot be attached to several machines in mode rw")
    for disk in args["create-disk"] or []:
        if scene.command != CONTAINER:
            _check_new(scene, disk)
    if scene.command != CONTAINER:
        _check_boot(args)
    for disk in args["local-ssd"] or []:
        _check_local(args, disk)


def _check_disk(scene: GcloudScene, flag: str, disk: dict[str, Any]) -> None:
    if disk.get("mode") and disk["mode"] not in {"ro", "rw"}:
        raise scene.args.refusal(flag, f"the mode {disk['mode']!r} is not one of ro, rw")
    if disk.get("interface") and disk["interface"] not in _INTERFACES:
        raise scene.args.refusal(
            flag, f"the interface {disk['interface']!r} is not one of {', '.join(_INTERFACES)}"
        )


def _check_new(scene: GcloudScene, disk: dict[str, Any]) -> None:
    args = scene.args
    _check_disk(scene, "create-disk", disk)
    if args["csek-key-file"]:
        raise args.refusal("create-disk", "makes gcloud 528 fail with --csek-key-file; leave one of them out")
    sources = {
        disk[key]
        for key in ("image", "image-family", "source-snapshot", "source-instant-snapshot")
        if disk.get(key)
    }
    if len(sources) > 1:
        raise args.refusal("create-disk", "may name only one of image, image-family and source-snapshot")


def _check_boot(args: Args) -> None:
    own = [disk for flag in ("disk", "create-disk") for disk in args[flag] or [] if disk.get("boot")]
    if len(own) > 1:
        raise args.refusal(
            "create-disk" if args.given("create-disk") else "disk", "there can be only one boot disk"
        )
    kind = (args["boot-disk-type"] or "").split("/")[-1]
    for limit, types in (("iops", defaults.IOPS_DISK_TYPES), ("throughput", defaults.THROUGHPUT_DISK_TYPES)):
        flag = f"boot-disk-provisioned-{limit}"
        if args.given(flag) and kind not in types:
            raise args.refusal(flag, f"needs a --boot-disk-type that has one: {', '.join(sorted(types))}")
    interface = args["boot-disk-interface"]
    if interface is not None and interface not in _INTERFACES:
        raise args.refusal("boot-disk-interface", f"{interface!r} is not one of {', '.join(_INTERFACES)}")
    if (
        args["boot-disk-type"] in defaults.LEGACY_DISK_TYPES
        and (args["boot-disk-size"] or 10 * GIB) < 10 * GIB
    ):
        raise args.refusal("boot-disk-size", "must be at least 10GB for this type of disk")
    if own:
        _check_no_boot_flags(args)


def _check_no_boot_flags(args: Args) -> None:
    flags = ("image", "boot-disk-device-name", "boot-disk-type", "boot-disk-size")
    kms = tuple(f"boot-disk-kms-{part}" for part in ("key", "keyring", "location", "project"))
    for flag in flags + kms:
        if args[flag]:
            raise args.refusal(
                flag, "can't be used with a --disk or --create-disk with boot=yes; leave one of them out"
            )
    if not args["boot-disk-auto-delete"]:
        raise args.refusal(
            "boot-disk-auto-delete", "cannot be negated beside a disk with boot=yes; use its auto-delete"
        )


def _check_local(args: Args, disk: dict[str, Any]) -> None:
    interface, size = disk.get("interface"), disk.get("size")
    if interface and interface not in _INTERFACES:
        raise args.refusal("local-ssd", f"the interface {interface!r} is not one of {', '.join(_INTERFACES)}")
    if size is not None and size not in [gb * GIB for gb in defaults.LOCAL_SSD_SIZES_GB]:
        sizes = ", ".join(f"{gb}GB" for gb in defaults.LOCAL_SSD_SIZES_GB)
        raise args.refusal("local-ssd", f"the size must be one of {sizes}")


def _boot(scene: GcloudScene, name: str | None, image: ResourceLink, keys: KeyRing | None) -> dict[str, Any]:
    args = scene.args
    device = args["boot-disk-device-name"]
    key = None
    if keys:
        device = device or name or ""
        link = scene.link("boot-disk-device-name", device, "disks", project=scene.project, zone=scene.place)
        key = keys.find(link, required=args["require-csek-key-create"])
    managed = None if scene.command == CONTAINER else kms_key(scene, "boot-disk")
    if managed and key:
        raise args.refusal(
            "boot-disk-kms-key",
            "can't be used with a key for the same disk in --csek-key-file; leave one out",
        )
    return compact(
        autoDelete=args["boot-disk-auto-delete"],
        boot=True,
        deviceName=device,
        diskEncryptionKey=managed or key,
        initializeParams=_boot_params(scene, image, keys),
        interface=interface_of(args["boot-disk-interface"]),
        mode="READ_WRITE",
        type="PERSISTENT",
    )


def _boot_params(scene: GcloudScene, image: ResourceLink, keys: KeyRing | None) -> dict[str, Any]:
    args = scene.args
    source = snapshot(scene, "source-snapshot", args["source-snapshot"], args["source-snapshot-region"])
    instant = instant_snapshot(scene, "source-instant-snapshot", args["source-instant-snapshot"])
    return compact(
        diskSizeGb=whole_gb(args["boot-disk-size"]),
        diskType=disk_type(scene, "boot-disk-type", args["boot-disk-type"]),
        provisionedIops=_text(args["boot-disk-provisioned-iops"]),
        provisionedThroughput=_text(args["boot-disk-provisioned-throughput"]),
        sourceImage=None if source or instant else image,
        sourceImageEncryptionKey=keys.find(image) if keys else None,
        sourceInstantSnapshot=None if source else instant,
        sourceSnapshot=source,
    )


def _text(number: int | None) -> str | None:
    return None if number is None else str(number)


def _existing(scene: GcloudScene, disk: dict[str, Any], keys: KeyRing | None) -> dict[str, Any]:
    regional = disk.get("scope") == "regional"
    if regional:
        # In a region gcloud takes the place for a zone here, and sends "us" for us-central1.
        parts = {"project": scene.project, "region": region_of(scene.place)}
        link = scene.link("disk", disk["name"], "regionDisks", **parts)
    else:
        link = scene.zonal("disk", disk["name"], "disks")
    return compact(
        autoDelete=disk.get("auto-delete", False),
        boot=disk.get("boot", False),
        deviceName=device_name(scene, disk),
        diskEncryptionKey=keys.find(link) if keys else None,
        forceAttach=disk.get("force-attach"),
        interface=interface_of(disk.get("interface")),
        mode="READ_ONLY" if scene.command == BULK else mode_of(disk),
        source=disk["name"] if scene.bare and not regional else link,
        type="PERSISTENT",
    )


def _local_disks(scene: GcloudScene) -> list[dict[str, Any]]:
    kind = disk_type(scene, "local-ssd", "local-ssd") if scene.args["local-ssd"] else None
    return [
        compact(
            autoDelete=True,
            deviceName=disk.get("device-name"),
            diskSizeGb=whole_gb(disk.get("size")),
            initializeParams={"diskType": kind},
            interface=disk.get("interface") or None,
            mode="READ_WRITE",
            type="SCRATCH",
        )
        for disk in scene.args["local-ssd"] or []
    ]


def _memory_disks(scene: GcloudScene) -> list[dict[str, Any]]:
    with scene.blame("local-nvdimm"):
        return [
            compact(
                autoDelete=True,
                diskSizeGb=whole_gb(disk.get("size")),
                initializeParams={"diskType": disk_type(scene, "local-nvdimm", "aep-nvdimm")},
                interface="NVDIMM",
                mode="READ_WRITE",
                type="SCRATCH",
            )
            for disk in scene.args["local-nvdimm"] or []
        ]
