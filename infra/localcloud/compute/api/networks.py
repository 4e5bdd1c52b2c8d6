"""The firewall rules that hold in a network, and the subnetworks that a project may use."""

from collections.abc import Sequence
from typing import Any

from starlette.routing import BaseRoute

from localcloud.compute.api.call import Answer, Call, route
from localcloud.compute.listing import page, read_query
from localcloud.compute.refusals import invalid_field, not_found
from localcloud.compute.shelf import Resource
from localcloud.compute.site import Site

_SHOWN = ("network", "ipCidrRange", "purpose", "role", "stackType")


def network_routes(site: Site) -> list[BaseRoute]:
    """The routes of `getEffectiveFirewalls` of networks and instances, and of `subnetworks.listUsable`."""
    firewalls = "projects/{project}/global/networks/{network}/getEffectiveFirewalls"
    usable = "projects/{project}/aggregated/subnetworks/listUsable"
    instance = "projects/{project}/zones/{zone}/instances/{instance}/getEffectiveFirewalls"
    return [
        route(site, "GET", firewalls, _of_network),
        route(site, "GET", instance, _of_instance),
        route(site, "GET", usable, _list_usable),
    ]


async def _of_network(call: Call) -> Answer:
    """The rules of a network by priority; there are no policies of organizations here."""
    name = call.part("network")
    network = call.site.things["networks"].get("global", name)
    if network is None:
        raise not_found(f"projects/{call.site.project}/global/networks/{name}")
    return _answer(_rules(call.site, network["selfLink"]))


async def _of_instance(call: Call) -> Answer:
    """Those of the network of one of its cards that are for all instances, or for this one."""
    vm = call.site.registry.find(call.part("zone"), call.part("instance")).resource
    wanted = call.query.get("networkInterface", "")
    networks = [card["network"] for card in vm["networkInterfaces"] if card["name"] == wanted]
    if not networks:
        raise invalid_field("networkInterface", wanted, "The instance has no network interface of this name.")
    return _answer([rule for rule in _rules(call.site, networks[0]) if _is_for(rule, vm)])


def _rules(site: Site, network: str) -> list[Resource]:
    rules = [rule for rule in site.things["firewalls"].all() if rule["network"] == network]
    return sorted(rules, key=lambda rule: (rule["priority"], rule["name"]))


def _is_for(rule: Resource, vm: Resource) -> bool:
    """Whether a rule names no target, or a tag or an account of this instance."""
    tags, accounts = rule.get("targetTags", ()), rule.get("targetServiceAccounts", ())
    own = {account["email"] for account in vm.get("serviceAccounts", ())}
    found = not own.isdisjoint(accounts) or not set(vm["tags"].get("items", ())).isdisjoint(tags)
    return found or not (tags or accounts)


def _answer(rules: Sequence[Resource]) -> Answer:
    return {"firewalls": rules} if rules else {}


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
