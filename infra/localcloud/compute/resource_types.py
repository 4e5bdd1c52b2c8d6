"""The collections that users fill, besides instances: how each is called, and how one is made and deleted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from localcloud.compute.build import firewalls
from localcloud.compute.build import resource_types as completed
from localcloud.compute.build.checks import check_name
from localcloud.compute.build.resource_types import Complete, InsertRequest
from localcloud.compute.refusals import (
    Failure,
    already_exists,
    in_use,
    in_use_after_all,
    misused,
    not_found,
)
from localcloud.compute.shelf import Resource
from localcloud.compute.site import Site
from localcloud.compute.users import is_automatic, user_of


@dataclass(frozen=True, kw_only=True)
class ResourceType:
    """A collection: what its resources are called, where they live, and what they have of themselves."""

    collection: str
    kind: str
    message: str
    parameter: str
    home: str
    complete: Complete
    has_aggregated: bool = True


RESOURCE_TYPES: Sequence[ResourceType] = (
    ResourceType(
        collection="disks",
        kind="compute#disk",
        message="Disk",
        parameter="disk",
        home="zones",
        complete=completed.disk,
    ),
    ResourceType(
        collection="addresses",
        kind="compute#address",
        message="Address",
        parameter="address",
        home="regions",
        complete=completed.address,
    ),
    ResourceType(
        collection="instanceTemplates",
        kind="compute#instanceTemplate",
        message="InstanceTemplate",
        parameter="instanceTemplate",
        home="global",
        complete=completed.template,
    ),
    ResourceType(
        collection="snapshots",
        kind="compute#snapshot",
        message="Snapshot",
        parameter="snapshot",
        home="global",
        complete=completed.snapshot,
        has_aggregated=False,
    ),
    ResourceType(
        collection="machineImages",
        kind="compute#machineImage",
        message="MachineImage",
        parameter="machineImage",
        home="global",
        complete=completed.machine_image,
        has_aggregated=False,
    ),
    ResourceType(
        collection="networks",
        kind="compute#network",
        message="Network",
        parameter="network",
        home="global",
        complete=completed.network,
        has_aggregated=False,
    ),
    ResourceType(
        collection="subnetworks",
        kind="compute#subnetwork",
        message="Subnetwork",
        parameter="subnetwork",
        home="regions",
        complete=completed.subnetwork,
    ),
    ResourceType(
        collection="firewalls",
        kind="compute#firewall",
        message="Firewall",
        parameter="firewall",
        home="global",
        complete=firewalls.firewall,
        has_aggregated=False,
    ),
    ResourceType(
        collection="reservations",
        kind="compute#reservation",
        message="Reservation",
        parameter="reservation",
        home="zones",
        complete=completed.as_given,
    ),
    ResourceType(
        collection="resourcePolicies",
        kind="compute#resourcePolicy",
        message="ResourcePolicy",
        parameter="resourcePolicy",
        home="regions",
        complete=completed.resource_policy,
    ),
    ResourceType(
        collection="images",
        kind="compute#image",
        message="Image",
        parameter="image",
        home="global",
        complete=completed.image,
        has_aggregated=False,
    ),
)

_BY_COLLECTION = {resource_type.collection: resource_type for resource_type in RESOURCE_TYPES}
IMAGES, SNAPSHOTS = _BY_COLLECTION["images"], _BY_COLLECTION["snapshots"]
_NETWORKS, _SUBNETWORKS = _BY_COLLECTION["networks"], _BY_COLLECTION["subnetworks"]
_FIREWALLS = _BY_COLLECTION["firewalls"]


def make(site: Site, resource_type: ResourceType, scope: str, given: Mapping[str, Any]) -> Resource:
    """Make one, as a request in normal form asks for it.

    Raises:
        ApiError: 400, 404 or 409 when it cannot be made.
    """
    name = str(given.get("name", ""))
    check_name(name)
    shelf = site.things[resource_type.collection]
    if shelf.get(scope, name) is not None:
        raise already_exists(f"projects/{site.project}/{scope}/{resource_type.collection}/{name}")
    request = InsertRequest(site=site, scope=scope, collection=resource_type.collection, given=given)
    made = completed.resource(request, resource_type.kind, resource_type.complete)
    shelf.put(scope, name, made)
    if resource_type is _NETWORKS and made["autoCreateSubnetworks"]:
        _make_subnetworks(site, name)
    return made


def _make_subnetworks(site: Site, network: str) -> None:
    """The subnetworks of an auto mode network: one in each region, of the network's name."""
    for region, place in site.catalog.regions.items():
        given = {"name": network, "network": network, "ipCidrRange": place.subnet}
        make(site, _SUBNETWORKS, f"regions/{region}", given)


def late_refusal(site: Site, resource_type: ResourceType, found: Resource) -> Failure | None:
    """Why the operation that deletes this will fail: a network is refused by it, and not at once."""
    user = user_of(site, resource_type.collection, found) if resource_type is _NETWORKS else ""
    path = f"projects/{site.project}/global/networks/{found['name']}"
    return in_use_after_all(path, user) if user else None


def drop(site: Site, resource_type: ResourceType, scope: str, name: str) -> Resource:
    """Delete one and return what it was.

    Raises:
        ApiError: 404 when there is none, 400 when it is in use.
    """
    path = f"projects/{site.project}/{scope}/{resource_type.collection}/{name}"
    shelf = site.things[resource_type.collection]
    found = shelf.get(scope, name)
    if found is None:
        raise not_found(path)
    if user := user_of(site, resource_type.collection, found):
        raise in_use(path, user)
    if resource_type is _SUBNETWORKS:
        _check_own(site, found)
    shelf.take(scope, name)
    if resource_type.collection == "addresses":
        completed.give_back(site, found)
    if resource_type is _NETWORKS and found["autoCreateSubnetworks"]:
        for region in site.catalog.regions:
            site.things["subnetworks"].take(f"regions/{region}", name)
    return found


def _check_own(site: Site, subnetwork: Resource) -> None:
    """The subnetworks of an auto mode network stay as long as it does."""
    if is_automatic(site, subnetwork):
        raise misused("Cannot delete auto subnetwork from an auto subnet mode network.")


def furnish(site: Site) -> None:
    """Give a project what every new one has, once: the default network, with its firewall rules."""
    if not site.furnished:
        site.furnished = True
        make(site, _NETWORKS, "global", {"name": "default", "description": "Default network for the project"})
        for rule in firewalls.DEFAULT_RULES:
            make(site, _FIREWALLS, "global", {**rule, "priority": firewalls.DEFAULT_PRIORITY})
