"""Scheduling options: what may be combined, and what applies where nothing is said.

Sources: "Set VM host maintenance policy", "Spot VMs", "Limit the run time of a VM".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from localcloud.compute.refusals import invalid_field
from localcloud.errors import ApiError

SHORTEST_RUN = timedelta(seconds=30)
LONGEST_RUN = timedelta(days=120)
FIELD = "resource.scheduling"


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


def _limited(options: Mapping[str, Any]) -> bool:
    return "maxRunDuration" in options or "terminationTime" in options


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
        if not SHORTEST_RUN <= run <= LONGEST_RUN:
            why = "It must be from 30 seconds to 120 days."
            raise invalid_field(f"{FIELD}.maxRunDuration", f"{run.total_seconds():g}s", why)
    if "terminationTime" in options:
        text = options["terminationTime"]
        at = _moment(text)
        if not now < at <= now + LONGEST_RUN:
            raise invalid_field(f"{FIELD}.terminationTime", text, "It must be within the next 120 days.")


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
