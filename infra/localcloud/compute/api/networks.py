"""The firewall rules that hold in a network, and the subnetworks that a project may use."""

from typing import Any

from starlette.routing import BaseRoute

from localcloud.compute.api.call import Answer, Call, route
from localcloud.compute.listing import page, read_query
from localcloud.compute.refusals import not_found
from localcloud.compute.shelf import Resource
from localcloud.compute.site import Site

_SHOWN = ("network", "ipCidrRange", "purpose", "role", "stackType")


def network_routes(site: Site) -> list[BaseRoute]:
    """The routes of `networks.getEffectiveFirewalls` and `subnetworks.listUsable`."""
    firewalls = "projects/{project}/global/networks/{network}/getEffectiveFirewalls"
    usable = "projects/{project}/aggregated/subnetworks/listUsable"
    return [route(site, "GET", firewalls, _effective_firewalls), route(site, "GET", usable, _list_usable)]


async def _effective_firewalls(call: Call) -> Answer:
    """The rules of a network by priority; there are no policies of organizations here."""
    name = call.part("network")
    network = call.site.things["networks"].get("global", name)
    if network is None:
        raise not_found(f"projects/{call.site.project}/global/networks/{name}")
    rules = [rule for rule in call.site.things["firewalls"].all() if rule["network"] == network["selfLink"]]
    return {"firewalls": sorted(rules, key=lambda rule: (rule["priority"], rule["name"]))} if rules else {}


async def _list_usable(call: Call) -> Answer:
    """Every subnetwork: whoever calls may use them all."""
    rows = call.site.things["subnetworks"].seen()
    found = page(rows, rows, read_query(call.query, "Subnetwork"))
    path = "aggregated/subnetworks/listUsable"
    return {
        "kind": "compute#usableSubnetworksAggregatedList",
        "id": f"projects/{call.site.project}/{path}",
        "items": [_usable(subnetwork) for _, subnetwork in found.items],
        **({"nextPageToken": found.token} if found.token else {}),
        "selfLink": call.site.links.link(path),
    }


def _usable(subnetwork: Resource) -> dict[str, Any]:
    shown = {name: subnetwork[name] for name in _SHOWN if name in subnetwork}
    return {"subnetwork": subnetwork["selfLink"], **shown}
