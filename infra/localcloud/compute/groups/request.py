"""From a request for a managed instance group to what it is; nothing is changed here."""

import re
from collections.abc import Mapping
from typing import Any

from localcloud.compute.build.checks import check_name
from localcloud.compute.groups.slices import workload_policy
from localcloud.compute.refusals import invalid_field, not_found
from localcloud.compute.site import Site
from localcloud.errors import ApiError

FIELD = "resource.instanceTemplate"
MOST = 1000
"""VMs of one zonal group ("Managed instance groups", limitations)."""
_BASE_NAME = re.compile(r"[a-z]([-a-z0-9]{0,57})?")
_UNDONE = (
    *("allInstancesConfig", "autoHealingPolicies", "distributionPolicy", "instanceFlexibilityPolicy"),
    *("statefulPolicy", "targetPools", "namedPorts"),
    *("targetStoppedSize", "targetSuspendedSize"),
)
_POLICY = {
    "type": "OPPORTUNISTIC",
    "minimalAction": "REPLACE",
    "maxSurge": {"fixed": 1, "calculated": 1},
    "maxUnavailable": {"fixed": 1, "calculated": 1},
    "replacementMethod": "SUBSTITUTE",
}
_LIFE = {"defaultActionOnFailure": "REPAIR", "forceUpdateOnRepair": "NO"}
_STANDBY = {"initialDelaySec": 0, "mode": "MANUAL"}


def read_group(site: Site, zone: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a new group that a request in normal form asks for, with what it leaves open.

    Raises:
        ApiError: 400 or 404 when there can be no such group, 501 for what is not done.
    """
    check_name(given.get("name", ""))
    check_size(given.get("targetSize", 0), "resource.targetSize")
    base = given.get("baseInstanceName", given["name"])
    if not _BASE_NAME.fullmatch(base):
        raise invalid_field(
            "resource.baseInstanceName", base, "Must be at most 58 letters, digits and dashes."
        )
    for name in _UNDONE:
        if given.get(name):
            raise _undone(name)
    life, policy = given.get("instanceLifecyclePolicy", {}), given.get("updatePolicy", {})
    _check_only(
        "instanceLifecyclePolicy", life, _LIFE, free=("defaultActionOnFailure", "forceUpdateOnRepair")
    )
    _check_only("updatePolicy", policy, _POLICY, free=("maxSurge", "maxUnavailable", "minimalAction"))
    _check_only("standbyPolicy", given.get("standbyPolicy", {}), _STANDBY)
    return {
        "name": given["name"],
        "description": given.get("description", ""),
        "baseInstanceName": base,
        "instanceTemplate": template_link(site, _template(given)),
        "targetSize": given.get("targetSize", 0),
        "targetStoppedSize": 0,
        "targetSuspendedSize": 0,
        "listManagedInstancesResults": given.get("listManagedInstancesResults", "PAGELESS"),
        "instanceLifecyclePolicy": {**_LIFE, **life},
        "updatePolicy": {**_POLICY, **policy},
        "standbyPolicy": _STANDBY,
        "targetSizePolicy": {"mode": _mode(given)},
        **_resource_policies(site, zone, given),
    }


def _mode(given: Mapping[str, Any]) -> str:
    mode = given.get("targetSizePolicy", {}).get("mode", "INDIVIDUAL")
    return "INDIVIDUAL" if mode == "UNSPECIFIED_MODE" else str(mode)


def _resource_policies(site: Site, zone: str, given: Mapping[str, Any]) -> dict[str, Any]:
    text = given.get("resourcePolicies", {}).get("workloadPolicy", "")
    return (
        {"resourcePolicies": {"workloadPolicy": workload_policy(site, zone, text)["selfLink"]}}
        if text
        else {}
    )


def check_size(size: int, field: str) -> None:
    """A size of a group.

    Raises:
        ApiError: 400 when it is none.
    """
    if not 0 <= size <= MOST:
        why = f"Must be greater than or equal to 0 and less than or equal to {MOST}."
        raise invalid_field(field, size, why)


def template_link(site: Site, text: str, field: str = FIELD) -> str:
    """The URL of the instance template that a text names.

    Raises:
        ApiError: 404 when there is none, 400 when the text names something else.
    """
    if not text:
        raise invalid_field(field, text, "An instance template is required.")
    reference = site.links.read(text, field=field, collection="instanceTemplates", scope="global")
    shelf = site.things["instanceTemplates"]
    found = shelf.get(reference.scope, shelf.name_of(reference.scope, reference.name))
    if found is None or reference.project != site.project:
        raise not_found(reference.path)
    return str(found["selfLink"])


def _template(given: Mapping[str, Any]) -> str:
    versions = given.get("versions", [])
    if len(versions) > 1 or any("targetSize" in version for version in versions):
        raise _undone("versions")
    one = [version.get("instanceTemplate", "") for version in versions]
    return str(given.get("instanceTemplate") or next(iter(one), ""))


def _check_only(
    name: str, given: Mapping[str, Any], default: Mapping[str, Any], *, free: tuple[str, ...] = ()
) -> None:
    """What is not the default and not free to choose is not done."""
    for key, value in given.items():
        if key not in free and value != default.get(key):
            raise _undone(f"{name}.{key}")


def _undone(name: str) -> ApiError:
    message = f"The local cloud does not do {name} of a managed instance group."
    return ApiError(501, "notImplemented", message)
