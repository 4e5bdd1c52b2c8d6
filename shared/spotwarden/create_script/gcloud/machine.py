"""The machine: its type, accelerators, network performance."""

from typing import Any

from spotwarden.create_script.gcloud import defaults
from spotwarden.create_script.gcloud.argv import Args
from spotwarden.create_script.gcloud.letters import TEMPLATE
from spotwarden.create_script.gcloud.scene import GcloudScene

_MIB = 2**20


def machine_type(scene: GcloudScene) -> str | None:
    """Give the machine type: a URL in the zone, in `bulk create` the bare name; None for a template's."""
    args = scene.args
    if scene.from_template and not args.given("machine-type", "custom-cpu", "custom-memory"):
        return None
    name = _custom(args) or args["machine-type"] or _default(scene)
    return name if scene.bare else scene.zonal("machine-type", name, "machineTypes")


def _custom(args: Args) -> str | None:
    cpu, memory = args["custom-cpu"], args["custom-memory"]
    if not cpu:
        return None
    if not memory:
        raise args.refusal("custom-memory", "must be more than 0")
    if args["machine-type"]:
        raise args.refusal(
            "machine-type",
            "can't be used with --custom-cpu and --custom-memory; leave it out, or both of them",
        )
    family = f"{args['custom-vm-type']}-" if args["custom-vm-type"] else ""
    extended = "-ext" if args["custom-extensions"] else ""
    return f"{family}custom-{cpu}-{memory // _MIB}{extended}"


def _default(scene: GcloudScene) -> str:
    kind = None if scene.command == TEMPLATE else confidential_type(scene.args)
    return defaults.CONFIDENTIAL_MACHINE_TYPES[kind] if kind else defaults.MACHINE_TYPE


def confidential_type(args: Args) -> str | None:
    """Give the kind of confidential computing that is asked for, if any."""
    kind: str | None = args["confidential-compute-type"]
    return kind or ("SEV" if args["confidential-compute"] else None)


def accelerators(scene: GcloudScene) -> list[dict[str, Any]] | None:
    """Give the GPUs or TPUs; gcloud has one kind of them at most."""
    given = scene.args["accelerator"]
    if not given:
        return None
    kind = given.get("type")
    if not kind:
        raise scene.args.refusal("accelerator", "needs a type, as in type=nvidia-tesla-t4,count=2")
    link = kind if scene.bare else scene.zonal("accelerator", kind, "acceleratorTypes")
    return [{"acceleratorCount": given.get("count", 1), "acceleratorType": link}]


def network_performance(scene: GcloudScene) -> dict[str, str] | None:
    """Give the bandwidth tier; the last one named counts."""
    given = scene.args["network-performance-configs"]
    if given is None:
        return None
    tiers = [tier.upper() for config in given if (tier := config.get("total-egress-bandwidth-tier"))]
    for tier in tiers:
        if tier not in {"DEFAULT", "TIER_1"}:
            raise scene.args.refusal("network-performance-configs", f"{tier!r} is not one of DEFAULT, TIER_1")
    return {"totalEgressBandwidthTier": tiers[-1]} if tiers else {}
