"""Firewall rules of VPC networks ("VPC firewall rules"). They are kept and shown; nothing is blocked here."""

import re
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_network
from typing import Any

from localcloud.compute.build.resource_types import InsertRequest
from localcloud.compute.refusals import invalid_field
from localcloud.compute.shelf import Resource
from localcloud.compute.site import Site
from localcloud.errors import ApiError

LOWEST_PRIORITY = 65535
PROTOCOLS = ("tcp", "udp", "icmp", "esp", "ah", "sctp", "ipip", "all")
_WITH_PORTS = ("tcp", "udp", "sctp", "6", "17", "132")
_PORTS = re.compile(r"(?P<first>\d{1,5})(?:-(?P<last>\d{1,5}))?")
_LARGEST_PORT = 65535
_LARGEST_PROTOCOL = 255
_ANYWHERE = ["0.0.0.0/0"]
_SOURCES = ("sourceRanges", "sourceTags", "sourceServiceAccounts")
_FIXED = ("name", "network", "direction")
_BY_THE_SERVER = ("kind", "id", "creationTimestamp", "selfLink")

DEFAULT_RULES: Sequence[Mapping[str, Any]] = (
    {
        "name": "default-allow-icmp",
        "description": "Allow ICMP from anywhere",
        "allowed": [{"IPProtocol": "icmp"}],
    },
    {
        "name": "default-allow-internal",
        "description": "Allow internal traffic on the default network",
        "sourceRanges": ["10.128.0.0/9"],
        "allowed": [
            {"IPProtocol": "tcp", "ports": ["0-65535"]},
            {"IPProtocol": "udp", "ports": ["0-65535"]},
            {"IPProtocol": "icmp"},
        ],
    },
    {
        "name": "default-allow-rdp",
        "description": "Allow RDP from anywhere",
        "allowed": [{"IPProtocol": "tcp", "ports": ["3389"]}],
    },
    {
        "name": "default-allow-ssh",
        "description": "Allow SSH from anywhere",
        "allowed": [{"IPProtocol": "tcp", "ports": ["22"]}],
    },
)
"""The rules of a new project's default network ("Pre-populated rules in the default network")."""
DEFAULT_PRIORITY = 65534
"""Of the rules of the default network, not of other rules."""


def firewall(request: InsertRequest) -> dict[str, Any]:
    """A new firewall rule."""
    return _whole(request.site, request.given)


def patched(site: Site, before: Resource, given: Mapping[str, Any], cleared: Sequence[str]) -> Resource:
    """The rule with the fields that are given in place of its own, and without those that are cleared.

    Raises:
        ApiError: 400 when there can be no such rule, or a field is changed that stays as it is.
    """
    kept = {key: value for key, value in before.items() if key not in cleared}
    return _changed(site, before, {**kept, **given})


def replaced(site: Site, before: Resource, given: Mapping[str, Any]) -> Resource:
    """The rule as it is given, with what stays as it is.

    Raises:
        ApiError: 400 when there can be no such rule, or a field is changed that stays as it is.
    """
    stays = {key: before[key] for key in _FIXED}
    return _changed(site, before, {**stays, **given})


def _changed(site: Site, before: Resource, wanted: Mapping[str, Any]) -> Resource:
    own = {key: before[key] for key in _BY_THE_SERVER}
    given = {key: value for key, value in wanted.items() if key != "params"}
    after = {**given, **own, **_whole(site, given)}
    for name in _FIXED:
        if after.get(name) != before[name]:
            raise invalid_field(f"resource.{name}", after.get(name, ""), "It cannot be changed.")
    if _action(after) != _action(before):
        raise invalid_field(f"resource.{_action(after)}", "", "The action of a rule cannot be changed.")
    return after


def _action(rule: Mapping[str, Any]) -> str:
    return "denied" if rule.get("denied") else "allowed"


def _whole(site: Site, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that a rule has over what is asked for."""
    direction, priority = given.get("direction", "INGRESS"), given.get("priority", 1000)
    if not 0 <= priority <= LOWEST_PRIORITY:
        why = f"Must be greater than or equal to 0 and less than or equal to {LOWEST_PRIORITY}."
        raise invalid_field("resource.priority", priority, why)
    _check_sides(given, direction)
    for name in ("sourceRanges", "destinationRanges"):
        _check_ranges(name, given.get(name, ()))
    return {
        "network": _network(site, given.get("network", "global/networks/default")),
        "direction": direction,
        "priority": priority,
        "disabled": given.get("disabled", False),
        "logConfig": {"enable": False, **given.get("logConfig", {})},
        **_rules(given),
        **_ranges(given, direction),
    }


def _network(site: Site, text: str) -> str:
    field = "resource.network"
    reference = site.links.read(text, field=field, collection="networks", scope="global")
    if reference.project != site.project:
        raise invalid_field(field, text, "Cross-project references for this resource type are not allowed.")
    if site.things["networks"].get("global", reference.name) is None:
        raise invalid_field(field, text, "The referenced network resource cannot be found.")
    return site.links.link(f"global/networks/{reference.name}")


def _check_sides(given: Mapping[str, Any], direction: str) -> None:
    """Where traffic comes from is said of what comes in; an account is no tag."""
    if direction == "EGRESS":
        for name in _SOURCES:
            if given.get(name):
                why = f"{name} cannot be specified for EGRESS rules."
                raise invalid_field(f"resource.{name}", given[name], why)
    if any(map(given.get, ("sourceServiceAccounts", "targetServiceAccounts"))) and any(
        map(given.get, ("sourceTags", "targetTags"))
    ):
        message = "Service accounts and tags cannot be used in one firewall rule."
        raise ApiError(400, "invalid", message)


def _check_ranges(name: str, ranges: Sequence[str]) -> None:
    versions = set()
    for at, text in enumerate(ranges):
        try:
            versions.add(ip_network(text).version)
        except ValueError as error:
            why = "Must be a valid CIDR address range."
            raise invalid_field(f"resource.{name}[{at}]", text, why) from error
    if len(versions) > 1:
        why = "A firewall rule contains either IPv4 or IPv6 ranges, but not both."
        raise invalid_field(f"resource.{name}", ranges, why)


def _ranges(given: Mapping[str, Any], direction: str) -> dict[str, Any]:
    """Where nothing is said, a rule is about everywhere."""
    if direction == "EGRESS":
        return {"destinationRanges": given.get("destinationRanges") or _ANYWHERE}
    if any(given.get(name) for name in _SOURCES):
        return {}
    return {"sourceRanges": _ANYWHERE}


def _rules(given: Mapping[str, Any]) -> dict[str, Any]:
    if bool(given.get("allowed")) == bool(given.get("denied")):
        why = "Exactly one of allowed and denied must be specified."
        raise invalid_field("resource.allowed", given.get("allowed", ""), why)
    action = _action(given)
    return {action: [*_protocols(f"resource.{action}", given[action])]}


def _protocols(field: str, rules: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for at, rule in enumerate(rules):
        protocol = rule.get("IPProtocol", "").lower()
        number = int(protocol) if protocol.isdecimal() and protocol.isascii() else None
        if protocol not in PROTOCOLS and (number is None or number > _LARGEST_PROTOCOL):
            why = f"Must be a protocol number or one of {', '.join(PROTOCOLS)}."
            raise invalid_field(f"{field}[{at}].IPProtocol", rule.get("IPProtocol", ""), why)
        ports = rule.get("ports", [])
        if ports and protocol not in _WITH_PORTS:
            why = "Ports may only be specified on rules whose protocol is one of [TCP, UDP, SCTP]."
            raise invalid_field(f"{field}[{at}].ports", ports[0], why)
        for place, text in enumerate(ports):
            _check_port(f"{field}[{at}].ports[{place}]", text)
        yield {"IPProtocol": protocol, **({"ports": ports} if ports else {})}


def _check_port(field: str, text: str) -> None:
    match = _PORTS.fullmatch(text)
    last = int(match["last"] or match["first"]) if match else -1
    if not match or not int(match["first"]) <= last <= _LARGEST_PORT:
        raise invalid_field(field, text, "Must be a port or a range of ports, from 0 to 65535.")
