"""Disks, addresses and snapshots that a job has left behind, in Compute Engine's lists."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from spotwarden.gcp.calls import ID
from spotwarden.gcp.managed import manager_of
from spotwarden.gcp.wire import WireListed, WirePage, WireWarning, last, utc
from spotwarden.model.fleet import JOB_LABEL, Leftover

OURS = f"labels.{JOB_LABEL}:*"
"""The filter for what carries a job's label, whichever job it is."""

DISKS = "disks(id,name,selfLink,creationTimestamp,status,users,sizeGb,labels)"
ADDRESSES = "addresses(id,name,selfLink,creationTimestamp,status,users,address,labels)"
SNAPSHOTS = (
    "items(id,name,selfLink,creationTimestamp,status,diskSizeGb,sourceDiskId,labels),nextPageToken,warning"
)
"""This list has no `unreachables`: who asks for a field that an answer cannot have is refused."""

_LINK = re.compile(rf"projects/([^/?#]+)/[^?#]+/(?:disks|addresses|snapshots)/{ID}")
_AT_REST = {"disk": "READY", "address": "RESERVED", "snapshot": "READY"}


class WireLeftover(msgspec.Struct, frozen=True, rename="camel"):
    """A disk, an address or a snapshot."""

    id: str
    name: str
    self_link: str
    status: str = ""
    creation_timestamp: datetime | None = None
    users: Sequence[str] = ()
    size_gb: str = "0"
    disk_size_gb: str = "0"
    source_disk_id: str = ""
    address: str = ""
    labels: dict[str, str] = {}


class LeftoverReader(WireListed, frozen=True):
    """What an aggregated list holds for one zone or region."""

    disks: Sequence[WireLeftover] = ()
    addresses: Sequence[WireLeftover] = ()


LeftoverPage = WirePage[LeftoverReader]


class Snapshots(msgspec.Struct, frozen=True, rename="camel"):
    """One page of the list of snapshots."""

    items: Sequence[WireLeftover] = ()
    next_page_token: str = ""
    warning: WireWarning | None = None

    def missing(self) -> Iterator[str]:
        """Short names of the scopes that this page may hide something of."""
        if self.warning is not None:
            yield from map(last, self.warning.scopes("global"))


def leftover(kind: str, object_name: WireLeftover) -> Leftover | None:
    """The thing, if it carries a job's label and nothing uses it; None where one cannot say so.

    Its link names it by its id: a name may be another's by the time that it is removed.
    """
    job = object_name.labels.get(JOB_LABEL, "")
    if not job or object_name.users or object_name.status != _AT_REST[kind]:
        return None
    home = object_name.self_link.partition("/compute/v1/")[2].rpartition("/")[0]
    return Leftover(
        kind=kind,
        name=object_name.name,
        link=checked(f"{home}/{object_name.id}"),
        job=job,
        created=utc(object_name.creation_timestamp),
        size_gb=int(object_name.disk_size_gb if kind == "snapshot" else object_name.size_gb),
        labels=object_name.labels,
        manager=manager_of(object_name.labels),
        origin=object_name.source_disk_id if kind == "snapshot" else "",
        address=object_name.address,
    )


def checked(link: str, project: str = "") -> str:
    """The link, if it is that of a disk, address or snapshot by its id; `ValueError` where it is not.

    With `project` it must be one of that project.
    """
    found = _LINK.fullmatch(link)
    if not found or ".." in link or (project and found[1] != project):
        raise ValueError(f"Not a disk, address or snapshot by its ID: {link!r}")
    return link
