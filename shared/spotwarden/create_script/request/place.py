"""The placement seam: a create request for one place → the same for another, or why it cannot move.

What Compute Engine offers in every zone (machine, disk and accelerator types) is renamed; what exists
in one place only (disks, addresses, reservations, …) is a reason to stay. Nothing is asked: what cannot
be known from the request alone counts as a reason, too.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from spotwarden.create_script.request.urls import last
from spotwarden.model.request import Request

_PATH = re.compile(
    r"(?P<head>.+/)(?P<kind>zones|regions)/(?P<place>[^/]+)(?P<tail>/instances(?:/bulkInsert)?)"
)
_ZONE = re.compile(r"[a-z]+(?:-[a-z0-9]+)+-[a-z]")
_LINK = re.compile(r"(?:https?://.+/)?projects/[^/]+/(?P<kind>zones|regions)/(?P<place>[^/]+)/(?P<rest>.+)")
_KEY = re.compile(r"projects/[^/]+/locations/(?P<location>[^/]+)/")
_AUTO_SUBNET = "default"


class Immovable(msgspec.Struct, frozen=True, kw_only=True):
    """The request stays where it is; each reason is a sentence for a person."""

    reasons: tuple[str, ...]


class _Move(msgspec.Struct, frozen=True, kw_only=True):
    """From where to where; `regional` requests leave the choice of the zone to the API."""

    source: str
    target: str
    regional: bool

    @property
    def regions(self) -> tuple[str, str]:
        """The old region and the new one."""
        return (self.source if self.regional else _region(self.source)), _region(self.target)

    @property
    def abroad(self) -> bool:
        """Whether the region changes."""
        return self.regions[0] != self.regions[1]

    @property
    def stays(self) -> bool:
        """Whether there is nothing to do."""
        return not self.abroad and (self.regional or self.source == self.target)


def move(request: Request, zone: str) -> Request | Immovable:
    """Give the request for `zone`; a request for a region moves to the region of that zone.

    Moving to where the request is already changes nothing, and there and back gives the same request.

    Raises:
        ValueError: the request creates no instances, or `zone` is not a valid zone name.
    """
    path = _PATH.fullmatch(request.path)
    if not path or not _ZONE.fullmatch(zone):
        raise ValueError(f"cannot move {request.path} to {zone!r}")
    way = _Move(source=path["place"], target=zone, regional=path["kind"] == "regions")
    if way.stays:
        return request
    reasons = tuple(dict.fromkeys(_reasons(request, way)))
    if reasons:
        return Immovable(reasons=reasons)
    place = way.regions[1] if way.regional else zone
    return Request(
        method=request.method,
        path=f"{path['head']}{path['kind']}/{place}{path['tail']}",
        query=request.query,
        body=_renamed(request.body, way),
    )


def without_texts(body: Mapping[str, Any]) -> dict[str, Any]:
    """What of a request's body is looked at when it is moved: all but the words of its user."""
    return {
        key: without_texts(value) if key == "instanceProperties" else value
        for key, value in body.items()
        if key not in _TEXTS
    }


def _region(zone: str) -> str:
    return zone.rsplit("-", 1)[0]


def _renamed(value: Any, way: _Move) -> Any:  # noqa: ANN401 — JSON of any shape
    """Rename the place in every link; what may not be renamed is a reason, and so does not come here."""
    if isinstance(value, str):
        return _renamed_link(value, way)
    if isinstance(value, Mapping):
        return {key: item if key in _TEXTS else _renamed(item, way) for key, item in value.items()}
    return [_renamed(item, way) for item in value] if isinstance(value, list) else value


# Fields that hold words of the user, in which nothing is renamed.
_TEXTS = frozenset(
    (
        *("metadata", "partnerMetadata", "labels", "description", "tags", "hostname", "name", "deviceName"),
        *("diskName", "perInstanceProperties"),
    )
)


def _renamed_link(link: str, way: _Move) -> str:
    found = _LINK.fullmatch(link)
    if not found:
        return link
    old, new = (way.source, way.target) if found["kind"] == "zones" else way.regions
    if found["place"] != old:
        return link
    return f"{link[: found.start('place')]}{new}{link[found.end('place') :]}"


def _reasons(request: Request, way: _Move) -> Iterator[str]:
    body = request.body
    machine = body.get("instanceProperties", body)
    yield from _template_reasons(request, way)
    yield from _location_reasons(body, way)
    for disk in machine.get("disks", ()):
        yield from _disk_reasons(disk, way)
    for card in machine.get("networkInterfaces", ()):
        yield from _network_reasons(card, way)
    yield from _host_reasons(machine, way)
    yield from _key_reasons(machine.get("instanceEncryptionKey"), way)
    for policy in machine.get("resourcePolicies", ()) if way.abroad else ():
        yield f"the resource policy {last(policy)} is in region {way.regions[0]}"
    yield from _stranger_reasons(body, way)


def _template_reasons(request: Request, way: _Move) -> Iterator[str]:
    template = request.query.get("sourceInstanceTemplate") or request.body.get("sourceInstanceTemplate")
    if template and way.abroad:
        yield f"what the instance template {last(template)} says about its region is unknown"
    if "sourceMachineImage" in request.body:
        yield f"where the machine image {last(request.body['sourceMachineImage'])} can be used is unknown"


def _location_reasons(body: Mapping[str, Any], way: _Move) -> Iterator[str]:
    locations = body.get("locationPolicy", {}).get("locations")
    if locations and way.abroad:
        yield f"the location policy names zones of region {way.regions[0]}"


def _disk_reasons(disk: Mapping[str, Any], way: _Move) -> Iterator[str]:
    source, params = disk.get("source"), disk.get("initializeParams", {})
    if source and (way.abroad or not way.regional):
        yield f"the disk {last(source)} exists already, in {_home(source, way)}"
    if "storagePool" in params:
        yield f"the storage pool {last(params['storagePool'])} is in zone {way.source}"
    if "sourceInstantSnapshot" in params:
        yield f"the instant snapshot {last(params['sourceInstantSnapshot'])} exists in its own zone only"
    replicas = [last(zone) for zone in params.get("replicaZones", ())]
    if replicas and way.target not in replicas:
        yield f"a new disk has its replicas in {' and '.join(replicas)}"
    if way.abroad:
        for policy in params.get("resourcePolicies", ()):
            yield f"the resource policy {last(policy)} is in region {way.regions[0]}"
    yield from _key_reasons(disk.get("diskEncryptionKey"), way)


def _home(link: str, way: _Move) -> str:
    found = _LINK.fullmatch(link)
    return found["place"] if found else way.source


def _network_reasons(card: Mapping[str, Any], way: _Move) -> Iterator[str]:
    if not way.abroad:
        return
    subnet = card.get("subnetwork")
    if subnet and last(subnet) != _AUTO_SUBNET and last(subnet) != last(card.get("network", "")):
        yield f"the subnetwork {last(subnet)} is in region {way.regions[0]}"
    configs = [*card.get("accessConfigs", ()), *card.get("ipv6AccessConfigs", ())]
    fixed = [card.get("networkIP"), card.get("ipv6Address")]
    fixed += [config.get(field) for config in configs for field in ("natIP", "externalIpv6")]
    for address in filter(None, fixed):
        yield f"the address {last(address)} belongs to region {way.regions[0]}"
    if any("subnetworkRangeName" in alias for alias in card.get("aliasIpRanges", ())):
        yield f"an alias range is part of a subnetwork in region {way.regions[0]}"
    if "networkAttachment" in card:
        yield f"the network attachment {last(card['networkAttachment'])} is in region {way.regions[0]}"


def _host_reasons(machine: Mapping[str, Any], way: _Move) -> Iterator[str]:
    if way.regional and not way.abroad:
        return
    affinity, scheduling = machine.get("reservationAffinity", {}), machine.get("scheduling", {})
    if "values" in affinity:
        yield f"the reservation {' '.join(affinity['values'])} is in {way.source}"
    if scheduling.get("provisioningModel") == "RESERVATION_BOUND":
        yield f"the machine is bound to a reservation in {way.source}"
    for label in scheduling.get("nodeAffinities", ()):
        yield f"the sole-tenant nodes with {label['key']} are in {way.source}"
    if "locationHint" in scheduling:
        yield f"the location hint {scheduling['locationHint']} is for {way.source}"


def _key_reasons(key: Mapping[str, str] | None, way: _Move) -> Iterator[str]:
    found = _KEY.match((key or {}).get("kmsKeyName", ""))
    if found and found["location"] != "global" and way.abroad:
        yield f"the key {last((key or {})['kmsKeyName'])} is in {found['location']}"


def _stranger_reasons(value: object, way: _Move) -> Iterator[str]:
    """Name links to a third place: renaming the others would leave them behind."""
    if isinstance(value, str):
        found = _LINK.fullmatch(value)
        here = way.source if found and found["kind"] == "zones" else way.regions[0]
        if found and found["place"] not in {here, "-"}:
            yield f"{last(value)} is named in {found['place']}, not in {here}"
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key not in _TEXTS and key != "replicaZones":
                yield from _stranger_reasons(item, way)
    elif isinstance(value, list):
        for item in value:
            yield from _stranger_reasons(item, way)
