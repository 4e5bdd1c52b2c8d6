"""What a guest has written about itself: `instances.getGuestAttributes`."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from localcloud.compute.api.call import Answer, Call
from localcloud.compute.refusals import invalid_field
from localcloud.compute.registry import Vm
from localcloud.errors import ApiError

SWITCH = "enable-guest-attributes"
DISABLED = "Guest attributes endpoint access is disabled."
_PATH = re.compile(r"(?:(?P<namespace>[\w-]+)/(?P<key>[\w-]*))?", re.ASCII)
_KEY = re.compile(r"[\w-]+/[\w-]+", re.ASCII)


async def get_guest_attributes(call: Call) -> Answer:
    """Those below `queryPath` (nothing, `NAMESPACE/` or `NAMESPACE/KEY`), or the one of `variableKey`."""
    vm = call.site.registry.find(call.part("zone"), call.part("instance"))
    _require_enabled(vm)
    written = {} if vm.empty else call.site.machines.guest_attributes(vm.id)
    answer = {
        "kind": "compute#guestAttributes",
        "selfLink": call.site.links.link(f"{vm.path}/getGuestAttributes"),
    }
    if key := call.query.get("variableKey", ""):
        if not _KEY.fullmatch(key):
            raise invalid_field("variableKey", key, "Must be NAMESPACE/KEY.")
        [item] = _found(call, vm, written, key)
        return {**answer, "variableKey": key, "variableValue": item["value"]}
    path = call.query.get("queryPath", "")
    return {**answer, "queryPath": path, "queryValue": {"items": _found(call, vm, written, path)}}


def _require_enabled(vm: Vm) -> None:
    items = vm.resource["metadata"].get("items", ())
    values = {item["key"]: item.get("value", "") for item in items}
    if values.get(SWITCH, "").upper() != "TRUE":
        raise ApiError(403, "forbidden", DISABLED)


def _found(
    call: Call, vm: Vm, written: Mapping[str, Mapping[str, str]], path: str
) -> Sequence[Mapping[str, Any]]:
    match = _PATH.fullmatch(path)
    if match is None:
        raise invalid_field("queryPath", path, "Must be empty, NAMESPACE/ or NAMESPACE/KEY.")
    items = [
        {"namespace": namespace, "key": key, "value": value}
        for namespace, values in sorted(written.items())
        for key, value in sorted(values.items())
        if match["namespace"] in (None, namespace) and match["key"] in (None, "", key)
    ]
    if not items:
        name = f"projects/{call.site.project}/{vm.path}/guestAttributes/{path}"
        raise ApiError(404, "notFound", f"The resource '{name}' of type 'Guest Attribute' was not found.")
    return items
