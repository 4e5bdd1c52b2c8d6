"""What users make besides instances: disks, addresses, images, networks; filled in where left open."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from localcloud.compute.build.disks import new_disk
from localcloud.compute.ids import fingerprint
from localcloud.compute.links import last
from localcloud.compute.refusals import invalid_field, not_found
from localcloud.compute.shelf import Resource
from localcloud.compute.site import Site

_TOPOLOGY = re.compile(r"[1-9]\d{0,3}(x[1-9]\d{0,3}){1,2}")


@dataclass(frozen=True, kw_only=True)
class InsertRequest:
    """A resource that is asked for: the request in normal form, and where it is to be."""

    site: Site
    scope: str
    collection: str
    given: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Its name, already checked."""
        return str(self.given["name"])

    @property
    def path(self) -> str:
        """`zones/Z/disks/N`."""
        return f"{self.scope}/{self.collection}/{self.name}"


Complete = Callable[[InsertRequest], dict[str, Any]]
"""The fields that a new resource has over what the request says; `ApiError` when it cannot be."""


def resource(request: InsertRequest, kind: str, complete: Complete) -> Resource:
    """The whole resource of something new.

    Raises:
        ApiError: 400 or 404 when it cannot be as it is asked for.
    """
    site, where = request.site, request.scope.partition("/")[0]
    place = {where.removesuffix("s"): site.links.link(request.scope)} if where in ("zones", "regions") else {}
    return {
        "kind": kind,
        "id": site.numbers.take(),
        "creationTimestamp": site.now(),
        **{key: value for key, value in request.given.items() if key != "params"},
        **place,
        "selfLink": site.links.link(request.path),
        **complete(request),
    }


def disk(request: InsertRequest) -> dict[str, Any]:
    """A persistent disk."""
    return new_disk(request.site, request.scope, request.name, request.given, field="resource")


def address(request: InsertRequest) -> dict[str, Any]:
    """A static address, external unless it says INTERNAL."""
    kind = request.given.get("addressType", "EXTERNAL")
    tier = {"networkTier": request.given.get("networkTier", "PREMIUM")} if kind == "EXTERNAL" else {}
    return {
        **tier,
        **_address(request, kind),
        "addressType": kind,
        "status": "RESERVED",
        "labelFingerprint": fingerprint(request.given.get("labels", {})),
    }


def _address(request: InsertRequest, kind: str) -> dict[str, Any]:
    site, wanted = request.site, request.given.get("address", "")
    purpose: dict[str, Any] = {}
    pool = site.pools.external
    if kind == "INTERNAL":
        subnetwork = _subnetwork(request)
        pool = site.pools.of(subnetwork["ipCidrRange"])
        purpose = {"purpose": "GCE_ENDPOINT", "subnetwork": subnetwork["selfLink"]}
    if wanted and not pool.claim(wanted):
        raise invalid_field("resource.address", wanted, "Specified IP address is already being used.")
    return {"address": wanted or pool.take(), **purpose}


def _subnetwork(request: InsertRequest) -> Resource:
    text = request.given.get("subnetwork", "default")
    reference = request.site.links.read(
        text, field="resource.subnetwork", collection="subnetworks", scope=request.scope
    )
    found = request.site.things["subnetworks"].get(reference.scope, reference.name)
    if found is None:
        raise not_found(reference.path)
    return found


def give_back(site: Site, found: Resource) -> None:
    """Let the IP address of an address resource be anybody's again."""
    pool = site.pools.external
    if "subnetwork" in found:
        scope = last(found["subnetwork"].rpartition("/subnetworks/")[0])
        subnetwork = site.things["subnetworks"].get(f"regions/{scope}", last(found["subnetwork"]))
        pool = site.pools.of(subnetwork["ipCidrRange"]) if subnetwork else pool
    pool.release(found["address"])


def image(request: InsertRequest) -> dict[str, Any]:
    """A custom image. Nothing of it is read: a machine of the local cloud has no disk."""
    given = request.given
    return {
        "sourceType": "RAW",
        "status": "READY",
        "archiveSizeBytes": "0",
        **_of_source(request),
        **({"diskSizeGb": given["diskSizeGb"]} if "diskSizeGb" in given else {}),
        "architecture": given.get("architecture", "X86_64"),
        "storageLocations": given.get("storageLocations", ["us"]),
        "labelFingerprint": fingerprint(given.get("labels", {})),
    }


def snapshot(request: InsertRequest) -> dict[str, Any]:
    """A snapshot of a disk."""
    return {
        "status": "READY",
        **_of_source(request),
        "storageBytes": "0",
        "labelFingerprint": fingerprint(request.given.get("labels", {})),
    }


def _of_source(request: InsertRequest) -> dict[str, Any]:
    """The disk that it is made from, and its size in GB; 10 where it is made from something else."""
    text = request.given.get("sourceDisk", "")
    if not text:
        return {"diskSizeGb": "10"}
    reference = request.site.links.read(text, field="resource.sourceDisk", collection="disks", scope="")
    found = request.site.things["disks"].get(reference.scope, reference.name)
    if found is None:
        raise not_found(reference.path)
    return {
        "sourceDisk": found["selfLink"],
        "sourceDiskId": str(found["id"]),
        "diskSizeGb": str(found["sizeGb"]),
    }


def template(request: InsertRequest) -> dict[str, Any]:
    """An instance template."""
    properties = request.given.get("properties", {})
    if "machineType" not in properties:
        raise invalid_field("resource.properties.machineType", "", "A machine type is required.")
    return {"properties": properties}


def machine_image(request: InsertRequest) -> dict[str, Any]:
    """A machine image of an instance: its properties, with disks that are made from the same sources."""
    site, text = request.site, request.given.get("sourceInstance", "")
    reference = site.links.read(text, field="resource.sourceInstance", collection="instances", scope="")
    source = site.registry.find(last(reference.scope), reference.name).resource
    own = ("canIpForward", "labels", "metadata", "scheduling", "serviceAccounts", "tags", "guestAccelerators")
    properties = {key: source[key] for key in own if key in source}
    disks = [
        {
            "boot": item["boot"],
            "autoDelete": item["autoDelete"],
            "type": item["type"],
            "initializeParams": _origin(site, item),
        }
        for item in source["disks"]
    ]
    cards = [
        {key: card[key] for key in ("network", "subnetwork", "stackType", "nicType") if key in card}
        for card in source["networkInterfaces"]
    ]
    machine = last(source["machineType"])
    named = {"machineType": machine, "disks": disks, "networkInterfaces": cards}
    for accelerator in properties.get("guestAccelerators", []):
        named["guestAccelerators"] = [
            {**accelerator, "acceleratorType": last(accelerator["acceleratorType"])}
        ]
    return {"instanceProperties": {**properties, **named}, "status": "READY"}


def _origin(site: Site, attached: Mapping[str, Any]) -> dict[str, Any]:
    scope, _, name = (
        attached.get("source", "").partition(f"/projects/{site.project}/")[2].partition("/disks/")
    )
    found = site.things["disks"].get(scope, name) or {}
    kept = {key: found[key] for key in ("sourceImage", "sourceSnapshot") if key in found}
    return {**kept, **({"diskType": last(found["type"]), "diskSizeGb": found["sizeGb"]} if found else {})}


def network(request: InsertRequest) -> dict[str, Any]:
    """A VPC network, in auto mode unless it says otherwise."""
    given = request.given
    return {
        "autoCreateSubnetworks": given.get("autoCreateSubnetworks", True),
        "routingConfig": {"routingMode": "REGIONAL", **given.get("routingConfig", {})},
        "mtu": given.get("mtu", 1460),
    }


def subnetwork(request: InsertRequest) -> dict[str, Any]:
    """A subnetwork."""
    site, text = request.site, request.given.get("network", "")
    reference = site.links.read(text, field="resource.network", collection="networks", scope="global")
    if site.things["networks"].get("global", reference.name) is None:
        raise invalid_field("resource.network", text, "The referenced network resource cannot be found.")
    cidr = request.given.get("ipCidrRange", "")
    try:
        block = IPv4Network(cidr)
    except ValueError as error:
        raise invalid_field(
            "resource.ipCidrRange", cidr, f"Must be a valid IP CIDR range: {error}."
        ) from error
    return {
        "network": site.links.link(f"global/networks/{reference.name}"),
        "gatewayAddress": str(block[1]),
        "stackType": request.given.get("stackType", "IPV4_ONLY"),
        "purpose": request.given.get("purpose", "PRIVATE"),
        "privateIpGoogleAccess": request.given.get("privateIpGoogleAccess", False),
        "fingerprint": fingerprint([reference.name, cidr]),
    }


def resource_policy(request: InsertRequest) -> dict[str, Any]:
    """A resource policy. Of a workload policy what is written is checked; how near the VMs are is not done.

    Google's own words of these refusals are not known.
    """
    field, policy = "resource.workloadPolicy", request.given.get("workloadPolicy")
    if policy is not None:
        kind, topology = policy.get("type", ""), policy.get("acceleratorTopology", "")
        if topology and kind == "HIGH_AVAILABILITY":
            why = "Only a policy of type HIGH_THROUGHPUT has a topology."
            raise invalid_field(f"{field}.acceleratorTopology", topology, why)
        if topology and not _TOPOLOGY.fullmatch(topology):
            why = "It must be of the form 4x4 or 4x4x4."
            raise invalid_field(f"{field}.acceleratorTopology", topology, why)
    return {"status": "READY"}


def as_given(request: InsertRequest) -> dict[str, Any]:
    """Something that the local cloud keeps and does nothing with."""
    del request
    return {"status": "READY"}
