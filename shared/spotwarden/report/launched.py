"""The VMs of an attempt, from the record that was written when it was first seen."""

from collections.abc import Mapping
from typing import Any

from spotwarden.model.placement import region_of
from spotwarden.model.prices import VmKind
from spotwarden.recovery.requests.notice_field import EARLY_KEY
from spotwarden.report.model.kept import Ran


def ran_in(nodes: Mapping[str, Mapping[str, Any]]) -> dict[str, Ran]:
    """Each VM by its id, from its resource that a node has beside its disks; without an id none."""
    resources = (node.get("instance") for node in nodes.values())
    return {
        str(resource["id"]): _vm(resource)
        for resource in resources
        if isinstance(resource, Mapping) and isinstance(resource.get("id"), str | int)
    }


def _vm(resource: Mapping[str, Any]) -> Ran:
    zone = _last(resource.get("zone"))
    listed = resource.get("guestAccelerators")
    cards = [item for item in (listed if isinstance(listed, list) else ()) if isinstance(item, Mapping)]
    scheduling = resource.get("scheduling")
    how = scheduling if isinstance(scheduling, Mapping) else {}
    model = "SPOT" if how.get("preemptible") is True else how.get("provisioningModel")
    kind = VmKind(
        machine_type=_last(resource.get("machineType")),
        gpu=_last(cards[0].get("acceleratorType")) if cards else "",
        gpus=sum(_count(card.get("acceleratorCount")) for card in cards),
        region=region_of(zone),
        provisioning=model if model and isinstance(model, str) else "STANDARD",
    )
    return Ran(zone=zone, kind=kind, early=_hands_over(resource))


def _hands_over(resource: Mapping[str, Any]) -> bool:
    metadata = resource.get("metadata")
    items = metadata.get("items") if isinstance(metadata, Mapping) else ()
    told = {"key": EARLY_KEY, "value": "1"}
    return isinstance(items, list) and any(item == told for item in items)


def _last(link: object) -> str:
    return link.rpartition("/")[2] if isinstance(link, str) else ""


def _count(value: object) -> int:
    return int(value) if isinstance(value, int | str) and str(value).isdecimal() else 0
