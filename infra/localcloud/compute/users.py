"""Who needs a resource, so that it cannot be deleted."""

from collections.abc import Callable, Iterator, Mapping

from localcloud.compute.links import last
from localcloud.compute.shelf import Resource
from localcloud.compute.site import Site


def user_of(site: Site, collection: str, found: Resource) -> str:
    """The path of somebody that needs a resource (`projects/P/zones/Z/instances/N`); "" for nobody."""
    links = [*found.get("users", ()), *_OTHERS.get(collection, _nobody)(site, found)]
    return links[0].partition("/compute/v1/")[2] if links else ""


def _nobody(_site: Site, _found: Resource) -> Iterator[str]:
    yield from ()


def _of_template(site: Site, template: Resource) -> Iterator[str]:
    """The managed instance groups that make VMs by it."""
    for group in site.things["instanceGroupManagers"].all():
        if group["instanceTemplate"] == template["selfLink"]:
            yield group["selfLink"]


def _of_policy(site: Site, policy: Resource) -> Iterator[str]:
    """The managed instance groups whose VMs are placed by it."""
    for group in site.things["instanceGroupManagers"].all():
        if group.get("resourcePolicies", {}).get("workloadPolicy") == policy["selfLink"]:
            yield group["selfLink"]


def _of_network(site: Site, network: Resource) -> Iterator[str]:
    """Its firewall rules, its subnetworks but for those that go with it, and the instances in it."""
    link = network["selfLink"]
    for collection in ("firewalls", "subnetworks"):
        named = (thing for thing in site.things[collection].all() if thing["network"] == link)
        own = [thing["selfLink"] for thing in named if not is_automatic(site, thing)]
        yield from sorted(own)
    yield from _instances(site, "network", link)


def _of_subnetwork(site: Site, subnetwork: Resource) -> Iterator[str]:
    """The instances and the reserved addresses in it."""
    link = subnetwork["selfLink"]
    yield from _instances(site, "subnetwork", link)
    yield from (
        address["selfLink"] for address in site.things["addresses"].all() if address.get("subnetwork") == link
    )


def _instances(site: Site, field: str, link: str) -> Iterator[str]:
    for vm in site.registry.resources():
        if any(card.get(field) == link for card in vm["networkInterfaces"]):
            yield vm["selfLink"]


_OTHERS: Mapping[str, Callable[[Site, Resource], Iterator[str]]] = {
    "instanceTemplates": _of_template,
    "networks": _of_network,
    "resourcePolicies": _of_policy,
    "subnetworks": _of_subnetwork,
}
"""Of these collections the resources themselves do not say who their users are."""


def is_automatic(site: Site, thing: Resource) -> bool:
    """Whether this is a subnetwork that an auto mode network has of itself: by its name, in each region."""
    network = site.things["networks"].get("global", thing["name"])
    return bool(
        thing["kind"] == "compute#subnetwork"
        and network
        and network["autoCreateSubnetworks"]
        and last(thing["network"]) == network["name"]
    )
