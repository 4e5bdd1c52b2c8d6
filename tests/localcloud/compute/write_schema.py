"""Derives `localcloud/compute/schema.json` from Google's discovery document of Compute v1.

Run it after an update of google-api-python-client: `python tests/localcloud/compute/write_schema.py`.
"""

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

DOCUMENT = files("googleapiclient.discovery_cache") / "documents" / "compute.v1.json"
TARGET = Path(__file__).parents[3] / "infra" / "localcloud" / "compute" / "schema.json"

# What the local cloud takes or lists; everything these refer to comes along.
ROOTS = (
    "AcceleratorType",
    "Address",
    "Autoscaler",
    "BulkInsertInstanceResource",
    "CapacityAdviceRequest",
    "CapacityHistoryRequest",
    "Disk",
    "DiskType",
    "DisksResizeRequest",
    "Firewall",
    "GlobalSetLabelsRequest",
    "Image",
    "Instance",
    "InstanceGroup",
    "InstanceGroupManager",
    "InstanceGroupManagersAbandonInstancesRequest",
    "InstanceGroupManagersCreateInstancesRequest",
    "InstanceGroupManagersDeleteInstancesRequest",
    "InstanceGroupManagersRecreateInstancesRequest",
    "InstanceGroupManagersSetInstanceTemplateRequest",
    "InstanceGroupsListInstancesRequest",
    "InstanceTemplate",
    "InstanceWithNamedPorts",
    "InstancesSetLabelsRequest",
    "InstancesSetMachineTypeRequest",
    "MachineImage",
    "MachineType",
    "ManagedInstance",
    "Metadata",
    "Network",
    "Operation",
    "Region",
    "RegionSetLabelsRequest",
    "Reservation",
    "ResourcePolicy",
    "Scheduling",
    "Snapshot",
    "Subnetwork",
    "Tags",
    "Zone",
    "ZoneSetLabelsRequest",
)


def derive(document: Mapping[str, Any], roots: Iterable[str] = ROOTS) -> dict[str, Any]:
    """The shapes of the roots and of what they refer to, in the forms that the local cloud reads."""
    schemas, wanted = document["schemas"], list(roots)
    shapes: dict[str, Any] = {}
    while wanted:
        name = wanted.pop()
        if name not in shapes:
            shapes[name] = {
                key: shape(value, wanted) for key, value in schemas[name].get("properties", {}).items()
            }
    return dict(sorted(shapes.items()))


def shape(value: Mapping[str, Any], wanted: list[str]) -> Any:
    """The compact form of one property; the messages it refers to are added to `wanted`."""
    if "$ref" in value:
        wanted.append(value["$ref"])
        return "#" + value["$ref"]
    if "enum" in value:
        return {"enum": value["enum"]}
    if value["type"] == "array":
        return [shape(value["items"], wanted)]
    if value["type"] != "object":
        return value.get("format", value["type"])
    if "additionalProperties" in value:
        return {"*": shape(value["additionalProperties"], wanted)}
    return {"fields": {key: shape(item, wanted) for key, item in value.get("properties", {}).items()}}


def render(shapes: Mapping[str, Any]) -> str:
    """One message a line, so that a change of one is a change of one line."""
    lines = (f"{json.dumps(name)}: {json.dumps(fields)}" for name, fields in shapes.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    TARGET.write_text(render(derive(json.loads(DOCUMENT.read_text(encoding="utf-8")))), encoding="utf-8")
