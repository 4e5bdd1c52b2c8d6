"""`advice.capacity` and `advice.capacityHistory`, both in preview: what can be asked, what is refused."""

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.routing import BaseRoute

from localcloud.compute.advice import (
    MODELS,
    MOST_VMS,
    SHAPES,
    TYPES,
    Wish,
    check_machine,
    preemption_days,
    recommend,
)
from localcloud.compute.api.call import Answer, Call, route
from localcloud.compute.links import last
from localcloud.compute.refusals import invalid_field
from localcloud.compute.site import Site

_SELECTION = "instanceFlexibilityPolicy.instanceSelections"


def advice_routes(site: Site) -> list[BaseRoute]:
    """The routes."""
    base = "projects/{project}/regions/{region}/advice"
    return [
        route(site, "POST", f"{base}/capacity", _capacity),
        route(site, "POST", f"{base}/capacityHistory", _history),
    ]


async def _capacity(call: Call) -> Answer:
    """One recommendation; its scores are those of the whole request."""
    body = call.read("CapacityAdviceRequest")
    distribution = body.get("distributionPolicy", {})
    shape = distribution.get("targetShape", "")
    if shape not in SHAPES:
        raise invalid_field(
            "distributionPolicy.targetShape", shape, f"It must be one of {', '.join(SHAPES)}."
        )
    model = _model(body, MODELS)
    size = body.get("size", 0)
    if not 0 < size <= MOST_VMS:
        raise invalid_field("size", size, f"It must be between 1 and {MOST_VMS}.")
    zones = _zones(call, distribution.get("zones", ()))
    selection = _selection(body)
    machines = [last(machine) for machine in selection.get("machineTypes", ())]
    if not machines:
        raise invalid_field(f"{_SELECTION}.machineTypes", "", "At least one machine type must be specified.")
    for machine in machines:
        cards = bool(selection.get("guestAccelerators"))
        check_machine(call.site, machine, zones, f"{_SELECTION}.machineTypes", cards=cards)
    return {"recommendations": [recommend(call.site, machines, Wish(zones, size, shape, model))]}


async def _history(call: Call) -> Answer:
    """What was asked for of it; of a zone there are no prices."""
    body = call.read("CapacityHistoryRequest")
    types = body.get("types", ())
    if not types or not {*types} <= {*TYPES}:
        raise invalid_field("types", ",".join(types), f"It must name some of {', '.join(TYPES)}.")
    _model(body, ("SPOT",))
    properties = body.get("instanceProperties", {})
    machine = last(properties.get("machineType", ""))
    location = body.get("locationPolicy", {}).get("location", "")
    zones = _zones(call, [{"zone": location}] if "zones/" in location else ())
    if "zones/" in location and "PRICE" in types:
        raise invalid_field("types", "PRICE", "Prices are those of a region.")
    cards = bool(properties.get("guestAccelerators"))
    check_machine(call.site, machine, zones, "instanceProperties.machineType", cards=cards)
    place = location if "zones/" in location else f"regions/{call.region}"
    days = preemption_days(call.site, last(place)) if "PREEMPTION" in types else []
    return {
        "machineType": machine,
        "location": call.site.links.link(place[place.index("zones/" if "zones/" in place else "regions/") :]),
        **({"preemptionHistory": days} if days else {}),
    }


def _model(body: Mapping[str, Any], allowed: Sequence[str]) -> str:
    model = body.get("instanceProperties", {}).get("scheduling", {}).get("provisioningModel", "")
    if model not in allowed:
        raise invalid_field(
            "instanceProperties.scheduling.provisioningModel", model, f"It must be {' or '.join(allowed)}."
        )
    return str(model)


def _selection(body: Mapping[str, Any]) -> Mapping[str, Any]:
    selections = body.get("instanceFlexibilityPolicy", {}).get("instanceSelections", {})
    if len(selections) != 1:
        raise invalid_field(_SELECTION, len(selections), "Exactly one instance selection must be specified.")
    selection: Mapping[str, Any] = next(iter(selections.values()))
    return selection


def _zones(call: Call, asked: Sequence[Mapping[str, Any]]) -> Sequence[str]:
    """The zones that are asked about, all of the region where none are named."""
    known = call.site.catalog.zones_of(call.region)
    zones = [last(item.get("zone", "")) for item in asked]
    for zone in zones:
        if zone not in known:
            raise invalid_field("zone", zone, f"It is no zone of {call.region}.")
    return zones or known
