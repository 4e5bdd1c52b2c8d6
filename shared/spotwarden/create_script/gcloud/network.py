"""The network cards of a machine."""

import ipaddress
from collections.abc import Callable
from typing import Any

from spotwarden.create_script.gcloud.keys import NETWORK_TIERS
from spotwarden.create_script.gcloud.letters import CONTAINER, CREATE
from spotwarden.create_script.gcloud.scene import GcloudScene, compact
from spotwarden.create_script.gcloud.versions import newer
from spotwarden.model.gcloud import NEWEST, OLDEST

# Flags that describe the one card of a machine without --network-interface; they are keys of that, too.
_CARD_FLAGS = (
    "address",
    "external-ipv6-address",
    "external-ipv6-prefix-length",
    "internal-ipv6-address",
    "internal-ipv6-prefix-length",
    "ipv6-address",
    "ipv6-network-tier",
    "ipv6-prefix-length",
    "ipv6-public-ptr-domain",
    "network",
    "network-tier",
    "no-address",
    "private-network-ip",
    "stack-type",
    "subnet",
)
_NAME_FLAGS = (
    "no-public-ptr",
    "no-public-ptr-domain",
    "public-ptr",
    "public-ptr-domain",
    "no-public-dns",
    "public-dns",
)
# Keys of a card that all tracks take, and that `create` sends in these only.
_LOST = {"enable-vpc-scoped-dns": ("alpha",), "ipv6-aliases": ("beta", "alpha")}
# The prefix length of an external IPv6 address when none is named.
_IPV6_PREFIX = 96


def interfaces(scene: GcloudScene) -> list[dict[str, Any]] | None:
    """Give the cards; None where a template decides."""
    args = scene.args
    _check(scene)
    cards = args["network-interface"]
    if cards:
        return [_interface(scene, "network-interface", _accepted(scene, card), names={}) for card in cards]
    names = () if scene.bare else _NAME_FLAGS
    if scene.from_template and not args.given(*_CARD_FLAGS, *names):
        return None
    card = {flag: args[flag] for flag in _CARD_FLAGS if args[flag] is not None}
    return [_interface(scene, None, card, names={flag: args[flag] for flag in names})]


def _accepted(scene: GcloudScene, card: dict[str, Any]) -> dict[str, Any]:
    """Drop what gcloud takes and then forgets."""
    lost = {"ipv6-address", "ipv6-prefix-length"} | {
        key for key, tracks in _LOST.items() if scene.command == CONTAINER or scene.track not in tracks
    }
    return {key: value for key, value in card.items() if key not in lost}


def _check(scene: GcloudScene) -> None:
    args = scene.args
    if args["network-tier"] and args["network-tier"] not in NETWORK_TIERS:
        raise args.refusal(
            "network-tier", f"{args['network-tier']!r} is not one of {', '.join(NETWORK_TIERS)}"
        )
    if args.given("network-interface-from-file", "network-interface-from-json-string"):
        flag = "network-interface-from-" + (
            "file" if args.given("network-interface-from-file") else "json-string"
        )
        raise args.refusal(flag, "is not supported here; write the cards as --network-interface")
    if args.given("network-interface"):
        _check_cards(scene)
    if scene.command == CONTAINER or not args.given("network-interface"):
        _check_names(scene)


def _check_cards(scene: GcloudScene) -> None:
    args = scene.args
    for card in args["network-interface"]:
        if "address" in card and "no-address" in card:
            raise args.refusal(
                "network-interface", "has a card with both address and no-address; leave one of them out"
            )
        if card.get("ipv6-network-tier") == "STANDARD" and scene.version == OLDEST:
            reason = newer("ipv6-network-tier=STANDARD", NEWEST, OLDEST)
            raise args.refusal("network-interface", reason)
    for flag in ("address", "network", "private-network-ip", "subnet"):
        if args[flag]:
            raise args.refusal(
                "network-interface", f"can't be used with --{flag}; write that as a key of the card"
            )


def _check_names(scene: GcloudScene) -> None:
    args = scene.args
    for flag in ("public-dns", "public-ptr"):
        if args[flag] and args.given("network-interface"):
            raise args.refusal(flag, "can't be used with --network-interface; leave one of them out")
    if args["public-ptr-domain"] is not None and args["no-public-ptr"]:
        raise args.refusal("public-ptr-domain", "can't be used with --no-public-ptr; leave one of them out")


def _interface(
    scene: GcloudScene, flag: str | None, card: dict[str, Any], names: dict[str, Any]
) -> dict[str, Any]:
    """Write one card; `flag` is where it was described, None for flags of its own."""
    return (
        _networks(scene, flag, card)
        | _addresses(scene, flag, card)
        | compact(
            accessConfigs=_access(scene, flag, card, names),
            aliasIpRanges=_aliases(scene, card.get("aliases"), _delimiters(scene)),
            aliasIpv6Ranges=_aliases(scene, card.get("ipv6-aliases"), "="),
            dns64Eligible="dns64-eligible" in card or None,
            enableVpcScopedDns="enable-vpc-scoped-dns" in card or None,
            igmpQuery=card.get("igmp-query"),
            ipv6AccessConfigs=_ipv6_access(scene, flag, card),
            nat64Eligible="nat64-eligible" in card or None,
            nicType=card.get("nic-type"),
            queueCount=card.get("queue-count"),
            serviceClassId=card.get("service-class-id") or None,
            stackType=card.get("stack-type"),
            vlan=card.get("vlan"),
        )
    )


def _networks(scene: GcloudScene, flag: str | None, card: dict[str, Any]) -> dict[str, Any]:
    network, subnet, attachment = card.get("network"), card.get("subnet"), card.get("network-attachment")
    found: dict[str, Any] = compact(networkAttachment=attachment)
    if subnet is not None:
        parts = {"project": scene.project, "region": scene.region.rsplit("/", 1)[-1]}
        found["subnetwork"] = scene.link(flag or "subnet", subnet, "subnetworks", **parts)
    if network is None and subnet is None and attachment is None:
        network = "default"
    if network is not None:
        found["network"] = scene.link(flag or "network", network, "networks", project=scene.project)
    return found


def _addresses(scene: GcloudScene, flag: str | None, card: dict[str, Any]) -> dict[str, Any]:
    private, internal = card.get("private-network-ip"), card.get("internal-ipv6-address")
    found: dict[str, Any] = compact(internalIpv6PrefixLength=card.get("internal-ipv6-prefix-length"))
    if private is not None:
        found["networkIP"] = _address(scene, flag or "private-network-ip", private, ipaddress.ip_address)
    if internal is not None:
        literal = ipaddress.ip_network if "/" in internal else ipaddress.ip_address
        found["ipv6Address"] = _address(scene, flag or "internal-ipv6-address", internal, literal)
    return found


def _address(scene: GcloudScene, flag: str, value: str, literal: Callable[[str], Any]) -> str:
    """Give an address as it is written, or the URL of a reserved one."""
    return (
        value
        if _is(literal, value)
        else scene.link(flag, value, "addresses", project=scene.home, region=scene.region)
    )


def _is(literal: Callable[[str], Any], value: str) -> bool:
    try:
        literal(value)
    except ValueError:
        return False
    return True


def _access(
    scene: GcloudScene, flag: str | None, card: dict[str, Any], names: dict[str, Any]
) -> list[dict[str, Any]] | None:
    """Write the access to the internet over IPv4; None for a card without."""
    if (
        "no-address" in card
        or card.get("stack-type") == "IPV6_ONLY"
        or card.get("network-attachment") is not None
    ):
        return None
    address = card.get("address") or None
    if address and not _is(ipaddress.ip_address, address):
        reason = f"the address behind the name {address!r} is known to the API only; write the address itself"
        raise scene.args.refusal(flag or "address", reason)
    tier = card.get("network-tier")
    if tier is not None and (not tier or (tier == "SELECT" and scene.track != "alpha")):
        raise scene.args.refusal(flag or "network-tier", f"the tier {tier!r} is not one of PREMIUM, STANDARD")
    domain = None if names.get("no-public-ptr-domain") else names.get("public-ptr-domain")
    return [
        compact(
            name="external-nat",
            natIP=address,
            networkTier=tier,
            publicPtrDomainName=domain,
            setPublicDns=_either(names, "public-dns"),
            setPublicPtr=_either(names, "public-ptr"),
            type="ONE_TO_ONE_NAT",
        )
    ]


def _either(names: dict[str, Any], flag: str) -> bool | None:
    if names.get(f"no-{flag}"):
        return False
    return True if names.get(flag) else None


def _delimiters(scene: GcloudScene) -> str:
    """Where ranges of IPv6 have a flag of their own, a range of IPv4 may have an equals sign, too."""
    young = scene.version > OLDEST and scene.command == CREATE and scene.track in {"beta", "alpha"}
    return ":=" if young else ":"


def _aliases(scene: GcloudScene, text: str | None, delimiters: str) -> list[dict[str, str]] | None:
    if not text:
        return None
    ranges = [
        piece.split(next((sign for sign in delimiters if sign in piece), delimiters[0]))
        for piece in text.split(";")
    ]
    for parts in ranges:
        if len(parts) > 2:  # noqa: PLR2004 — a range has a name and a mask
            reason = f"the alias range {':'.join(parts)!r} must be NAME:RANGE or RANGE; separate two with ;"
            raise scene.args.refusal("network-interface", reason)
    return [
        dict(zip(("ipCidrRange", "subnetworkRangeName"), reversed(parts), strict=False)) for parts in ranges
    ]


def _ipv6_access(scene: GcloudScene, flag: str | None, card: dict[str, Any]) -> list[dict[str, Any]] | None:
    tier, domain = card.get("ipv6-network-tier"), card.get("ipv6-public-ptr-domain")
    address = card.get("external-ipv6-address", card.get("ipv6-address"))
    if tier is None and domain is None and not address:
        return None
    config = compact(
        name="external-v6-access-config", networkTier=tier, publicPtrDomainName=domain, type="DIRECT_IPV6"
    )
    if address:
        prefix = card.get("external-ipv6-prefix-length", card.get("ipv6-prefix-length"))
        config["externalIpv6"] = _address(
            scene, flag or "external-ipv6-address", address, ipaddress.ip_address
        )
        config["externalIpv6PrefixLength"] = prefix or _IPV6_PREFIX
    return [config]
