"""Local SSDs of an instance. There is nothing on them here: what is kept is whether it was saved."""

from collections.abc import Mapping
from typing import Any

_SCRATCH = "SCRATCH"
_SAVED = "savedState"


def has_local_ssd(resource: Mapping[str, Any]) -> bool:
    """Whether one is attached."""
    return any(disk["type"] == _SCRATCH for disk in resource["disks"])


def saved(resource: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The disks of an instance that was stopped with `discardLocalSsd=false` (`AttachedDisk.savedState`)."""
    return [{**disk, _SAVED: "PRESERVED"} if disk["type"] == _SCRATCH else disk for disk in resource["disks"]]


def restored(resource: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The disks of an instance that is started again: nothing is saved any more, it is on the disk."""
    return [{key: value for key, value in disk.items() if key != _SAVED} for disk in resource["disks"]]
