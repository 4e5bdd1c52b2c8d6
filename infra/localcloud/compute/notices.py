"""The notice of a preemption: which there are, and machine types that do not take one.

Google: "Create and use Spot VMs" (120 s, or none). No page says which machine types take it, so here all of
them do until somebody says otherwise.
"""

from collections.abc import Mapping
from datetime import timedelta
from enum import Enum
from typing import Any

from localcloud.compute.refusals import invalid_field
from localcloud.errors import ApiError

KEY = "preemptionNoticeDuration"
FIELD = f"resource.scheduling.{KEY}"


class NoticeRefusal(Enum):
    """How a machine type refuses a notice: by the field, or in words that do not name it."""

    FIELD = "field"
    MACHINE = "machine"


def check(options: Mapping[str, Any], machine: str, without: Mapping[str, NoticeRefusal]) -> None:
    """Refuse a notice that there is not, or not for this machine type.

    Raises:
        ApiError: 400 in either case.
    """
    if KEY not in options:
        return
    seconds = int(options[KEY].get("seconds", "0"))
    shown = f"{timedelta(seconds=seconds).total_seconds():g}s"
    if seconds not in (0, 120) or options[KEY].get("nanos", 0):
        raise invalid_field(FIELD, shown, "It must be 0 or 120 seconds.")
    match without.get(machine) if seconds else None:
        case NoticeRefusal.FIELD:
            raise invalid_field(FIELD, shown, f"Machine type {machine} has no preemption notice.")
        case NoticeRefusal.MACHINE:
            why = f"The operation is not supported for the machine type {machine}."
            raise ApiError(400, "unsupportedOperation", why)
