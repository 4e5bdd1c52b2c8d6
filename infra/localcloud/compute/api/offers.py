"""What is on offer: the project, regions, zones, machine, accelerator and disk types, as resources."""

import zlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from starlette.routing import BaseRoute

from localcloud.compute.api.call import Answer, Call, route
from localcloud.compute.api.collections import Made, Shown, by_name, list_in_scope, shown_routes
from localcloud.compute.catalog import UNKNOWN_PLATFORM, CatalogMachine
from localcloud.compute.links import last, region_of
from localcloud.compute.quotas import METRICS
from localcloud.compute.refusals import not_found
from localcloud.compute.schema import shapes
from localcloud.compute.shelf import Resource, Row
from localcloud.compute.site import Site

UNLIMITED = 1e6
"""What is shown as the limit of a metric that has none: tools take what is not shown for a limit of 0."""

SINCE = "1969-12-31T16:00:00.000-08:00"
"""The creation time that Compute Engine gives for what was always there."""


def offer_routes(site: Site) -> list[BaseRoute]:
    """The routes of all that."""
    return [
        route(site, "GET", "projects/{project}", _project),
        *_place_routes(site, "zones", "Zone", _zones(site)),
        *_place_routes(site, "regions", "Region", _regions(site)),
        *(route_ for shown in _types(site) for route_ in shown_routes(site, shown)),
    ]


async def _project(call: Call) -> Answer:
    site = call.site
    return {
        "kind": "compute#project",
        "id": site.project_number,
        "creationTimestamp": SINCE,
        "name": site.project,
        "commonInstanceMetadata": {"kind": "compute#metadata", "fingerprint": "0000000000000000"},
        "quotas": _quotas(site, ""),
        "selfLink": site.links.root + f"projects/{site.project}",
        "defaultServiceAccount": site.service_account,
        "xpnProjectStatus": "UNSPECIFIED_XPN_PROJECT_STATUS",
        "defaultNetworkTier": "PREMIUM",
        "vmDnsSetting": "ZONAL_ONLY",
    }


def _quotas(site: Site, region: str) -> list[dict[str, Any]]:
    """The limits in force, and `UNLIMITED` for each metric of the place that has none.

    Metrics of newer GPUs are limited, too, but have no word in Compute Engine's API.
    """
    known = shapes()["Quota"]["metric"]["enum"]
    own = {metric for metric in METRICS if metric.endswith("_ALL_REGIONS") == (not region)}
    limits = {metric: limit for (metric, where), limit in site.quotas.limits.items() if where == region}
    present = [found for found in site.registry.resources() if region in ("", region_of(last(found["zone"])))]
    return [
        {
            "metric": metric,
            "limit": limits.get(metric, UNLIMITED),
            "usage": site.quotas.usage(metric, region, present),
        }
        for metric in sorted({*own, *limits}.intersection(known))
    ]


def _place_routes(site: Site, name: str, message: str, make: Callable[[str], Resource]) -> list[BaseRoute]:
    """Zones and regions: they are places themselves, so their path is one part shorter."""
    parameter = name.removesuffix("s")
    names = site.catalog.zones if name == "zones" else sorted(site.catalog.regions)
    shown = Shown(
        name=name,
        kind=f"compute#{parameter}",
        message=message,
        parameter=parameter,
        home="global",
        rows=lambda: {"global": Row(names=list(names), by_name={item: make(item) for item in names})},
        get=lambda _call, candidate: make(candidate),
    )

    async def get(call: Call) -> Answer:
        return make(call.part(parameter))

    async def listed(call: Call) -> Answer:
        found = list_in_scope(call, shown)
        path = f"projects/{site.project}/{name}"
        return {**found, "id": path, "selfLink": site.links.root + path}

    return [
        route(site, "GET", f"projects/{{project}}/{name}", listed),
        route(site, "GET", f"projects/{{project}}/{name}/{{{parameter}}}", get),
    ]


def _zones(site: Site) -> Callable[[str], Resource]:
    platforms = sorted({family.platform for family in site.catalog.families.values()} - {UNKNOWN_PLATFORM})

    def zone(name: str) -> Resource:
        return {
            **_head("zone", name),
            "description": name,
            "status": "UP",
            "region": site.links.link(f"regions/{region_of(name)}"),
            "selfLink": site.links.link(f"zones/{name}"),
            "availableCpuPlatforms": platforms,
            "supportsPzs": False,
        }

    return zone


def _regions(site: Site) -> Callable[[str], Resource]:
    def region(name: str) -> Resource:
        return {
            **_head("region", name),
            "description": name,
            "status": "UP",
            "zones": [site.links.link(f"zones/{zone}") for zone in site.catalog.zones_of(name)],
            "quotas": _quotas(site, name),
            "selfLink": site.links.link(f"regions/{name}"),
            "supportsPzs": False,
        }

    return region


def _head(kind: str, name: str) -> dict[str, Any]:
    return {
        "kind": f"compute#{kind}",
        "id": str(1000 + zlib.crc32(f"{kind}/{name}".encode())),
        "creationTimestamp": SINCE,
        "name": name,
    }


def _types(site: Site) -> list[Shown]:
    scopes = [f"zones/{zone}" for zone in site.catalog.zones]

    def shown(name: str, message: str, make: Callable[[str], Mapping[str, Resource]]) -> Shown:
        def row(scope: str) -> Row:
            made = make(scope.rpartition("/")[2])
            return Row(names=sorted(made), by_name=dict(made))

        rows = Made(scopes, row)
        parameter = name.removesuffix("s")
        return Shown(
            name=name,
            kind=f"compute#{parameter}",
            message=message,
            parameter=parameter,
            home="zones",
            rows=lambda: rows,
            get=by_name(site, name, lambda: rows),
        )

    def machine_types(zone: str) -> Mapping[str, Resource]:
        return _by_name(_machine_type(site, zone, machine) for machine in site.catalog.machines_in(zone))

    def accelerator_types(zone: str) -> Mapping[str, Resource]:
        return _by_name(_accelerator_type(site, zone, name) for name in site.catalog.accelerators_in(zone))

    def disk_types(zone: str) -> Mapping[str, Resource]:
        return _by_name(_disk_type(site, zone, name) for name in site.catalog.disk_types)

    machines = shown("machineTypes", "MachineType", machine_types)
    return [
        _with_custom(site, machines),
        shown("acceleratorTypes", "AcceleratorType", accelerator_types),
        shown("diskTypes", "DiskType", disk_types),
    ]


def _by_name(resources: Iterable[Resource]) -> Mapping[str, Resource]:
    return {resource["name"]: resource for resource in resources}


def _with_custom(site: Site, shown: Shown) -> Shown:
    """Machine types with the custom ones, which can be got but stand in no list."""

    def get(call: Call, name: str) -> Answer:
        zone = call.part("zone")
        machine = site.catalog.machine(name, zone)
        if machine is None:
            raise not_found(f"projects/{site.project}/zones/{zone}/machineTypes/{name}")
        return _machine_type(site, zone, machine)

    return Shown(
        name=shown.name,
        kind=shown.kind,
        message=shown.message,
        parameter=shown.parameter,
        home=shown.home,
        rows=shown.rows,
        get=get,
    )


def _machine_type(site: Site, zone: str, machine: CatalogMachine) -> Resource:
    kind, count = machine.accelerators
    shown = [{"guestAcceleratorType": kind, "guestAcceleratorCount": count}] if count else []
    return {
        **_head("machineType", machine.name),
        "description": f"{machine.vcpus} vCPUs, {machine.memory_mb / 1024:g} GB RAM",
        "guestCpus": machine.vcpus,
        "memoryMb": machine.memory_mb,
        "imageSpaceGb": 0,
        "maximumPersistentDisks": 128,
        "maximumPersistentDisksSizeGb": "263168",
        "isSharedCpu": machine.shared_core,
        "architecture": machine.architecture,
        **({"accelerators": shown} if shown else {}),
        "zone": zone,
        "selfLink": site.links.link(f"zones/{zone}/machineTypes/{machine.name}"),
    }


def _accelerator_type(site: Site, zone: str, name: str) -> Resource:
    accelerator = site.catalog.accelerators[name]
    return {
        **_head("acceleratorType", name),
        "description": accelerator.title,
        "maximumCardsPerInstance": accelerator.attach or 16,
        "zone": site.links.link(f"zones/{zone}"),
        "selfLink": site.links.link(f"zones/{zone}/acceleratorTypes/{name}"),
    }


def _disk_type(site: Site, zone: str, name: str) -> Resource:
    disk_type = site.catalog.disk_types[name]
    return {
        **_head("diskType", name),
        "description": disk_type.title,
        "validDiskSize": disk_type.valid,
        "defaultDiskSizeGb": str(disk_type.gb),
        "zone": site.links.link(f"zones/{zone}"),
        "selfLink": site.links.link(f"zones/{zone}/diskTypes/{name}"),
    }
