"""A create request for one machine type → the same for another, or why it cannot be.

What the other type comes with is left out (GPUs, bundled SSDs), and a disk whose type its series does not
take gets the nearest one. What was chosen for the machine alone, or the other cannot have, is a reason.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from spotwarden.create_script.request.urls import last
from spotwarden.model.accelerators import is_tpu
from spotwarden.model.machine_families import MachineFamily, family_of, lacks, ssd_counts
from spotwarden.model.request import Request

DEFAULT_DISK = "pd-standard"
"""The type of a new disk that names none (Google: `initializeParams.diskType`)."""
_NEAREST = {
    "pd-standard": ("pd-balanced", "hyperdisk-balanced"),
    "pd-balanced": ("pd-ssd", "hyperdisk-balanced"),
    "pd-ssd": ("hyperdisk-balanced",),
    "hyperdisk-balanced": ("pd-ssd",),
}
_TEMPLATES = ("sourceInstanceTemplate", "sourceMachineImage")
_MACHINE = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
_TPU_MACHINE = re.compile(r"ct\d|tpu")
_MOST_CARDS = 2
_ALIKE: Mapping[str, str] = {
    "confidentialInstanceConfig": "a Confidential VM",
    "advancedMachineFeatures": "CPU features",
    "networkPerformanceConfig": "network performance",
    "displayDevice": "a display device",
    "resourcePolicies": "resource policies, such as a placement",
    "instanceFlexibilityPolicy": "several machine types by itself",
}
"""Fields that not every series has, in words."""


class NoExchange(msgspec.Struct, frozen=True, kw_only=True):
    """The request cannot be for that machine type; each reason is a sentence for a person."""

    reasons: tuple[str, ...]


def exchange(request: Request, machine: str) -> Request | NoExchange:
    """Give the request, with this machine type in place of its own."""
    body = request.body
    inner: Mapping[str, Any] = body.get("instanceProperties", body)
    own = last(inner.get("machineType", ""))
    was, will = family_of(own), family_of(machine)
    reason = _unknown(request, own, machine)
    if reason or was is None or will is None:
        return NoExchange(reasons=(reason,))
    reasons = tuple(
        dict.fromkeys((*_reasons(inner, body, was, will, machine), *_ssd_reasons(inner, will, machine)))
    )
    if reasons:
        return NoExchange(reasons=reasons)
    changed = _exchanged(inner, will, machine)
    whole = {**body, "instanceProperties": changed} if inner is not body else changed
    return msgspec.structs.replace(request, body=whole)


def _unknown(request: Request, own: str, machine: str) -> str:
    """Why nothing can be said of such an exchange; "" where something can."""
    if any(name in {*request.query, *request.body} for name in _TEMPLATES) or not own:
        return "the create script takes its machine type from a template; write it out"
    if not _MACHINE.fullmatch(machine):
        return f"{machine!r} is not a machine type"
    if machine == own:
        return f"{machine} is the machine type of the create script already"
    for name in (own, machine):
        if _TPU_MACHINE.match(name):
            return (
                f"{name} has TPUs, and programs for TPUs run on their own generation and number of chips only"
            )
        if family_of(name) is None:
            return f"we don't know what fits machine types like {name}"
    return ""


def _reasons(
    inner: Mapping[str, Any], body: Mapping[str, Any], was: MachineFamily, will: MachineFamily, machine: str
) -> Iterator[str]:
    attached = [last(card.get("acceleratorType", "")) for card in inner.get("guestAccelerators", ())]
    if any(is_tpu(kind) for kind in attached):
        yield "its TPUs come with its own machine type only"
    if (was.gpus or bool(attached)) != will.gpus:
        has = "comes with GPUs" if will.gpus else "comes without GPUs"
        yield f"{machine} {has}, unlike the create script's machine"
    if was.arm != will.arm:
        kind, other = ("Arm", "x86") if will.arm else ("x86", "Arm")
        yield f"{machine} needs an image for {kind}, and the create script's is for {other}"
    for field, words in _ALIKE.items():
        if inner.get(field) or body.get(field):
            yield f"it asks for {words}, which {machine} may not have"
    platform = inner.get("minCpuPlatform", "")
    if platform and platform not in will.platforms and lacks(will, platform):
        yield f"it asks for {platform} or newer, which {machine} may not run on"
    yield from _place_reasons(inner, machine)
    yield from _card_reasons(inner.get("networkInterfaces", ()), will, machine)
    for disk in inner.get("disks", ()):
        yield from _disk_reasons(disk, was, will, machine)


def _place_reasons(inner: Mapping[str, Any], machine: str) -> Iterator[str]:
    scheduling = inner.get("scheduling", {})
    if (
        inner.get("reservationAffinity", {}).get("values")
        or scheduling.get("provisioningModel") == "RESERVATION_BOUND"
    ):
        yield "its reservation is for its own machine type"
    if scheduling.get("nodeAffinities"):
        yield f"its sole-tenant nodes may not take {machine}"


def _card_reasons(cards: Sequence[Mapping[str, Any]], will: MachineFamily, machine: str) -> Iterator[str]:
    if len(cards) > _MOST_CARDS:
        yield f"its {len(cards)} network interfaces were chosen for its own machine type"
    kinds = {card.get("nicType", "GVNIC") for card in cards}
    for kind in sorted(kinds - {"GVNIC"} if will.gvnic else kinds - {"GVNIC", "VIRTIO_NET"}):
        yield f"{machine} has no network interface of type {kind}"


def _disk_reasons(
    disk: Mapping[str, Any], was: MachineFamily, will: MachineFamily, machine: str
) -> Iterator[str]:
    if "source" in disk:
        if set(was.disks) - set(will.disks):
            yield f"its disk {last(disk['source'])} exists already, and {machine} may not take its type"
        return
    params = disk.get("initializeParams", {})
    if disk.get("type") == "SCRATCH" or (kind := _type(params)) in will.disks:
        return
    if _nearest(kind, will) is None or params.get("replicaZones"):
        yield f"{machine} doesn't take a {kind} disk or a similar one"
    elif said := [
        name for name in ("provisionedIops", "provisionedThroughput", "storagePool") if params.get(name)
    ]:
        yield f"{machine} takes no {kind} disk, and the {said[0]} that it asks for belongs to that"


def _ssd_reasons(inner: Mapping[str, Any], will: MachineFamily, machine: str) -> Iterator[str]:
    asked = sum(disk.get("type") == "SCRATCH" for disk in inner.get("disks", ()))
    found = re.search(r"-(\d+)(?:g|-\d+)?$", machine)
    vcpus = int(found[1]) if found else 0
    if asked and not will.bundled and asked not in ssd_counts(will, vcpus):
        yield f"{machine} can't have {asked} local SSDs"


def _type(params: Mapping[str, Any]) -> str:
    return last(params.get("diskType", "")) or DEFAULT_DISK


def _nearest(kind: str, family: MachineFamily) -> str | None:
    return next((near for near in _NEAREST.get(kind, ()) if near in family.disks), None)


def _exchanged(inner: Mapping[str, Any], will: MachineFamily, machine: str) -> dict[str, Any]:
    changed = {key: value for key, value in inner.items() if key != "guestAccelerators"}
    changed["machineType"] = _renamed(inner["machineType"], machine)
    if inner.get("minCpuPlatform", "") not in will.platforms:
        changed.pop("minCpuPlatform", None)
    disks = inner.get("disks", ())
    kept = [disk for disk in disks if not (will.bundled and disk.get("type") == "SCRATCH")]
    if disks:
        types = changed["machineType"].replace("/machineTypes/", "/diskTypes/")
        changed["disks"] = [_fitted(disk, will, types) for disk in kept]
    return changed


def _fitted(disk: Mapping[str, Any], will: MachineFamily, types: str) -> dict[str, Any]:
    """The disk, of a type that the machine takes; `types` is a link to any, or a bare name."""
    params = disk.get("initializeParams", {})
    near = None if _type(params) in will.disks else _nearest(_type(params), will)
    if "source" in disk or disk.get("type") == "SCRATCH" or near is None:
        return dict(disk)
    return {**disk, "initializeParams": {**params, "diskType": _renamed(params.get("diskType", types), near)}}


def _renamed(link: str, name: str) -> str:
    """The link, or bare name, with another name at its end."""
    head, slash, _ = link.rpartition("/")
    return f"{head}{slash}{name}"
