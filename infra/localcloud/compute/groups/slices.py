"""What a managed instance group must be whose VMs come all or none, or form a TPU slice.

Sources: "About bulk mode", "Create a MIG with multi-host TPU slice". Google's own words of the refusals are
not known.
"""

import math
from collections.abc import Mapping
from typing import Any

from localcloud.compute.build.templates import template
from localcloud.compute.groups.group import GroupShape, ManagedGroup
from localcloud.compute.links import last, region_of
from localcloud.compute.refusals import invalid_field, not_found
from localcloud.compute.shelf import Resource
from localcloud.compute.site import Site

BULK = "BULK"
_MODELS = ("FLEX_START", "RESERVATION_BOUND")
_DIMENSIONS = {"ct5p": 3, "ct6e": 2, "tpu7x": 3}
"""How many dimensions a topology of these chips has ("TPU configurations")."""
_POLICY = "resource.resourcePolicies.workloadPolicy"


def shape_of(site: Site, zone: str, fields: Mapping[str, Any]) -> GroupShape:
    """What VMs a group with these fields has.

    Raises:
        ApiError: 400 when they cannot come all or none, or cannot form the topology; 404 without a template.
    """
    properties = template(site, fields["instanceTemplate"], "resource.instanceTemplate")
    model = properties.get("scheduling", {}).get("provisioningModel", "STANDARD")
    if fields["targetSizePolicy"]["mode"] == BULK:
        _check_bulk(fields, model)
    shape = GroupShape(
        machine=site.catalog.machine(last(properties.get("machineType", "")), zone),
        flexible=model == "FLEX_START",
        topology=_topology(site, zone, fields),
    )
    _check_topology(shape, fields["targetSize"])
    return shape


def _check_bulk(fields: Mapping[str, Any], model: str) -> None:
    if model not in _MODELS:
        why = "BULK needs a template with the provisioning model RESERVATION_BOUND or FLEX_START."
        raise invalid_field("resource.targetSizePolicy.mode", BULK, why)
    action = fields["instanceLifecyclePolicy"]["defaultActionOnFailure"]
    if model == "FLEX_START" and action != "DO_NOTHING":
        why = "A group of Flex-start VMs that is made in bulk must have DO_NOTHING."
        raise invalid_field("resource.instanceLifecyclePolicy.defaultActionOnFailure", action, why)


def check_resize(group: ManagedGroup, size: int) -> None:
    """Refuse another size of a group in bulk mode that has VMs or makes them, or that no topology has.

    Raises:
        ApiError: 400.
    """
    present = group.fields["targetSize"]
    if group.in_bulk and 0 < present < size:
        raise invalid_field("size", size, "A group in bulk mode grows only when it has no instances.")
    if group.in_bulk and 0 < size < present and group.bulk.in_progress:
        raise invalid_field("size", size, "A bulk instance operation is in progress.")
    _check_topology(group.shape, size)


def workload_policy(site: Site, zone: str, text: str) -> Resource:
    """The workload policy that a group names.

    Raises:
        ApiError: 404 when there is none, 400 when it is of another region or kind.
    """
    scope = f"regions/{region_of(zone)}"
    reference = site.links.read(text, field=_POLICY, collection="resourcePolicies", scope=scope)
    found = site.things["resourcePolicies"].get(reference.scope, reference.name)
    if found is None or reference.project != site.project:
        raise not_found(reference.path)
    if reference.scope != scope or "workloadPolicy" not in found:
        raise invalid_field(_POLICY, text, f"It must be a workload policy of {region_of(zone)}.")
    return found


def _topology(site: Site, zone: str, fields: Mapping[str, Any]) -> str:
    text = fields.get("resourcePolicies", {}).get("workloadPolicy", "")
    policy = workload_policy(site, zone, text)["workloadPolicy"] if text else {}
    return str(policy.get("acceleratorTopology", ""))


def _check_topology(shape: GroupShape, size: int) -> None:
    """Refuse a size that does not make the topology, as far as that is known: of TPUs."""
    machine, topology = shape.machine, shape.topology
    if not (machine and machine.chips and topology and size):
        return
    sides = [int(side) for side in topology.split("x")]
    hosts, rest = divmod(math.prod(sides), machine.chips)
    if rest or hosts == 0 or len(sides) != _DIMENSIONS.get(machine.family, len(sides)):
        why = f"Machines of type {machine.name} cannot form it."
        raise invalid_field(f"{_POLICY}.acceleratorTopology", topology, why)
    if size != hosts:
        why = f"A topology of {topology} takes {hosts} machines of type {machine.name}."
        raise invalid_field("resource.targetSize", size, why)
