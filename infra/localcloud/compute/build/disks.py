"""Disks of an instance: those that are created with it, and those that exist."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from localcloud.compute.build import images
from localcloud.compute.build.checks import check_name
from localcloud.compute.catalog import CatalogMachine
from localcloud.compute.ids import fingerprint
from localcloud.compute.links import last
from localcloud.compute.refusals import already_exists, in_use, invalid_field, not_compatible, not_found
from localcloud.compute.shelf import Resource
from localcloud.compute.site import Site

LOCAL_SSD_GB = "375"
_OUTSIDE = ("deviceName", "mode", "interface", "autoDelete", "boot", "diskEncryptionKey", "forceAttach")


@dataclass(frozen=True, kw_only=True)
class Disks:
    """`attached` as the instance shows them, `created` the disks that are made along with it."""

    attached: Sequence[dict[str, Any]]
    created: Sequence[Resource]


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where a disk goes: which of which instance, and the field of the request that speaks of it."""

    site: Site
    zone: str
    instance: str
    machine: CatalogMachine
    index: int

    @property
    def field(self) -> str:
        return f"resource.disks[{self.index}]"

    @property
    def user(self) -> str:
        return self.site.links.link(f"zones/{self.zone}/instances/{self.instance}")


def disks(
    site: Site, zone: str, instance: str, given: Sequence[Mapping[str, Any]], machine: CatalogMachine
) -> Disks:
    """Work out the disks of an instance; nothing is created or attached yet.

    Raises:
        ApiError: 400, 404 or 409: no boot disk, no such image or disk, a name that is taken, a disk in use.
    """
    if not given:
        raise invalid_field("resource.disks", "", "No disks are specified.")
    if sum(bool(part.get("boot")) for part in given) != 1 or not given[0].get("boot"):
        raise invalid_field(
            "resource.disks", "", "Boot disk must be the first disk attached to the instance."
        )
    attached: list[dict[str, Any]] = []
    created: list[Resource] = []
    for index, item in enumerate(given):
        place = _Place(site=site, zone=zone, instance=instance, machine=machine, index=index)
        _check_taken(place, item)
        disk = _disk(place, item)
        if disk is not None and "source" not in item:
            _check_new(place, disk, created)
            created.append(disk)
        attached.append(_attached(place, item, disk))
    return Disks(attached=attached, created=created)


def another(site: Site, zone: str, instance: Resource, given: Mapping[str, Any]) -> dict[str, Any]:
    """A disk that exists, as an instance shows it that it is attached to beside those that it has.

    Raises:
        ApiError: 400 or 404: no such disk, or one of another zone or in use.
    """
    machine = site.catalog.machine(last(instance["machineType"]), zone)
    if machine is None:
        raise invalid_field("resource.machineType", instance["machineType"], "Unknown machine type.")
    index = max((disk["index"] for disk in instance["disks"]), default=-1) + 1
    place = _Place(site=site, zone=zone, instance=instance["name"], machine=machine, index=index)
    return _attached(place, given, _existing(place, given))


def _check_taken(place: _Place, given: Mapping[str, Any]) -> None:
    """Refuse a new disk of a type that the machine's family does not take."""
    family = place.site.catalog.families[place.machine.family]
    kind = last(given.get("initializeParams", {}).get("diskType", ""))
    if given.get("type") == "SCRATCH":
        if not family.local_ssds:
            raise not_compatible("local-ssd", place.machine.name)
    elif kind and family.disks and kind in place.site.catalog.disk_types and kind not in family.disks:
        raise not_compatible(kind, place.machine.name)


def _check_new(place: _Place, disk: Resource, created: Sequence[Resource]) -> None:
    if any(other["name"] == disk["name"] for other in created):
        why = "Two disks of the instance would have this name."
        raise invalid_field(f"{place.field}.initializeParams.diskName", disk["name"], why)


def _disk(place: _Place, given: Mapping[str, Any]) -> Resource | None:
    """The disk behind an entry: one that exists, or one to be made. A local SSD has none."""
    if "source" in given:
        return _existing(place, given)
    wanted = given.get("initializeParams")
    if given.get("type") == "SCRATCH":
        return None
    if wanted is None:
        raise invalid_field(place.field, "", "One of source or initializeParams is required.")
    return _made(place, given, wanted)


def _existing(place: _Place, given: Mapping[str, Any]) -> Resource:
    field, home = f"{place.field}.source", f"zones/{place.zone}"
    reference = place.site.links.read(given["source"], field=field, collection="disks", scope=home)
    disk = place.site.things["disks"].get(reference.scope, reference.name)
    if disk is None or reference.project != place.site.project:
        raise not_found(reference.path)
    if reference.scope != home:
        raise invalid_field(field, given["source"], f"The disk is not in zone '{place.zone}'.")
    if disk.get("users") and given.get("mode", "READ_WRITE") != "READ_ONLY":
        raise in_use(reference.path, disk["users"][0].partition("/compute/v1/")[2])
    return disk


def _made(place: _Place, given: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    if wanted.get("replicaZones"):
        why = "The local cloud has no regional disks."
        raise invalid_field(f"{place.field}.initializeParams.replicaZones", wanted["replicaZones"], why)
    name = wanted.get("diskName") or _default_name(place)
    check_name(name, f"{place.field}.initializeParams.diskName")
    site, scope = place.site, f"zones/{place.zone}"
    if site.things["disks"].get(scope, name) is not None:
        raise already_exists(f"projects/{site.project}/{scope}/disks/{name}")
    usual = site.catalog.families[place.machine.family].disks[:1]
    typed = {"diskType": f"{scope}/diskTypes/{usual[0]}", **wanted} if usual else wanted
    disk = new_disk(site, scope, name, typed, field=f"{place.field}.initializeParams")
    if given.get("boot") and not {"sourceImage", "sourceSnapshot"} & disk.keys():
        why = "A boot disk needs a sourceImage, a sourceSnapshot or an existing disk as source."
        raise invalid_field(f"{place.field}.initializeParams.sourceImage", "", why)
    _check_architecture(place, disk)
    return disk


def _default_name(place: _Place) -> str:
    return place.instance if place.index == 0 else f"{place.instance[:60]}-{place.index}"


def _check_architecture(place: _Place, disk: Mapping[str, Any]) -> None:
    built_for, machine = disk.get("architecture", ""), place.machine
    if built_for and built_for != machine.architecture:
        why = f"The architecture {built_for} is not compatible with machine type {machine.name}."
        raise invalid_field(f"{place.field}.initializeParams.sourceImage", disk.get("sourceImage", ""), why)


def new_disk(site: Site, scope: str, name: str, wanted: Mapping[str, Any], *, field: str) -> dict[str, Any]:
    """The `compute#disk` resource of a disk that is asked for; `scope` is `zones/Z`.

    Raises:
        ApiError: 400 when its image or its size cannot be used, 404 when its type or snapshot does not exist.
    """
    kind = _disk_type(
        site, scope, wanted.get("diskType", wanted.get("type", "pd-standard")), f"{field}.diskType"
    )
    source, least = _source(site, wanted, field)
    size = wanted.get("diskSizeGb", wanted.get("sizeGb"))
    if size is not None and int(size) < least:
        why = f"Requested disk size cannot be smaller than the image size ({least} GB)"
        raise invalid_field(f"{field}.diskSizeGb", size, why)
    kept = (
        "architecture",
        "description",
        "enableConfidentialCompute",
        "labels",
        "licenses",
        "resourcePolicies",
        "provisionedIops",
        "provisionedThroughput",
        "storagePool",
    )
    return {
        "kind": "compute#disk",
        "id": site.numbers.take(),
        "creationTimestamp": site.now(),
        "name": name,
        "sizeGb": size or str(least or site.catalog.disk_types[kind].gb),
        "zone": site.links.link(scope),
        "status": "READY",
        **source,
        "selfLink": site.links.link(f"{scope}/disks/{name}"),
        "type": site.links.link(f"{scope}/diskTypes/{kind}"),
        **{key: wanted[key] for key in kept if key in wanted},
        "labelFingerprint": fingerprint(wanted.get("labels", {})),
        "physicalBlockSizeBytes": "4096",
    }


def _disk_type(site: Site, scope: str, text: str, field: str) -> str:
    reference = site.links.read(text, field=field, collection="diskTypes", scope=scope)
    if reference.scope != scope or reference.name not in site.catalog.disk_types:
        raise not_found(reference.path)
    return reference.name


def _source(site: Site, wanted: Mapping[str, Any], field: str) -> tuple[dict[str, Any], int]:
    """What a disk is filled from, as fields of the disk, and the least size in GB."""
    if "sourceImage" in wanted:
        image = images.referenced(site, wanted["sourceImage"], f"{field}.sourceImage")
        fields = {"sourceImage": image["selfLink"], "sourceImageId": image["id"]}
        shared = {key: image[key] for key in ("architecture", "guestOsFeatures", "licenses") if key in image}
        return {**fields, **shared}, int(image.get("diskSizeGb", "10"))
    if "sourceSnapshot" in wanted:
        reference = site.links.read(
            wanted["sourceSnapshot"], field=f"{field}.sourceSnapshot", collection="snapshots", scope="global"
        )
        snapshot = site.things["snapshots"].get("global", reference.name)
        if snapshot is None or reference.project != site.project:
            raise not_found(reference.path)
        fields = {"sourceSnapshot": snapshot["selfLink"], "sourceSnapshotId": snapshot["id"]}
        return fields, int(snapshot.get("diskSizeGb", "10"))
    return {}, 0


def _attached(place: _Place, given: Mapping[str, Any], disk: Resource | None) -> dict[str, Any]:
    number = place.index
    scratch = {"diskSizeGb": LOCAL_SSD_GB, "type": "SCRATCH", "deviceName": f"local-ssd-{number}"}
    lasting = {"type": "PERSISTENT", "deviceName": f"persistent-disk-{number}"}
    of_disk = (
        {
            "source": disk["selfLink"],
            "diskSizeGb": disk["sizeGb"],
            **{key: disk[key] for key in ("licenses", "guestOsFeatures", "architecture") if key in disk},
        }
        if disk
        else {}
    )
    return {
        "kind": "compute#attachedDisk",
        **(lasting if disk else scratch),
        "mode": "READ_WRITE",
        "interface": "SCSI",
        "boot": False,
        "autoDelete": False,
        **of_disk,
        **{key: given[key] for key in _OUTSIDE if key in given},
        "index": number,
    }
