"""The requests for the parts of a slice, as the newest try of an attempt sends them."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from spotwarden.model.attempt import Attempt
from spotwarden.model.request import Request
from spotwarden.model.slices import SliceGroup, SliceParts
from spotwarden.recovery.requests.launching import prepare

POLICY, TEMPLATE, GROUP = "policy", "template", "group"


def parts_of(
    parts: SliceParts, group: SliceGroup, attempt: Attempt, left: timedelta | None
) -> Mapping[str, Request]:
    """The requests by part, in the order in which they are sent; VMs of theirs run no longer than `left`."""
    made = {} if parts.policy is None else {POLICY: parts.policy}
    return {
        **made,
        TEMPLATE: _template(parts.template, group.name, attempt, left),
        GROUP: _group(parts.group, group.name),
    }


def _template(request: Request, name: str, attempt: Attempt, left: timedelta | None) -> Request:
    """Stamped as a request for VMs is: what the template says goes into each of them."""
    asked = replace(request, body={"instanceProperties": request.body["properties"]})
    inner = prepare(asked, attempt, left=left).body["instanceProperties"]
    return replace(request, body={**request.body, "name": name, "properties": inner})


def _group(request: Request, name: str) -> Request:
    """Without VMs yet, which get the names of the job's nodes, and without repairs.

    A VM that the group made anew by itself would be no part of the slice, and of no attempt.
    """
    body: dict[str, Any] = {key: value for key, value in request.body.items() if key != "versions"}
    template = str(body.get("instanceTemplate") or request.body["versions"][0]["instanceTemplate"])
    life = {**body.get("instanceLifecyclePolicy", {}), "defaultActionOnFailure": "DO_NOTHING"}
    return replace(
        request,
        body={
            **body,
            "name": name,
            "instanceTemplate": f"{template.rpartition('/')[0]}/{name}",
            "targetSize": 0,
            "instanceLifecyclePolicy": life,
        },
    )
