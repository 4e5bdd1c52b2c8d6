"""A create request, made ours: which job, which attempt, which request id."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid5

import msgspec

from spotwarden.model.request import Request

NAMESPACE = UUID("6f2d7a52-3a1c-5c1e-9d0b-8f6f1b7b3f11")
JOB_KEY = "spotwarden-job"
ATTEMPT_KEY = "spotwarden-attempt"


def request_id(job: str, attempt: int, place: str, turn: int) -> str:
    """The same for the same job, attempt, place and turn, whoever asks: a repeated request creates nothing.

    `turn` counts the tries of an attempt, for a place may be asked again after it is known to have failed.
    """
    return str(uuid5(NAMESPACE, f"{job}/{attempt}/{place}/{turn}"))


def stamp(request: Request, job: str, attempt: int) -> Request:
    """Tell the VM, and whoever lists it, which attempt of which job it is.

    A request from a template that brings no metadata of its own is left without ours: metadata in
    the request would replace the template's.
    """
    body = dict(request.body)
    from_template = "sourceInstanceTemplate" in request.query or "sourceMachineImage" in body
    if "metadata" in body or not from_template:
        body["metadata"] = _with_items(body.get("metadata", {}), {JOB_KEY: job, ATTEMPT_KEY: str(attempt)})
    if "labels" in body or not from_template:
        body["labels"] = {**body.get("labels", {}), JOB_KEY: job, ATTEMPT_KEY: str(attempt)}
    return msgspec.structs.replace(request, body=body)


def _with_items(metadata: Mapping[str, Any], ours: Mapping[str, str]) -> dict[str, Any]:
    kept = [item for item in metadata.get("items", ()) if item["key"] not in ours]
    items = kept + [{"key": key, "value": value} for key, value in ours.items()]
    return {**metadata, "items": sorted(items, key=lambda item: str(item["key"]))}
