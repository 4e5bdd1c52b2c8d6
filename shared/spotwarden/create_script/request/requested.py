"""A create request → the launch of a job's nodes."""

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from msgspec.structs import replace

from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.gang import nodes_of, whole
from spotwarden.create_script.request.urls import last
from spotwarden.model.attempt import Script
from spotwarden.model.launch import Choice, Launch, NoLaunch
from spotwarden.model.request import Request

_PATH = re.compile(
    r"/compute/\w+/projects/(?P<project>[^/]+)/(?:zones|regions)/(?P<place>[^/]+)/instances(?P<bulk>/bulkInsert)?"
)
_PART = re.compile(
    r"/compute/\w+/projects/(?P<project>[^/]+)/(?:global/instanceTemplates|regions/[^/]+/resourcePolicies"
    r"|zones/(?P<zone>[^/]+)/instanceGroupManagers)"
)

# "Metadata" in the reference of the Compute Engine API: keys and values together, and one value.
_MOST_METADATA = 512 * 1024
_MOST_OF_A_VALUE = 256 * 1024


def launch_of_request(request: Request, script: Script | None = None) -> Launch | NoLaunch:
    """The launch that this request makes, in its own place only.

    A bulk request becomes one for its nodes by name, all or none; any other is sent as it is.
    """
    path = _PATH.fullmatch(request.path)
    if path is None:
        return NoLaunch(reason=f"{request.path} creates no instances")
    if reason := too_much_metadata(request.body):
        return NoLaunch(reason=reason)
    # The translation marks URLs by a type of its own; what is sent and stored is plain JSON.
    body, query = (json.loads(json.dumps(part)) for part in (request.body, request.query))
    gang = path["bulk"] is not None
    try:
        nodes = nodes_of(body) if gang else (str(body.get("name", "")),)
    except ScriptRefused as refused:
        return NoLaunch(reason=refused.reason)
    request = replace(request, query=query, body=whole(body, nodes) if gang else body)
    machine = body.get("instanceProperties", {}) if gang else body
    return Launch(
        nodes=nodes,
        choices=(Choice(place=path["place"], request=request),),
        script=script,
        machine=last(machine.get("machineType", "")),
        accelerators=_accelerators(machine),
        gpus=sum(int(item.get("acceleratorCount", 0)) for item in machine.get("guestAccelerators", ())),
        spot=is_spot(machine.get("scheduling", {})),
        flexible=machine.get("scheduling", {}).get("provisioningModel") == "FLEX_START",
        gang=gang,
        part=gang and int(body.get("minCount", len(nodes))) < len(nodes),
    )


def too_much_metadata(body: Mapping[str, Any]) -> str:
    """Why Compute Engine takes no such metadata; "" where it does."""
    items = body.get("instanceProperties", body).get("metadata", {}).get("items", ())
    sizes = {item["key"]: len(item.get("value", "").encode()) for item in items}
    for key, size in sizes.items():
        if size > _MOST_OF_A_VALUE:
            return f"the metadata {key} has {size} bytes, and Compute Engine takes {_MOST_OF_A_VALUE}"
    whole = sum(sizes.values()) + sum(len(key.encode()) for key in sizes)
    if whole >= _MOST_METADATA:
        return f"the metadata has {whole} bytes, and Compute Engine takes less than {_MOST_METADATA}"
    return ""


def project_of(request: Request) -> str:
    """The project in which the request creates; empty where it creates nothing."""
    path = _PATH.fullmatch(request.path) or _PART.fullmatch(request.path)
    return unquote(path["project"]) if path else ""


def path_of_slice(request: Request) -> str | None:
    """The zone of the managed instance group that a request makes; None for any other request."""
    path = _PART.fullmatch(request.path)
    return unquote(path["zone"]) if path and path["zone"] else None


def is_spot(scheduling: Mapping[str, Any]) -> bool:
    """Whether Compute Engine may take the machine back, by the old word or the new one."""
    return scheduling.get("provisioningModel") == "SPOT" or bool(scheduling.get("preemptible"))


def _accelerators(machine: Mapping[str, Any]) -> tuple[str, ...]:
    kinds = (last(accelerator["acceleratorType"]) for accelerator in machine.get("guestAccelerators", ()))
    return tuple(dict.fromkeys(kinds))
