"""Instances that ran → the request that makes them again, for a job whose script is of no use.

An instance does not tell an address that was reserved from one that it was given: addresses, external and
internal, are given anew. Images are those that the disks were made from, not what their family has become.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.launched_disks import disks_of, key_of
from spotwarden.create_script.request.requested import launch_of_request
from spotwarden.create_script.request.urls import last, partial
from spotwarden.model.launch import Launch, NoLaunch
from spotwarden.model.request import Request

Resource = Mapping[str, Any]
STAMPS = frozenset(["spotwarden-job", "spotwarden-attempt", "spotwarden-try", "spotwarden-node"])
"""Metadata and labels that each launch of ours bears; the next one has its own."""

# What Compute Engine says of an instance, and no request does.
_SAID_ONLY = frozenset(
    [
        "cpuPlatform",
        "creationTimestamp",
        "fingerprint",
        "id",
        "kind",
        "labelFingerprint",
        "lastStartTimestamp",
        "lastStopTimestamp",
        "lastSuspendedTimestamp",
        "resourceStatus",
        "satisfiesPzi",
        "satisfiesPzs",
        "selfLink",
        "selfLinkWithId",
        "shieldedInstanceIntegrityPolicy",
        "sourceMachineImage",
        "sourceMachineImageEncryptionKey",
        "startRestricted",
        "status",
        "statusMessage",
        "upcomingMaintenance",
        "zone",
    ]
)
_CARD = [
    "enableVpcScopedDns",
    "igmpQuery",
    "network",
    "networkAttachment",
    "nicType",
    "parentNicName",
    "queueCount",
    "stackType",
    "subnetwork",
    "vlan",
]
_ACCESS = ("name", "networkTier", "publicPtrDomainName", "setPublicPtr", "type")
_MADE_BY_GROUP = {"created-by", "instance-template"}
# What instances of a bulk request may differ in, and what a bulk request cannot say.
_OWN = frozenset(["name", "hostname"])
_NOT_IN_BULK = ("deletionProtection", "displayDevice", "instanceEncryptionKey")


def launch_of_resources(
    resources: Mapping[str, Resource], disks: Mapping[str, Resource] | None = None
) -> Launch | NoLaunch:
    """The launch that makes these instances again, by node; `disks` are their disks' resources by URL.

    Several instances come as one bulk request, all or none, if they are alike but for their names.
    """
    try:
        return launch_of_request(_request(resources, disks or {}))
    except ScriptRefused as refused:
        return NoLaunch(reason=refused.reason)


def _request(resources: Mapping[str, Resource], disks: Mapping[str, Resource]) -> Request:
    for name, resource in resources.items():
        if {item["key"] for item in resource.get("metadata", {}).get("items", ())} >= _MADE_BY_GROUP:
            raise ScriptRefused(
                f"{name} was made by a managed instance group, which no request for VMs makes again"
            )
    zones = sorted({partial(resource["zone"]) for resource in resources.values()})
    if len(zones) != 1:
        raise ScriptRefused(
            f"its instances ran in {len(zones)} zones: {', '.join(map(last, zones)) or 'none'}"
        )
    path = f"/compute/v1/{zones[0]}/instances"
    # A VM may have another name than its node: beside the one that it took over from.
    bodies = [{**_body(resource, disks), "name": node} for node, resource in resources.items()]
    if len(bodies) == 1:
        return Request(method="POST", path=path, query={"alt": "json"}, body=bodies[0])
    return Request(method="POST", path=f"{path}/bulkInsert", query={"alt": "json"}, body=_bulk(bodies))


def _body(resource: Resource, disks: Mapping[str, Resource]) -> dict[str, Any]:
    """The body of the request for one instance."""
    kept = {field: value for field, value in resource.items() if field not in _SAID_ONLY}
    body = {
        **kept,
        "machineType": partial(resource["machineType"]),
        "disks": disks_of(resource, disks),
        "networkInterfaces": [_card(card) for card in resource.get("networkInterfaces", ())],
        "guestAccelerators": [
            _accelerator(accelerator) for accelerator in resource.get("guestAccelerators", ())
        ],
        "metadata": _items(_metadata(resource)),
        "tags": _items(resource.get("tags", {}).get("items", ())),
        "labels": {key: text for key, text in resource.get("labels", {}).items() if key not in STAMPS},
        "resourcePolicies": [partial(policy) for policy in resource.get("resourcePolicies", ())],
        **key_of(resource, "instanceEncryptionKey"),
    }
    return {field: value for field, value in body.items() if _says(value)}


def _says(value: object) -> bool:
    """Whether a field says more than one that is left out."""
    return value not in ({}, [], False, {"enableDisplay": False})


def _items(items: Iterable[Any]) -> dict[str, Any]:
    found = list(items)
    return {"items": found} if found else {}


def _metadata(resource: Resource) -> Iterable[Mapping[str, str]]:
    items = resource.get("metadata", {}).get("items", ())
    return (item for item in items if item["key"] not in STAMPS)


def _card(card: Resource) -> dict[str, Any]:
    """A network interface without the addresses that it has now."""
    kept = {field: card[field] for field in _CARD if field in card}
    for field in ("network", "networkAttachment", "subnetwork"):
        if field in kept:
            kept[field] = partial(kept[field])
    lists = {
        "accessConfigs": [_some(access, _ACCESS) for access in card.get("accessConfigs", ())],
        "ipv6AccessConfigs": [_some(access, _ACCESS) for access in card.get("ipv6AccessConfigs", ())],
        "aliasIpRanges": [_alias(alias) for alias in card.get("aliasIpRanges", ())],
    }
    return kept | {field: found for field, found in lists.items() if found}


def _some(holder: Resource, fields: Iterable[str]) -> dict[str, Any]:
    return {field: holder[field] for field in fields if field in holder}


def _alias(alias: Resource) -> dict[str, Any]:
    """A range of the same size."""
    return {**alias, "ipCidrRange": f"/{alias['ipCidrRange'].rpartition('/')[2]}"}


def _accelerator(resource: Resource) -> dict[str, Any]:
    return {**resource, "acceleratorType": partial(resource["acceleratorType"])}


def _bulk(bodies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The body of one request for all of them."""
    first, *others = ({field: body[field] for field in body if field not in _OWN} for body in bodies)
    for body, other in zip(bodies[1:], others, strict=True):
        differing = sorted(field for field in {*first, *other} if first.get(field) != other.get(field))
        if differing:
            names = f"{body['name']} is not like {bodies[0]['name']}"
            raise ScriptRefused(f"one bulk request cannot make them: {names} in {', '.join(differing)}")
    for field in _NOT_IN_BULK:
        if field in first:
            raise ScriptRefused(f"a bulk request has no {field}, which {bodies[0]['name']} has")
    return {
        "count": str(len(bodies)),
        "minCount": str(len(bodies)),
        "instanceProperties": _bare(first),
        "perInstanceProperties": {body["name"]: _some(body, ["hostname"]) for body in bodies},
    }


def _bare(body: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of a bulk request, in which types and policies go by their bare names."""
    accelerators = body.get("guestAccelerators", ())
    names = {
        "machineType": last(body["machineType"]),
        "disks": [_bare_disk(disk) for disk in body["disks"]],
        "guestAccelerators": [
            {**accelerator, "acceleratorType": last(accelerator["acceleratorType"])}
            for accelerator in accelerators
        ],
        "resourcePolicies": [last(policy) for policy in body.get("resourcePolicies", ())],
    }
    return {**body, **{field: value for field, value in names.items() if value}}


def _bare_disk(disk: Mapping[str, Any]) -> dict[str, Any]:
    if "source" in disk:
        if disk.get("mode") != "READ_ONLY":
            raise ScriptRefused(f"the disk {last(disk['source'])} can be written by one machine only")
        return {**disk, "source": last(disk["source"])}
    params = disk["initializeParams"]
    if "diskName" in params:
        raise ScriptRefused(
            f"the disk {params['diskName']} has a name of its own, and there would be several"
        )
    bare: dict[str, Any] = {"diskType": last(params["diskType"])}
    if "resourcePolicies" in params:
        bare["resourcePolicies"] = [last(policy) for policy in params["resourcePolicies"]]
    return {**disk, "initializeParams": {**params, **bare}}
