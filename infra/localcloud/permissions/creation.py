"""What creating a VM needs besides `compute.instances.create`: it depends on what the VM is to have.

From "Create and start a Compute Engine instance", required permissions; the `authorizationInfo` of audit log
entries of `instances.insert` shows the same. An image of a public project needs nothing. What a template or
a machine image brings is the template's: only its use is asked for here. An external address that is named
is a reserved one; of an internal one the request does not tell, so nothing is asked for it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

from localcloud.permissions.account import Need
from localcloud.permissions.refusals import ACT_AS

Json = Mapping[str, Any]

_PROJECT = re.compile(r"projects/([^/]+)/")
_REGION = re.compile(r"(?:zones/([a-z]+-[a-z]+\d+)-[a-z]|regions/([a-z]+-[a-z]+\d+))")
_SET = {
    "labels": "compute.instances.setLabels",
    "metadata": "compute.instances.setMetadata",
    "serviceAccounts": "compute.instances.setServiceAccount",
    "tags": "compute.instances.setTags",
    "deletionProtection": "compute.instances.setDeletionProtection",
}
_SOURCES = {
    "sourceSnapshot": "compute.snapshots.useReadOnly",
    "sourceInstantSnapshot": "compute.instantSnapshots.useReadOnly",
    "sourceDisk": "compute.disks.useReadOnly",
}

ASKED = frozenset(
    {
        *_SET.values(),
        *_SOURCES.values(),
        ACT_AS,
        "compute.addresses.use",
        "compute.disks.create",
        "compute.disks.setLabels",
        "compute.disks.use",
        "compute.disks.useReadOnly",
        "compute.images.useReadOnly",
        "compute.instanceTemplates.useReadOnly",
        "compute.machineImages.useReadOnly",
        "compute.resourcePolicies.use",
        "compute.subnetworks.use",
        "compute.subnetworks.useExternalIp",
    }
)
"""All that `created` may ask for."""


def created(place: str, body: Json, query: str) -> Iterator[Need]:
    """What an insert or bulk insert needs besides; `place` is the path, `projects/P/zones/Z/instances…`."""
    asked = {key: values[-1] for key, values in parse_qs(query).items()}
    home = place.removesuffix("/bulkInsert")
    template = body.get("sourceInstanceTemplate") or asked.get("sourceInstanceTemplate", "")
    if template:
        yield _need("compute.instanceTemplates.useReadOnly", template)
    if image := body.get("sourceMachineImage") or asked.get("sourceMachineImage", ""):
        yield _need("compute.machineImages.useReadOnly", image)
    properties: Json = body.get("instanceProperties", body)
    yield from _machine(f"{home}/{body.get('name', '')}".rstrip("/"), properties)


def _machine(path: str, properties: Json) -> Iterator[Need]:
    for disk in _items(properties.get("disks")):
        yield from _disk(path, disk)
    for card in _items(properties.get("networkInterfaces")):
        yield from _card(path, card)
    for field, permission in _SET.items():
        if _is_set(properties.get(field)):
            yield _need(permission, path)
    for policy in properties.get("resourcePolicies") or ():
        yield _need("compute.resourcePolicies.use", str(policy))
    for account in _items(properties.get("serviceAccounts")):
        yield _need(ACT_AS, str(account.get("email", "default")))


def _is_set(value: Any) -> bool:
    """Whether a field says anything: `{"items": []}` does not."""
    return bool(value.get("items", True) if isinstance(value, Mapping) and value else value)


def _disk(path: str, disk: Json) -> Iterator[Need]:
    if source := disk.get("source"):
        reads = disk.get("mode") == "READ_ONLY"
        yield _need("compute.disks.useReadOnly" if reads else "compute.disks.use", str(source))
        return
    if disk.get("type") == "SCRATCH":
        return
    yield _need("compute.disks.create", path.replace("/instances", "/disks"))
    params: Json = disk.get("initializeParams") or {}
    if params.get("labels"):
        yield _need("compute.disks.setLabels", path.replace("/instances", "/disks"))
    for policy in params.get("resourcePolicies") or ():
        yield _need("compute.resourcePolicies.use", str(policy))
    for field, permission in _SOURCES.items():
        if params.get(field):
            yield _need(permission, str(params[field]))
    if image := str(params.get("sourceImage") or ""):
        named, own = _PROJECT.search(image), _PROJECT.search(path)
        if named is None or own is None or named[1] == own[1]:
            yield _need("compute.images.useReadOnly", image)


def _card(path: str, card: Json) -> Iterator[Need]:
    region = _REGION.search(path)
    name = str(card.get("network") or "default").rpartition("/")[2]
    where = f"{path.partition('/zones/')[0].partition('/regions/')[0]}/regions/{_first(region)}"
    subnet = str(card.get("subnetwork") or f"{where}/subnetworks/{name}")
    yield _need("compute.subnetworks.use", subnet)
    outside = [*_items(card.get("accessConfigs")), *_items(card.get("ipv6AccessConfigs"))]
    if outside:
        yield _need("compute.subnetworks.useExternalIp", subnet)
    for config in outside:
        if config.get("natIP") or config.get("externalIpv6"):
            yield _need("compute.addresses.use", path.partition("/zones/")[0])


def _first(match: re.Match[str] | None) -> str:
    return next(filter(None, match.groups()), "") if match else ""


def _items(value: Any) -> Sequence[Json]:
    return [part for part in value if isinstance(part, Mapping)] if isinstance(value, list) else []


def _need(permission: str, on: str) -> Need:
    found = on.find("projects/")
    return Need(permission=permission, on=on[found:] if found >= 0 else on)
