"""A create request, made ours: which job, which attempt, which request id."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid5

import msgspec

from spotwarden.model.attempt import Attempt
from spotwarden.model.placement import region_of
from spotwarden.model.request import Request
from spotwarden.recovery.kinds.bounds import SHORTEST_RUN
from spotwarden.recovery.kinds.flexible import SHORTEST_FLEXIBLE_RUN
from spotwarden.recovery.kinds.ladder import as_model
from spotwarden.recovery.requests.notice_field import with_notice

NAMESPACE = UUID("6f2d7a52-3a1c-5c1e-9d0b-8f6f1b7b3f11")
JOB_KEY = "spotwarden-job"
ATTEMPT_KEY = "spotwarden-attempt"
TURN_KEY = "spotwarden-try"
NODE_KEY = "spotwarden-node"
"""In the metadata of a VM that does not bear its node's name: that name."""
JOINS_KEY = "spotwarden-joins"
"""A node of a gang that bends begins once a record of the chain names it."""
_SECOND_HALF = 2**64 - 1
_OWN_MODELS = frozenset(("FLEX_START", "RESERVATION_BOUND"))


def request_id(job: str, attempt: int, place: str, turn: int) -> str:
    """The same for the same job, attempt, place and turn, whoever asks: a repeated request creates nothing.

    `turn` counts the tries of an attempt, for a place may be asked again after it is known to have failed.
    """
    return str(uuid5(NAMESPACE, f"{job}/{attempt}/{place}/{turn}"))


def delete_id(job: str, attempt: int, instance_id: str) -> str:
    """The request id under which recovery deletes an instance that stands in the way of an attempt."""
    return str(uuid5(NAMESPACE, f"delete/{job}/{attempt}/{instance_id}"))


def stop_id(job: str, newest: int, instance_id: str, command: str) -> str:
    """The request id under which a command stops or deletes an instance, behind the newest record it saw.

    The first half tells that record to whoever reads the operation log; by the second no command's request
    passes for another one's, which is done already.
    """
    own = uuid5(NAMESPACE, command).int & _SECOND_HALF
    return str(UUID(int=_stop(job, newest, instance_id).int & ~_SECOND_HALF | own))


def is_stop_behind(request: str, job: str, newest: int, instance_id: str) -> bool:
    """Whether a command has asked for this which saw no newer record than this one."""
    half = len("00000000-0000-0000-")
    return request[:half] == str(_stop(job, newest, instance_id))[:half]


def _stop(job: str, newest: int, instance_id: str) -> UUID:
    return uuid5(NAMESPACE, f"stop/{job}/{newest}/{instance_id}")


def stamp(request: Request, job: str, attempt: int, turn: int = 1) -> Request:
    """Tell the VM, and whoever lists it, which attempt of which job it is, and by which try.

    A request from a template that brings no metadata of its own is left without ours: metadata in
    the request would replace the template's.
    """
    from_template = (
        "sourceInstanceTemplate" in {*request.query, *request.body} or "sourceMachineImage" in request.body
    )
    ours = {JOB_KEY: job, ATTEMPT_KEY: str(attempt), TURN_KEY: str(turn)}
    if "instanceProperties" in request.body:
        inner = _stamped(request.body["instanceProperties"], ours, keep_out=from_template)
        return msgspec.structs.replace(request, body={**request.body, "instanceProperties": inner})
    return msgspec.structs.replace(request, body=_stamped(request.body, ours, keep_out=from_template))


def for_nodes(request: Request, nodes: Collection[str], least: int) -> Request:
    """A bulk request for these of its nodes, of which so many are enough."""
    some = {key: own for key, own in _each(request).items() if (own.get("name") or key) in nodes}
    counted = {"perInstanceProperties": some, "count": str(len(some)), "minCount": str(least)}
    return msgspec.structs.replace(request, body={**request.body, **counted})


def _each(request: Request) -> Mapping[str, Mapping[str, Any]]:
    each: Mapping[str, Mapping[str, Any]] = request.body.get("perInstanceProperties", {})
    return each


def _joining(request: Request) -> Request:
    inner = dict(request.body["instanceProperties"])
    if "metadata" in inner:
        inner["metadata"] = _with_items(inner["metadata"], {JOINS_KEY: "1"})
    return msgspec.structs.replace(request, body={**request.body, "instanceProperties": inner})


def _stamped(properties: Mapping[str, Any], ours: Mapping[str, str], *, keep_out: bool) -> dict[str, Any]:
    body = dict(properties)
    if "metadata" in body or not keep_out:
        body["metadata"] = _with_items(body.get("metadata", {}), ours)
    if "labels" in body or not keep_out:
        body["labels"] = {**body.get("labels", {}), **ours}
    return body


def prepare(
    request: Request, attempt: Attempt, *, left: timedelta | None = None, held: Collection[str] = ()
) -> Request:
    """The request as the newest try sends it: stamped, spot or on demand, no longer than `left`.

    A request for a region goes to none of its zones `held`, where another VM has a name that it needs.

    The bound goes into `maxRunDuration`, which Compute Engine keeps to even if we are down (Google:
    "Limit the run time of a VM"); a shorter one of the script's own stays.
    """
    last = attempt.tries[-1]
    if last.model is not None:
        request = msgspec.structs.replace(request, body=as_model(request.body, last.model))
    if last.notice is not None:
        request = with_notice(request, notice=last.notice)
    if last.vm:
        request = _named(request, last.vm)
    stamped = _elsewhere(stamp(request, attempt.job, attempt.number, last.turn), last.place, held)
    if last.least:
        names = last.nodes or tuple(own.get("name") or key for key, own in _each(stamped).items())
        stamped = _joining(for_nodes(stamped, names, last.least))
    body = dict(stamped.body)
    inner = body.get("instanceProperties", body)
    scheduling = dict(inner.get("scheduling", {}))
    if not last.spot and last.model is None:
        scheduling = _on_demand(scheduling)
    if left is not None:
        scheduling = _bounded(scheduling, left)
    if not scheduling:
        return stamped
    if inner is body:
        body["scheduling"] = scheduling
    else:
        body["instanceProperties"] = {**inner, "scheduling": scheduling}
    return msgspec.structs.replace(stamped, body=body)


def _named(request: Request, vm: str) -> Request:
    """The request for a VM of this name, which is told whose node it is."""
    metadata = _with_items(request.body.get("metadata", {}), {NODE_KEY: str(request.body["name"])})
    return msgspec.structs.replace(request, body={**request.body, "name": vm, "metadata": metadata})


def _elsewhere(request: Request, region: str, held: Collection[str]) -> Request:
    """A bulk request that may choose among zones, but for some (Google: `locationPolicy`)."""
    zones = sorted(zone for zone in held if region_of(zone) == region)
    if not zones:
        return request
    policy = request.body.get("locationPolicy", {})
    denied = {f"zones/{zone}": {"preference": "DENY"} for zone in zones}
    policy = {**policy, "locations": {**policy.get("locations", {}), **denied}}
    return msgspec.structs.replace(request, body={**request.body, "locationPolicy": policy})


def _on_demand(scheduling: Mapping[str, Any]) -> dict[str, Any]:
    """Without the words that only a spot VM may have (Google: "Create and use Spot VMs").

    Flex-start and reservation-bound VMs are what their script asks for: no place makes them on-demand.
    """
    if scheduling.get("provisioningModel") in _OWN_MODELS:
        return dict(scheduling)
    spot_only = {"instanceTerminationAction", "preemptible", "provisioningModel", "preemptionNoticeDuration"}
    kept = {key: value for key, value in scheduling.items() if key not in spot_only}
    if "maxRunDuration" in kept and "instanceTerminationAction" in scheduling:
        kept["instanceTerminationAction"] = scheduling["instanceTerminationAction"]
    # Spot VMs never migrate, nor do VMs with GPUs: without the word a standard VM with GPUs is refused.
    return {"onHostMaintenance": "TERMINATE", **kept, "provisioningModel": "STANDARD"}


def _bounded(scheduling: Mapping[str, Any], left: timedelta) -> dict[str, Any]:
    own = int(scheduling.get("maxRunDuration", {}).get("seconds", 0))
    flexible = scheduling.get("provisioningModel") == "FLEX_START"
    least = SHORTEST_FLEXIBLE_RUN if flexible else SHORTEST_RUN
    seconds = int(max(left, least).total_seconds())
    # Compute Engine takes a duration or a moment, not both; the script's own moment is an order.
    if (own and own <= seconds) or "terminationTime" in scheduling:
        return dict(scheduling)
    return {
        "instanceTerminationAction": "STOP" if scheduling.get("provisioningModel") == "SPOT" else "DELETE",
        **scheduling,
        "maxRunDuration": {"seconds": str(seconds)},
    }


def _with_items(metadata: Mapping[str, Any], ours: Mapping[str, str]) -> dict[str, Any]:
    kept = [item for item in metadata.get("items", ()) if item["key"] not in ours]
    items = kept + [{"key": key, "value": value} for key, value in ours.items()]
    return {**metadata, "items": sorted(items, key=lambda item: str(item["key"]))}
