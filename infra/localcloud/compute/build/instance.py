"""The whole resource of an instance, from what a request, a template or a machine image says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from localcloud.compute import notices
from localcloud.compute.build import network, scheduling
from localcloud.compute.build.checks import check_labels, check_metadata, check_name, check_tags
from localcloud.compute.build.disks import disks
from localcloud.compute.build.machine import accelerators, machine_type, may_be_created
from localcloud.compute.catalog import UNKNOWN_PLATFORM
from localcloud.compute.ids import fingerprint
from localcloud.compute.refusals import invalid_field
from localcloud.compute.shelf import Resource, shared
from localcloud.compute.site import Site

# Given for the request only; the resource does not have them.
_INPUT_ONLY = {"params", "resourceManagerTags", "sourceMachineImage", "sourceMachineImageEncryptionKey"}
# Set by Compute Engine; what a request says there is ignored, as the reference says of output-only fields.
_OUTPUT_ONLY = {
    "id",
    "kind",
    "creationTimestamp",
    "cpuPlatform",
    "fingerprint",
    "labelFingerprint",
    "lastStartTimestamp",
    "lastStopTimestamp",
    "lastSuspendedTimestamp",
    "resourceStatus",
    "satisfiesPzi",
    "satisfiesPzs",
    "selfLink",
    "startRestricted",
    "status",
    "statusMessage",
    "zone",
}
_OFTEN_THE_SAME = {
    "guestAccelerators",
    "labels",
    "metadata",
    "resourceStatus",
    "scheduling",
    "serviceAccounts",
    "shieldedInstanceConfig",
    "shieldedInstanceIntegrityPolicy",
    "tags",
}
"""Members that many instances have alike: resources are replaced, never changed, so these are there once."""


@dataclass(frozen=True, kw_only=True)
class Built:
    """An instance about to exist, and the disks that are created with it. Its addresses are already taken.

    `wait` is how long it may be PENDING until there is room for it; zero where it must be there at once.
    """

    resource: Resource
    disks: Sequence[Resource]
    wait: timedelta = timedelta(0)


def with_base(base: Mapping[str, Any] | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a request says, over what its template or machine image says."""
    return {**(base or {}), **given}


def build(site: Site, zone: str, given: Mapping[str, Any]) -> Built:
    """Check a request in normal form and fill in what it leaves open. Nothing is changed but addresses taken.

    Raises:
        ApiError: 400, 404 or 409 for the first thing that cannot be done.
    """
    name = given.get("name", "")
    check_name(name)
    if "machineType" not in given:
        raise invalid_field("resource.machineType", "", "A machine type is required.")
    machine = may_be_created(site, machine_type(site, zone, given["machineType"]))
    gpus = accelerators(site, zone, machine, given.get("guestAccelerators", ()))
    accelerated = bool(gpus or machine.chips)
    options = scheduling.complete(given.get("scheduling", {}), accelerated=accelerated, now=site.clock.now())
    notices.check(options, machine.name, site.without_notice)
    wait = scheduling.wait_time(given.get("params", {}), options, machine)
    texts = _texts(given)
    drives = disks(site, zone, name, given.get("disks", ()), machine)
    resource = {
        "kind": "compute#instance",
        "id": site.numbers.take(),
        "creationTimestamp": site.now(),
        "name": name,
        "status": "PENDING" if wait else "PROVISIONING",
        "canIpForward": False,
        "deletionProtection": False,
        "startRestricted": False,
        **{key: value for key, value in given.items() if key not in _INPUT_ONLY | _OUTPUT_ONLY},
        **texts,
        "machineType": site.links.link(f"zones/{zone}/machineTypes/{machine.name}"),
        "zone": site.links.link(f"zones/{zone}"),
        "selfLink": site.links.link(f"zones/{zone}/instances/{name}"),
        "cpuPlatform": UNKNOWN_PLATFORM,
        "disks": list(drives.attached),
        "scheduling": options,
        "serviceAccounts": _accounts(site, given),
        "guestAccelerators": gpus,
        "resourceStatus": {"scheduling": {}},
        **_shielded(given),
        "networkInterfaces": network.interfaces(site, zone, given.get("networkInterfaces", ())),
    }
    resource["fingerprint"] = fingerprint(resource)
    whole = {
        key: shared(value) if key in _OFTEN_THE_SAME else value
        for key, value in resource.items()
        if value != []
    }
    return Built(resource=whole, disks=drives.created, wait=wait)


def _texts(given: Mapping[str, Any]) -> dict[str, Any]:
    """Labels, tags and metadata, with their fingerprints."""
    labels = given.get("labels", {})
    check_labels(labels)
    check_tags(given.get("tags", {}).get("items", ()))
    check_metadata(given.get("metadata", {}).get("items", ()))
    return {
        **({"labels": labels} if labels else {}),
        "labelFingerprint": fingerprint(labels),
        "tags": tags(given.get("tags", {}).get("items", [])),
        "metadata": metadata(given.get("metadata", {}).get("items", [])),
    }


def tags(items: Sequence[str]) -> dict[str, Any]:
    """The tags of an instance."""
    return {**({"items": list(items)} if items else {}), "fingerprint": fingerprint(list(items))}


def metadata(items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The metadata of an instance."""
    shown = {"items": [dict(item) for item in items]} if items else {}
    return {"kind": "compute#metadata", "fingerprint": fingerprint(shown), **shown}


def _accounts(site: Site, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    accounts = given.get("serviceAccounts", [])
    if len(accounts) > 1:
        raise invalid_field(
            "resource.serviceAccounts", len(accounts), "At most one service account is allowed."
        )
    return [
        {
            **account,
            "email": site.service_account
            if account.get("email", "default") == "default"
            else account["email"],
        }
        for account in accounts
    ]


def _shielded(given: Mapping[str, Any]) -> dict[str, Any]:
    config = {"enableSecureBoot": False, "enableVtpm": True, "enableIntegrityMonitoring": True}
    return {
        "shieldedInstanceConfig": {**config, **given.get("shieldedInstanceConfig", {})},
        "shieldedInstanceIntegrityPolicy": {"updateAutoLearnPolicy": True},
    }
