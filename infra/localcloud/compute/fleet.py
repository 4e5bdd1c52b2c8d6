"""Many instances with nothing behind them, for measuring how others cope with long lists."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import msgspec

from localcloud.compute.build import build, network
from localcloud.compute.life import Steps
from localcloud.compute.refusals import invalid_field
from localcloud.compute.registry import Vm
from localcloud.compute.shelf import Resource
from localcloud.compute.site import Site

MOST = 1_000_000


class Fleet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to create. Names are `prefix` and a number; zones are filled in turn.

    The instances are in lists and can be got, labelled, stopped, preempted and deleted. Their disks are named
    in them but are no resources.
    """

    count: Annotated[int, msgspec.Meta(ge=1, le=MOST)]
    prefix: str = "idle-"
    zones: tuple[str, ...] = ("us-central1-a", "us-east1-b", "us-west1-a", "europe-west4-a")
    machine_type: str = "n1-standard-8"
    spot: bool = True
    labels: dict[str, str] = {}
    metadata: dict[str, str] = {}


def create(site: Site, fleet: Fleet) -> int:
    """Create a fleet, RUNNING at once; return how many instances there are now.

    Raises:
        ApiError: 400 when it cannot be as it is asked for, 409 when a name is taken; nothing is created then.
    """
    if not fleet.zones:
        raise invalid_field("zones", "", "Give at least one zone.")
    patterns = [_pattern(site, fleet, zone) for zone in fleet.zones]
    digits = len(str(fleet.count))
    names = [f"{fleet.prefix}{number:0{digits}}" for number in range(1, fleet.count + 1)]
    for number, name in enumerate(names):
        site.registry.check_free(fleet.zones[number % len(patterns)], name)
    for number, name in enumerate(names):
        resource = _member(site, patterns[number % len(patterns)], name, number)
        site.registry.add(Vm(resource=resource, empty=True, lives=1))
    return len(site.registry)


def _pattern(site: Site, fleet: Fleet, zone: str) -> Resource:
    """An instance of a zone that all others of the zone are like. Parts that are the same are shared."""
    if zone not in site.catalog.zones:
        raise invalid_field("zones", zone, "Unknown zone.")
    built = build(site, zone, _request(fleet))
    network.release(site, zone, built.resource["networkInterfaces"])
    started = {"status": "RUNNING", "lastStartTimestamp": site.now()}
    machine = site.catalog.machine(fleet.machine_type, zone)
    return {**built.resource, **started, "cpuPlatform": machine.platform if machine else ""}


def _request(fleet: Fleet) -> Mapping[str, Any]:
    spot = {"provisioningModel": "SPOT", "instanceTerminationAction": "DELETE"}
    image = {"sourceImage": "projects/debian-cloud/global/images/family/debian-12"}
    return {
        "name": f"{fleet.prefix}0",
        "machineType": fleet.machine_type,
        "disks": [{"boot": True, "autoDelete": True, "initializeParams": image}],
        "networkInterfaces": [{"network": "global/networks/default"}],
        "scheduling": spot if fleet.spot else {"onHostMaintenance": "TERMINATE"},
        "labels": fleet.labels,
        "metadata": {"items": [{"key": key, "value": value} for key, value in fleet.metadata.items()]},
    }


def _member(site: Site, pattern: Resource, name: str, number: int) -> Resource:
    before, own = pattern["name"], site.numbers.take()
    disk, card = pattern["disks"][0], pattern["networkInterfaces"][0]
    source = disk["source"].removesuffix(before) + name
    return {
        **pattern,
        "id": own,
        "name": name,
        "selfLink": pattern["selfLink"].removesuffix(before) + name,
        "disks": [{**disk, "source": source}],
        "networkInterfaces": [{**card, "networkIP": _address(number)}],
    }


def _address(number: int) -> str:
    """An address of 10.0.0.0/9, where no subnetwork of an auto mode network is."""
    return f"10.{number >> 16 & 127}.{number >> 8 & 255}.{number & 255}"


def members(site: Site) -> Iterator[Vm]:
    """The instances that have no machine behind them."""
    return (vm for vm in site.registry if vm.empty)


def dissolve(site: Site, steps: Steps) -> int:
    """Let all of them be gone at once, without operations; return how many they were."""
    found = list(members(site))
    for vm in found:
        steps.discard(vm)
    return len(found)
