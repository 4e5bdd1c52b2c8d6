"""When and where a machine may run, and what ends it."""

from collections.abc import Callable
from typing import Any

from spotwarden.create_script.gcloud.argv import Args
from spotwarden.create_script.gcloud.scene import GcloudScene, compact
from spotwarden.create_script.gcloud.tenancy import node_affinities
from spotwarden.create_script.gcloud.values import Misfit, Raw


def _plain(value: Raw) -> Raw:
    return value


def _seconds(value: int) -> dict[str, str]:
    return {"seconds": str(value)}


def _number(value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise Misfit(f"{value!r} is not a whole number; write digits only, such as 2") from None


def _filled(value: Raw) -> Raw:
    return value or None


def _hours(value: int) -> int | None:
    return value // 3600 if value else None


def _mode(value: str) -> dict[str, str]:
    return {"mode": value.upper()}


# Flag → field of `scheduling`, and how its value is written there; None leaves it out.
FIELDS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "availability-domain": ("availabilityDomain", _plain),
    "current-cpus": ("currentCpus", _filled),
    "discard-local-ssds-at-termination-timestamp": (
        "onInstanceStopAction",
        lambda value: {"discardLocalSsd": value},
    ),
    "host-error-timeout-seconds": ("hostErrorTimeoutSeconds", _plain),
    "instance-termination-action": ("instanceTerminationAction", _plain),
    "local-ssd-recovery-timeout": ("localSsdRecoveryTimeout", _seconds),
    "location-hint": ("locationHint", _filled),
    "maintenance-freeze-duration": ("maintenanceFreezeDurationHours", _hours),
    "maintenance-interval": ("maintenanceInterval", _plain),
    "maintenance-policy": ("onHostMaintenance", _plain),
    "max-run-duration": ("maxRunDuration", _seconds),
    "min-node-cpu": ("minNodeCpus", _number),
    "preemption-notice-duration": ("preemptionNoticeDuration", _seconds),
    "provisioning-model": ("provisioningModel", _plain),
    "skip-guest-os-shutdown": ("skipGuestOsShutdown", _plain),
    "termination-time": ("terminationTime", _filled),
    "vsock-mode": ("vsockMode", _mode),
}
# Beside a template `scheduling` is sent when one of the first stands there, or one of the others is not 0.
_ALWAYS = ("instance-termination-action", "maintenance-policy", "preemptible", "provisioning-model")
_UNLESS_ZERO = (
    "current-cpus",
    "graceful-shutdown",
    "graceful-shutdown-max-duration",
    "host-error-timeout-seconds",
    "local-ssd-recovery-timeout",
    "maintenance-freeze-duration",
    "maintenance-interval",
    "max-run-duration",
    "preemption-notice-duration",
    "termination-time",
    "vsock-mode",
)


def scheduling(scene: GcloudScene) -> dict[str, Any] | None:
    """Give `scheduling`; None where a template or machine image decides."""
    args = scene.args
    _check(args)
    affinities = node_affinities(scene)
    restart = (
        args["restart-on-failure"] if not scene.from_template or args.given("restart-on-failure") else None
    )
    asked = args.given(*_ALWAYS) or any(args[flag] for flag in _UNLESS_ZERO) or restart or affinities
    if scene.from_template and not asked:
        return None
    return _restart(args, restart=restart) | _fields(scene) | compact(nodeAffinities=affinities or None)


def _check(args: Args) -> None:
    bounds = ("provisioning-model", "max-run-duration", "termination-time")
    if args.given("instance-termination-action") and not args.given(*bounds):
        raise args.refusal("instance-termination-action", "also needs one of --" + ", --".join(bounds))
    if args.given("max-run-duration") and args.given("termination-time"):
        raise args.refusal("termination-time", "can't be used with --max-run-duration; leave one of them out")


def _restart(args: Args, *, restart: bool | None) -> dict[str, Any]:
    """A spot machine is never restarted, whatever --restart-on-failure says."""
    if args["preemptible"] or args["provisioning-model"] == "SPOT":
        return {"automaticRestart": False, "preemptible": True}
    return compact(automaticRestart=restart)


def _fields(scene: GcloudScene) -> dict[str, Any]:
    args, fields = scene.args, {}
    for flag, (field, write) in FIELDS.items():
        if args.given(flag):
            with scene.blame(flag):
                fields[field] = write(args[flag])
    graceful = compact(enabled=args["graceful-shutdown"])
    if args.given("graceful-shutdown-max-duration"):
        graceful["maxDuration"] = _seconds(args["graceful-shutdown-max-duration"])
    return compact(**fields, gracefulShutdown=graceful or None)
