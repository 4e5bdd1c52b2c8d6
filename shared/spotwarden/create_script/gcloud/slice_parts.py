"""The commands for the parts of a TPU slice → the request that gcloud would send for each."""

from typing import Any
from urllib.parse import quote

from spotwarden.create_script.gcloud import disks, instance
from spotwarden.create_script.gcloud.commands import CommandLine
from spotwarden.create_script.gcloud.config import REGION, ZONE, Config
from spotwarden.create_script.gcloud.group_flags import NO_SLICE, NO_SLICE_TEMPLATE, OF_ONE_VM
from spotwarden.create_script.gcloud.letters import GROUP, POLICY, TEMPLATE
from spotwarden.create_script.gcloud.links import ResourceLink
from spotwarden.create_script.gcloud.metadata import metadata, partner_metadata, resource_manager_tags
from spotwarden.create_script.gcloud.network import interfaces
from spotwarden.create_script.gcloud.opening import OpenedCommand, open_command
from spotwarden.create_script.gcloud.request import Request
from spotwarden.create_script.gcloud.scene import GcloudScene, compact
from spotwarden.create_script.gcloud.sending import request_to
from spotwarden.create_script.refusal import ScriptRefused
from spotwarden.create_script.request.command import SimpleCommand


def part_of(line: CommandLine, command: SimpleCommand, config: Config) -> Request:
    """Translate one command for a part of a slice; `line` is the reading of `command`.

    Raises `ScriptRefused` where gcloud would refuse, and for what makes something else than a slice.
    """
    name = line.part or TEMPLATE
    return _TRANSLATIONS[name](open_command(name, line, command, config))


def _policy(opened: OpenedCommand) -> Request:
    args = opened.scene.args
    _require(opened, "type")
    ref = _named(opened, "resourcePolicies", "region", REGION)
    kind, topology = args["type"], args["accelerator-topology"]
    if args.given("accelerator-topology", "accelerator-topology-mode") and kind != "HIGH_THROUGHPUT":
        raise args.refusal("accelerator-topology", "also needs --type=high-throughput")
    region = ref.parts["region"]
    body = compact(
        name=ref.parts["name"],
        description=args["description"],
        region=region,
        workloadPolicy=compact(
            type=kind,
            maxTopologyDistance=args["max-topology-distance"],
            acceleratorTopology=topology or None,
            acceleratorTopologyMode=args["accelerator-topology-mode"],
        ),
    )
    scene = opened.scene.at(ref.parts["project"], region, regional=True)
    return request_to(scene, f"regions/{quote(region, safe='')}/resourcePolicies", body)


def _template(opened: OpenedCommand) -> Request:
    scene, args = opened.scene, opened.scene.args
    _refuse(opened, OF_ONE_VM, "is for one VM, and a slice has several; leave it out")
    _refuse(opened, NO_SLICE_TEMPLATE, "a slice needs a template that says all by itself, for all regions")
    for card in args["network-interface"] or []:
        if own := sorted(OF_ONE_VM & card.keys()):
            raise args.refusal("network-interface", f"{own[0]} is for one VM; leave it out")
    ref = _named(opened, "instanceTemplates", "", "")
    instance.check(scene)
    region = args["region"] or opened.configured(REGION) or ""
    properties = _properties(scene.at(scene.home, region, regional=True))
    body = compact(name=ref.parts["name"], description=args["description"], properties=properties)
    return request_to(scene.at(ref.parts["project"], region, regional=True), "global/instanceTemplates", body)


def _properties(scene: GcloudScene) -> dict[str, Any]:
    network = interfaces(scene)
    image = instance.boot_source(scene)
    built = disks.disks(scene, None, image)
    found = instance.common(scene, network) | compact(
        disks=built,
        metadata=metadata(scene),
        partnerMetadata=partner_metadata(scene),
        postKeyRevocationActionType=instance.upper(scene.args["post-key-revocation-action-type"]),
        resourceManagerTags=resource_manager_tags(scene),
    )
    return {field: value for field, value in found.items() if field != "description"}


def _group(opened: OpenedCommand) -> Request:
    args = opened.scene.args
    _refuse(opened, NO_SLICE, "is not for a TPU slice in one zone; leave it out")
    _require(opened, "size", "template")
    ref = _named(opened, "instanceGroupManagers", "zone", ZONE)
    zone = ref.parts["zone"]
    scene = opened.scene.at(ref.parts["project"], zone)
    body = compact(
        name=ref.parts["name"],
        description=args["description"],
        baseInstanceName=args["base-instance-name"],
        instanceTemplate=instance.template_link(scene, "template"),
        targetSize=args["size"],
        zone=zone,
        instanceLifecyclePolicy=_lifecycle(scene),
        listManagedInstancesResults=args["list-managed-instances-results"],
        resourcePolicies=(
            {"workloadPolicy": args["workload-policy"]} if args.given("workload-policy") else None
        ),
        targetSizePolicy=(
            {"mode": args["target-size-policy-mode"]} if args.given("target-size-policy-mode") else None
        ),
    )
    return request_to(scene, f"zones/{quote(zone, safe='')}/instanceGroupManagers", body)


def _lifecycle(scene: GcloudScene) -> dict[str, str] | None:
    force = scene.args["force-update-on-repair"]
    policy = compact(
        defaultActionOnFailure=scene.args["default-action-on-vm-failure"],
        forceUpdateOnRepair=None if force is None else "YES" if force else "NO",
    )
    return policy or None


def _refuse(opened: OpenedCommand, flags: frozenset[str], why: str) -> None:
    for flag in sorted(flags):
        if opened.scene.args.given(flag):
            raise opened.scene.args.refusal(flag, why)


def _require(opened: OpenedCommand, *flags: str) -> None:
    for flag in flags:
        if not opened.scene.args.given(flag):
            raise opened.scene.args.refusal(flag, "is missing; add it")


def _named(opened: OpenedCommand, collection: str, scope: str, configured: str) -> ResourceLink:
    """Give the link of what the command makes; its place is named, or configured."""
    args, scene = opened.scene.args, opened.scene
    if len(args.names) != 1:
        token = args.names[1] if args.names else None
        raise ScriptRefused(
            "takes one name" if token else "what is created needs a name; write it behind `create`",
            line=token.line if token else args.command_line,
        )
    [token] = args.names
    place = (args[scope] or opened.configured(configured)) if scope else None
    try:
        return scene.links.find(token.value, collection, project=scene.home, **{scope or "zone": place})
    except ScriptRefused as refused:
        raise ScriptRefused(refused.reason, line=token.line) from None


_TRANSLATIONS = {POLICY: _policy, TEMPLATE: _template, GROUP: _group}
