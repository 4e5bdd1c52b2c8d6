"""Network interfaces of an instance, and the addresses they have."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from localcloud.compute.ids import fingerprint
from localcloud.compute.links import region_of
from localcloud.compute.refusals import in_use, invalid_field
from localcloud.compute.shelf import Resource
from localcloud.compute.site import Site
from localcloud.errors import ApiError


def interfaces(site: Site, zone: str, given: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The interfaces of an instance, with addresses taken for it; `release` gives them back.

    Raises:
        ApiError: 400 when a network or an address cannot be used; no address is taken then.
    """
    if not given:
        raise invalid_field("resource.networkInterfaces", "", "At least one network interface is required.")
    cards: list[dict[str, Any]] = []
    try:
        for index, item in enumerate(given):
            cards.append(_card(site, zone, index, item))
    except ApiError:
        release(site, zone, cards)
        raise
    return cards


def _card(site: Site, zone: str, index: int, given: Mapping[str, Any]) -> dict[str, Any]:
    field = f"resource.networkInterfaces[{index}]"
    place = _network(site, region_of(zone), given, field)
    card = {
        "kind": "compute#networkInterface",
        "name": f"nic{index}",
        "stackType": "IPV4_ONLY",
        **given,
        **place,
        "fingerprint": fingerprint(dict(given)),
    }
    pool = site.pools.of(_range(site, card))
    wanted = given.get("networkIP")
    if wanted and not pool.claim(wanted):
        raise invalid_field(f"{field}.networkIP", wanted, f"IP address '{wanted}' is already being used.")
    card["networkIP"] = wanted or pool.take()
    try:
        card["accessConfigs"] = [
            _access(site, zone, item, f"{field}.accessConfigs[{at}]")
            for at, item in enumerate(given.get("accessConfigs", ()))
        ]
    except ApiError:
        pool.release(card["networkIP"])
        raise
    return {key: value for key, value in card.items() if value != []}


def _network(site: Site, region: str, given: Mapping[str, Any], field: str) -> dict[str, str]:
    """The network and the subnetwork of an interface; of another project's, what the request says."""
    if "networkAttachment" in given:
        return {}
    if "subnetwork" in given:
        return _subnetwork(site, region, given, field)
    text = given.get("network", "global/networks/default")
    reference = site.links.read(text, field=f"{field}.network", collection="networks", scope="global")
    link = site.links.link(f"global/networks/{reference.name}", project=reference.project)
    if reference.project != site.project:
        return {"network": link}
    network = site.things["networks"].get("global", reference.name)
    if network is None:
        raise invalid_field(f"{field}.network", text, "The referenced network resource cannot be found.")
    if not network.get("autoCreateSubnetworks"):
        why = "A network in custom subnet mode requires a subnetwork to be specified."
        raise invalid_field(f"{field}.subnetwork", "", why)
    return {"network": link, "subnetwork": site.links.link(f"regions/{region}/subnetworks/{reference.name}")}


def _subnetwork(site: Site, region: str, given: Mapping[str, Any], field: str) -> dict[str, str]:
    text, scope = given["subnetwork"], f"regions/{region}"
    reference = site.links.read(text, field=f"{field}.subnetwork", collection="subnetworks", scope=scope)
    if reference.scope != scope:
        why = f"The subnetwork is not in region '{region}', where the instance is."
        raise invalid_field(f"{field}.subnetwork", text, why)
    link = site.links.link(f"{scope}/subnetworks/{reference.name}", project=reference.project)
    if reference.project != site.project:
        return {"subnetwork": link}
    subnetwork = site.things["subnetworks"].get(scope, reference.name)
    if subnetwork is None:
        raise invalid_field(
            f"{field}.subnetwork", text, "The referenced subnetwork resource cannot be found."
        )
    return {"network": subnetwork["network"], "subnetwork": link}


_ELSEWHERE = "10.0.0.0/9"
"""The range of interfaces whose subnetwork is of another project, or not known."""


def _range(site: Site, card: Mapping[str, Any]) -> str:
    _, _, rest = card.get("subnetwork", "").partition(f"/projects/{site.project}/")
    scope, _, name = rest.partition("/subnetworks/")
    subnetwork = site.things["subnetworks"].get(scope, name)
    return str(subnetwork["ipCidrRange"]) if subnetwork else _ELSEWHERE


def _access(site: Site, zone: str, given: Mapping[str, Any], field: str) -> dict[str, Any]:
    address = given.get("natIP")
    if address:
        _check_reserved(site, region_of(zone), address, field)
    return {
        "kind": "compute#accessConfig",
        "type": "ONE_TO_ONE_NAT",
        "name": "External NAT",
        "networkTier": "PREMIUM",
        **given,
        "natIP": address or site.pools.external.take(),
    }


def _check_reserved(site: Site, region: str, address: str, field: str) -> None:
    reserved = _reserved(site, region, address)
    if reserved is None:
        why = f"The specified external IP address '{address}' was not found in region '{region}'."
        raise invalid_field(f"{field}.natIP", address, why)
    if reserved.get("users"):
        path = reserved["selfLink"].partition("/compute/v1/")[2]
        raise in_use(path, reserved["users"][0].partition("/compute/v1/")[2])


def _reserved(site: Site, region: str, address: str) -> Resource | None:
    """The address resource of this address, if it was reserved."""
    return next(
        (
            thing
            for thing in site.things["addresses"].all()
            if thing.get("address") == address and thing["region"].endswith(f"/regions/{region}")
        ),
        None,
    )


def occupy(site: Site, resource: Resource) -> None:
    """Note at the reserved addresses of an instance that they are in use by it."""
    for region, address in _external(resource):
        reserved = _reserved(site, region, address)
        if reserved:
            used = {**reserved, "status": "IN_USE", "users": [resource["selfLink"]]}
            site.things["addresses"].put(f"regions/{region}", reserved["name"], used)


def vacate(site: Site, resource: Resource) -> None:
    """Give back every address of an instance that is no more."""
    for region, address in _external(resource):
        reserved = _reserved(site, region, address)
        if reserved:
            free = {key: value for key, value in reserved.items() if key != "users"}
            site.things["addresses"].put(
                f"regions/{region}", reserved["name"], {**free, "status": "RESERVED"}
            )
    release(site, resource["zone"].rpartition("/")[2], resource["networkInterfaces"])


def release(site: Site, zone: str, cards: Sequence[Mapping[str, Any]]) -> None:
    """Give back the addresses that were taken for interfaces; reserved ones stay reserved."""
    for card in cards:
        site.pools.of(_range(site, card)).release(card["networkIP"])
        for access in card.get("accessConfigs", ()):
            if "natIP" in access and _reserved(site, region_of(zone), access["natIP"]) is None:
                site.pools.external.release(access["natIP"])


def _external(resource: Resource) -> Iterator[tuple[str, str]]:
    region = region_of(resource["zone"].rpartition("/")[2])
    for card in resource["networkInterfaces"]:
        for access in card.get("accessConfigs", ()):
            if "natIP" in access:
                yield region, access["natIP"]


def without_ephemeral(site: Site, resource: Resource) -> list[dict[str, Any]]:
    """The interfaces of an instance that has stopped: it loses what was not reserved."""
    region = region_of(resource["zone"].rpartition("/")[2])

    def stopped(access: Mapping[str, Any]) -> dict[str, Any]:
        address = access.get("natIP", "")
        if not address or _reserved(site, region, address):
            return dict(access)
        site.pools.external.release(address)
        return {key: value for key, value in access.items() if key != "natIP"}

    return _each_access(resource, stopped)


def with_ephemeral(site: Site, resource: Resource) -> list[dict[str, Any]]:
    """The interfaces of an instance that is started again: it gets other addresses."""
    return _each_access(
        resource, lambda access: {**access, "natIP": access.get("natIP") or site.pools.external.take()}
    )


def _each_access(resource: Resource, change: Any) -> list[dict[str, Any]]:
    return [
        {**card, "accessConfigs": [change(item) for item in card["accessConfigs"]]}
        if "accessConfigs" in card
        else card
        for card in resource["networkInterfaces"]
    ]
