"""The body of `instances bulk create`: one request for many machines."""

import re
from typing import Any

from spotwarden.create_script.gcloud import disks, selections
from spotwarden.create_script.gcloud.argv import Args
from spotwarden.create_script.gcloud.instance import boot_source, common, template_of
from spotwarden.create_script.gcloud.metadata import metadata, resource_manager_tags
from spotwarden.create_script.gcloud.network import interfaces
from spotwarden.create_script.gcloud.scene import GcloudScene, compact
from spotwarden.model.gcloud import NEWEST, OLDEST

_ZONE = re.compile(r"\w+-\w+\d+-\w+")
_LONGEST = 63
# Version → the zones that a policy may name; with the last group of such as us-central1-ai1a.
_POLICY_ZONES = {
    OLDEST: re.compile(r"[^-]*-[^-]*\d-[^\W\d_]"),
    NEWEST: re.compile(r"[^-]*-[^-]*\d-[^-]*"),
}


def check(args: Args, version: int) -> None:
    """Raise `Refused` for what gcloud refuses for groups only."""
    if args.given("name-pattern") and not args.given("count"):
        raise args.refusal("count", "is required with --name-pattern")
    for flag in ("location-policy", "target-distribution-shape"):
        if args.given(flag) and not args.given("region"):
            raise args.refusal(flag, "goes with --region, not with --zone")
    for zone, policy in (args["location-policy"] or {}).items():
        if not _POLICY_ZONES[version].fullmatch(zone) or policy not in {"allow", "deny"}:
            raise args.refusal(
                "location-policy", f"{zone}={policy} is not of the form ZONE=allow or ZONE=deny"
            )
    for zone, count in (args["max-count-per-zone"] or {}).items():
        if (
            len(zone) > _LONGEST
            or not _ZONE.match(zone)
            or not isinstance(count, str)
            or not re.fullmatch(r"[1-9]\d*", count)
        ):
            raise args.refusal("max-count-per-zone", f"{zone}={count} is not of the form ZONE=COUNT")
    selections.check(args)
    _check_hostnames(args)


def _check_hostnames(args: Args) -> None:
    if not args.given("per-instance-hostnames"):
        return
    for name in args["per-instance-hostnames"]:
        if name not in (args["predefined-names"] or []):
            raise args.refusal("per-instance-hostnames", f"{name!r} is not one of --predefined-names")
    if not args.given("predefined-names"):
        raise args.refusal("per-instance-hostnames", "also needs --predefined-names")


def bulk_insert(scene: GcloudScene) -> dict[str, Any]:
    """Give the body that creates the group."""
    args = scene.args
    names = args["predefined-names"] or []
    count = args["count"] or len(names)
    template = template_of(scene)
    hosts = args["per-instance-hostnames"] or {}
    return compact(
        count=str(count),
        instanceFlexibilityPolicy=selections.flexibility(scene),
        instanceProperties=_properties(scene),
        locationPolicy=_location_policy(args),
        minCount=str(args["min-count"] if args["min-count"] is not None else count),
        namePattern=args["name-pattern"],
        perInstanceProperties={name: {"hostname": hosts[name]} if name in hosts else {} for name in names},
        sourceInstanceTemplate=template,
    )


def _properties(scene: GcloudScene) -> dict[str, Any]:
    network = interfaces(scene)
    image = boot_source(scene)
    built = disks.disks(scene, None, image)
    return common(scene, network) | compact(
        disks=built,
        metadata=metadata(scene),
        resourceManagerTags=resource_manager_tags(scene),
    )


def _location_policy(args: Args) -> dict[str, Any] | None:
    policies, limits = args["location-policy"], args["max-count-per-zone"] or {}
    policy = compact(targetShape=args["target-distribution-shape"])
    if args.given("location-policy", "max-count-per-zone"):
        preferences = {zone: word.upper() for zone, word in (policies or {}).items()}
        for zone in limits:
            preferences.setdefault(zone, "ALLOW")
        policy["locations"] = {
            f"zones/{zone}": {"preference": preference}
            | ({"constraints": {"maxCount": int(limits[zone])}} if zone in limits else {})
            for zone, preference in preferences.items()
        }
    return policy or None
