"""The notice of a preemption in a create request, and what tells the job kit to use it."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from spotwarden.model.request import Request

EARLY_KEY = "spotwarden-early"
"""In the metadata of a VM: its job kit hands over. In a create script: its job does."""
_FIELD = "preemptionNoticeDuration"
_NOTICE = {"seconds": "120"}
"""The only one that there is (Google: "Create and use Spot VMs"; 0 is none)."""


def says_early(request: Request) -> bool:
    """Whether the script itself has told the job kit to hand over."""
    items = _inner(request).get("metadata", {}).get("items", ())
    return any(item["key"] == EARLY_KEY and item.get("value") == "1" for item in items)


def with_notice(request: Request, *, notice: bool) -> Request:
    """The request of a VM that hands over, with a notice of its preemption or without.

    What a template has is left alone: any scheduling or metadata in the request would replace its own.
    """
    inner = dict(_inner(request))
    scheduling = {key: value for key, value in inner.get("scheduling", {}).items() if key != _FIELD}
    if scheduling:
        inner["scheduling"] = {**scheduling, _FIELD: _NOTICE} if notice else scheduling
    if "metadata" in inner:
        items = [item for item in inner["metadata"].get("items", ()) if item["key"] != EARLY_KEY]
        items.append({"key": EARLY_KEY, "value": "1"})
        inner["metadata"] = {**inner["metadata"], "items": sorted(items, key=lambda item: str(item["key"]))}
    bulk = "instanceProperties" in request.body
    return replace(request, body={**request.body, "instanceProperties": inner} if bulk else inner)


def _inner(request: Request) -> Mapping[str, Any]:
    found: Mapping[str, Any] = request.body.get("instanceProperties", request.body)
    return found
