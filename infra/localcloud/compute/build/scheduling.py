"""Scheduling options: what may be combined, and what applies where nothing is said.

Sources: "Set VM host maintenance policy", "Spot VMs", "Limit the run time of a VM", "About Flex-start VMs",
"Create an A3 Mega, A4 or A4X VM" (its Flex-start tab has the ranges).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from localcloud.compute.catalog import CatalogMachine
from localcloud.compute.refusals import invalid_field
from localcloud.errors import ApiError

SHORTEST_RUN = timedelta(seconds=30)
LONGEST_RUN = timedelta(days=120)
LEAST_FLEXIBLE_RUN = timedelta(minutes=10)
MOST_FLEXIBLE_RUN = timedelta(days=7)
LEAST_WAIT = timedelta(seconds=90)
MOST_WAIT = timedelta(hours=2)
MODELS = ("STANDARD", "SPOT", "FLEX_START")
FIELD = "resource.scheduling"
WAIT = "resource.params.requestValidForDuration"


def complete(given: Mapping[str, Any], *, accelerated: bool, now: datetime) -> dict[str, Any]:
    """The options of an instance; `accelerated` when it has GPUs.

    Raises:
        ApiError: 400 when two options exclude each other, or a limit is out of range.
    """
    model = given.get("provisioningModel", "STANDARD")
    preemptible = bool(given.get("preemptible", model == "SPOT"))
    options = {
        "onHostMaintenance": "TERMINATE" if preemptible or model == "FLEX_START" else "MIGRATE",
        "automaticRestart": not preemptible and model != "FLEX_START",
        **given,
        "preemptible": preemptible,
        "provisioningModel": model,
    }
    _check(options, accelerated=accelerated)
    _check_limit(options, now)
    if "instanceTerminationAction" not in options and (model == "SPOT" or _limited(options)):
        options["instanceTerminationAction"] = "STOP"
    return options


def model(given: Mapping[str, Any]) -> str:
    """Whose capacity an instance (or the request of one) takes: that of preemptible VMs is the spot VMs'."""
    options = given.get("scheduling", {})
    return "SPOT" if options.get("preemptible") else options.get("provisioningModel", "STANDARD")


def _limited(options: Mapping[str, Any]) -> bool:
    return "maxRunDuration" in options or "terminationTime" in options


def _flexible(options: Mapping[str, Any]) -> bool:
    return bool(options["provisioningModel"] == "FLEX_START")


@dataclass(frozen=True, kw_only=True)
class _Rule:
    """A combination that is refused, the field that is to blame, and why."""

    broken: Callable[[Mapping[str, Any]], bool]
    field: str
    why: str


_RULES = (
    _Rule(
        broken=lambda o: o["provisioningModel"] == "SPOT" and not o["preemptible"],
        field="preemptible",
        why="Spot VMs are preemptible.",
    ),
    _Rule(
        broken=lambda o: o["preemptible"] and o["automaticRestart"],
        field="automaticRestart",
        why="Preemptible instances cannot be restarted automatically.",
    ),
    _Rule(
        broken=lambda o: o["preemptible"] and o["onHostMaintenance"] == "MIGRATE",
        field="onHostMaintenance",
        why="Preemptible instances do not support live migration.",
    ),
    _Rule(
        broken=lambda o: (
            o["provisioningModel"] == "STANDARD" and "instanceTerminationAction" in o and not _limited(o)
        ),
        field="instanceTerminationAction",
        why="You cannot specify a termination action for a VM instance that has the standard provisioning"
        " model (default). To use instance termination action, the VM instance must use the Spot provisioning"
        " model or have a limited run time.",
    ),
    _Rule(
        broken=lambda o: o["preemptible"] and o["provisioningModel"] != "SPOT" and _limited(o),
        field="preemptible",
        why="Legacy preemptible instances cannot have a limited run time; use the Spot provisioning model.",
    ),
    _Rule(
        broken=lambda o: "preemptionNoticeDuration" in o and o["provisioningModel"] != "SPOT",
        field="preemptionNoticeDuration",
        why="Only Spot VMs have a preemption notice.",
    ),
    _Rule(
        broken=lambda o: o["preemptible"] and _flexible(o),
        field="preemptible",
        why="Flex-start VMs are not preempted.",
    ),
    _Rule(
        broken=lambda o: _flexible(o) and o["onHostMaintenance"] == "MIGRATE",
        field="onHostMaintenance",
        why="Flex-start VMs do not support live migration.",
    ),
    _Rule(
        broken=lambda o: _flexible(o) and not _limited(o),
        field="provisioningModel",
        why="Flex-start VMs must have a limited run time; set maxRunDuration.",
    ),
    _Rule(
        broken=lambda o: "maxRunDuration" in o and "terminationTime" in o,
        field="terminationTime",
        why="Only one of maxRunDuration and terminationTime can be set.",
    ),
)


def _check(options: Mapping[str, Any], *, accelerated: bool) -> None:
    for rule in _RULES:
        if rule.broken(options):
            raise invalid_field(f"{FIELD}.{rule.field}", options[rule.field], rule.why)
    if accelerated and options["onHostMaintenance"] == "MIGRATE":
        raise ApiError(400, "badRequest", "Instances with guest accelerators do not support live migration.")


def _check_limit(options: Mapping[str, Any], now: datetime) -> None:
    if "maxRunDuration" in options:
        run = duration(options["maxRunDuration"])
        least, most, why = SHORTEST_RUN, LONGEST_RUN, "It must be from 30 seconds to 120 days."
        if _flexible(options):
            least, most = LEAST_FLEXIBLE_RUN, MOST_FLEXIBLE_RUN
            why = "For Flex-start VMs it must be from 10 minutes to 7 days."
        if not least <= run <= most:
            raise invalid_field(f"{FIELD}.maxRunDuration", f"{run.total_seconds():g}s", why)
    if "terminationTime" in options:
        text = options["terminationTime"]
        at = _moment(text)
        most = MOST_FLEXIBLE_RUN if _flexible(options) else LONGEST_RUN
        if not now < at <= now + most:
            why = f"It must be within the next {most.days} days."
            raise invalid_field(f"{FIELD}.terminationTime", text, why)


def wait_time(params: Mapping[str, Any], options: Mapping[str, Any], machine: CatalogMachine) -> timedelta:
    """How long a Flex-start VM may wait for room, PENDING; zero where it must have it at once.

    Google does not say what it does with a wait of another model; it is refused here.

    Raises:
        ApiError: 400 when it is out of range, or there is no Flex-start for what asks for it.
    """
    if _flexible(options) and not _offered_flexibly(machine):
        why = "Flex-start VMs need an accelerator-optimized or H4D machine type."
        raise invalid_field("resource.machineType", machine.name, why)
    wait = duration(params.get("requestValidForDuration", {}))
    if not wait:
        return wait
    shown = f"{wait.total_seconds():g}s"
    if not _flexible(options):
        raise invalid_field(WAIT, shown, "Only a request for Flex-start VMs waits for resources.")
    if not LEAST_WAIT <= wait <= MOST_WAIT:
        raise invalid_field(WAIT, shown, "It must be 0, or from 90 seconds to 2 hours.")
    return wait


def _offered_flexibly(machine: CatalogMachine) -> bool:
    """Machines with accelerators of their own, but for A4X and G4; and H4D ("About Flex-start VMs")."""
    family = machine.name.partition("-")[0]
    own = bool(machine.gpu) or family.startswith(("ct", "tpu"))
    return family == "h4d" or (own and family not in ("a4x", "g4"))


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        why = "It must be a time in RFC 3339 format, such as 2031-03-01T18:00:00Z."
        raise invalid_field(f"{FIELD}.terminationTime", text, why) from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def duration(message: Mapping[str, Any]) -> timedelta:
    """A `Duration` message: seconds as text, and nanoseconds."""
    return timedelta(seconds=int(message.get("seconds", "0")), microseconds=message.get("nanos", 0) / 1000)


def ends_at(options: Mapping[str, Any], started: datetime) -> datetime | None:
    """When an instance that started then has run for long enough; None without a limit."""
    if "maxRunDuration" in options:
        return started + duration(options["maxRunDuration"])
    return _moment(options["terminationTime"]) if "terminationTime" in options else None
