"""Disks that are mounted into a container."""

from typing import Any

from spotwarden.create_script.gcloud.scene import GcloudScene

_FLAG = "container-mount-disk"


def device_name(scene: GcloudScene, disk: dict[str, Any]) -> str | None:
    """Give the device name of a disk; beside --container-mount-disk it must be the disk's own name."""
    name, device = disk.get("name"), disk.get("device-name")
    if not scene.args[_FLAG]:
        return device
    if device and device != name:
        raise scene.args.refusal(
            _FLAG, f"the disk {name!r} must have its name as device name, not {device!r}"
        )
    return name


def mounted_disks(scene: GcloudScene) -> list[dict[str, Any]]:
    """Give what --container-mount-disk asks for, each with the name of its disk."""
    wanted = scene.args[_FLAG] or []
    existing, new = scene.args["disk"] or [], scene.args["create-disk"] or []
    if wanted and not existing + new:
        raise scene.args.refusal(_FLAG, "also needs --disk or --create-disk")
    return [_mounted(scene, mount, existing, new) for mount in wanted]


def _mounted(
    scene: GcloudScene, mount: dict[str, Any], existing: list[dict[str, Any]], new: list[dict[str, Any]]
) -> dict[str, Any]:
    disks = existing + new
    if mount.get("name"):
        found = next((disk for disk in disks if disk.get("name") == mount["name"]), None)
    else:
        found = disks[0] if len(disks) == 1 and mount.get("name") is None else None
    if found is None or not found.get("name"):
        raise scene.args.refusal(
            _FLAG, f"there is no disk named {mount.get('name') or '(none given)'} to mount"
        )
    _check(scene, mount, found, created=not any(found is disk for disk in existing))
    return mount | {"name": found["name"]}


def _check(scene: GcloudScene, mount: dict[str, Any], disk: dict[str, Any], *, created: bool) -> None:
    name = disk["name"]
    if disk.get("device-name") and disk["device-name"] != name:
        raise scene.args.refusal(_FLAG, f"the disk {name!r} must have its name as device name")
    if disk.get("mode") == "ro" and (mount.get("mode") in {"", "rw"} or created):
        raise scene.args.refusal(_FLAG, f"the disk {name!r} is read-only; attach it with mode=rw")
    if created and mount.get("partition"):
        raise scene.args.refusal(_FLAG, f"the new disk {name!r} has no partitions yet")
