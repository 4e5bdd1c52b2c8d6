"""The body of `instances create` and `create-with-container`, and what `bulk create` shares with it."""

import re
from typing import Any

import msgspec

from spotwarden.create_script.gcloud import disks
from spotwarden.create_script.gcloud.defaults import SCOPES
from spotwarden.create_script.gcloud.images import boot_image
from spotwarden.create_script.gcloud.landing import LANDS, landed
from spotwarden.create_script.gcloud.letters import BULK, CONTAINER, CREATE, TEMPLATE
from spotwarden.create_script.gcloud.links import ResourceLink
from spotwarden.create_script.gcloud.machine import accelerators, machine_type, network_performance
from spotwarden.create_script.gcloud.metadata import (
    metadata,
    partner_metadata,
    resource_manager_tags,
    secure_tags,
)
from spotwarden.create_script.gcloud.scene import GcloudScene, compact
from spotwarden.create_script.gcloud.scheduling import scheduling
from spotwarden.create_script.gcloud.security import confidential, key_ring, kms_key

_AFFINITIES = {
    "any": "ANY_RESERVATION",
    "any-reservation-then-fail": "ANY_RESERVATION_THEN_FAIL",
    "none": "NO_RESERVATION",
    "specific": "SPECIFIC_RESERVATION",
    "specific-then-any-reservation": "SPECIFIC_THEN_ANY_RESERVATION",
    "specific-then-no-reservation": "SPECIFIC_THEN_NO_RESERVATION",
}
_REGIONAL = re.compile(r"(?:https?://.+/)?projects/[^/]+/regions/[^/]+/")
# Flags that end in an error inside gcloud 528, by command and track.
_BROKEN = (
    ("erase-windows-vss-signature", CREATE, ("v1",)),
    ("erase-windows-vss-signature", BULK, ("v1", "beta", "alpha")),
    ("post-key-revocation-action-type", BULK, ("v1", "beta", "alpha")),
)


class Shared(msgspec.Struct, frozen=True, kw_only=True):
    """What all machines of one command have alike: they take it from the first one's project and zone."""

    network: list[dict[str, Any]] | None
    image: ResourceLink | None
    machine_image: ResourceLink | None


def check(scene: GcloudScene) -> None:
    """Raise `Refused` for what gcloud refuses before it builds the first request."""
    for flag, command, tracks in _BROKEN:
        if scene.args.given(flag) and scene.command == command and scene.track in tracks:
            raise scene.args.refusal(flag, "makes gcloud 528 fail; leave it out")
    if scene.command != CONTAINER and scene.args["image-project"] and not _names_image(scene):
        raise scene.args.refusal("image-project", "also needs --image or --image-family")
    disks.check(scene)
    if scene.args["reservation-affinity"].startswith("specific") and not scene.args.given("reservation"):
        raise scene.args.refusal("reservation", "is required with a specific --reservation-affinity")


def _names_image(scene: GcloudScene) -> bool:
    return bool(scene.args["image"] or scene.args["image-family"])


def common(scene: GcloudScene, network: list[dict[str, Any]] | None) -> dict[str, Any]:
    """Give what one machine of `create` and the properties of `bulk create` have in common but disks."""
    args = scene.args
    can_forward = args["can-ip-forward"] if args.given("can-ip-forward") or not scene.from_template else None
    return landed(args, LANDS) | compact(
        canIpForward=can_forward,
        confidentialInstanceConfig=confidential(scene),
        guestAccelerators=accelerators(scene),
        labels=dict(sorted(args["labels"].items())) if args["labels"] else None,
        machineType=machine_type(scene),
        networkInterfaces=network,
        networkPerformanceConfig=network_performance(scene),
        reservationAffinity=_affinity(scene),
        resourcePolicies=_policies(scene),
        scheduling=scheduling(scene),
        secureTags=secure_tags(scene),
        serviceAccounts=service_accounts(scene),
        tags={"items": args["tags"]} if args["tags"] else None,
    )


def instance(scene: GcloudScene, name: str, shared: Shared) -> dict[str, Any]:
    """Give the body that creates the machine of this name."""
    args = scene.args
    # Disks first, as in gcloud: a URL in them may move the names behind it to another version.
    built = disks.disks(scene, name, shared.image)
    return common(scene, shared.network) | compact(
        deletionProtection=args["deletion-protection"],
        disks=built,
        eraseWindowsVssSignature=args["erase-windows-vss-signature"],
        instanceEncryptionKey=kms_key(scene, "instance"),
        metadata=metadata(scene),
        name=name,
        params=params_of(scene),
        partnerMetadata=partner_metadata(scene),
        postKeyRevocationActionType=upper(args["post-key-revocation-action-type"]),
        sourceMachineImage=shared.machine_image,
        sourceMachineImageEncryptionKey=_machine_image_key(scene, shared.machine_image),
    )


def upper(word: str | None) -> str | None:
    """Give a word in capitals; None for none."""
    return word.upper() if word else None


def boot_source(scene: GcloudScene) -> ResourceLink | None:
    """Give the image of the boot disk that flags describe; None where a disk with boot=yes replaces it."""
    return None if disks.own_boot_disk(scene.args) else boot_image(scene)


def params_of(scene: GcloudScene) -> dict[str, Any] | None:
    """Give what a request asks for beside the instance."""
    valid_for, tags = scene.args["request-valid-for-duration"], resource_manager_tags(scene)
    if valid_for is not None and scene.args.given("resource-manager-tags"):
        tags = tags or {}
    params = compact(
        requestValidForDuration=None if valid_for is None else {"seconds": str(valid_for)},
        resourceManagerTags=tags,
    )
    return params or None


def _affinity(scene: GcloudScene) -> dict[str, Any] | None:
    args = scene.args
    if not args.given("reservation-affinity"):
        return None
    affinity = {"consumeReservationType": _AFFINITIES[args["reservation-affinity"]]}
    if not args["reservation-affinity"].startswith("specific"):
        return affinity
    return affinity | {"key": "compute.googleapis.com/reservation-name", "values": [args["reservation"]]}


def _policies(scene: GcloudScene) -> list[str] | None:
    parts = {"project": scene.project, "region": scene.region}
    policies = scene.args["resource-policies"] or []
    if scene.command == TEMPLATE:
        return policies or None
    links = [scene.link("resource-policies", policy, "resourcePolicies", **parts) for policy in policies]
    return [link.parts["name"] if scene.bare else link for link in links] or None


def template_of(scene: GcloudScene) -> str | None:
    """Give the URL of the template that VMs are made from, if one is named."""
    flag = "source-instance-template"
    return None if scene.args[flag] is None else template_link(scene, flag)


def template_link(scene: GcloudScene, flag: str) -> str:
    """Give the URL of the template that a flag names: global ones by name, regional ones by their path."""
    name = scene.args[flag]
    regional = not scene.bare and _REGIONAL.match(name)
    collection = "regionInstanceTemplates" if regional else "instanceTemplates"
    return scene.link(flag, name, collection, project=scene.home)


def machine_image_of(scene: GcloudScene) -> ResourceLink | None:
    """Give the URL of the machine image, if one is named."""
    name = scene.args["source-machine-image"]
    if name is None:
        return None
    return scene.link("source-machine-image", name, "machineImages", project=scene.home)


def _machine_image_key(scene: GcloudScene, image: ResourceLink | None) -> dict[str, str] | None:
    flag = "source-machine-image-csek-key-file"
    if image is None and scene.args.given(flag):
        raise scene.args.refusal(flag, "also needs --source-machine-image")
    keys = key_ring(scene, flag, rsa=False)
    return keys.find(image) if keys else None


_EMAIL = re.compile(r"[a-zA-Z0-9_.+-]+@[a-zA-Z0-9-]+\.[a-zA-Z0-9-.]+$")
_FLAGS = ("scopes", "no-scopes", "service-account", "no-service-account")


def service_accounts(scene: GcloudScene) -> list[dict[str, Any]] | None:
    """Give the account with its scopes; None for a machine without, or where a template decides.

    The project is taken to have its default service account: whether it has is known to the API only.
    """
    args = scene.args
    if args["no-service-account"] and not args["no-scopes"]:
        raise args.refusal("no-service-account", "also needs --no-scopes")
    if scene.from_template and not args.given(*_FLAGS):
        return None
    email = args["service-account"] if args["service-account"] is not None else "default"
    scopes = [] if args["no-scopes"] else args["scopes"]
    if scopes is None:
        scopes = ["default"]
    if not scopes:
        return [{"email": email}] if email != "default" else None
    if email != "default" and not _EMAIL.match(email):
        raise args.refusal(
            "service-account", f"{email!r} is not an e-mail address; write one, or the word default"
        )
    return [{"email": email, "scopes": sorted(url for scope in scopes for url in _urls(scene, scope))}]


def _urls(scene: GcloudScene, scope: str) -> tuple[str, ...]:
    if not scope:
        raise scene.args.refusal("scopes", "has an empty scope; remove it and its comma")
    if "=" in scope:
        raise scene.args.refusal("scopes", f"{scope!r} names an account; give that by --service-account")
    return SCOPES.get(scope, (scope,))
