"""Which instances use a disk: written down at the disk, as `users`."""

from collections.abc import Mapping
from typing import Any

from localcloud.compute.links import last
from localcloud.compute.shelf import Resource
from localcloud.compute.site import Site


def disk_of(site: Site, attached: Mapping[str, Any]) -> Resource | None:
    """The disk behind an entry of an instance's disks; None for a local SSD, and where it is gone."""
    scope, _, name = (
        attached.get("source", "").partition(f"/projects/{site.project}/")[2].partition("/disks/")
    )
    return site.things["disks"].get(scope, name)


def use(site: Site, attached: Mapping[str, Any], user: str) -> None:
    """Write down that this instance (its URL) uses the disk."""
    disk = disk_of(site, attached)
    if disk:
        users = [*disk.get("users", ()), user]
        put(site, {**disk, "users": users, "lastAttachTimestamp": site.now()})


def release(site: Site, attached: Mapping[str, Any], user: str, *, delete: bool = False) -> None:
    """Write down that this instance does not use it any more; `delete` it where nobody else does."""
    disk = disk_of(site, attached)
    if disk is None:
        return
    users = [other for other in disk.get("users", ()) if other != user]
    if delete and not users:
        site.things["disks"].take(f"zones/{last(disk['zone'])}", disk["name"])
        return
    rest = {key: value for key, value in disk.items() if key != "users"}
    put(site, {**rest, **({"users": users} if users else {}), "lastDetachTimestamp": site.now()})


def put(site: Site, disk: Resource) -> None:
    """Replace a disk's resource."""
    site.things["disks"].put(f"zones/{last(disk['zone'])}", disk["name"], disk)
